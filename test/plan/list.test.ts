import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
import { notFound, person, wrongFields } from '../support/project.ts'
import { shared } from '../support/shared.ts'
import { fillPlan } from './fill-plan.ts'
import { openPlan } from './plan-project.ts'

describe('the order of a list', () => {
  test('phases by sort order, P10 after P2; then tasks by sort order; then by creation', async () => {
    const { call, plan, titles } = await openPlan()
    for (const number of [10, 2]) {
      await call('taskman_phase_add', { id: `P${number}`, name: 'Later', 'sort-order': number })
    }
    await plan('unplaced phase')
    await plan('ten', { phase: 'P10' })
    await plan('two, made first', { phase: 'P2' })
    await plan('two, placed 10', { phase: 'P2', 'sort-order': 10 })
    await plan('two, placed 9', { phase: 'P2', 'sort-order': 9 })
    await plan('two, made last', { phase: 'P2' })
    const order = [
      'two, placed 9',
      'two, placed 10',
      'two, made first',
      'two, made last',
      'ten',
      'unplaced phase',
    ]
    expect(await titles()).toEqual(order)
    await call('taskman_phase_edit', { id: 'P1', 'sort-order': 1 })
    expect(await titles()).toEqual(['unplaced phase', ...order.slice(0, -1)])
  })
})

describe('filters', () => {
  const openMany = shared(async () => {
    const project = await openPlan()
    const { call, plan, edit } = project
    await call('taskman_phase_add', { id: 'P2', name: 'Build' })
    await call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
    const screens = await plan('Draw the screens', { role: 'project-designer', milestone: 'M1' })
    const words = await plan('Choose words', { description: 'For every Screen, 100% of them' })
    const build = await plan('Build it', { phase: 'P2', role: 'developer' })
    const check = await plan('Check it', { phase: 'P2', role: 'qa-engineer' })
    await call('taskman_task_dep_add', { 'task-id': check, 'dep-id': build })
    await edit(words, { status: 'done' })
    await edit(build, { status: 'in_progress' })
    return { ...project, screens, check }
  })

  test.each([
    [{}, ['Draw the screens', 'Choose words', 'Build it', 'Check it']],
    [{ phase: 'P1' }, ['Draw the screens', 'Choose words']],
    [{ status: 'to_do' }, ['Draw the screens', 'Check it']],
    [{ status: 'in_progress' }, ['Build it']],
    [{ status: 'done' }, ['Choose words']],
    [{ role: 'developer' }, ['Build it']],
    [{ milestone: 'M1' }, ['Draw the screens']],
    [{ ready: true }, ['Draw the screens']],
    [{ blocked: true }, ['Check it']],
    [{ unassigned: true }, ['Choose words']],
    [{ phase: 'P2', status: 'to_do', role: 'qa-engineer', blocked: true }, ['Check it']],
    [{ phase: 'P2', ready: true }, []],
    [{ phase: 'P2', ready: false, blocked: false, unassigned: false }, ['Build it', 'Check it']],
    [{ phase: 'P1', status: '', role: null }, ['Draw the screens', 'Choose words']],
    [{ search: 'screen' }, ['Draw the screens', 'Choose words']],
    [{ search: 'it build' }, ['Build it']],
    [{ search: '100%' }, ['Choose words']],
    [{ search: 'nothing like it' }, []],
  ])('TM-063 TM-064 TM-065 %j', async (filter, expected) => {
    const { titles, call } = await openMany()
    expect(await titles(filter)).toEqual(expected)
    expect((await call('taskman_task_list', filter)).total).toBe(expected.length)
  })

  test.each([
    [{ phase: 'P9' }, notFound('phase')],
    [{ milestone: 'M9' }, notFound('milestone')],
    [{ role: 'plumber' }, { reason: 'role_unknown' }],
    [{ status: 'started?' }, wrongFields('status')],
    [{ cursor: 't-nothere' }, { reason: 'cursor_invalid' }],
    [{ limit: 0 }, wrongFields('limit')],
    [{ format: 'xml' }, wrongFields('format')],
    [{ mission: 'm-nowhere' }, notFound('mission')],
  ])('TM-063 TM-064 TM-065 TM-066 a filter that means nothing is refused: %j', async (filter, expected) => {
    const { refused } = await openMany()
    expect(await refused('taskman_task_list', filter)).toMatchObject(expected)
  })

  test('a mission lists its own tasks; the plan does not', async () => {
    const { call, titles } = await openPlan()
    const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
    await call('taskman_phase_add', { id: 'M', name: 'Prepare', mission: mission_id })
    await call('taskman_task_add', { title: 'Of the mission', phase: 'M' })
    expect(await titles({ mission: mission_id })).toEqual(['Of the mission'])
    expect(await titles({ phase: 'M' })).toEqual(['Of the mission'])
    expect(await titles({ phase: 'P1', mission: mission_id })).toEqual([])
    expect(await titles({ mission: 'none' })).toEqual([])
  })
})

