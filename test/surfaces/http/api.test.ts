import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { statusOf } from '../../../src/surfaces/http/refusal.ts'
import { amount } from '../../support/amount.ts'
import type { Answer } from '../../support/project.ts'
import { shared } from '../../support/shared.ts'
import { type HttpOptions, type HttpProject, openHttpProject } from './http-project.ts'

interface Api extends HttpProject {
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, input?: unknown, headers?: object) => Promise<Answer>
}

interface Asked extends RequestInit {
  readonly headers?: Record<string, string>
}

/** A server with calls by its person's token, each answered with its status and body. */
async function openApi(options: HttpOptions = {}): Promise<Api> {
  const project = await openHttpProject(options)
  const { address, personToken } = project
  const ask = async (path: string, request: Asked = {}): Promise<Answer> => {
    const headers = { Authorization: `Bearer ${personToken}`, ...request.headers }
    const response = await fetch(`${address}${path}`, { ...request, headers })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  const post: Api['post'] = (path, input = {}, headers = {}) =>
    ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(input),
    })
  return { ...project, get: (path) => ask(path), post }
}

/** For the tests that record nothing. */
const readApi = shared(() => openApi())

const mission = { name: 'Shop', objective: 'A shop' }

test('every operation is reached by its name, and none dies of a field that it does not know', async () => {
  const { post, logged } = await readApi()
  for (const { name } of catalog) {
    const { status, body } = await post(`/api/${name}`, { no_such_field: 1 })
    expect([name, status, body.success]).toEqual([name, 400, false])
    expect(body.error.reason).toBe('input_invalid')
    expect(body.error.details.fields).toContain('no_such_field')
  }
  expect(logged.filter(({ level }) => level === 'error')).toEqual([])
})

const strangeInputs = [
  null,
  {},
  { id: 7, name: [], task_id: {}, file: '\u0000', process: '../../../../etc/passwd' },
]

test('no operation dies of strange input', async () => {
  const { post, logged } = await openApi()
  for (const [at, { name }] of catalog.entries()) {
    // In `npm test` one of them for each.
    for (const input of strangeInputs.filter((_, kind) => (at + kind) % amount({ test: 3, soak: 1 }) === 0)) {
      const { status } = await post(`/api/${name}`, input)
      expect([name, input, status < 500]).toEqual([name, input, true])
    }
  }
  expect(logged.filter(({ level }) => level === 'error')).toEqual([])
})

test('an operation answers what it answers on every surface', async () => {
  const { post } = await openApi()
  const started = await post('/api/start_mission', mission)
  expect(started.status).toBe(200)
  const shown = await post('/api/show', { id: started.body.mission_id })
  expect(shown.body).toMatchObject({ name: 'Shop' })
})

test('the work of every project is what its status says', async () => {
  const { get, post } = await openApi({ folders: ['shop', 'till'] })
  await post('/p/till/api/start_mission', mission)
  const { body } = await get('/api/projects/work')
  for (const { key, work, failure } of body.projects) {
    const status = (await post(`/p/${key}/api/status`)).body
    expect([key, failure, status]).toEqual([key, null, expect.objectContaining(work)])
  }
  expect(body.projects.map(({ work }: Answer) => work.missions_total)).toEqual([0, 1])
})

test('a failure has its code, its sentence, the way on, and the status of its code', async () => {
  const { post } = await readApi()
  const { status, body } = await post('/api/show', { id: 'm-nothing' })
  expect(status).toBe(statusOf.NOT_FOUND)
  expect(body).toEqual({
    success: false,
    error: {
      code: 'NOT_FOUND',
      reason: 'mission_or_task_not_found',
      message: expect.stringContaining('m-nothing'),
      hint: expect.any(String),
      fix: { operation: 'list_missions', input: {} },
    },
  })
  const wrong = await post('/api/start_mission', { nam: 'Shop', objective: 'A shop' })
  expect(wrong.status).toBe(400)
  expect(wrong.body.error).toMatchObject({ code: 'INVALID_INPUT', reason: 'input_invalid' })
  expect(wrong.body.error.message).toContain('did you mean "name"?')
  expect(wrong.body.error.details.fields).toContain('name')
})

test('an unknown operation is told with the nearest one', async () => {
  const { post } = await readApi()
  const { status, body } = await post('/api/start_mision', mission)
  expect(status).toBe(404)
  expect(body.error).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'operation_unknown',
    message: expect.stringMatching(/"start_mision".*"start_mission"/),
  })
})

test('below the operations there is nothing', async () => {
  const { get, post } = await readApi()
  expect((await get('/api/tasks/1')).status).toBe(404)
  expect((await post('/p/shop/api/status/')).body.error).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'page_not_found',
    message: expect.stringContaining('/p/shop/api/status/'),
  })
})

