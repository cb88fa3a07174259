import { z } from 'zod'
import { excerpt } from '../../domain/budget.ts'
import { instant, instantOrNull } from '../../domain/instant.ts'
import type { PlannedTask } from '../../domain/plan/plan.ts'
import { isHeld } from '../../domain/plan/plan.ts'
import type { Reads } from '../../ports/store.ts'
import { count } from '../input/fields.ts'
import { taskStatusShown } from '../mission/context-entries.ts'
import { defineOperation } from '../operation.ts'
import { verifiedShort } from './verified.ts'

/** What a review, a file outside the scope or an approval waits for is a person's look, not an agent's work. */
const lookedAt = ['review', 'scope', 'approval', 'command'] as const

export const board = defineOperation({
  name: 'board',
  command: 'board',
  toolset: 'track',
  audience: 'person',
  title: 'The board',
  description: 'Tasks of every plan and mission by status: ready, in progress, needs review, done of late.',
  kind: 'query',
  input: z.strictObject({ limit: count('How many in each column; default 100', 1000).optional() }),
  output: z.looseObject({ columns: z.looseObject({}), totals: z.looseObject({}) }),
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
    const names = await missionNames(reads)
    const cardOf = (planned: PlannedTask) => boardCard(reads, planned, { now, names })
    const cards = (list: readonly PlannedTask[]) =>
      Promise.all(list.filter(({ task }) => !review.has(task.id)).map(cardOf))
    const found = (ids: readonly string[]) => Promise.all(ids.map((id) => reads.plan.task(id)))
    const isThere = (planned: PlannedTask | null) => planned !== null
    return {
      columns: {
        ready: await cards(ready.tasks),
        active: await cards(active.tasks),
        review: await Promise.all((await found([...review])).filter(isThere).map(cardOf)),
        done: await cards((await found(done.slice(0, limit).map(({ id }) => id))).filter(isThere)),
      },
      totals: { ready: ready.total, active: active.total },
    }
  }),
)

interface Around {
  readonly now: number
  readonly names: ReadonlyMap<string, string>
}

export async function boardCard(reads: Reads, planned: PlannedTask, { now, names }: Around) {
  const { task, claim } = planned
  const attempt = await reads.tasks.lastAttempt(task.id)
  const said = await reads.records.progress({ taskId: task.id }, { limit: 1 })
  const holder = isHeld(claim, now) ? (claim?.agent ?? null) : null
  return {
    id: task.id,
    title: excerpt(task.name, 160),
    mission_id: task.missionId,
    mission_name: task.missionId === null ? null : (names.get(task.missionId) ?? null),
    phase_id: task.phaseId,
    role: task.role,
    outcome: taskStatusShown(task, attempt),
    is_claimed: task.resolution === 'claimed',
    agent_name: attempt === null ? holder : (attempt.agentName ?? attempt.actor.name),
    started_at: instantOrNull(attempt?.openedAt ?? null),
    completed_at: instantOrNull(attempt?.closedAt ?? null),
    progress: said.items[0]?.item.progress ?? null,
    verified: await verifiedShort(reads, attempt),
    updated_at: instant(task.updatedAt),
  }
}

async function missionNames({ missions }: Reads): Promise<ReadonlyMap<string, string>> {
  const page = await missions.list({ limit: 200 })
  return new Map(page.items.map(({ item }) => [item.id, excerpt(item.name, 120)]))
}
