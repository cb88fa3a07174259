import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { isPhaseFree } from '../../gate/operations/run/gating.ts'
import { type InboxGateMode, inboxGateOf } from '../../inbox/domain/items.ts'
import { openItemEntry, WaitingEntry } from '../../inbox/operations/item-answer.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import { instant, secondsBetween } from '../../kernel/instant.ts'
import { findAttempt } from '../../kernel/operations/find.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { MetComments } from '../../review/operations/agent-reviews.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { CompletionSituation } from '../domain/completion.ts'
import { type Phase, phaseStatuses } from '../domain/mission.ts'
import { assertOpen, type InboxItem } from '../domain/records.ts'
import type { Attempt, Task } from '../domain/task.ts'
import { completionReport, reportFields } from './attempt-answer.ts'

/** What a completion meets: the attempt to close, or the answer that was stored when it was made before. */
export type Completable =
  | { readonly attempt: Attempt; readonly repeated: null }
  | { readonly attempt: null; readonly repeated: Readonly<Record<string, unknown>> }

/** The attempt to close. Fails when there is none, or when it was closed otherwise. */
export async function attemptToClose(
  reads: Reads,
  task: Task,
  asked: { readonly inputHash: string; readonly attemptId: string | undefined },
): Promise<Completable> {
  const open = await reads.tasks.openAttempt(task.id)
  if (open && (asked.attemptId === undefined || asked.attemptId === open.id)) {
    return { attempt: open, repeated: null }
  }
  const last =
    asked.attemptId === undefined
      ? await reads.tasks.lastAttempt(task.id)
      : await findAttempt(reads, asked.attemptId)
  const end = last?.taskId === task.id ? await reads.tasks.end(last.id) : null
  if (end?.inputHash === asked.inputHash) {
    return { attempt: null, repeated: { ...end.answer, already_completed: true } }
  }
  if (last !== null && asked.attemptId !== undefined) {
    assertOpen(task, last)
    return { attempt: last, repeated: null }
  }
  if (last === null) {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" was never started.`, {
      reason: 'task_not_started',
      hint: hintOf`Use ${callTo('start_task', { planned_task_id: task.id })} before you edit, so that the changes can be measured.`,
    })
  }
  throw notRunning(task, last)
}

function notRunning(task: Task, last: Attempt): Failure {
  const details = { attempt_id: last.id, status: last.status }
  const again = callTo('start_task', { planned_task_id: task.id })
  if (last.status === 'abandoned') {
    return new Failure(
      'CONFLICT',
      `Attempt ${last.id} at task ${task.id} "${task.name}" was abandoned: it can no longer be completed.`,
      { reason: 'attempt_abandoned', hint: hintOf`Start again with ${again}, before you edit.`, details },
    )
  }
  return new Failure(
    'CONFLICT',
    `Task ${task.id} "${task.name}" was already completed (${last.status}), with a different report.`,
    {
      reason: 'attempt_already_completed',
      hint: hintOf`Its record does not change. For further work ${last.status === 'failed' ? hintOf`begin again with ${again}` : 'start a new task'}.`,
      details,
    },
  )
}

/** The attempt that ends, and whether its phase is asked to end with it. */
export interface AttemptEndRequest {
  readonly task: Task
  readonly attempt: Attempt
  readonly phaseComplete: boolean
}

export async function loadCompletion(reads: Reads, closing: AttemptEndRequest): Promise<CompletionSituation> {
  const { missions, tasks, inboxItems } = reads
  const { task, attempt } = closing
  // Asked together: while the project is held, every answer that is waited for holds up others.
  const [mission, phaseAhead, openSubtasks, open, gate, ofWorkflow] = await Promise.all([
    attempt.missionId === null ? null : missions.find(attempt.missionId),
    loadPhase(reads, closing),
    tasks.openSubtasks(task.id),
    inboxItems.ofTask(task.id),
    readInboxGate(reads),
    loadWorkflow(reads, closing),
  ])
  const { ofMission, ...workflow } = ofWorkflow
  return {
    task,
    attempt,
    mission,
    ...phaseAhead,
    openSubtasks,
    ...workflow,
    items: open.filter(({ attemptId }) => attemptId === attempt.id),
    waiting: { gate, ofMission },
  }
}

type PhaseSituation = Pick<
  CompletionSituation,
  'phase' | 'undoneInPhase' | 'openInPhase' | 'wasPlanned' | 'isPhaseFree'
>

/** Only a task that stood in the plan before its first attempt ends its phase by itself. */
async function loadPhase(
  reads: Reads,
  { task, attempt, phaseComplete }: AttemptEndRequest,
): Promise<PhaseSituation> {
  const { missions, tasks, plan } = reads
  const { phaseId } = attempt
  const isFirst = attempt.number === 1
  const isPlanned = !isFirst || attempt.openedAt > task.createdAt
  const mayEnd = phaseId !== null && isPlanned
  const [phase, first, undoneInPhase, openInPhase, isFree] = await Promise.all([
    phaseId === null ? null : missions.phaseById(phaseId),
    isFirst ? attempt : tasks.attempts(task.id).then(([earliest]) => earliest),
    mayEnd ? plan.undoneInPhase(phaseId) : 0,
    phaseId !== null && phaseComplete ? plan.openInPhase(phaseId) : [],
    !mayEnd || isPhaseFree(reads, attempt),
  ])
  return {
    phase,
    undoneInPhase,
    openInPhase: openInPhase.filter(({ id }) => id !== attempt.taskId),
    wasPlanned: (first?.openedAt ?? 0) > task.createdAt,
    isPhaseFree: isFree,
  }
}

