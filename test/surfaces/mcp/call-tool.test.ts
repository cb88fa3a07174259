import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { eras, legacy } from './eras.ts'
import { runWaymark, startServer, temporaryRepository } from './server-process.ts'

const mission = { name: 'Authentication', objective: 'Users can sign in' }

describe.each(eras)('in %s', (_, open) => {
  test('TM-029 TM-030 an answer is structured content, and the same as compact JSON text', async () => {
    const { call } = await open(startServer())
    const { content, structuredContent, isError } = await call('start_mission', mission)
    expect(isError).toBe(false)
    expect(structuredContent).toMatchObject({ mission_id: expect.stringMatching(/^m-/), profile: 'STANDARD' })
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
  })

  test('TM-031 what an agent can mend is a result that says what failed and what to do', async () => {
    const { call } = await open(startServer())
    const { content, structuredContent, isError } = await call('complete_task', {
      task_id: 't-nowhere',
      status: 'success',
      outcome: { summary: 'Done.' },
    })
    expect(isError).toBe(true)
    expect(structuredContent).toEqual({
      success: false,
      error: {
        code: 'NOT_FOUND',
        reason: 'task_not_found',
        message: expect.stringContaining('task not found: t-nowhere'),
        hint: expect.stringMatching(/\w+/),
        fix: { operation: 'get_context', input: { include: ['tasks'] } },
        details: null,
      },
    })
    const { message, hint } = structuredContent.error
    expect(content).toEqual([{ type: 'text', text: `${message}\n${hint}` }])
  })

  test('MC2-128 TM-072 a wrong value or field is a result that names the valid ones', async () => {
    const { call } = await open(startServer())
    const wrong = await call('start_mission', { ...mission, profile: 'huge', objectives: 'x' })
    expect(wrong.isError).toBe(true)
    expect(wrong.content[0].text).toContain('choose simple, standard or complex')
    expect(wrong.content[0].text).toContain('"objectives": did you mean "objective"?')
  })

  test('the same idempotency key answers the same again, and is refused with another input', async () => {
    const { call } = await open(startServer())
    const meta = { 'waymark/idempotency-key': 'once' }
    const first = await call('start_mission', mission, meta)
    const again = await call('start_mission', mission, meta)
    const other = await call('start_mission', { ...mission, name: 'Another' }, meta)
    expect(again).toEqual(first)
    expect(other.structuredContent.error.code).toBe('IDEMPOTENCY_KEY_REUSED')
    expect((await call('list_missions')).structuredContent.total).toBe(1)
  })

  test('an idempotency key that is no text is a result that says so', async () => {
    const { call } = await open(startServer())
    const { isError, content } = await call('start_mission', mission, { 'waymark/idempotency-key': 7 })
    expect(isError).toBe(true)
    expect(content[0].text).toBe('_meta["waymark/idempotency-key"] must be a string, not 7.')
  })
})

test('TM-071 TM-073 TM-075 null is absent, order is free, and a number may come as text', async () => {
  const { call } = await legacy(startServer())
  const { structuredContent } = await call('start_mission', {
    total_phases: '5',
    profile: null,
    objective: 'o',
    name: 12,
  })
  expect(structuredContent).toMatchObject({ total_phases: 5, profile: 'STANDARD' })
})

test('calls that are sent without waiting are done in their order', async () => {
  const server = startServer()
  await legacy(server)
  const calls: readonly (readonly [string, object])[] = [
    ['start_mission', { name: 'a', objective: 'o' }],
    ['list_missions', {}],
    ['start_mission', { name: 'b', objective: 'o' }],
    ['list_missions', {}],
  ]
  server.write(
    calls
      .map(([name, input], id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, arguments: input },
      }))
      .map((request) => `${JSON.stringify(request)}\n`)
      .join(''),
  )
  const second = await server.message(({ id }) => id === 1)
  const fourth = await server.message(({ id }) => id === 3)
  expect([second, fourth].map(({ result }) => result.structuredContent.total)).toEqual([1, 2])
})

