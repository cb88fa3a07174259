import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import { gatingItemKinds, type InboxGateMode } from '../../src/inbox/domain/inbox-gate.ts'
import type { InboxItem } from '../../src/inbox/domain/inbox-item.ts'
import type { InboxItemId, TaskId } from '../../src/kernel/id.ts'
import { everyCycle } from '../../src/plan/domain/cycles.ts'
import { compareWork, type GraphTask, readyTasks } from '../../src/plan/domain/readiness.ts'
import type { Reads } from '../../src/store/ports/store.ts'
import { amount } from '../support/amount.ts'
import { anAttempt, anItem } from '../support/entities.ts'
import { blockedTasks, rankedWork } from '../support/ranked-work.ts'
import { dialects } from './dialects.ts'
import { closing, happened } from './events.ts'
import { aClaim, p, planPhase, planTask, t } from './plan-events.ts'

const tasks = 6
const place = fc.nat({ max: tasks - 1 })
const alone = [
  'done',
  'done',
  'to_do',
  'to_do',
  'claim',
  'note',
  'drop',
  'release',
  'attempt',
  'fail',
  'ask',
  'answer',
] as const
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('depend' as const), task: place, on: place }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom('free', 'reorder', 'gate'), task: place, on: place }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constantFrom(...alone), task: place, on: fc.constant(0) }),
  },
)
/** A question about a task that was given up holds nothing up, until the task is marked as done. */
const givenUpThenDone: Step[] = [
  { does: 'drop', task: 4, on: 0 },
  { does: 'depend', task: 5, on: 4 },
  { does: 'ask', task: 4, on: 0 },
  { does: 'done', task: 4, on: 0 },
  { does: 'drop', task: 4, on: 0 },
]
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

interface ModelTask {
  readonly id: TaskId
  readonly role: string | null
  readonly phase: number | null
  status: 'to_do' | 'in_progress' | 'done'
  /** When the claim expires; null while an attempt is open. */
  held: number | null | undefined
  sortOrder: number | null
  dependsOn: TaskId[]
  dropped: boolean
  /** The open inbox items about it. */
  asked: InboxItem[]
}

interface Model {
  readonly model: ModelTask[]
  readonly gate: Gate
}

/** What the whole project says of open inbox items. */
interface Gate {
  word: InboxGateMode
}

const claimLength = 5
const renewed = 30 * 60 * 1000

function freshModel(): ModelTask[] {
  return Array.from({ length: tasks }, (_, number) => ({
    id: t(number),
    role: number % 3 === 0 ? 'developer' : number % 3 === 1 ? 'writer' : null,
    phase: number % 4 === 0 ? null : number % 4,
    status: 'to_do' as const,
    held: undefined,
    sortOrder: null,
    dependsOn: [],
    dropped: false,
    asked: [],
  }))
}

/** What a step does to the model, and the log entries that do the same to the store. */
function taken({ does, task, on }: Step, { model, gate }: Model, at: number): readonly NewProjectEvent[] {
  const one = model[task]
  const other = model[on]
  if (!one || !other) return []
  const speak = (): void => {
    if (typeof one.held === 'number' && one.held > at) one.held = at + renewed
  }
  const is = (status: ModelTask['status']): void => {
    one.status = status
    one.held = undefined
    one.dropped = false
  }
  const attempt = anAttempt({
    id: `a-${one.id}-${at}` as ReturnType<typeof anAttempt>['id'],
    taskId: one.id,
    missionId: null,
    number: at,
  })
  switch (does) {
    case 'depend': {
      if (one === other || one.dependsOn.includes(other.id)) return []
      const machines = new Map(
        model.map(({ id, dependsOn }) => [id as string, dependsOn as readonly string[]]),
      )
      machines.set(one.id, [...one.dependsOn, other.id])
      if (everyCycle(machines, 1).length > 0) return []
      one.dependsOn.push(other.id)
      speak()
      return [{ kind: 'dependency.added', taskId: one.id, dependsOnId: other.id }]
    }
    case 'free':
      if (!one.dependsOn.includes(other.id)) return []
      one.dependsOn = one.dependsOn.filter((id) => id !== other.id)
      speak()
      return [{ kind: 'dependency.removed', taskId: one.id, dependsOnId: other.id }]
    case 'done':
    case 'to_do':
      if (one.held === null) return []
      is(does)
      return [{ kind: 'task.marked', taskId: one.id, status: does }]
    case 'drop':
      if (one.held === null) return []
      is('done')
      one.dropped = true
      return [{ kind: 'task.dropped', taskId: one.id, reason: 'r' }]
    case 'claim':
      if (one.status !== 'to_do') return []
      one.status = 'in_progress'
      one.held = at + claimLength
      return [{ kind: 'task.claimed', taskId: one.id, claim: aClaim({ expiresAt: at + claimLength }) }]
    case 'release':
      if (typeof one.held !== 'number') return []
      is('to_do')
      return [{ kind: 'claim.ended', taskId: one.id, agent: 'builder', why: 'released' }]
    case 'attempt':
      if (one.status === 'done' || one.held === null) return []
      one.status = 'in_progress'
      one.held = null
      return [{ kind: 'attempt.opened', attempt }]
    case 'fail':
      if (one.status !== 'to_do') return []
      return [{ kind: 'attempt.opened', attempt }, closing(attempt, [], 'failed')]
    case 'note':
      speak()
      return [
        {
          kind: 'note.added',
          note: {
            id: `n-${at}` as never,
            taskId: one.id,
            content: 'n',
            kind: null,
            role: null,
            author: 'a',
            createdAt: at,
          },
        },
      ]
    case 'ask': {
      const kind = (['blocker', 'review', 'scope'] as const)[at % 3] ?? 'blocker'
      const item = anItem({
        id: `h-${at}` as InboxItemId,
        kind,
        taskId: one.id,
        missionId: null,
        attemptId: null,
      })
      one.asked.push(item)
      return [{ kind: 'inbox.opened', item }]
    }
    case 'answer': {
      const item = one.asked.shift()
      if (!item) return []
      const about = { itemId: item.id, missionId: null, taskId: one.id }
      return [{ kind: 'inbox.closed', ...about, status: 'resolved', answer: null }]
    }
    case 'gate':
      gate.word = (['blockers', 'all', 'none'] as const)[on % 3] ?? 'blockers'
      return [{ kind: 'setting.changed', name: 'inbox_gate', value: gate.word }]
    case 'reorder':
      one.sortOrder = on
      speak()
      return [{ kind: 'task.edited', taskId: one.id, changes: { sortOrder: on } }]
  }
}

