import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { isPhaseFree } from '../../gate/operations/run/gating.ts'
import { type GateSettings, gateSettingsOf } from '../../inbox/domain/inbox-gate.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { openItemEntry, WaitingEntry } from '../../inbox/operations/item-answer.ts'
import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import { instant, secondsBetween } from '../../kernel/instant.ts'
import { findAttempt } from '../../kernel/operations/find.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import { CommentOutcomes } from '../../review/operations/agent-reviews.ts'
import { sentBackOf } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { CompletionSituation } from '../domain/completion.ts'
import { type Phase, phaseStatuses } from '../domain/mission.ts'
import { assertOpen } from '../domain/records.ts'
import { type Attempt, type Task, type TaskOutcome, taskOutcomes } from '../domain/task.ts'
import { isDoubted, type Verdict, type VerdictRule } from '../domain/verdict.ts'
import type { AttemptEnd } from '../ports/attempt-reads.ts'
import { completionReport, reportFields, VerdictEntry, verdictEntry } from './attempt-answer.ts'

/** The attempt to close; or the stored answer if it was closed before, or its end if the outcome may be changed. */
export type Completable =
  | { readonly kind: 'open'; readonly attempt: Attempt }
  | { readonly kind: 'repeated'; readonly answer: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'amendable'
      readonly attempt: Attempt
      readonly end: AttemptEnd
      readonly verdictItems: readonly InboxItem[]
    }

/** Fails when there is no attempt to close, or when it was closed differently. */
export async function attemptToClose(
  reads: Reads,
  task: Task,
  request: {
    readonly inputHash: string
    readonly attemptId: string | undefined
    readonly actor: Actor
    /** Whether the outcome asks a person for a review. */
    readonly asksReview: boolean
  },
): Promise<Completable> {
  const open = await reads.tasks.openAttempt(task.id)
  if (open && (request.attemptId === undefined || request.attemptId === open.id)) {
    return { kind: 'open', attempt: open }
  }
  const last =
    request.attemptId === undefined
      ? await reads.tasks.lastAttempt(task.id)
      : await findAttempt(reads, request.attemptId)
  const end = last?.taskId === task.id ? await reads.tasks.end(last.id) : null
  if (end?.inputHash === request.inputHash) {
    return { kind: 'repeated', answer: { ...end.answer, already_completed: true } }
  }
  if (end && last && open === null && isByItsAgent(last, request.actor)) {
    const verdictItems = await openVerdictItems(reads, last)
    const asksAnew = request.asksReview && !end.outcome.manualReviewNeeded
    if ((await canAmend(reads, last, verdictItems)) || (asksAnew && (await hasOpenDoubt(reads, task, last))))
      return { kind: 'amendable', attempt: last, end, verdictItems }
  }
  if (last !== null && request.attemptId !== undefined) {
    assertOpen(task, last)
    return { kind: 'open', attempt: last }
  }
  if (last === null) {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" was never started.`, {
      reason: 'task_not_started',
      hint: hintOf`Use ${callTo('start_task', { planned_task_id: task.id })} before you edit, so that the changes can be measured.`,
    })
  }
  throw notRunning(task, last)
}

/** Whether an ended attempt may be completed again, with another outcome. */
export async function canAmend(
  reads: Reads,
  attempt: Attempt,
  items?: readonly InboxItem[],
): Promise<boolean> {
  const open = items ?? (await openVerdictItems(reads, attempt))
  return open.length > 0 || canAnswer(reads, attempt)
}

/** Only the last attempt at a task has them. */
async function openVerdictItems(
  { tasks, inboxItems }: Reads,
  { id, taskId }: Attempt,
): Promise<readonly InboxItem[]> {
  const [last, items] = await Promise.all([tasks.lastAttempt(taskId), inboxItems.ofTask(taskId)])
  return last?.id === id ? items.filter(({ kind }) => kind === 'verdict') : []
}

const answerableDoubts: ReadonlySet<VerdictRule> = new Set([
  'criterion_unanswered',
  'claimed_not_found',
  'claimed_not_own',
])

