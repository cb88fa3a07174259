import { expect, test } from 'vitest'
import { openStdioProject } from '../support/stdio-project.ts'

const taskmanTools = [
  'taskman_init',
  'taskman_phase_add',
  'taskman_phase_edit',
  'taskman_phase_list',
  'taskman_milestone_add',
  'taskman_milestone_edit',
  'taskman_milestone_list',
  'taskman_task_add',
  'taskman_task_get',
  'taskman_task_list',
  'taskman_task_edit',
  'taskman_task_dep_add',
  'taskman_task_dep_remove',
]

async function openTools() {
  const project = await openStdioProject({})
  /** The text blocks of an answer, and whether it is an error. */
  const said = async (name: string, input?: Record<string, unknown>) => {
    const params = { name, ...(input && { arguments: input }) }
    const { content, isError } = await project.client.callTool(params)
    return { isError, blocks: content.map((block) => (block.type === 'text' ? block.text : block.type)) }
  }
  return { ...project, said }
}

test('TM-022 TM-024 TM-035 the thirteen tools are listed with a description and their fields', async () => {
  const { client } = await openTools()
  const { tools } = await client.listTools()
  const listed = new Map(tools.map((tool) => [tool.name, tool]))
  for (const name of taskmanTools) {
    const tool = listed.get(name)
    expect(tool?.description, name).toMatch(/^[A-Z].{10,}/)
    expect(tool?.inputSchema.type, name).toBe('object')
  }
  const fields = (name: string) => Object.keys(listed.get(name)?.inputSchema.properties ?? {})
  expect(fields('taskman_phase_add')).toEqual(['id', 'name', 'status', 'sort-order', 'mission'])
  expect(fields('taskman_task_dep_add')).toEqual(['task-id', 'dep-id', 'brief'])
  expect(listed.get('taskman_task_dep_remove')?.inputSchema).toEqual(
    listed.get('taskman_task_dep_add')?.inputSchema,
  )
  expect(listed.get('taskman_phase_add')?.inputSchema.required).toEqual(['id', 'name'])
  expect(listed.get('taskman_task_add')?.inputSchema.required).toEqual(['title', 'phase'])
})

test('the field with which a message says to wait for a ready task is listed', async () => {
  const { client, call } = await openTools()
  await call('taskman_phase_add', { id: 'P1', name: 'Build' })
  const add = (title: string) => call('taskman_task_add', { title, phase: 'P1' })
  const [first, second] = [await add('first'), await add('second')]
  await call('taskman_task_dep_add', { 'task-id': second.id, 'dep-id': first.id })
  await call('taskman_task_next', { claim: true, agent_name: 'another' })
  const { message } = await call('taskman_task_next', {})
  const [, fields = ''] = /Wait with taskman_task_next \{ (.*) \}/.exec(message) ?? []
  const { tools } = await client.listTools()
  const listed = tools.find(({ name }) => name === 'taskman_task_next')?.inputSchema.properties ?? {}
  const named = fields.split(', ').map((field) => field.split(':')[0])
  expect(named).toEqual(['claim', 'wait_seconds'])
  expect(Object.keys(listed)).toEqual(expect.arrayContaining(named))
})

test('TM-037 TM-038 TM-046 taskman_init and phase_list need no field, and init is described as the seed says', async () => {
  const { client, said } = await openTools()
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'taskman_init')).toMatchObject({
    description:
      'Create and initialize the database tables (phases, milestones, tasks, task_deps). Run once when starting a new project.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  })
  expect(await said('taskman_phase_list')).toEqual({ isError: false, blocks: ['[]'] })
})

