import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { findPlanned } from '../../kernel/operations/find.ts'
import { count, identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { PlacedTask } from '../../plan/domain/outline.ts'
import { isHeld } from '../../plan/domain/plan.ts'
import { marks, taskStates } from '../../plan/domain/readiness.ts'
import { planSource } from '../../plan/operations/plan-show.ts'
import type { MeasuredTotals, TaskCard } from '../../store/ports/reads.ts'
import type { Task } from '../../track/domain/task.ts'
import { measurement } from '../../track/operations/attempt-answer.ts'
import { taskWord, taskWordOf } from '../../track/operations/mission-answer.ts'

/** What was measured at the end of an attempt, as short as a card shows it. */
export const MeasuredShort = z.object({
  measurement,
  scope_match: z.boolean().nullable(),
  out_of_scope: z.int(),
  /** The figures are of this attempt alone; a review shows what all attempts at the task came to. */
  attempt: z.int(),
  /** Null where they could not be measured. */
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
  is_claimed: z.boolean(),
  agent_name: z.string().nullable(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  /** Percent, of the last step that was told. */
  progress: z.number().nullable(),
  measured: MeasuredShort.nullable(),
  updated_at: z.string(),
})

/** What a review, a file outside the scope or an approval waits for is a person's look, not an agent's work. */
const lookedAt = ['review', 'scope', 'approval', 'command'] as const

export const board = defineOperation({
  name: 'board',
  command: 'board',
  toolset: 'track',
  audience: 'person',
  title: 'Tasks in columns, by status',
  description: 'Tasks of every plan and mission by status: ready, in progress, needs review, done of late.',
  kind: 'query',
  input: z.strictObject({ limit: count('How many in each column; default 100', 1000).optional() }),
  output: z.object({
    columns: z.object({
      ready: list(BoardCard),
      active: list(BoardCard),
      review: list(BoardCard),
      done: list(BoardCard),
    }),
    totals: z.object({ ready: z.int(), active: z.int() }),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const limit = input.limit ?? 100
    const now = clock.now()
    const waiting = await reads.holds.list({ status: 'open', kinds: lookedAt }, { limit })
    const review = new Set(waiting.items.flatMap(({ item }) => item.hold.taskId ?? []))
    const ready = await reads.plan.tasks({ now, ready: true }, { limit })
    const active = await reads.plan.tasks({ now, status: 'in_progress' }, { limit })
    const recent = await reads.tasks.list({}, { limit: limit * 2 })
    const done = recent.items.map(({ item }) => item.task).filter(({ status }) => status === 'done')
    const others = (tasks: readonly Task[]) => tasks.map(({ id }) => id).filter((id) => !review.has(id))
    const columns = {
      ready: others(ready.tasks.map(({ task }) => task)),
      active: others(active.tasks.map(({ task }) => task)),
      review: [...review],
      done: others(done.slice(0, limit)),
    }
    const found = await reads.tasks.cards([...new Set(Object.values(columns).flat())])
    const cards = new Map(found.map((card) => [card.task.id, boardCard(card, now)]))
    const cardsOf = (ids: readonly TaskId[]) => ids.flatMap((id) => cards.get(id) ?? [])
    return {
      columns: {
        ready: cardsOf(columns.ready),
        active: cardsOf(columns.active),
        review: cardsOf(columns.review),
        done: cardsOf(columns.done),
      },
      totals: { ready: ready.total, active: active.total },
    }
  }),
)

function boardCard(
  { task, missionName, claim, attempt, progress, measured }: TaskCard,
  now: number,
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
    is_claimed: task.resolution === 'claimed',
    agent_name: attempt === null ? holder : displayName(attempt),
    started_at: instantOrNull(attempt?.openedAt ?? null),
    completed_at: instantOrNull(attempt?.closedAt ?? null),
    progress,
    measured: measured && measuredShort(measured),
    updated_at: instant(task.updatedAt),
  }
}

export function measuredShort(measured: MeasuredTotals): z.output<typeof MeasuredShort> {
  return {
    measurement: measured.measurement,
    scope_match: measured.scopeMatches,
    out_of_scope: measured.outOfScope,
    attempt: measured.attempt,
    files: measured.files,
    added_lines: measured.addedLines,
    deleted_lines: measured.deletedLines,
  }
}

/** Most tasks that one list names. */
const mostTasks = 5_000

const NamedAndStatus = Named.extend({ status: z.string() })

export const names = defineOperation({
  name: 'names',
  command: 'names',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'Everything that has a name',
  description: 'The missions, runs and tasks by id and name, for a search that answers while one types.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.object({
    missions: list(NamedAndStatus),
    runs: list(NamedAndStatus),
    tasks: list(NamedAndStatus),
  }),
}).handler(({ store, clock }) =>
  store.view(async ({ missions, runs, plan }) => {
    const found = await missions.list({ limit: 1_000 })
    const running = await runs.list({}, { limit: 1_000 })
    const tasks = await plan.graph(undefined, mostTasks, clock.now())
    return {
      missions: found.items.map(({ item }) => ({
        id: item.id,
        name: excerpt(item.name, 120),
        status: item.status,
      })),
      runs: running.items.map(({ item: { id, process, state, status } }) => ({
        id,
        name: `${excerpt(process.name, 80)}: ${state}`,
        status,
      })),
      tasks: tasks.map(({ id, name, status }) => ({ id, name: excerpt(name, 120), status })),
    }
  }),
)

/** How a task stands beside another one. */
const LinkedTask = z.object({ id: z.string(), title: z.string(), mark: z.enum(marks) })

export const links = defineOperation({
  name: 'task_links',
  command: 'task links',
  screen: true,
  toolset: 'plan',
  audience: 'person',
  title: 'What a task depends on and blocks',
  description: 'The tasks around one task: what it depends on, what waits for it, its parent and subtasks.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({ id: identifier('Task ID') }),
  output: z.object({
    depends_on: list(LinkedTask),
    blocks: list(LinkedTask),
    subtasks: list(LinkedTask),
    parent: LinkedTask.nullable(),
    mark: z.enum(marks).nullable(),
    critical: z.boolean(),
    mission: Named.nullable(),
    phase: Named.nullable(),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const { task } = await findPlanned(reads, input.id)
    const { tasks } = await planSource(reads, task.missionId, clock.now())
    const states = taskStates(tasks)
    const entries = (isIt: (other: PlacedTask) => boolean) =>
      tasks.flatMap((other, place) =>
        isIt(other)
          ? [
              {
                id: other.id,
                title: excerpt(other.title, 160),
                mark: states[place]?.mark ?? ('blocked' as const),
              },
            ]
          : [],
      )
    const own = tasks.find(({ id }) => id === task.id)
    const place = own === undefined ? undefined : states[tasks.indexOf(own)]
    const mission = task.missionId === null ? null : await reads.missions.find(task.missionId)
    const phase = task.phaseId === null ? null : await reads.plan.phase(task.phaseId)
    return {
      depends_on: entries(({ id }) => own?.dependsOn.includes(id) === true),
      blocks: entries(({ dependsOn }) => dependsOn.includes(task.id)),
      subtasks: entries(({ parentId }) => parentId === task.id),
      parent: task.parentTaskId === null ? null : (entries(({ id }) => id === task.parentTaskId)[0] ?? null),
      mark: place?.mark ?? null,
      critical: place?.critical ?? false,
      mission: mission && { id: mission.id, name: excerpt(mission.name, 120) },
      phase: phase && { id: phase.id, name: phase.name },
    }
  }),
)