/** Whether other words alone could clear a doubt. */
async function canAnswer({ tasks }: Reads, { id, taskId }: Attempt): Promise<boolean> {
  const [last, verdicts] = await Promise.all([tasks.lastAttempt(taskId), tasks.verdicts(id)])
  const reasons = verdicts.at(-1)?.verdict?.reasons ?? []
  return last?.id === id && reasons.some(({ rule }) => answerableDoubts.has(rule))
}

/** Whether a person may still accept a completed task that is not proven. */
async function hasOpenDoubt({ tasks }: Reads, { id, status }: Task, last: Attempt): Promise<boolean> {
  if (status !== 'done' || (await tasks.lastAttempt(id))?.id !== last.id) return false
  const [verdicts, accepted] = await Promise.all([tasks.verdicts(last.id), tasks.acceptances([id])])
  return isDoubted(verdicts.at(-1)?.verdict?.is) && !accepted.has(id)
}

/** Whether the caller may change the words of an attempt: its agent, or a person. */
export function isByItsAgent({ actor, completedBy }: Attempt, caller: Actor): boolean {
  return caller.kind === 'person' || [actor, completedBy].some((one) => one?.name === caller.name)
}

function notRunning(task: Task, last: Attempt): Failure {
  const details = { attempt_id: last.id, status: last.status }
  const again = callTo('start_task', { planned_task_id: task.id })
  const correction = callTo('complete_task', { task_id: task.id, correction: undefined })
  if (last.status === 'abandoned') {
    return new Failure(
      'CONFLICT',
      `Attempt ${last.id} at task ${task.id} "${task.name}" was abandoned: it cannot be completed.`,
      { reason: 'attempt_abandoned', hint: hintOf`Start again with ${again}, before you edit.`, details },
    )
  }
  return new Failure(
    'CONFLICT',
    `Task ${task.id} "${task.name}" was already completed (${last.status}), with a different report.`,
    {
      reason: 'attempt_already_completed',
      hint:
        last.status === 'failed' || task.status !== 'done'
          ? hintOf`Start again with ${again}, or add a correction with ${correction}.`
          : hintOf`Add a correction with ${correction}; "not_mine": […] beside it takes files off. For its checks: waymark verify ${task.id}. To ask a person about an open doubt: complete again with "manual_review_needed": true in the outcome. For more work, start a new task.`,
      details,
    },
  )
}

/** The attempt that ends, and whether its phase should end with it. */
export interface AttemptEndRequest {
  readonly task: Task
  readonly attempt: Attempt
  readonly phaseComplete: boolean
}

export async function loadCompletion(reads: Reads, closing: AttemptEndRequest): Promise<CompletionSituation> {
  const { missions, tasks, inboxItems } = reads
  const { task, attempt } = closing
  // One round trip: while the project is locked, every query delays other callers.
  const [mission, phaseSituation, openSubtasks, open, settings, workflowSituation, sentBack] =
    await Promise.all([
      attempt.missionId === null ? null : missions.find(attempt.missionId),
      loadPhase(reads, closing),
      tasks.openSubtasks(task.id),
      inboxItems.ofTask(task.id),
      readGateSettings(reads),
      loadWorkflow(reads, closing),
      attempt.number === 1 ? null : sentBackOf(reads, task.id),
    ])
  const { openItemsOfMission, ...workflow } = workflowSituation
  return {
    task,
    attempt,
    mission,
    ...phaseSituation,
    openSubtasks,
    ...workflow,
    sentBack,
    items: open.filter(({ attemptId }) => attemptId === attempt.id),
    verdictItems: open.filter(({ kind }) => kind === 'verdict'),
    reviewItems: open.filter(({ kind, attemptId }) => kind === 'review' && attemptId !== attempt.id),
    scopeItems: open.filter(({ kind, runId }) => kind === 'scope' && runId === null),
    waiting: { ...settings, openItemsOfMission },
  }
}