test('TM-002 TM-007 TM-008 TM-080 the thirteen tools work together, over one database', async () => {
  const { said, call } = await openTools()
  const text = async (name: string, input?: Record<string, unknown>) => {
    const { isError, blocks } = await said(name, input)
    expect({ name, isError, blocks: blocks.length }).toEqual({ name, isError: false, blocks: 1 })
    return blocks[0] ?? ''
  }
  expect(await text('taskman_init')).toBe('Database initialized.')
  const phase = JSON.parse(await text('taskman_phase_add', { id: 'P1', name: 'Design', 'sort-order': 1 }))
  expect(JSON.parse(await text('taskman_phase_edit', { id: 'P1', status: 'in_progress' }))).toEqual({
    ...phase,
    status: 'in_progress',
  })
  expect(JSON.parse(await text('taskman_phase_list'))).toMatchObject([{ id: 'P1', status: 'in_progress' }])
  await text('taskman_milestone_add', { id: 'M1', phase: 'P1', name: 'Sketches', reached: '0' })
  await text('taskman_milestone_edit', { id: 'M1', reached: '1' })
  expect(JSON.parse(await text('taskman_milestone_list', { phase: 'P1' }))).toMatchObject([{ reached: 1 }])
  const draw = JSON.parse(await text('taskman_task_add', { title: 'Draw', phase: 'P1', milestone: 'M1' }))
  const ship = JSON.parse(await text('taskman_task_add', { title: 'Ship', phase: 'P1' }))
  await text('taskman_task_dep_add', { 'task-id': ship.id, 'dep-id': draw.id })
  await text('taskman_task_edit', { id: draw.id, status: 'in_progress' })
  const listed = JSON.parse(await text('taskman_task_list', { phase: 'P1' }))
  expect(listed).toMatchObject([
    { id: draw.id, status: 'in_progress' },
    { id: ship.id, depends_on: [draw.id], blocked: true },
  ])
  expect((await call('taskman_task_list', {})).tasks).toEqual(listed)
  await text('taskman_task_dep_remove', { 'task-id': ship.id, 'dep-id': draw.id })
  expect(JSON.parse(await text('taskman_task_get', { id: ship.id }))).toMatchObject({
    title: 'Ship',
    depends_on: [],
    blocked: false,
  })
  expect(await text('taskman_task_get', { id: ship.id, format: 'text' })).toMatch(
    /^title: Ship\ndescription: \nstatus: to_do\n/,
  )
})

test('TM-008 TM-032 TM-033 what is unknown, or goes round in a circle, is an error in taskman’s words', async () => {
  const { said, call } = await openTools()
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const { id: a } = await call('taskman_task_add', { title: 'A', phase: 'P1' })
  const { id: b } = await call('taskman_task_add', { title: 'B', phase: 'P1' })
  await call('taskman_task_dep_add', { 'task-id': b, 'dep-id': a })
  const firstLine = async (name: string, input: Record<string, unknown>) => {
    const { isError, blocks } = await said(name, input)
    expect(isError).toBe(true)
    return blocks[0]?.split('\n')[0]
  }
  expect(await firstLine('taskman_task_get', { id: 'xyz' })).toBe('task not found: xyz')
  expect(await firstLine('taskman_task_edit', { id: 'xyz' })).toBe('task not found: xyz')
  expect(await firstLine('taskman_task_dep_remove', { 'task-id': 'xyz', 'dep-id': a })).toBe(
    'task not found: xyz',
  )
  expect(await firstLine('taskman_task_add', { title: 'C', phase: 'P9' })).toBe('phase not found: P9')
  expect(await firstLine('taskman_phase_edit', { id: 'P9' })).toBe('phase not found: P9')
  expect(await firstLine('taskman_milestone_edit', { id: 'M9' })).toBe('milestone not found: M9')
  expect(await firstLine('taskman_task_dep_add', { 'task-id': a, 'dep-id': b })).toBe(
    `circular dependency: ${a} → ${b} → ${a}`,
  )
})

test('TM-071 TM-072 TM-073 TM-074 TM-075 null and "" are absent, numbers are texts, no order matters, no key is dropped', async () => {
  const { said, call } = await openTools()
  const phase = { name: 'Design', 'sort-order': '3', status: null, mission: '', id: 'P1' }
  expect(await call('taskman_phase_add', phase)).toMatchObject({ id: 'P1', sort_order: 3, status: 'to_do' })
  expect(await call('taskman_phase_edit', { 'sort-order': 4, id: 'P1' })).toMatchObject({ sort_order: 4 })
  for (const reached of [0, '0', 1, '1']) {
    const milestone = { reached, phase: 'P1', id: `M${typeof reached}${reached}` }
    expect(await call('taskman_milestone_add', milestone)).toMatchObject({ reached: Number(reached) })
  }
  const unknown = await said('taskman_task_add', { title: 'Draw', phase: 'P1', mileston: 'M1' })
  expect(unknown.isError).toBe(true)
  expect(unknown.blocks[0]).toContain('did you mean "milestone"?')
  expect((await call('taskman_task_list', {})).total).toBe(0)
})

test('TM-045 an edit that names nothing to change answers an empty text', async () => {
  const { said, call } = await openTools()
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  expect(await said('taskman_phase_edit', { id: 'P1' })).toEqual({ isError: false, blocks: [''] })
})