describe('the text', () => {
  test('TM-066 a bare array, or text with --- between the tasks', async () => {
    const { call, plan, printed, refused } = await openPlan()
    await plan('Draw')
    await plan('Build')
    const { tasks } = await call('taskman_task_list')
    expect(await printed('taskman_task_list')).toEqual([JSON.stringify(tasks)])
    const [text = ''] = await printed('taskman_task_list', { format: 'text' })
    expect(text.split('\n---\n').map((entry) => entry.split('\n')[0])).toEqual([
      'title: Draw',
      'title: Build',
    ])
    expect(await printed('taskman_task_list', { status: 'done' })).toEqual(['[]'])
    // "open" might mean tasks in progress too.
    expect(await refused('taskman_task_list', { status: 'open' })).toMatchObject({
      message: expect.stringContaining('choose to_do, in_progress or done'),
    })
  })

  test('where a list is cut, a second block says how it goes on; the first stays JSON', async () => {
    const { plan, printed } = await openPlan()
    for (const title of ['a', 'b', 'c']) await plan(title)
    const [json = '', more] = await printed('taskman_task_list', { limit: 2 })
    const shown = JSON.parse(json)
    expect(shown).toHaveLength(2)
    const cursor = /^2 of 3; next: cursor "([\w-]+)"$/.exec(more ?? '')?.[1]
    const [rest = ''] = await printed('taskman_task_list', { cursor })
    expect(JSON.parse(rest)).toMatchObject([{ title: 'c' }])
  })
})

describe('a large plan', () => {
  test('pages show every task once, in order, and an answer stays below 2,000 tokens', async () => {
    const { call, printed, context } = await openPlan()
    await fillPlan(context.store, 1100)
    const { tasks, ...counted } = await call('taskman_task_list', { limit: 1000 })
    expect(tasks).toHaveLength(1000)
    expect(counted).toMatchObject({ total: 1100 })
    for (const limit of [20, 300])
      expect(await call('taskman_task_list', { search: 'TASK', limit })).toMatchObject({
        total: limit,
        total_is_minimum: true,
      })
    expect(await call('taskman_task_list', { search: 'number 77 task' })).toMatchObject({ total: 20 })
    expect(await call('taskman_task_list', { phase: 'P1' })).toMatchObject({ total: 1100 })
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Answer = await call('taskman_task_list', { limit: 300, ...(cursor && { cursor }) })
      seen.push(...page.tasks.map(({ id }: Answer) => id))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(new Set(seen).size).toBe(1100)
    expect(seen.slice(0, 1000)).toEqual(tasks.map(({ id }: Answer) => id))
    expect((await printed('taskman_task_list'))[1]).toContain('of 1100; next')
    expect((await printed('taskman_task_list', { search: 'task' }))[1]).toContain('of more than 20; next')
    for (const filter of [{}, { ready: true }, { search: 'task' }, { format: 'text' }]) {
      const blocks = await printed('taskman_task_list', filter)
      expect(blocks).toHaveLength(2)
      expect(countTokens(blocks.join('\n'))).toBeLessThanOrEqual(2000)
    }
  })

  test('long descriptions are cut in a list, not in the task', async () => {
    const { plan, call, get, printed } = await openPlan()
    const description = 'A very long story. '.repeat(1000).trim()
    const ids = await Promise.all(Array.from({ length: 30 }, () => plan('Long', { description })))
    expect((await call('taskman_task_list')).tasks[0].description.length).toBeLessThan(300)
    expect((await get(ids[0] ?? '')).description).toBe(description)
    expect(countTokens((await printed('taskman_task_list')).join('\n'))).toBeLessThanOrEqual(2000)
  })

  test('a person’s command lists all, with their whole descriptions', async () => {
    const { call, context, plan } = await openPlan()
    await fillPlan(context.store, 50)
    const description = 'long '.repeat(200).trim()
    await plan('Long', { description })
    const { tasks, next_cursor } = await call('taskman_task_list', {}, { actor: person })
    expect([tasks.length, next_cursor]).toEqual([51, null])
    expect(tasks.at(-1).description).toBe(description)
    expect((await call('taskman_task_list', { limit: 10 }, { actor: person })).tasks).toHaveLength(10)
  })
})