type WorkflowSituation = Pick<CompletionSituation, 'isOtherOpen' | 'stepsToDo' | 'isGated'> & {
  readonly ofMission: number
}

const noWorkflow: WorkflowSituation = { isOtherOpen: false, stepsToDo: 0, isGated: false, ofMission: 0 }

/** What only a workflow is asked, which ends by itself. */
async function loadWorkflow(reads: Reads, { task, attempt }: AttemptEndRequest): Promise<WorkflowSituation> {
  const { missionId } = attempt
  const mission = missionId === null ? null : await reads.missions.find(missionId)
  if (mission?.kind !== 'workflow') return noWorkflow
  const [isOtherOpen, planned, gated, ofMission] = await Promise.all([
    reads.tasks.isOtherOpen(mission.id, attempt.id),
    reads.tasks.planned(mission.id),
    isGated(reads, mission.id),
    openInboxItems(reads, mission.id),
  ])
  return {
    isOtherOpen,
    stepsToDo: planned.filter(({ id }) => id !== task.id).length,
    isGated: gated,
    ofMission,
  }
}

/** A workflow does not end by itself while a run of it goes on, nor after one that did not succeed. */
async function isGated({ runs }: Reads, missionId: MissionId): Promise<boolean> {
  const found = await Promise.all([runs.gating({ missionId }), runs.lost({ missionId })])
  return found.flat().length > 0
}

export async function readInboxGate({ runs }: Reads): Promise<InboxGateMode> {
  return inboxGateOf((await runs.settings()).get('inbox_gate'))
}

/** How many of a mission's holds wait for a person; a silent attempt does not. */
async function openInboxItems({ inboxItems }: Reads, missionId: MissionId): Promise<number> {
  return (await inboxItems.list({ missionId, kinds: asked, status: 'open' }, { limit: 1 })).total
}

const maxWaiting = 10

/** What waits for a person about a task, oldest first. */
export async function openItemsOfTask({ inboxItems }: Reads, taskId: TaskId): Promise<readonly InboxItem[]> {
  const open = await inboxItems.ofTask(taskId)
  return open.filter(({ kind }) => isAskedKind(kind)).slice(0, maxWaiting)
}

/** A silent attempt is a question about its agent, not one that the agent asked. */
export const asked = ['blocker', 'review', 'scope', 'approval', 'command'] as const

function isAskedKind(kind: InboxItem['kind']): boolean {
  return asked.some((one) => one === kind)
}

/** What complete_task answers: Mission Control's keys, then what was measured in detail. */
export const CompletionAnswer = z.object({
  task_id: z.string(),
  attempt_id: z.string(),
  duration_seconds: z.int(),
  /** Null in a preview. */
  completed_at: z.string().nullable(),
  ...reportFields,
  /** An id is null in a preview, where nothing was asked yet. */
  waits_for: list(WaitingEntry.extend({ item_id: z.string().nullable() })).optional(),
  /** What depends on the task waits for a person. */
  settled: z.literal(false).optional(),
  review: MetComments.optional(),
  phase_id: z.string().nullable().optional(), // answers that were kept earlier have none
  phase_status: z.enum(phaseStatuses).nullable(),
  phase_number: z.int().nullable(),
  preview: z.literal(true).optional(),
  already_completed: z.literal(true).optional(),
  /** A later statement, beside what was said and measured at the end. */
  corrected: z.literal(true).optional(),
  correction: z.object({ text: z.string(), created_at: z.string() }).optional(),
  note: z.string().optional(),
})
type CompletionAnswer = z.output<typeof CompletionAnswer>

/** An answer as it was kept: one of an earlier version may lack what is answered today. */
export function storedCompletion(kept: Readonly<Record<string, unknown>>): CompletionAnswer {
  return kept as CompletionAnswer // what was answered is answered again, as it was
}

export function completionAnswer(done: {
  readonly task: Task
  readonly attempt: Attempt
  readonly phase: Phase | null
  readonly evidence: AttemptMeasurement
  readonly at: number
  /** What waits for a person about the task, and whether it holds up what depends on it. */
  readonly waiting: readonly InboxItem[]
  /** What would be asked, in a preview. */
  readonly asked?: readonly InboxItem[] | undefined
  readonly unsettled: boolean
  /** How comments on the task were met; undefined where there are none. */
  readonly review?: z.output<typeof MetComments> | undefined
}): CompletionAnswer {
  return {
    task_id: done.task.id,
    attempt_id: done.attempt.id,
    duration_seconds: secondsBetween(done.attempt.openedAt, done.at),
    completed_at: instant(done.at),
    ...completionReport(done.evidence, done.task.id),
    waits_for: [
      ...done.waiting.map(openItemEntry),
      ...(done.asked ?? []).map((item) => ({ ...openItemEntry(item), item_id: null })),
    ],
    ...(done.unsettled && { settled: false }),
    ...(done.review && { review: done.review }),
    phase_id: done.phase?.id ?? null,
    phase_status: done.phase?.status ?? null,
    phase_number: done.phase?.number ?? null,
  }
}