test('another method is refused with the one that is meant', async () => {
  const { get, address, personToken } = await readApi()
  const read = await get('/api/status')
  expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST'])
  for (const method of ['PUT', 'DELETE', 'PATCH', 'POST']) {
    const headers = { Authorization: `Bearer ${personToken}` }
    const response = await fetch(`${address}/api/session`, { method, headers })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
})

test('the same idempotency key is answered the same, and refused with another input', async () => {
  const { post } = await openApi()
  const key = { 'Idempotency-Key': 'once' }
  const first = await post('/api/start_mission', mission, key)
  const again = await post('/api/start_mission', mission, key)
  expect(again.body).toEqual(first.body)
  const other = await post('/api/start_mission', { ...mission, name: 'Other' }, key)
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
})

test('an operation without fields takes no body', async () => {
  const { address, personToken } = await readApi()
  const headers = { Authorization: `Bearer ${personToken}` }
  const response = await fetch(`${address}/api/status`, { method: 'POST', headers })
  expect(response.status).toBe(200)
})

test('the log is followed page by page from a position on', async () => {
  const { post } = await openApi()
  for (const name of ['One', 'Two', 'Three']) await post('/api/start_mission', { ...mission, name })
  const exported = (await post('/api/export')).body.text.trimEnd().split('\n').slice(1, -1)
  const hashes = exported.map((line: string) => JSON.parse(line).hash)
  const read: string[] = []
  for (;;) {
    const { body } = await post('/api/log', { since: read.length, limit: 2 })
    read.push(...body.events.map(({ hash }: Answer) => hash))
    expect(body.head).toBe(exported.length)
    if (body.events.length === 0) break
  }
  expect(read).toEqual(hashes)
})

test('a diff is read over the same way', async () => {
  const { post, write } = await openApi()
  const { body } = await post('/api/start_task', { name: 'Build', goal: 'Built' })
  write('shop/README.md', '# Shop\n\nOpen.\n')
  await post('/api/complete_task', {
    task_id: body.task_id,
    status: 'success',
    outcome: { summary: 'Built' },
  })
  const diff = await post('/api/diff', { id: body.task_id })
  expect(JSON.stringify(diff.body)).toContain('+Open.')
})

test('each project has its routes, and the first one those without a name', async () => {
  const { get, post } = await openApi({ folders: ['shop', 'Bäckerei & Co', 'deep/shop'] })
  const { body } = await get('/api/projects')
  const keys = body.projects.map(({ key }: Answer) => key)
  expect(keys).toEqual(['shop', 'ba-ckerei-co', expect.stringMatching(/^shop-[0-9a-f]{8}$/)])
  for (const key of keys) await post(`/p/${key}/api/start_mission`, { ...mission, name: key })
  for (const key of keys) {
    const { missions } = (await post(`/p/${key}/api/list_missions`)).body
    expect(missions.map(({ name }: Answer) => name)).toEqual([key])
    expect((await get(`/p/${key}/api/session`)).body.project).toBe(key)
  }
  expect((await post('/api/list_missions')).body.missions[0].name).toBe('shop')
  const unknown = await post('/p/shup/api/status')
  expect(unknown.status).toBe(404)
  expect(unknown.body.error).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'project_not_found',
    message: expect.stringMatching(/"shup".*"shop"/),
  })
})

test.each(['/p/../api/status', '/p/..%2fshop/api/status', '/p/%2e%2e/api/status', '/p//api/status'])(
  'a key of a project that is a path leads nowhere: %s',
  async (path) => {
    const { post } = await readApi()
    expect((await post(path)).status).toBeGreaterThanOrEqual(200)
    expect(JSON.stringify((await post(path)).body)).not.toContain('root:')
  },
)

test('the description of the interface is valid OpenAPI 3.1 and has every operation', async () => {
  const { get } = await readApi()
  const { body } = await get('/api/openapi.json')
  const validator = new Validator()
  expect(await validator.validate(structuredClone(body))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  for (const { name, title, input } of catalog) {
    const operation = body.paths[`/api/${name}`].post
    expect(operation).toMatchObject({ operationId: name, summary: title })
    const { schema } = operation.requestBody.content['application/json']
    expect(Object.keys(schema.properties)).toEqual(Object.keys(input.shape))
  }
  expect(body.components.schemas.Error.properties.error.properties.code.enum).toEqual(Object.keys(statusOf))
  expect(JSON.stringify(body)).not.toContain('"aliases"')
})

test('no operation has the name of another route', () => {
  const own = ['openapi.json', 'events', 'projects', 'session', 'login-code']
  expect(catalog.map(({ name }) => name).filter((name) => own.includes(name))).toEqual([])
})

test('a monitor reads counts of requests by few names, and where each log is', async () => {
  const { get, post } = await openApi()
  await post('/api/start_mission', mission)
  await post('/p/shop/api/start_mission', mission)
  await post('/api/no-such-thing')
  const { body, headers } = await get('/metrics')
  expect(headers.get('content-type')).toContain('text/plain')
  const lines = body.split('\n')
  expect(lines).toContain(
    'waymark_http_requests_total{route="/api/start_mission",method="POST",status="200"} 2',
  )
  expect(lines).toContain('waymark_http_requests_total{route="/api/*",method="POST",status="404"} 1')
  expect(lines).toContain('waymark_live_connections 0')
  expect(lines).toContainEqual(expect.stringMatching(/^waymark_log_seq\{project="shop"\} [1-9]/))
  expect(lines).toContainEqual(expect.stringMatching(/^process_resident_memory_bytes \d/))
  expect(body).not.toContain('no-such-thing')
})

test('answers carry what keeps a browser from running anything but our files', async () => {
  const { address, port } = await readApi()
  for (const path of ['/', '/healthz', '/api/status', '/login']) {
    const { headers } = await fetch(`${address}${path}`)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`default-src 'self'`)
    expect(policy).toContain(`frame-ancestors 'none'`)
    expect(policy).toContain(`ws://127.0.0.1:${port}`)
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  }
})
