import { excerpt } from '../../domain/budget.ts'
import { instant, instantOrNull, secondsBetween } from '../../domain/instant.ts'
import type { Decision, Issue, IssueType, Progress } from '../../domain/track/records.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
import type { TaskHistory } from '../../domain/track/task-history.ts'
import type { HoldLine } from '../../ports/reads/hold-reads.ts'
import type { TaskLine } from '../../ports/reads/task-reads.ts'

/** How get_context spells an issue's type. */
export const issueTypeShown = {
  documentation_gap: 'DOC_GAP',
  bug_encountered: 'BUG',
  dependency_conflict: 'DEPENDENCY_CONFLICT',
  unclear_requirement: 'UNCLEAR_REQUIREMENT',
  other: 'OTHER',
} as const satisfies Record<IssueType, string>

export function decisionEntry(decision: Decision) {
  return {
    id: decision.id,
    category: decision.category.toUpperCase(),
    question: excerpt(decision.question),
    chosen: excerpt(decision.chosen),
    reasoning: excerpt(decision.reasoning),
    options_considered: decision.optionsConsidered.slice(0, 8).map((option) => excerpt(option, 80)),
    trade_offs: decision.tradeOffs === null ? null : excerpt(decision.tradeOffs),
    task_id: decision.taskId,
    created_at: instant(decision.createdAt),
  }
}

export function milestoneEntry(progress: Progress) {
  return {
    id: progress.id,
    task_id: progress.taskId,
    message: excerpt(progress.message),
    progress: progress.progress,
    created_at: instant(progress.createdAt),
  }
}

/** A blocker: an issue that asks for a person, or a review that a completion asked for. */
export function blockerEntry({ hold, issue }: HoldLine) {
  return {
    id: issue?.id ?? hold.id,
    hold_id: hold.id,
    task_id: hold.taskId,
    type: issue ? issueTypeShown[issue.type] : 'REVIEW',
    description: excerpt(issue?.description ?? hold.reason),
    resolution: issue ? excerpt(issue.resolution) || null : null,
    created_at: instant(hold.openedAt),
    ...(hold.status !== 'open' && {
      resolved: {
        by: hold.closedBy,
        at: instantOrNull(hold.closedAt),
        answer: hold.answer === null ? null : excerpt(hold.answer, 1000),
        status: hold.status,
      },
    }),
  }
}

export function taskEntry(
  { task, phaseNumber, attempt, counts, scopeMatches }: TaskLine,
  history?: TaskHistory,
) {
  return {
    id: task.id,
    name: excerpt(task.name, 120),
    status: taskStatusShown(task, attempt),
    ...(task.resolution === 'claimed' && { verified: false }),
    phase_number: phaseNumber,
    parent_task_id: task.parentTaskId,
    agent_name: attempt?.agentName ?? null,
    caller_type: attempt?.callerType ?? null,
    started_at: instantOrNull(attempt?.openedAt ?? null),
    duration_seconds:
      attempt === null || attempt.closedAt === null
        ? null
        : secondsBetween(attempt.openedAt, attempt.closedAt),
    files_changed: counts,
    scope_match: scopeMatches,
    ...(history && storyOf(task, history)),
  }
}

/** What an agent that is new here, or lost its context, needs of a task; nothing of what is empty. */
function storyOf({ name, goal }: Task, history: TaskHistory) {
  const { dependsOn, unsettled, blocked, claim, attempts, summary, correction, files } = history
  return {
    ...(goal !== null && goal !== name && { goal: excerpt(goal, 300) }),
    ...(dependsOn.length > 0 && { depends_on: dependsOn.slice(0, 10), blocked }),
    ...(unsettled && { settled: false }),
    ...(claim && { claim: { agent: claim.agent, expires_at: instantOrNull(claim.expiresAt) } }),
    ...(attempts > 1 && { attempts }),
    ...(summary !== null && { summary: excerpt(summary) }),
    ...(correction !== null && { correction: excerpt(correction) }),
    ...(files.length > 0 && { files }),
  }
}

/** An issue that blocks nobody: what an agent met, and what it did. */
export function issueEntry(issue: Issue) {
  return {
    id: issue.id,
    task_id: issue.taskId,
    type: issueTypeShown[issue.type],
    description: excerpt(issue.description),
    resolution: excerpt(issue.resolution) || null,
    agent_name: issue.agentName,
    created_at: instant(issue.createdAt),
  }
}

/** A task's status as get_context spells it: what the last attempt came to, or what is still to do. */
export function taskStatusShown(task: Task, attempt: Attempt | null): string {
  if (task.resolution === 'dropped') return 'DROPPED'
  if (task.resolution === 'claimed') return 'SUCCESS'
  if (task.resolution !== null) return task.resolution.toUpperCase()
  if (task.status === 'in_progress') return 'IN_PROGRESS'
  return attempt?.status === 'failed' ? 'FAILED' : 'TO_DO'
}
