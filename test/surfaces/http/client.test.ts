import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, expectTypeOf, test } from 'vitest'
import { type ApiClient, ApiFailure, createClient } from '../../../src/surfaces/http/client/client.ts'
import { openHttpProject } from './http-project.ts'

test('the client carries no code of the server and stays under 3 kB', async () => {
  const build = await rolldown({
    input: join(import.meta.dirname, '../../../src/surfaces/http/client/client.ts'),
    platform: 'browser',
  })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  expect(output).toHaveLength(1)
  const [{ code, imports, moduleIds }] = output
  expect(imports).toEqual([])
  expect(moduleIds).toHaveLength(1)
  expect(code).not.toMatch(/zod|hono|node:/)
  expect(code).toContain('X-Waymark-Csrf')
  expect(Buffer.byteLength(code)).toBeLessThan(3_000)
})

test('calls are typed by the catalog', () => {
  expectTypeOf<ApiClient>().toBeCallableWith('start_task', { name: 'Build', goal: 'It is built' })
  const client = createClient()
  // What does not compile is no operation, or takes something else.
  type Answer = Awaited<ReturnType<typeof client<'list_missions'>>>
  expectTypeOf<Answer['missions']>().toExtend<readonly { mission_id: string }[]>()
})

test('it calls operations of a real server and gets their answers', async () => {
  const { address, agentToken } = await openHttpProject()
  const client = createClient({ base: address, token: agentToken })
  const { mission_id } = await client('start_mission', {
    name: 'Shop',
    objective: 'A shop',
    profile: 'simple',
  })
  const { missions } = await client('list_missions', {})
  expect(missions.map((mission) => mission.mission_id)).toEqual([mission_id])
})

test('the same idempotency key is answered the same', async () => {
  const { address, agentToken } = await openHttpProject()
  const client = createClient({ base: address, token: agentToken })
  const start = () =>
    client(
      'start_mission',
      { name: 'Shop', objective: 'A shop', profile: 'simple' },
      { idempotencyKey: 'k-1' },
    )
  expect(await start()).toEqual(await start())
})

test('a refusal is an ApiFailure with the words of the server', async () => {
  const { address, agentToken } = await openHttpProject()
  const client = createClient({ base: address, token: agentToken })
  const failure = await client('show', { id: 'm-nothing' }).catch((error: unknown) => error)
  if (!(failure instanceof ApiFailure)) throw failure
  expect(failure).toMatchObject({
    code: 'NOT_FOUND',
    status: 404,
    reason: 'mission_or_task_not_found',
    fix: { operation: 'list_missions', input: {} },
  })
  expect(failure.message).toContain('m-nothing')
})

test('a server that is not there is told apart from a refusal', async () => {
  const { address, agentToken, stop } = await openHttpProject()
  await stop()
  const failure = await createClient({ base: address, token: agentToken })('status', {}).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'UNREACHABLE', status: 0, message: 'The server cannot be reached.' })
})
