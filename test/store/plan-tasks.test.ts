import { describe, expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import { messageOf } from '../../src/kernel/failure.ts'
import type { MilestoneId, MissionId, TaskId } from '../../src/kernel/id.ts'
import type { PlanFilter } from '../../src/plan/ports/plan-reads.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { Task } from '../../src/track/domain/task.ts'
import { aMission } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { happened } from './events.ts'
import { aClaim, aMilestone, aNote, p, planPhase, planTask, t } from './plan-events.ts'

const planned = (number: number, changes: Partial<Task> = {}): NewProjectEvent => ({
  kind: 'task.planned',
  task: planTask(number, changes),
})
const depends = (taskId: TaskId, dependsOnId: TaskId): NewProjectEvent => ({
  kind: 'dependency.added',
  taskId,
  dependsOnId,
})

/** Ids and total of what a filter finds. */
async function found(store: Store, filter: Omit<PlanFilter, 'now'>) {
  const { tasks, total } = await store.view(({ plan }) => plan.tasks({ now: 0, ...filter }, { limit: 100 }))
  expect(total).toBe(tasks.length)
  return tasks.map(({ task }) => Number(task.id.slice(2)))
}

describe.each(dialects)('tasks of a plan in $dialect', ({ fresh, isQuick }) => {
  test('go by phase, own order and creation, page by page, and never by text', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      { kind: 'phase.created', phase: planPhase(10, { sortOrder: 10 }) },
      { kind: 'phase.created', phase: planPhase(2, { sortOrder: 2 }) },
      { kind: 'phase.created', phase: planPhase(7) },
      planned(1),
      planned(2, { sortOrder: 1 }),
      planned(3, { phaseId: p(7) }),
      planned(4, { phaseId: p(10), sortOrder: 10 }),
      planned(5, { phaseId: p(10), sortOrder: 9 }),
      planned(6, { phaseId: p(2) }),
      planned(7, { phaseId: p(2), sortOrder: 100 }),
      planned(8, { phaseId: p(2) }),
    )
    const order = [7, 6, 8, 5, 4, 3, 2, 1]
    expect(await found(store, {})).toEqual(order)
    const paged: number[] = []
    await store.view(async ({ plan }) => {
      for (let after: TaskId | undefined; ; ) {
        const request = after === undefined ? { limit: 3 } : { limit: 3, after }
        const { tasks, total } = await plan.tasks({ now: 0, owner: null }, request)
        expect(total).toBe(8)
        paged.push(...tasks.map(({ task }) => Number(task.id.slice(2))))
        after = tasks.at(-1)?.task.id
        if (after === undefined) break
      }
      expect(await plan.tasks({ now: 0 }, { limit: 3, after: 't-99' as TaskId })).toEqual({
        tasks: [],
        total: 8,
      })
    })
    expect(paged).toEqual(order)
    await happened(store, 2, { kind: 'task.edited', taskId: t(1), changes: { phaseId: p(2), sortOrder: 1 } })
    expect(await found(store, {})).toEqual([1, 7, 6, 8, 5, 4, 3, 2])
  })

  test('are found by plan, place, role, state and words', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const missionId = 'm-1' as MissionId
    const milestoneId = 'M1' as MilestoneId
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      { kind: 'phase.created', phase: planPhase(1) },
      { kind: 'milestone.created', milestone: aMilestone(1) },
      planned(1, { phaseId: p(1), milestoneId, role: 'developer', goal: 'Make the Parser 100% Fast' }),
      planned(2, { phaseId: p(1), role: 'tester', name: 'PARSER tests' }),
      planned(3, { missionId, goal: 'a_b \\ Ärger' }),
      planned(4, { missionId, role: 'developer' }),
      depends(t(2), t(1)),
      depends(t(4), t(3)),
      depends(t(4), t(1)),
    )
    expect(await found(store, { owner: null })).toEqual([1, 2])
    expect(await found(store, { owner: missionId })).toEqual([3, 4])
    expect(await found(store, { owner: 'm-9' as MissionId })).toEqual([])
    expect(await found(store, { phaseId: p(1) })).toEqual([1, 2])
    expect(await found(store, { phaseId: p(1), owner: null, status: 'to_do' })).toEqual([1, 2])
    expect(await found(store, { milestoneId })).toEqual([1])
    expect(await found(store, { role: 'developer' })).toEqual([1, 4])
    expect(await found(store, { role: 'developer', owner: missionId })).toEqual([4])
    expect(await found(store, { role: 'developer', owner: null })).toEqual([1])
    expect(await found(store, { unassigned: true })).toEqual([3])
    expect(await found(store, { unassigned: true, owner: null })).toEqual([])
    expect(await found(store, { ready: true })).toEqual([1, 3])
    expect(await found(store, { ready: true, owner: missionId })).toEqual([3])
    expect(await found(store, { ready: true, phaseId: p(1) })).toEqual([1])
    expect(await found(store, { blocked: true })).toEqual([2, 4])
    expect(await found(store, { blocked: true, role: 'tester', status: 'to_do' })).toEqual([2])
    expect(await found(store, { blocked: true, status: 'done' })).toEqual([])
    expect(await found(store, { blocked: true, ready: true })).toEqual([])
    expect(await found(store, { ready: false, blocked: false })).toHaveLength(4)
    expect(await found(store, { search: 'parser' })).toEqual([1, 2])
    expect(await found(store, { search: ' fast  PARSER ' })).toEqual([1])
    expect(await found(store, { search: '100%' })).toEqual([1])
    expect(await found(store, { search: 'a%b' })).toEqual([])
    expect(await found(store, { search: 'a_b' })).toEqual([3])
    expect(await found(store, { search: '\\ Ärger' })).toEqual([3])
    expect(await found(store, { search: '' })).toHaveLength(4)
  })

  test('a task knows what it depends on, in the order said, and what waits for it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      ...[1, 2, 3, 4].map((number) => planned(number)),
      depends(t(3), t(2)),
      depends(t(3), t(1)),
      depends(t(4), t(3)),
      { kind: 'task.marked', taskId: t(2), status: 'done' },
    )
    const task = async (id: string) => store.view(({ plan }) => plan.task(id))
    expect(await task('t-3')).toEqual({
      task: planTask(3, { updatedAt: 1 }),
      dependsOn: [t(2), t(1)],
      unsettled: false,
      blocked: true,
      claim: null,
    })
    expect(await task('t-9')).toBeNull()
    await store.view(async ({ plan }) => {
      expect(await plan.dependsOn(t(3), t(1))).toBe(true)
      expect(await plan.dependsOn(t(1), t(3))).toBe(false)
      expect(await plan.chain(t(4), t(1))).toEqual([t(4), t(3), t(1)])
      expect(await plan.chain(t(4), t(3))).toEqual([t(4), t(3)])
      expect(await plan.chain(t(1), t(4))).toBeNull()
      expect(await plan.chain(t(1), t(1))).toEqual([t(1)])
    })
    await expect(happened(store, 2, depends(t(4), t(3)))).rejects.toSatisfy((error: Error) =>
      /unique/i.test(`${error.message} ${messageOf(error.cause)}`),
    )
    await happened(
      store,
      3,
      { kind: 'dependency.removed', taskId: t(3), dependsOnId: t(1) },
      { kind: 'dependency.removed', taskId: t(3), dependsOnId: t(1) },
      { kind: 'task.dropped', taskId: t(4), reason: 'not needed' },
    )
    expect(await task('t-3')).toMatchObject({ dependsOn: [t(2)], blocked: false, task: { updatedAt: 3 } })
    expect(await task('t-4')).toMatchObject({
      task: { status: 'done', resolution: 'dropped' },
      blocked: false,
    })
  })

  test('the next task is what the longest chain waits for, in a plan and for a role', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const missionId = 'm-1' as MissionId
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      ...[1, 2, 3, 4].map((number) => planned(number, { role: number === 1 ? 'developer' : null })),
      planned(5, { missionId, role: 'tester' }),
      depends(t(3), t(2)),
      depends(t(4), t(3)),
    )
    const next = async (filter: object) =>
      (await store.view(({ plan }) => plan.next({ now: 0, ...filter })))?.task.id ?? null
    expect(await next({})).toBe(t(2))
    expect(await next({ role: 'developer' })).toBe(t(2))
    expect(await next({ owner: missionId })).toBe(t(5))
    expect(await next({ owner: missionId, role: 'developer' })).toBeNull()
    await happened(store, 2, { kind: 'task.claimed', taskId: t(2), claim: aClaim() })
    expect(await next({ role: 'developer' })).toBe(t(1))
    await happened(store, 3, { kind: 'task.marked', taskId: t(2), status: 'done' })
    expect(await next({ owner: null })).toBe(t(3))
  })

  test.runIf(isQuick)('a chain longer than can be compared still orders the work before it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const length = 1010
    const numbers = Array.from({ length }, (_, number) => number)
    await happened(store, 1, planned(5000), ...numbers.map((number) => planned(number)))
    await happened(store, 2, ...numbers.slice(1).map((number) => depends(t(number), t(number - 1))))
    const next = async () => (await store.view(({ plan }) => plan.next({ now: 0 })))?.task.id
    expect(await next()).toBe(t(0))
    const cut: NewProjectEvent = { kind: 'dependency.removed', taskId: t(1), dependsOnId: t(0) }
    await happened(store, 3, cut)
    expect(await next()).toBe(t(1))
    expect((await store.view(({ plan }) => plan.chain(t(1009), t(1))))?.length).toBe(1009)
  })

  test('edits change what they name; a task that moves leaves its milestone behind', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const before = planTask(1, { phaseId: p(1), milestoneId: 'M1' as MilestoneId, role: 'r', goal: 'g' })
    const edited = (at: number, changes: object) =>
      happened(store, at, { kind: 'task.edited', taskId: t(1), changes })
    const task = async () => (await store.view(({ plan }) => plan.task('t-1')))?.task
    await happened(
      store,
      1,
      { kind: 'phase.created', phase: planPhase(1) },
      { kind: 'phase.created', phase: planPhase(2) },
      { kind: 'milestone.created', milestone: aMilestone(1) },
      { kind: 'milestone.created', milestone: aMilestone(2, { phaseId: p(2) }) },
      { kind: 'task.planned', task: before },
    )
    await edited(2, { name: 'New', goal: null, role: null, sortOrder: 4 })
    const after = { ...before, name: 'New', goal: null, role: null, sortOrder: 4, updatedAt: 2 }
    expect(await task()).toEqual(after)
    await edited(3, { phaseId: p(2) })
    expect(await task()).toEqual({ ...after, phaseId: p(2), milestoneId: null, updatedAt: 3 })
    await edited(4, { phaseId: p(1), milestoneId: 'M1' as MilestoneId })
    expect(await task()).toMatchObject({ phaseId: p(1), milestoneId: 'M1' })
    await edited(5, { phaseId: p(1) })
    expect(await task()).toMatchObject({ phaseId: p(1), milestoneId: 'M1', updatedAt: 5 })
    await edited(6, { milestoneId: null })
    expect(await task()).toMatchObject({ milestoneId: null })
  })

  test('a task set done by word is done so, and to do again without a trace', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, planned(1), { kind: 'task.marked', taskId: t(1), status: 'done' })
    const task = async () => (await store.view(({ plan }) => plan.task('t-1')))?.task
    expect(await task()).toMatchObject({ status: 'done', resolution: 'unmeasured' })
    expect(await found(store, { status: 'done' })).toEqual([1])
    await happened(store, 2, { kind: 'task.marked', taskId: t(1), status: 'to_do' })
    expect(await task()).toEqual(planTask(1, { updatedAt: 2 }))
    expect(await found(store, { status: 'done' })).toEqual([])
  })

  test('notes are read newest first', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const first = aNote(1, { kind: 'issue', role: 'developer' })
    await happened(
      store,
      1,
      planned(1),
      planned(2),
      ...[first, aNote(2), aNote(3), aNote(4, { taskId: t(2) })].map(
        (note): NewProjectEvent => ({ kind: 'note.added', note }),
      ),
    )
    await store.view(async ({ plan }) => {
      const page = await plan.notes(t(1), { limit: 2 })
      expect(page.items.map(({ item }) => item)).toEqual([aNote(3), aNote(2)])
      expect(page.total).toBe(3)
      const rest = await plan.notes(t(1), { limit: 2, before: page.items[1]?.seq ?? 0 })
      expect(rest.items.map(({ item }) => item)).toEqual([first])
    })
  })

  test('a whole plan is read as a graph, and every task in order of creation', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      { kind: 'phase.created', phase: planPhase(1) },
      planned(1, { role: 'r' }),
      planned(2, { phaseId: p(1), sortOrder: 7, parentTaskId: t(1) }),
      planned(3, { phaseId: p(1) }),
      depends(t(1), t(2)),
      { kind: 'task.claimed', taskId: t(3), claim: aClaim({ expiresAt: 50 }) },
    )
    await store.view(async ({ plan }) => {
      const graph = await plan.graph(null, 10, 49)
      expect(graph.map(({ id }) => id)).toEqual([t(2), t(3), t(1)])
      expect(graph[0]).toMatchObject({ phaseId: p(1), sortOrder: 7, parentTaskId: t(1), held: false })
      expect(graph[1]).toMatchObject({ status: 'in_progress', held: true })
      expect(graph[2]).toMatchObject({ role: 'r', dependsOn: [t(2)] })
      expect((await plan.graph(null, 10, 50))[1]).toMatchObject({ status: 'to_do', held: false })
      expect(await plan.graph(null, 1, 0)).toHaveLength(1)
      expect(await plan.graph('m-9' as MissionId, 10, 0)).toEqual([])
    })
  })
})
