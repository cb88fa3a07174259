import { z } from 'zod'
import { tasksToReview } from '../../inbox/operations/item-answer.ts'
import { displayName } from '../../kernel/actor.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { count } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import { isHeld } from '../../plan/domain/claims.ts'
import type { TaskCard } from '../../plan/ports/task-reads.ts'
import { landedStates } from '../../track/domain/landed.ts'
import { isCompleted, type Task } from '../../track/domain/task.ts'
import { verdictValues } from '../../track/domain/verdict.ts'
import { measurementLevel } from '../../track/operations/attempt-answer.ts'
import { taskWord, taskWordOf } from '../../track/operations/mission-answer.ts'
import { undoneTasks } from '../../track/operations/tree-write.ts'
import type { AttemptMeasurementTotals } from '../../track/ports/attempt-reads.ts'
import type { RecordedUndo } from '../../track/ports/tree-write-reads.ts'

/** The measurement of a task's last attempt, for a card. */
export const MeasuredShort = z.object({
  measurement: measurementLevel,
  /** Null for a failed attempt. */
  verdict: z.enum(verdictValues).nullable(),
  scope_match: z.boolean().nullable(),
  out_of_scope: z.int(),
  /** Of these, the files that a person approved. */
  out_of_scope_accepted: z.int(),
  /** The number of the last attempt. */
  attempt: z.int(),
  /** The sum of all attempts at the task that were not undone; null where the last could not be measured. */
  files: z.int().nullable(),
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
})

const BoardCard = z.object({
  id: z.string(),
  title: z.string(),
  mission_id: z.string().nullable(),
  mission_name: z.string().nullable(),
  phase_id: z.string().nullable(),
  role: z.string().nullable(),
  outcome: taskWord,
  is_unmeasured: z.boolean(),
  /** Where the lines of a done task were when they were last measured. */
  landed: z.enum(landedStates).nullable(),
  agent_name: z.string().nullable(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  /** The last logged progress, in percent. */
  progress: z.number().nullable(),
  measured: MeasuredShort.nullable(),
  /** Who accepted it although it is not proven. */
  accepted_by: z.string().nullable(),
  /** A person took its changes back. */
  is_undone: z.boolean(),
  /** An open question or problem of its agent needs a person. */
  is_blocked: z.boolean(),
  updated_at: z.string(),
})

export const board = defineOperation({
  name: 'board',
  command: 'board',
  toolset: 'track',
  audience: 'person',
  title: 'Show the board of tasks by status',
  description:
    'List tasks of every plan and mission by status: ready, in progress, needs review, recently done.',
  kind: 'query',
  input: z.strictObject({ limit: count('How many in each column; default 100', 1000).optional() }),
  output: z.object({
    columns: z.object({
      ready: list(BoardCard),
      active: list(BoardCard),
      review: list(BoardCard),
      done: list(BoardCard),
    }),
    /** Blocked tasks have no column. */
    totals: z.object({ ready: z.int(), active: z.int(), blocked: z.int() }),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const limit = input.limit ?? 100
    const now = clock.now()
    const review = new Set([...(await tasksToReview(reads))].slice(0, limit))
    const blockers = await reads.inboxItems.list({ status: 'open', kinds: ['blocker'] }, { limit })
    const asking = new Set(blockers.items.flatMap(({ item }) => item.item.taskId ?? []))
    const ready = await reads.plan.tasks({ owner: 'open', now, ready: true }, { limit })
    const active = await reads.plan.tasks({ now, status: 'in_progress' }, { limit })
    const blocked = await reads.plan.tasks({ owner: 'open', now, blocked: true }, { limit: 0 })
    const recent = await reads.tasks.list({}, { limit: limit * 2 })
    const done = recent.items.map(({ item }) => item.task).filter(isCompleted)
    const others = (tasks: readonly Task[]) => tasks.map(({ id }) => id).filter((id) => !review.has(id))
    const columns = {
      ready: others(ready.tasks.map(({ task }) => task)),
      active: others(active.tasks.map(({ task }) => task)),
      review: [...review],
      done: others(done.slice(0, limit)),
    }
    const found = await reads.tasks.cards([...new Set(Object.values(columns).flat())])
    const ended = found.filter(({ task }) => task.status === 'done')
    const undone = await undoneTasks(reads, new Map(ended.map(({ task, attempt }) => [task.id, attempt])))
    const cards = new Map(found.map((card) => [card.task.id, boardCard(card, { now, undone, asking })]))
    const cardsOf = (ids: readonly TaskId[]) => ids.flatMap((id) => cards.get(id) ?? [])
    return {
      columns: {
        ready: cardsOf(columns.ready),
        active: cardsOf(columns.active),
        review: cardsOf(columns.review),
        done: cardsOf(columns.done),
      },
      totals: { ready: ready.total, active: active.total, blocked: blocked.total },
    }
  }),
)

function boardCard(
  { task, missionName, claim, attempt, progress, measured, acceptedBy, landed }: TaskCard,
  {
    now,
    undone,
    asking,
  }: {
    readonly now: number
    readonly undone: ReadonlyMap<TaskId, RecordedUndo>
    readonly asking: ReadonlySet<TaskId>
  },
): z.output<typeof BoardCard> {
  const holder = isHeld(claim, now) ? (claim?.agent ?? null) : null
  return {
    id: task.id,
    title: excerpt(task.name, 160),
    mission_id: task.missionId,
    mission_name: missionName === null ? null : excerpt(missionName, 120),
    phase_id: task.phaseId,
    role: task.role,
    outcome: taskWordOf(task, attempt),
    is_unmeasured: task.resolution === 'unmeasured',
    landed: task.status === 'done' ? landed : null,
    agent_name: attempt === null ? holder : displayName(attempt),
    started_at: instantOrNull(attempt?.openedAt ?? null),
    completed_at: instantOrNull(attempt?.closedAt ?? null),
    progress,
    measured: measured && measuredSummary(measured),
    accepted_by: acceptedBy,
    is_undone: undone.has(task.id),
    is_blocked: asking.has(task.id),
    updated_at: instant(task.updatedAt),
  }
}

export function measuredSummary(measured: AttemptMeasurementTotals): z.output<typeof MeasuredShort> {
  return {
    measurement: measured.measurement,
    verdict: measured.verdict,
    scope_match: measured.scopeMatches,
    out_of_scope: measured.outOfScope,
    out_of_scope_accepted: measured.outOfScopeAccepted,
    attempt: measured.attempt,
    files: measured.files,
    added_lines: measured.addedLines,
    deleted_lines: measured.deletedLines,
  }
}
