import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import waymark from '../../../package.json' with { type: 'json' }
import { bin } from '../../support/program.ts'
import type { Answer } from '../../support/project.ts'
import { ProgramTransport } from '../../support/started-program.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'
import { envelope, handshake, legacy, modern } from './eras.ts'
import { runWaymark, startServer, temporaryRepository } from './server-process.ts'

const supported = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

test('TM-013 TM-014 TM-016 initialize is answered under its id, with the version that was asked for', async () => {
  for (const protocolVersion of supported) {
    const server = startServer()
    server.send({ jsonrpc: '2.0', id: 17, method: 'initialize', params: { ...handshake, protocolVersion } })
    const { id, result } = await server.message((message) => message.id === 17)
    expect(id).toBe(17)
    expect(result.protocolVersion).toBe(protocolVersion)
    expect(result.serverInfo).toEqual({ name: 'waymark', title: 'Waymark', version: waymark.version })
    await server.end()
  }
})

test('TM-017 a version that is not supported is answered with the newest of its era, never with an error', async () => {
  for (const protocolVersion of ['2023-01-01', '2030-01-01', 'tomorrow']) {
    const server = startServer()
    const { result } = await server.ask('initialize', { ...handshake, protocolVersion })
    expect(result.protocolVersion).toBe('2025-11-25')
    expect((await server.ask('ping')).result).toEqual({})
    await server.end()
  }
})

test('TM-015 initialize tells what the server can do, and how to work with it', async () => {
  const { result } = await startServer().ask('initialize', handshake)
  expect(result.capabilities).toEqual({
    tools: { listChanged: false },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: false },
    completions: {},
  })
  expect(Buffer.byteLength(result.instructions)).toBeLessThanOrEqual(1500)
  for (const tool of ['start_mission', 'get_context', 'start_task', 'complete_task', 'complete_mission']) {
    expect(result.instructions).toContain(tool)
  }
})

test('TM-006 TM-018 TM-019 TM-020 initialized gets no answer, and operation begins', async () => {
  const server = startServer()
  await server.ask('initialize', handshake)
  server.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect((await server.ask('ping')).result).toEqual({})
  expect((await server.ask('tools/list')).result.tools.length).toBeGreaterThan(0)
  expect((await server.ask('tools/call', { name: 'list_missions' })).result.isError).toBe(false)
  expect(server.messages).toHaveLength(4)
})

test('a client of the older era that never shook hands is served as well', async () => {
  const server = startServer()
  expect((await server.ask('tools/call', { name: 'list_missions' })).result.isError).toBe(false)
})

test('the stateless era needs no handshake: each request is answered complete, lists say how long they hold', async () => {
  const { ask } = modern(startServer())
  const { result: discovered } = await ask('server/discover')
  expect(discovered).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: false }, resources: { subscribe: true, listChanged: true } },
    ttlMs: 3_600_000,
    cacheScope: 'private',
  })
  const { result: listed } = await ask('tools/list')
  expect(listed).toMatchObject({ resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'private' })
  const { result } = await ask('tools/call', { name: 'list_missions' })
  expect(result).toMatchObject({ resultType: 'complete', isError: false })
  expect((await ask('resources/list')).result).toMatchObject({ resultType: 'complete', ttlMs: 0 })
})

test('TM-017 a version of the stateless era that is not supported is -32022 with those that are', async () => {
  const server = startServer()
  const { error } = await server.ask('tools/list', {
    _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' },
  })
  expect(error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'], requested: '2031-01-01' } })
  expect((await modern(server).ask('tools/list')).result.tools.length).toBeGreaterThan(0)
})

test('a client may look for the stateless era and then shake hands after all', async () => {
  const server = startServer()
  await modern(server).ask('server/discover')
  const { call } = await legacy(server)
  expect((await call('list_missions')).isError).toBe(false)
})

test('who calls is who the client says it is, in both eras', async () => {
  const folder = temporaryRepository()
  const older = startServer({ folder })
  await older.ask('initialize', { ...handshake, clientInfo: { name: 'older-client', version: '1' } })
  await older.ask('tools/call', { name: 'start_mission', arguments: { name: 'a', objective: 'o' } })
  await older.end()
  const newer = startServer({ folder })
  await modern(newer).call(
    'start_mission',
    { name: 'b', objective: 'o' },
    {
      'io.modelcontextprotocol/clientInfo': { name: 'newer-client', version: '1' },
    },
  )
  const { result } = await newer.ask('resources/list', { _meta: envelope })
  expect(result.resources).toHaveLength(2)
  await newer.end()
  const { events } = runWaymark(folder, 'log')
  const missions = events.filter(({ kind }: Answer) => kind === 'mission.started')
  expect(missions.map(({ actor, channel }: Answer) => [actor, channel])).toEqual([
    ['older-client', 'stdio'],
    ['newer-client', 'stdio'],
  ])
})

test.each([
  ['2025-11-25', {}],
  ['2026-07-28', { versionNegotiation: { mode: 'auto' } }],
] as const)('TM-003 the SDK’s own client works over stdio in %s', async (version, options) => {
  const folder = temporaryRepository()
  const environment = serverEnvironment(`${folder}/..`)
  const client = new Client({ name: 'sdk-client', version: '1.0.0' }, options)
  await client.connect(
    version === '2025-11-25'
      ? new StdioClientTransport({
          command: process.execPath,
          args: [bin, 'mcp'],
          cwd: folder,
          env: environment,
        })
      : new ProgramTransport(['mcp'], { folder, environment }),
  )
  onTestFinished(() => client.close())
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('start_task')
  const started = await client.callTool({ name: 'start_task', arguments: { name: 'Do it' } })
  expect(started.structuredContent).toMatchObject({ snapshot_type: 'git' })
  const refused = await client.callTool({ name: 'start_task', arguments: { nam: 'Do it' } })
  expect(refused.isError).toBe(true)
})
