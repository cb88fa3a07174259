import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { type InboxItem, openInboxItem } from '../../inbox/domain/inbox-item.ts'
import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type {
  AttemptId,
  DecisionId,
  IssueId,
  MissionId,
  PhaseId,
  ProgressId,
  TaskId,
  TransactionContext,
} from '../../kernel/id.ts'
import { type Attempt, speakerOf, type Task } from './task.ts'

export const decisionCategories = [
  'architecture',
  'library_choice',
  'trade_off',
  'workaround',
  'other',
] as const
export type DecisionCategory = (typeof decisionCategories)[number]

export const issueTypes = [
  'documentation_gap',
  'bug_encountered',
  'dependency_conflict',
  'unclear_requirement',
  'other',
] as const
export type IssueType = (typeof issueTypes)[number]

/** The attempt, task, phase and mission that a record belongs to. */
export interface RecordLocation {
  readonly taskId: TaskId
  readonly attemptId: AttemptId | null
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  /** The author; null in early records. */
  readonly agentName: string | null
}

export interface Decision extends RecordLocation {
  readonly id: DecisionId
  readonly category: DecisionCategory
  readonly question: string
  readonly optionsConsidered: readonly string[]
  readonly chosen: string
  readonly reasoning: string
  readonly tradeOffs: string | null
  readonly createdAt: number
}

/** A problem that an agent logged. It is a blocker while its inbox item is open. */
export interface Issue extends RecordLocation {
  readonly id: IssueId
  readonly type: IssueType
  readonly description: string
  /** Empty for a question. */
  readonly resolution: string
  readonly requiresHumanReview: boolean
  readonly createdAt: number
}

/** Progress logged with `log_milestone`: a step, not a goal with a criterion. */
export interface Progress extends RecordLocation {
  readonly id: ProgressId
  readonly message: string
  /** Percent, 0 to 100. */
  readonly progress: number | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly createdAt: number
}

/** An issue; with `requires_human_review` it is a blocker until a person resolves its inbox item. */
export function newIssue(
  reported: Pick<Issue, 'type' | 'description' | 'resolution' | 'requiresHumanReview'>,
  location: RecordLocation & { readonly agentName: string },
  setting: TransactionContext,
): { readonly issue: Issue; readonly events: readonly NewProjectEvent[] } {
  const issue: Issue = { id: setting.ids.next('issue'), ...location, ...reported, createdAt: setting.at }
  if (!issue.requiresHumanReview) return { issue, events: [{ kind: 'issue.logged', issue }] }
  const item: InboxItem = {
    ...openInboxItem(
      { kind: 'blocker', reason: issue.description, openedBy: location.agentName },
      location,
      setting,
    ),
    issueId: issue.id,
  }
  return {
    issue,
    events: [
      { kind: 'issue.logged', issue },
      { kind: 'inbox.opened', item },
    ],
  }
}

/**
 * Where a record about a task belongs: the attempt it names, else the open one, else the task alone.
 * A closed attempt is refused, so that a late agent cannot speak for its successor.
 */
export function placeRecord(
  task: Task,
  attempts: { readonly open: Attempt | null; readonly named: Attempt | null; readonly caller: Actor },
): RecordLocation & { readonly agentName: string } {
  const { open, named, caller } = attempts
  if (named) assertOpen(task, named)
  const attempt = named ?? open
  return {
    taskId: task.id,
    attemptId: attempt?.id ?? null,
    missionId: attempt ? attempt.missionId : task.missionId,
    phaseId: attempt ? attempt.phaseId : task.phaseId,
    agentName: speakerOf(attempt, caller),
  }
}

export function assertOpen(task: Task, attempt: Attempt): void {
  if (attempt.taskId !== task.id) {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} is an attempt at task ${attempt.taskId}, not at ${task.id}.`,
      { reason: 'attempt_of_other_task', hint: 'Omit attempt_id to use the open attempt of the task.' },
    )
  }
  if (attempt.status !== 'open') {
    throw new Failure('CONFLICT', `Attempt ${attempt.id} is closed (${attempt.status}).`, {
      reason: 'attempt_closed',
      hint: hintOf`Omit attempt_id, or start again with ${callTo('start_task', { planned_task_id: task.id })}.`,
    })
  }
}