/** The whole graph at a time: an expired claim holds nothing. */
/** Done, not given up, and something is open that holds up. */
function isUnsettled({ status, dropped, asked }: ModelTask, gate: Gate): boolean {
  return (
    status === 'done' &&
    !dropped &&
    asked.some(({ kind }) => gatingItemKinds({ gate: gate.word, completion: 'review' }).includes(kind))
  )
}

function graphOf({ model, gate }: Model, now: number): readonly GraphTask[] {
  return model.map((task, created) => ({
    id: task.id,
    unsettled: isUnsettled(task, gate),
    role: task.role,
    dependsOn: task.dependsOn,
    status: typeof task.held === 'number' && task.held <= now ? 'to_do' : task.status,
    claimed: false,
    phaseOrder: task.phase,
    sortOrder: task.sortOrder,
    createdOrder: created,
  }))
}

const ids = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id)

async function agreesOnNext({ plan }: Reads, model: Model, now: number): Promise<void> {
  const graph = graphOf(model, now)
  expect((await plan.next({ now }))?.task.id).toBe(rankedWork(graph, { role: null })[0]?.id)
  for (const role of ['developer', 'writer', 'nobody']) {
    const next = await plan.next({ now, role, owner: null })
    expect(next?.task.id).toBe(rankedWork(graph, { role })[0]?.id)
  }
}

async function agrees({ plan }: Reads, { model, gate }: Model, now: number): Promise<void> {
  const graph = graphOf({ model, gate }, now)
  const listed = async (filter: object): Promise<readonly string[]> => {
    const page = await plan.tasks({ now, ...filter }, { limit: 100 })
    expect(page.total).toBe(page.tasks.length)
    for (const place of [{}, { owner: 'open' }, { owner: null }, { phaseId: p(1) }] as const) {
      const { tasks } = await plan.tasks({ now, ...place, ...filter }, { limit: 100 })
      expect((await plan.tasks({ now, ...place, ...filter }, { limit: 0 })).total).toBe(tasks.length)
    }
    return ids(page.tasks.map(({ task }) => task))
  }
  const sorted = (some: readonly GraphTask[]): readonly string[] => ids(some.toSorted(compareWork))
  expect(await listed({})).toEqual(sorted(graph))
  expect(await listed({ ready: true })).toEqual(sorted(readyTasks(graph)))
  expect(await listed({ blocked: true })).toEqual(sorted(blockedTasks(graph).map(({ task }) => task)))
  const droppedIds = ids(model.filter(({ dropped }) => dropped))
  for (const dropped of [true, false])
    expect(await listed({ dropped })).toEqual(
      sorted(graph.filter(({ id }) => droppedIds.includes(id) === dropped)),
    )
  for (const status of ['to_do', 'in_progress', 'done'] as const) {
    expect(await listed({ status })).toEqual(sorted(graph.filter((task) => task.status === status)))
  }
  for (const role of ['developer', 'writer', 'nobody']) {
    expect(await listed({ role, ready: true })).toEqual(
      sorted(readyTasks(graph).filter((task) => task.role === role)),
    )
  }
  for (const { id, dependsOn, status } of model) {
    const found = await plan.task(id)
    expect(found?.dependsOn).toEqual(dependsOn)
    const waits = dependsOn.some((on) =>
      model.some((other) => other.id === on && (other.status !== 'done' || isUnsettled(other, gate))),
    )
    expect(found?.blocked).toBe(status !== 'done' && waits)
  }
}

describe.each(dialects)('the graph of a plan in $dialect', ({ fresh, isQuick }) => {
  test('after any steps, what is kept of the graph is what the whole graph says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        await using temporary = await fresh()
        const { store } = temporary
        const model: Model = { model: freshModel(), gate: { word: 'blockers' } }
        const planned = model.model.map(({ id, role, phase }, number) =>
          planTask(number, { id, role, phaseId: phase === null ? null : p(phase) }),
        )
        await happened(
          store,
          0,
          ...[3, 1, 2].map(
            (number): NewProjectEvent => ({
              kind: 'phase.created',
              phase: planPhase(number, { sortOrder: number }),
            }),
          ),
          ...planned.map((task): NewProjectEvent => ({ kind: 'task.planned', task })),
        )
        let at = 0
        for (const one of steps) {
          at += 2
          const events = taken(one, model, at)
          if (events.length === 0) continue
          await happened(store, at, ...events)
          await store.view((reads) => agreesOnNext(reads, model, at))
        }
        await store.view(async (reads) => {
          await agrees(reads, model, at)
          await agrees(reads, model, at + claimLength)
          await agreesOnNext(reads, model, at + claimLength)
        })
        expect((await store.inspect()).differences).toEqual([])
      }),
      {
        numRuns: isQuick ? amount({ test: 4, soak: 40 }) : 1,
        examples: [[givenUpThenDone]],
      },
    )
  })
})
