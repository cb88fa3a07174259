import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { type Conversation, envelope, eras, legacy, modern } from './eras.ts'
import { connect, eras as httpEras } from './http/clients.ts'
import { serveProject } from './http/serving.ts'
import { type ServerProcess, startServer, temporaryRepository } from './server-process.ts'

const auto = ['--toolsets', 'auto']

async function listed({ ask }: Conversation): Promise<readonly string[]> {
  return (await ask('tools/list')).result.tools.map(({ name }: Answer) => name)
}

function gateTools(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith('state_gate_'))
}

function told(server: ServerProcess): number {
  return server.messages.filter(({ method }) => method === 'notifications/tools/list_changed').length
}

function toolsChanged(server: ServerProcess): Promise<Answer> {
  return server.message(({ method }) => method === 'notifications/tools/list_changed')
}

function keepProcess(folder: string): void {
  mkdirSync(join(folder, '.waymark', 'processes'), { recursive: true })
  writeFileSync(join(folder, '.waymark', 'processes', 'own.yaml'), 'process:\n  id: own\n')
}

test.each(eras)(
  '%s: without a process or a run the gate’s tools are not listed, and can be called',
  async (_, open) => {
    const folder = temporaryRepository()
    const conversation = await open(startServer({ folder, flags: auto }))
    const names = await listed(conversation)
    expect(gateTools(names)).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['start_mission', 'complete_task', 'taskman_task_next']))
    expect(existsSync(join(folder, '.waymark'))).toBe(false)
    const run = await conversation.call('state_gate_create_run', { process_id: 'exploration' })
    expect(run.isError).toBe(false)
    expect(gateTools(await listed(conversation))).toHaveLength(5)
  },
)

test.each(eras)('%s: a project with a process or a run lists them from the beginning', async (_, open) => {
  const folder = temporaryRepository()
  keepProcess(folder)
  expect(gateTools(await listed(await open(startServer({ folder, flags: auto }))))).toHaveLength(5)
})

test('2025-11-25: the first run of its own mission is told, once', async () => {
  const server = startServer({ flags: auto })
  const { result } = await server.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw-client', version: '1.0.0' },
  })
  expect(result.capabilities.tools).toEqual({ listChanged: true })
  const conversation = await legacy(server)
  await listed(conversation)
  await conversation.call('list_missions')
  expect(told(server)).toBe(0)
  await conversation.call('start_mission', { name: 'n', objective: 'o', process_id: 'exploration' })
  await toolsChanged(server)
  expect(gateTools(await listed(conversation))).toHaveLength(5)
  await conversation.call('start_mission', { name: 'm', objective: 'o', process_id: 'exploration' })
  await conversation.call('list_missions')
  expect(told(server)).toBe(1)
})

test('2025-11-25: the first run of another process is told without a call', async () => {
  const folder = temporaryRepository()
  const server = startServer({ folder, flags: auto })
  await listed(await legacy(server))
  const other = await legacy(startServer({ folder }))
  await other.call('state_gate_create_run', { process_id: 'exploration' })
  await toolsChanged(server)
})

test('2025-11-25: a process that a person wrote is noticed at the next call', async () => {
  const folder = temporaryRepository()
  const server = startServer({ folder, flags: auto })
  const conversation = await legacy(server)
  await listed(conversation)
  keepProcess(folder)
  await conversation.call('list_missions')
  await toolsChanged(server)
})

test('2026-07-28: told to who listens for it', async () => {
  const folder = temporaryRepository()
  const server = startServer({ folder, flags: auto })
  const conversation = modern(server)
  expect(gateTools(await listed(conversation))).toEqual([])
  const params = { notifications: { toolsListChanged: true }, _meta: envelope }
  server.send({ jsonrpc: '2.0', id: 'one', method: 'subscriptions/listen', params })
  await server.message(({ method }) => method === 'notifications/subscriptions/acknowledged')
  const other = await legacy(startServer({ folder }))
  await other.call('state_gate_create_run', { process_id: 'exploration' })
  const { params: sent } = await toolsChanged(server)
  expect(sent._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 'one' })
})

test('without the flag everything is listed, and nothing is announced', async () => {
  const server = startServer()
  const conversation = await legacy(server)
  expect(gateTools(await listed(conversation))).toHaveLength(5)
  await conversation.call('start_mission', { name: 'n', objective: 'o', process_id: 'exploration' })
  await conversation.call('list_missions')
  expect(told(server)).toBe(0)
})

test('what only reads may be all that grows', async () => {
  const folder = temporaryRepository()
  const conversation = await legacy(startServer({ folder, flags: [...auto, '--read-only'] }))
  expect(gateTools(await listed(conversation))).toEqual([])
  keepProcess(folder)
  expect(gateTools(await listed(conversation))).toEqual([
    'state_gate_get_state',
    'state_gate_list_events',
    'state_gate_list_runs',
  ])
})

test.each(httpEras)('%s over HTTP: the list grows with the first run, which is told', async (era) => {
  const served = await serveProject({ toolsets: 'auto' })
  const reader = await connect(served.url, { era })
  const gate = async () => gateTools((await reader.client.listTools()).tools.map(({ name }) => name))
  expect(await gate()).toEqual([])
  if (era === '2026-07-28') await reader.client.listen({ toolsListChanged: true })
  const worker = await legacy(startServer({ folder: served.project.folder }))
  await worker.call('state_gate_create_run', { process_id: 'exploration' })
  await reader.toolsChanged()
  expect(await gate()).toHaveLength(5)
})
