import { describe, expect, test } from 'vitest'
import type { MissionId, RunEventId, TaskId } from '../../src/kernel/id.ts'
import { amount } from '../support/amount.ts'
import { aMission, anAttempt, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { happened } from './events.ts'
import {
  advanced,
  anArtifact,
  anEvent,
  aRun,
  created,
  definition,
  entering,
  kept,
  r,
  version,
} from './run-events.ts'

const m = (number: number) => `m-${number}` as MissionId
const t = (number: number) => `t-${number}` as TaskId
const begun = [kept, created()] as const
const handing = (revision: number, ...artifacts: Parameters<typeof anArtifact>[]) =>
  advanced(
    anEvent(revision, {
      artifacts: artifacts.map(([path, more]) => anArtifact(path, { revision, ...more })),
    }),
  )

describe.each(dialects)('runs in $dialect', ({ fresh, isQuick }) => {
  test('a run is read as it was begun, with its definition and its first state visited', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    expect(await store.view(({ runs }) => runs.load('run-1'))).toBeNull()
    await happened(store, 1, ...begun)
    for (const reader of [store, temporary.another()]) {
      expect(await reader.view(({ runs }) => runs.load('run-1'))).toEqual({
        record: aRun(),
        definition,
        visits: [{ state: 'plan', count: 1, first: 1, last: 1 }],
        artifacts: [],
      })
    }
    await store.view(async ({ runs }) => {
      expect(await runs.find('run-1')).toEqual(aRun())
      expect(await runs.find('run-2')).toBeNull()
      expect(await runs.definition(version.hash)).toEqual(definition)
      expect(await runs.definition('other')).toBeNull()
      expect(await runs.eventAt(r(1), 1)).toBeNull()
    })
  })

  test('an event moves its run, and keeps the context where it gave none', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, ...begun)
    const first = anEvent(2, { to: 'build', stateChanged: true, unsatisfied: ['enough: 1 of 2'], role: null })
    await happened(store, 5, advanced(first, { context: { risk: 'high', summary: 'x' } }))
    const second = anEvent(3, { from: 'build', to: 'plan', stateChanged: true })
    await happened(store, 6, advanced(second))
    const third = anEvent(4)
    await happened(store, 7, advanced(third))
    const moved = aRun({ revision: 4, context: { risk: 'high', summary: 'x' }, updatedAt: 7 })
    await store.view(async ({ runs }) => {
      expect(await runs.load('run-1')).toMatchObject({
        record: moved,
        visits: [
          { state: 'plan', count: 2, first: 1, last: 3 },
          { state: 'build', count: 1, first: 2, last: 2 },
        ],
      })
      expect(await runs.eventAt(r(1), 2)).toEqual(first)
      const page = await runs.history(r(1), { limit: 2 })
      expect(page.items.map(({ item }) => item)).toEqual([third, second])
      expect(page.total).toBe(3)
      const rest = await runs.history(r(1), { limit: 2, before: page.items[1]?.seq ?? 0 })
      expect(rest.items.map(({ item }) => item)).toEqual([first])
    })
  })

  test.each(['succeeded', 'failed'] as const)('a run that %s has an end', async (status) => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, ...begun)
    await happened(store, 9, advanced(anEvent(2, { to: 'done', stateChanged: true }), { status }))
    const ended = aRun({ status, state: 'done', revision: 2, updatedAt: 9, endedAt: 9 })
    expect(await store.view(({ runs }) => runs.find('run-1'))).toEqual(ended)
  })

  test('a cancelled run stays in its state, with the reason in its history', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, ...begun)
    const event = anEvent(2, { kind: 'cancellation', event: 'not needed', payload: {} })
    await happened(store, 9, { kind: 'run.cancelled', runId: r(1), missionId: null, taskId: null, event })
    await store.view(async ({ runs }) => {
      const ended = aRun({ status: 'cancelled', revision: 2, updatedAt: 9, endedAt: 9 })
      expect(await runs.find('run-1')).toEqual(ended)
      expect(await runs.eventAt(r(1), 2)).toEqual(event)
    })
  })

  test('a moved run has the other definition, and enters a state only where it is another', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, ...begun)
    const other = { ...version, hash: 'small-2', version: '2.0.0' }
    const later = { ...definition, version: '2.0.0' }
    const move = (revision: number, to: string, stateChanged: boolean) =>
      ({
        kind: 'run.migrated',
        runId: r(1),
        missionId: null,
        taskId: null,
        event: anEvent(revision, { kind: 'migration', event: 'new version', to, stateChanged }),
        process: other,
        status: 'active',
      }) as const
    await happened(
      store,
      5,
      { kind: 'process.kept', hash: other.hash, definition: later },
      move(2, 'plan', false),
    )
    await happened(store, 6, move(3, 'review', true))
    expect(await store.view(({ runs }) => runs.load('run-1'))).toEqual({
      record: aRun({ process: other, state: 'review', revision: 3, updatedAt: 6 }),
      definition: later,
      visits: [
        { state: 'plan', count: 1, first: 1, last: 1 },
        { state: 'review', count: 1, first: 3, last: 3 },
      ],
      artifacts: [],
    })
  })

  test('a file of a type counts once, as it was handed in last, with the JSON that it held', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, ...begun, created({ id: r(2) }))
    await happened(store, 2, handing(2, ['a.json', { content: { n: 1 } }], ['b.json', { content: null }]))
    await happened(
      store,
      3,
      handing(3, ['a.json', { stamp: 's2', author: 'zoe' }], ['a.json', { type: 'plan' }]),
    )
    const artifacts = await store.view(async ({ runs }) => (await runs.load('run-1'))?.artifacts)
    expect(artifacts).toEqual([
      anArtifact('b.json', { content: null }),
      anArtifact('a.json', { revision: 3, stamp: 's2', author: 'zoe' }),
      anArtifact('a.json', { revision: 3, type: 'plan' }),
    ])
    expect(artifacts?.[1]).not.toHaveProperty('content')
    await store.view(async ({ runs }) => {
      expect((await runs.load('run-2'))?.artifacts).toEqual([])
      expect((await runs.eventAt(r(1), 2))?.artifacts.map(({ content }) => content)).toEqual([{ n: 1 }, null])
    })
  })

  test('what one store did to a run the next look of another sees', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const other = temporary.another()
    const seen = () => other.view(({ runs }) => runs.load('run-1'))
    await happened(store, 1, ...begun)
    expect(await seen()).toMatchObject({ visits: [{ state: 'plan' }], artifacts: [] })
    await happened(store, 1, handing(2, ['a.json']))
    expect(await seen()).toMatchObject({ visits: [{ state: 'plan' }], artifacts: [{ path: 'a.json' }] })
    await happened(store, 1, entering(3, 'build'))
    expect(await seen()).toMatchObject({ visits: [{ state: 'plan' }, { state: 'build', first: 3 }] })
    await expect(happened(store, 1, handing(4, ['b.json']), handing(4, ['c.json']))).rejects.toThrow()
    expect(await seen()).toMatchObject({ record: { revision: 3 }, artifacts: [{ path: 'a.json' }] })
    await happened(store, 1, handing(4, ['d.json']))
    for (const reader of [store, other]) {
      const loaded = await reader.view(({ runs }) => runs.load('run-1'))
      expect(loaded?.artifacts.map(({ path }) => path)).toEqual(['a.json', 'd.json'])
    }
  })

  test.each([
    { what: 'revision', event: anEvent(2, { id: 'evt-9' as RunEventId }) },
    { what: 'id', event: anEvent(3, { id: 'evt-2' as RunEventId }) },
  ])('a second event with the same $what is refused, and nothing of it stays', async ({ event }) => {
    await using temporary = await fresh()
    const { store } = temporary
    const first = anEvent(2)
    await happened(store, 1, ...begun, advanced(first))
    const before = await store.view(({ runs }) => runs.load('run-1'))
    const again = happened(store, 2, advanced(event, { context: {} }))
    await expect(again).rejects.toThrow()
    await store.view(async ({ runs, eventLog: log }) => {
      expect(await runs.load('run-1')).toEqual(before)
      expect(await log.verify()).toEqual({ events: 4, brokenAt: null })
    })
  })

  test('an event of no run and a run of no definition are refused', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, kept)
    await expect(happened(store, 2, advanced(anEvent(2)))).rejects.toThrow()
    await expect(happened(store, 2, created({ process: { ...version, hash: 'none' } }))).rejects.toThrow()
    expect(await store.view(({ eventLog: log }) => log.head())).toBe(2)
  })

  test('runs are listed newest first, by status, process, mission and task', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const other = { ...version, id: 'other' }
    await happened(
      store,
      1,
      kept,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'task.planned', task: aTask() },
      created(),
      created({ id: r(2), missionId: m(1), process: other }),
      created({ id: r(3), taskId: t(1) }),
      advanced(anEvent(2, { runId: r(3) }), { status: 'failed' }),
    )
    await store.view(async ({ runs }) => {
      const ids = async (filter: Parameters<typeof runs.list>[0]) =>
        (await runs.list(filter, { limit: 10 })).items.map(({ item }) => item.id)
      expect(await ids({})).toEqual(['run-3', 'run-2', 'run-1'])
      expect(await ids({ status: 'active' })).toEqual(['run-2', 'run-1'])
      expect(await ids({ processId: 'small' })).toEqual(['run-3', 'run-1'])
      expect(await ids({ missionId: m(1) })).toEqual(['run-2'])
      expect(await ids({ taskId: t(1) })).toEqual(['run-3'])
      expect(await ids({ taskId: t(1), status: 'active' })).toEqual([])
      const page = await runs.list({}, { limit: 2 })
      expect(page.total).toBe(3)
      const next = await runs.list({}, { limit: 2, before: page.items[1]?.seq ?? 0 })
      expect(next.items.map(({ item }) => item.id)).toEqual(['run-1'])
      expect(await runs.idsLike('run-', 2)).toEqual(['run-1', 'run-2'])
      expect(await runs.idsLike('run-3', 2)).toEqual(['run-3'])
    })
  })

  test('a mission is gated by its active runs, those of its tasks and those of tasks worked on in it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const missions = [1, 2].map((number) => aMission({ id: m(number) }))
    await happened(
      store,
      1,
      kept,
      ...missions.map((mission) => ({ kind: 'mission.started', mission }) as const),
      { kind: 'task.planned', task: aTask({ id: t(1), missionId: m(1) }) },
      { kind: 'task.planned', task: aTask({ id: t(2), missionId: null }) },
      { kind: 'task.planned', task: aTask({ id: t(3), missionId: m(2) }) },
      { kind: 'attempt.opened', attempt: anAttempt({ taskId: t(2), missionId: m(1) }) },
      created(),
      created({ id: r(2), missionId: m(1) }),
      created({ id: r(3), taskId: t(1) }),
      created({ id: r(4), taskId: t(2) }),
      created({ id: r(5), taskId: t(3) }),
      created({ id: r(6), missionId: m(1) }),
      advanced(anEvent(2, { runId: r(6) }), { status: 'succeeded' }),
    )
    await store.view(async ({ runs }) => {
      expect((await runs.gating({ missionId: m(1) })).map(({ id }) => id)).toEqual([
        'run-2',
        'run-3',
        'run-4',
      ])
      expect((await runs.gating({ missionId: m(2) })).map(({ id }) => id)).toEqual(['run-5'])
      expect(await runs.gating({ missionId: m(3) })).toEqual([])
    })
  })

  test.runIf(isQuick)('what is loaded of a run does not grow with its events', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, ...begun)
    const states = ['plan', 'build', 'review']
    const moves = 3 * amount({ test: 300, soak: 3_000 })
    const events = Array.from({ length: moves + 1 }, (_, index) =>
      entering(index + 2, states[(index + 1) % states.length] ?? '', {
        artifacts: [anArtifact(`notes/${index % 5}.md`, { revision: index + 2 })],
      }),
    )
    await happened(store, 2, ...events)
    const loaded = await store.view(({ runs }) => runs.load('run-1'))
    expect(loaded?.record).toMatchObject({ revision: moves + 2, state: 'build' })
    expect(loaded?.visits).toEqual([
      { state: 'plan', count: moves / 3 + 1, first: 1, last: moves + 1 },
      { state: 'build', count: moves / 3 + 1, first: 2, last: moves + 2 },
      { state: 'review', count: moves / 3, first: 3, last: moves },
    ])
    expect(loaded?.artifacts.map(({ revision }) => revision)).toEqual(
      [-2, -1, 0, 1, 2].map((at) => moves + at),
    )
    expect(await store.view(async ({ runs }) => (await runs.history(r(1), { limit: 1 })).total)).toBe(
      moves + 1,
    )
  })
})