type PhaseSituation = Pick<
  CompletionSituation,
  'phase' | 'undoneInPhase' | 'openInPhase' | 'openItemsOfPhase' | 'wasPlanned' | 'isPhaseFree'
>

/** A phase only ends by itself with a task that was planned before its first attempt. */
async function loadPhase(
  reads: Reads,
  { task, attempt, phaseComplete }: AttemptEndRequest,
): Promise<PhaseSituation> {
  const { missions, tasks, plan, inboxItems } = reads
  const { phaseId } = attempt
  const isFirst = attempt.number === 1
  const isPlanned = !isFirst || attempt.openedAt > task.createdAt
  const mayEnd = phaseId !== null && isPlanned
  const [phase, first, undoneInPhase, openInPhase, openItems, isFree] = await Promise.all([
    phaseId === null ? null : missions.phaseById(phaseId),
    isFirst ? attempt : tasks.attempts(task.id).then(([earliest]) => earliest),
    mayEnd ? plan.undoneInPhase(phaseId) : 0,
    phaseId !== null && phaseComplete ? plan.openInPhase(phaseId) : [],
    phaseId !== null && phaseComplete
      ? inboxItems.list({ phaseId, kinds: agentItemKinds, status: 'open' }, { limit: 5 })
      : null,
    !mayEnd || isPhaseFree(reads, attempt),
  ])
  return {
    phase,
    undoneInPhase,
    openInPhase: openInPhase.filter(({ id }) => id !== attempt.taskId),
    openItemsOfPhase: (openItems?.items ?? []).map(({ item: { item } }) => item),
    wasPlanned: (first?.openedAt ?? 0) > task.createdAt,
    isPhaseFree: isFree,
  }
}

type WorkflowSituation = Pick<CompletionSituation, 'isOtherOpen' | 'stepsToDo' | 'isGated'> & {
  readonly openItemsOfMission: number
}

const noWorkflow: WorkflowSituation = {
  isOtherOpen: false,
  stepsToDo: 0,
  isGated: false,
  openItemsOfMission: 0,
}

/** Only read for a workflow, which ends by itself. */
async function loadWorkflow(reads: Reads, { task, attempt }: AttemptEndRequest): Promise<WorkflowSituation> {
  const { missionId } = attempt
  const mission = missionId === null ? null : await reads.missions.find(missionId)
  if (mission?.kind !== 'workflow') return noWorkflow
  const [isOtherOpen, planned, gated, openItemsOfMission] = await Promise.all([
    reads.tasks.isOtherOpen(mission.id, attempt.id),
    reads.tasks.unfinishedOf(mission.id),
    isGated(reads, mission.id),
    openInboxItems(reads, mission.id),
  ])
  return {
    isOtherOpen,
    stepsToDo: planned.filter(({ id }) => id !== task.id).length,
    isGated: gated,
    openItemsOfMission,
  }
}

/** A workflow does not end by itself while one of its runs is open, or after one that failed. */
async function isGated({ runs }: Reads, missionId: MissionId): Promise<boolean> {
  const found = await Promise.all([runs.gating({ missionId }), runs.lostRuns({ missionId })])
  return found.flat().length > 0
}

export async function readGateSettings({ runs }: Reads): Promise<GateSettings> {
  return gateSettingsOf(await runs.settings())
}

/** How many inbox items of a mission wait for a person; stale attempts do not count. */
async function openInboxItems({ inboxItems }: Reads, missionId: MissionId): Promise<number> {
  return (await inboxItems.list({ missionId, kinds: agentItemKinds, status: 'open' }, { limit: 1 })).total
}

const maxWaiting = 10

/** The open inbox items of a task, oldest first. */
export async function openItemsOfTask({ inboxItems }: Reads, taskId: TaskId): Promise<readonly InboxItem[]> {
  const open = await inboxItems.ofTask(taskId)
  // Stale attempts are about the agent.
  return open.filter(({ kind }) => kind !== 'stale_attempt').slice(0, maxWaiting)
}

