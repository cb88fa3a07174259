import { describe, expect, onTestFinished, test } from 'vitest'
import type { TaskId } from '../../src/kernel/id.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { PlanFilter } from '../../src/plan/ports/plan-reads.ts'
import { dialects } from '../store/dialects.ts'
import { happened } from '../store/events.ts'
import { aTask } from '../support/entities.ts'
import { type Answer, openProject, person } from '../support/project.ts'
import { allStatementsSent, costOf, planSteps, scansOf } from '../support/statements.ts'
import { fillPlan } from './fill-plan.ts'

describe.each(dialects)('in a large plan in $dialect', ({ dialect, fresh, isQuick }) => {
  async function opened(tasks: number) {
    const temporary = await fresh()
    onTestFinished(() => temporary[Symbol.asyncDispose]())
    const project = await openProject()
    const sent = allStatementsSent()
    const call = async (name: string, input: object): Promise<Answer> => {
      const operation = catalog.find((candidate) => candidate.name === name)
      if (!operation) throw new Error(`no operation ${name}`)
      return invoke(operation, { ...project.context, store: temporary.store, actor: person }, input)
    }
    await call('taskman_phase_add', { id: 'P1', name: 'Build' })
    const ids = await fillPlan(temporary.store, tasks)
    const add = async (title: string, more: object = {}): Promise<string> =>
      (await call('taskman_task_add', { title, phase: 'P1', ...more })).id
    const titles = async () =>
      (await call('taskman_task_list', { phase: 'P1' })).tasks.map(({ title }: Answer) => title)
    return { call, sent, ids, add, titles, file: temporary.file, store: temporary.store }
  }

  test('a task and its links are read as in a small one', async () => {
    async function costs(tasks: number) {
      const { call, sent, add, file, store } = await opened(tasks)
      const first = await add('first')
      const task = await add('task')
      const [subtask, later] = ['t-subtask', await add('later')]
      const planned = aTask({
        id: subtask as TaskId, // a brand
        missionId: null,
        parentTaskId: task as TaskId, // a brand
        name: 'subtask',
        status: 'to_do',
      })
      await happened(store, Date.now(), { kind: 'task.planned', task: planned })
      await call('taskman_task_dep_add', { 'task-id': task, 'dep-id': first })
      await call('taskman_task_dep_add', { 'task-id': later, 'dep-id': task })
      sent.length = 0
      const { links } = await call('show', { id: task, include: ['links'] })
      const statements = [...sent]
      expect(links).toEqual({
        depends_on: [{ id: first, title: 'first', mark: 'ready' }],
        blocks: [{ id: later, title: 'later', mark: 'blocked' }],
        subtasks: [{ id: subtask, title: 'subtask', mark: 'ready' }],
        parent: null,
      })
      expect((await call('show', { id: subtask, include: ['links'] })).links.parent).toMatchObject({
        id: task,
        mark: 'blocked',
      })
      return { cost: costOf(statements), scans: dialect === 'sqlite' ? scansOf(file, statements) : [] }
    }
    const small = await costs(2)
    expect(await costs(60)).toEqual(small)
    expect(small.scans).toEqual([])
  })

  test.runIf(isQuick)('a task moves with one log entry, whatever is beside it', async () => {
    async function costs(tasks: number) {
      const { call, sent, ids, add, file } = await opened(tasks)
      const task = await add('task')
      // The tasks of the plan are numbered one by one: the first move makes room.
      await call('plan_move', { id: task, before: ids[1] })
      const other = await add('other')
      sent.length = 0
      expect(await call('plan_move', { id: other, before: ids[1] })).toMatchObject({ moved: 1 })
      const statements = [...sent]
      return { cost: costOf(statements), scans: dialect === 'sqlite' ? scansOf(file, statements) : [] }
    }
    const small = await costs(3)
    expect(await costs(60)).toEqual(small)
    expect(small.scans).toEqual([])
  })

  test.runIf(dialect === 'sqlite')(
    'lists and the next task are found by indexes of the open plan',
    async () => {
      const { call, sent, file, ids } = await opened(3)
      await call('taskman_task_edit', { id: ids[2], status: 'done' })
      sent.length = 0
      for (const filter of [{}, { ready: true }, { blocked: true }, { status: 'done' }, { unassigned: true }])
        await call('taskman_task_list', { ...filter, limit: 1 })
      await call('taskman_task_list', { role: 'developer' })
      await call('taskman_task_next', {})
      expect(scansOf(file, sent)).toEqual([])
      const searches = planSteps(file, sent).filter((step) => step.startsWith('SEARCH task USING'))
      expect(searches.length).toBeGreaterThan(10)
      expect(searches.filter((step) => step.includes('task_role_next'))).not.toEqual([])
      expect(
        searches.filter((step) => !/^[^:]*(?:in_open_plan=\?|claim_expires_at[<>]\?)/.test(step)),
      ).toEqual([])
    },
  )

  const most = isQuick ? 1000 : 20

  test(`a list leaves out missions that ended, and counts as far as ${most}`, async () => {
    const { call, ids, store } = await opened(most + 100)
    const { mission_id } = await call('start_mission', { name: 'm', objective: 'o' })
    const task = aTask({ id: 't-left' as TaskId, missionId: mission_id, name: 'left', status: 'to_do' }) // a brand
    await happened(store, Date.now(), { kind: 'task.planned', task })
    const found = async () => (await call('taskman_task_list', { search: 'left' })).tasks.length
    expect(await found()).toBe(1)
    await call('complete_mission', { mission_id, status: 'failed', summary: 'Given up.' })
    expect(await found()).toBe(0)
    const counted = (countTo: number, filter: Partial<PlanFilter> = {}, limit = 1) =>
      store.view(({ plan }) => plan.tasks({ owner: 'open', now: Date.now(), ...filter }, { limit, countTo }))
    expect(await counted(most)).toMatchObject({ total: ids.length })
    const search = 'task'
    expect(await counted(most, { search })).toMatchObject({ total: most, isMore: true })
    expect(await counted(most, { search }, most + 1)).toMatchObject({ total: most, isMore: true })
    expect(await counted(most + 100, { search })).toMatchObject({ total: ids.length })
    expect((await counted(most + 100, { search })).isMore).toBeUndefined()
  })

  test('moved tasks are where they were put, with and without numbers', async () => {
    const { call, add, titles } = await opened(0)
    const [a, b, c] = [await add('a'), await add('b'), await add('c')]
    await call('plan_move', { id: c, before: a })
    expect(await titles()).toEqual(['c', 'a', 'b'])
    await call('plan_move', { id: a })
    expect(await titles()).toEqual(['c', 'b', 'a'])
    for (const [id, before, expected] of [
      [a, b, ['c', 'a', 'b']],
      [b, a, ['c', 'b', 'a']],
      [a, b, ['c', 'a', 'b']],
      [b, a, ['c', 'b', 'a']],
      [a, c, ['a', 'c', 'b']],
      [b, c, ['a', 'b', 'c']],
      [c, a, ['c', 'a', 'b']],
    ] as const) {
      await call('plan_move', { id, before })
      expect(await titles()).toEqual(expected)
    }
    expect(await call('plan_move', { id: c, before: a })).toMatchObject({ moved: 0 })
    await call('taskman_phase_add', { id: 'P2', name: 'Later' })
    await call('plan_move', { id: c, phase: 'P2' })
    expect(await titles()).toEqual(['a', 'b'])
    await expect(call('plan_move', { id: a, before: c })).rejects.toMatchObject({ reason: 'not_a_sibling' })
    await call('plan_move', { id: a, phase: 'P2', before: c })
    expect((await call('taskman_task_list', { phase: 'P2' })).tasks).toMatchObject([{ id: a }, { id: c }])
  })
})
