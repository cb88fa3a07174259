import { describe, expect, test } from 'vitest'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { Task } from '../../src/track/domain/task.ts'
import { aMission, anAttempt, aPhase, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aChange, closing, happened } from './events.ts'

const t = (number: number): TaskId => `t-${number}` as TaskId
const a = (number: number): AttemptId => `a-${number}` as AttemptId
const m = (number: number): MissionId => `m-${number}` as MissionId
const toDo = (number: number, changes: Partial<Task> = {}): Task =>
  aTask({ id: t(number), status: 'to_do', updatedAt: number, ...changes })

/** Mission m-1 with phase 1, and mission m-2. */
async function begun(store: Store): Promise<void> {
  await happened(
    store,
    1,
    { kind: 'mission.started', mission: aMission() },
    { kind: 'mission.started', mission: aMission({ id: m(2) }) },
    { kind: 'phase.created', phase: aPhase(1) },
  )
}

describe.each(dialects)('tasks in $dialect', ({ fresh }) => {
  test('a task is read as it was planned', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const task = toDo(1, {
      areas: ['src/**', '!src/gen'],
      goal: 'g',
      step: 's',
      role: 'r',
      phaseId: 'ph-1' as PhaseId,
    })
    await happened(store, 2, { kind: 'task.planned', task })
    await store.view(async ({ tasks }) => {
      expect(await tasks.find('t-1')).toEqual(task)
      expect(await tasks.find('t-2')).toBeNull()
      expect(await tasks.names([t(1), t(2)])).toEqual(new Map([[t(1), task.name]]))
      expect(await tasks.idsLike('t-', 5)).toEqual(['t-1'])
    })
  })

  test.each([
    { ends: 'success' as const, status: 'done', resolution: 'success' },
    { ends: 'partial_success' as const, status: 'done', resolution: 'partial_success' },
    { ends: 'failed' as const, status: 'to_do', resolution: null },
  ])('an attempt that ends with $ends leaves its task $status', async ({ ends, status, resolution }) => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const attempt = anAttempt()
    await happened(store, 2, { kind: 'task.planned', task: toDo(1) }, { kind: 'attempt.opened', attempt })
    await store.view(async ({ tasks }) => {
      expect((await tasks.find('t-1'))?.status).toBe('in_progress')
      expect(await tasks.openAttempt(t(1))).toEqual(attempt)
      expect(await tasks.openAttempts(m(1))).toEqual([attempt])
      expect(await tasks.openAttempts(m(2))).toEqual([])
      expect(await tasks.openAttempts()).toEqual([attempt])
      expect(await tasks.end(a(1))).toBeNull()
    })
    const changes = [
      aChange('b'),
      aChange('z', { scope: 'out', change: 'added' }),
      aChange('a', { change: 'renamed', from: 'o' }),
    ]
    const closed = closing(attempt, changes, ends)
    await happened(store, 7, closed)
    await store.view(async ({ tasks }) => {
      expect(await tasks.find('t-1')).toMatchObject({ status, resolution, updatedAt: 7 })
      expect(await tasks.openAttempt(t(1))).toBeNull()
      expect(await tasks.lastAttempt(t(1))).toEqual({
        ...attempt,
        status: ends,
        endSnapshot: closed.evidence.endSnapshot,
        closedAt: 7,
        lastCallAt: 7,
        completedBy: attempt.actor,
      })
      const { changes: _, ...evidence } = closed.evidence
      expect(await tasks.end(a(1))).toEqual({
        outcome: closed.outcome,
        evidence,
        inputHash: 'input',
        answer: closed.answer,
        counts: { added: 1, modified: 1, deleted: 0, renamed: 1 },
      })
      const all = await tasks.changes(a(1), { limit: 10, offset: 0 })
      expect(all.map(({ path }) => path)).toEqual(['z', 'a', 'b'])
      expect(await tasks.changes(a(1), { limit: 1, offset: 1 })).toEqual([changes[2]])
    })
  })

  test('an abandoned attempt leaves its task to do, with its history', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const second = anAttempt({ id: a(2), number: 2 })
    const abandoned = {
      kind: 'attempt.abandoned',
      attemptId: a(1),
      taskId: t(1),
      missionId: m(1),
      reason: 'r',
    } as const
    await happened(
      store,
      2,
      { kind: 'task.planned', task: toDo(1) },
      { kind: 'attempt.opened', attempt: anAttempt() },
      abandoned,
    )
    expect((await store.view(({ tasks }) => tasks.find('t-1')))?.status).toBe('to_do')
    await happened(store, 3, { kind: 'attempt.opened', attempt: second })
    const attempts = await store.view(({ tasks }) => tasks.attempts(t(1)))
    expect(attempts.map(({ status, closedAt }) => ({ status, closedAt }))).toEqual([
      { status: 'abandoned', closedAt: 2 },
      { status: 'open', closedAt: null },
    ])
  })

  test('a task has at most one open attempt, and a refused record leaves nothing behind', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    await happened(
      store,
      2,
      { kind: 'task.planned', task: toDo(1) },
      { kind: 'attempt.opened', attempt: anAttempt() },
    )
    const second = happened(
      store,
      3,
      { kind: 'task.planned', task: toDo(2) },
      { kind: 'attempt.opened', attempt: anAttempt({ id: a(2), number: 2 }) },
    )
    await expect(second).rejects.toThrow(/UNIQUE/i)
    await store.view(async ({ tasks, eventLog: log }) => {
      expect(await tasks.find('t-2')).toBeNull()
      expect(await log.head()).toBe(6)
      expect((await log.verify()).brokenAt).toBeNull()
    })
  })

  test('lists show a task where it is at home and where it was worked on, once each, newest first', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const ph1 = 'ph-1' as PhaseId
    for (const number of [1, 2, 3]) {
      const missionId = number === 3 ? null : m(1)
      await happened(store, number, { kind: 'task.planned', task: toDo(number, { missionId }) })
    }
    const visit = anAttempt({ id: a(3), taskId: t(3), missionId: m(1), phaseId: ph1, agentName: 'ann' })
    await happened(store, 9, { kind: 'attempt.opened', attempt: visit })
    await happened(store, 12, closing(visit, [aChange('x', { scope: 'out' })], 'failed'))
    await happened(store, 13, {
      kind: 'attempt.opened',
      attempt: { ...visit, id: a(4), number: 2, agentName: 'bob' },
    })
    await store.view(async ({ tasks, missions }) => {
      const ids = async (filter: Parameters<typeof tasks.list>[0], request = { limit: 10 }) =>
        (await tasks.list(filter, request)).items.map(({ item }) => item.task.id)
      expect(await ids({ missionId: m(1) })).toEqual(['t-3', 't-2', 't-1'])
      expect(await ids({ missionId: m(2) })).toEqual([])
      expect(await ids({})).toEqual(['t-3', 't-2', 't-1'])
      expect(await ids({ phaseId: ph1 })).toEqual(['t-3'])
      expect(await ids({ agent: 'ann', missionId: m(1) })).toEqual(['t-3'])
      expect(await ids({ agent: 'zoe' })).toEqual([])
      expect(await ids({ missionId: m(1), since: 3 })).toEqual(['t-3'])
      const page = await tasks.list({ missionId: m(1) }, { limit: 1 })
      expect(page.total).toBe(3)
      expect(page.items[0]?.item).toMatchObject({
        task: { id: 't-3', status: 'in_progress' },
        phaseNumber: 1,
        attempt: { id: 'a-4', agentName: 'bob' },
        counts: null,
        scopeMatches: null,
      })
      const before = page.items[0]?.seq ?? 0
      const next = await tasks.list({ missionId: m(1) }, { limit: 1, before })
      expect(next.items[0]?.item).toMatchObject({ task: { id: 't-2' }, attempt: null, phaseNumber: null })
      expect(await missions.now(m(1))).toMatchObject({ openAttempts: 1, toDoTasks: 2 })
      expect((await tasks.unfinishedOf(m(1))).map((task) => task.id)).toEqual(['t-1', 't-2'])
    })
    await happened(store, 14, closing({ ...visit, id: a(4) }, [aChange('x', { scope: 'out' })]))
    const [line] = (await store.view(({ tasks }) => tasks.list({ agent: 'bob' }, { limit: 5 }))).items
    expect(line?.item).toMatchObject({ scopeMatches: false, counts: { modified: 1 } })
  })

  test('a family of tasks knows its ancestors and its open subtasks', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    await happened(
      store,
      2,
      { kind: 'task.planned', task: toDo(1) },
      { kind: 'task.planned', task: toDo(2, { parentTaskId: t(1) }) },
      { kind: 'task.planned', task: toDo(3, { parentTaskId: t(2) }) },
      { kind: 'task.planned', task: toDo(4, { parentTaskId: t(2) }) },
      { kind: 'attempt.opened', attempt: anAttempt({ taskId: t(3) }) },
    )
    await store.view(async ({ tasks }) => {
      expect(await tasks.ancestors([t(1), t(3), t(4), t(3)])).toEqual(
        new Map([
          ['t-3', ['t-2', 't-1']],
          ['t-4', ['t-2', 't-1']],
        ]),
      )
      expect(await tasks.ancestors([])).toEqual(new Map())
      expect((await tasks.openSubtasks(t(2))).map((task) => task.id)).toEqual(['t-3', 't-4'])
      expect((await tasks.openSubtasks(t(1))).map((task) => task.id)).toEqual(['t-2'])
      expect(await tasks.openSubtasks(t(4))).toEqual([])
    })
  })

  test('of those at work as many as are asked for are read: who called last, in the order of their beginning', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await begun(store)
    const working = [5, 9, 2, 9].map((lastCallAt, number) => ({
      taskId: t(10 + number),
      attempt: anAttempt({ id: a(10 + number), taskId: t(10 + number), lastCallAt }),
    }))
    for (const { taskId, attempt } of working) {
      await happened(
        store,
        2,
        { kind: 'task.planned', task: aTask({ id: taskId }) },
        { kind: 'attempt.opened', attempt },
      )
    }
    await store.view(async ({ tasks }) => {
      const { attempts, total } = await tasks.atWork(3)
      expect(attempts.map(({ id }) => id)).toEqual([a(10), a(11), a(13)])
      expect(total).toBe((await tasks.openAttempts()).length)
    })
  })
})