/** The items that count for phases and missions. Verdicts change neither. */
export const agentItemKinds = ['blocker', 'review', 'scope', 'approval', 'command'] as const

/** The answer of complete_task: Mission Control's keys, then the measured details. */
export const CompletionAnswer = z.object({
  task_id: z.string(),
  // Stored answers of earlier versions have neither.
  task_name: z.string().optional(),
  status: z.enum(taskOutcomes).optional(),
  attempt_id: z.string(),
  duration_seconds: z.int(),
  /** Null in a preview. */
  completed_at: z.string().nullable(),
  ...reportFields,
  /** Absent for a failed attempt. */
  verdict: VerdictEntry.optional(),
  /** An id is null in a preview, where no item was opened. */
  waits_for: list(WaitingEntry.extend({ item_id: z.string().nullable() })).optional(),
  /** Tasks that depend on this one wait for a person. */
  settled: z.literal(false).optional(),
  review: CommentOutcomes.optional(),
  // Stored answers of earlier versions have none of these.
  mission_id: z.string().nullable().optional(),
  phase_id: z.string().nullable().optional(),
  phase_name: z.string().optional(),
  phase_status: z.enum(phaseStatuses).nullable(),
  phase_number: z.int().nullable(),
  preview: z.literal(true).optional(),
  /** Checks still run: nothing ended, and the same call again waits for them. */
  completed: z.literal(false).optional(),
  running_checks: list(z.object({ command: z.string(), since: z.string().nullable() })).optional(),
  already_completed: z.literal(true).optional(),
  /** The outcome of a closed attempt was changed, and judged again on the same measurement. */
  amended: z.literal(true).optional(),
  /** A later correction, kept beside the original claims and measurements. */
  corrected: z.literal(true).optional(),
  /** Files that a correction with not_mine took off those of the task. */
  files_taken_off: strings.optional(),
  correction: z.object({ text: z.string(), created_at: z.string() }).optional(),
  note: z.string().optional(),
})
type CompletionAnswer = z.output<typeof CompletionAnswer>

/** A stored answer: one of an earlier version may lack newer fields. */
export function storedCompletion(stored: Readonly<Record<string, unknown>>): CompletionAnswer {
  return stored as CompletionAnswer // a stored answer is repeated unchanged
}

export function completionAnswer(completed: {
  readonly task: Task
  readonly attempt: Attempt
  readonly status: TaskOutcome
  readonly phase: Phase | null
  readonly evidence: AttemptMeasurement
  readonly verdict: Verdict | null
  readonly at: number
  /** The inbox items of the task, and whether they block what depends on it. */
  readonly waiting: readonly InboxItem[]
  /** The items that completing would open, in a preview. */
  readonly openedItems?: readonly InboxItem[] | undefined
  readonly unsettled: boolean
  /** The status of comments on the task; undefined where there are none. */
  readonly review?: z.output<typeof CommentOutcomes> | undefined
}): CompletionAnswer {
  const waitsFor = [
    ...completed.waiting.map(openItemEntry),
    ...(completed.openedItems ?? []).map((item) => ({ ...openItemEntry(item), item_id: null })),
  ]
  return {
    task_id: completed.task.id,
    task_name: excerpt(completed.task.name, 120),
    status: completed.status,
    attempt_id: completed.attempt.id,
    duration_seconds: secondsBetween(completed.attempt.openedAt, completed.at),
    completed_at: instant(completed.at),
    ...completionReport(completed.evidence, completed.task.id),
    ...(completed.verdict && { verdict: verdictEntry(completed.verdict, completed.task.id, waitsFor) }),
    waits_for: waitsFor,
    ...(completed.unsettled && { settled: false }),
    ...(completed.review && { review: completed.review }),
    mission_id: completed.task.missionId,
    phase_id: completed.phase?.id ?? null,
    ...(completed.phase && { phase_name: excerpt(completed.phase.name, 120) }),
    phase_status: completed.phase?.status ?? null,
    phase_number: completed.phase?.number ?? null,
  }
}