test('TM-011 a defect in one call is an answer and a line on standard error; nothing else reaches the output', async () => {
  const server = startServer({ entry: join(import.meta.dirname, 'faulty-server.ts') })
  const { call } = await legacy(server)
  const { isError, structuredContent } = await call('fail')
  expect(isError).toBe(true)
  expect(structuredContent.error).toMatchObject({
    code: 'INTERNAL',
    message: 'fail failed unexpectedly: The handler broke.',
  })
  // What is written to standard error comes by another pipe than the answer.
  await expect.poll(server.errors).toContain('fail failed unexpectedly: The handler broke.')
  expect((await call('print')).structuredContent).toEqual({ printed: true })
  await expect.poll(server.errors).toContain('printed by a library')
  expect((await call('forget')).structuredContent).toEqual({ forgotten: true })
  expect((await call('print')).isError).toBe(false)
  await expect.poll(server.errors).toContain('Nobody waited for this.')
  expect(await server.end()).toBe(0)
})

test('a call that is cancelled is not answered, and the process still ends with its input', async () => {
  const server = startServer()
  await legacy(server)
  const before = server.messages.length
  server.send({
    jsonrpc: '2.0',
    id: 'slow',
    method: 'tools/call',
    params: { name: 'start_task', arguments: { name: 'n' } },
  })
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } })
  expect(await server.end()).toBe(0)
  expect(server.messages).toHaveLength(before)
})

test('where there is no project the server starts, and every request says how to name one', async () => {
  const home = join(temporaryRepository(), '..')
  const server = startServer({ folder: home, environment: { HOME: home } })
  const { ask, call } = await legacy(server)
  expect((await ask('tools/list')).result.tools.length).toBeGreaterThan(0)
  const { isError, structuredContent } = await call('start_mission', mission)
  expect(isError).toBe(true)
  expect(structuredContent.error).toMatchObject({
    code: 'UNAVAILABLE',
    hint: expect.stringContaining('--project'),
  })
  for (const [method, params] of [
    ['resources/list', {}],
    ['resources/read', { uri: 'waymark://missions/m-1' }],
    ['resources/subscribe', { uri: 'waymark://missions/m-1' }],
  ] as const) {
    const { error } = await ask(method, params)
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('--project'),
      data: { code: 'UNAVAILABLE' },
    })
  }
  expect(await server.end()).toBe(0)
})

test('the gate’s tools answer to both spellings, and are listed with dots when asked', async () => {
  const plain = await legacy(startServer())
  const dotted = await legacy(startServer({ flags: ['--tool-names', 'dotted'] }))
  const listed = async ({ ask }: typeof plain): Promise<readonly string[]> =>
    (await ask('tools/list')).result.tools.map(({ name }: Answer) => name)
  const names = await listed(plain)
  expect(names).toContain('state_gate_list_runs')
  expect(await listed(dotted)).toEqual(names.map((name) => name.replace(/^state_gate_/, 'state_gate.')))
  for (const { call } of [plain, dotted]) {
    expect((await call('state_gate_list_runs')).isError).toBe(false)
    expect((await call('state_gate.list_runs')).isError).toBe(false)
  }
})

test('MC2-003 a tracked task takes four calls, each answered in less than 2,000 tokens', async () => {
  const folder = temporaryRepository()
  const { call } = await legacy(startServer({ folder }))
  const answers = [await call('start_mission', mission)]
  const { mission_id } = answers[0].structuredContent
  answers.push(await call('start_task', { mission_id, name: 'Sign in', areas: ['src/'] }))
  const { task_id } = answers[1].structuredContent
  answers.push(await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } }))
  answers.push(await call('complete_mission', { mission_id, status: 'completed', summary: 'Done.' }))
  for (const { isError, content } of answers) {
    expect(isError, content[0].text).toBe(false)
    expect(content[0].text.length).toBeLessThan(6000)
  }
  expect(runWaymark(folder, 'mission', 'list', '--status', 'all').missions[0].status).toBe('COMPLETED')
})
