import { expect, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { type Conversation, envelope, legacy, modern } from './eras.ts'
import { runWaymark, type ServerProcess, startServer, temporaryRepository } from './server-process.ts'

/** Two servers of one project, in two processes: one listens, in another an agent works. */
async function twoProcesses() {
  const folder = temporaryRepository()
  const listener = startServer({ folder })
  const worker = await legacy(startServer({ folder }))
  const { mission_id } = (await worker.call('start_mission', { name: 'n', objective: 'o' })).structuredContent
  return { folder, listener, worker, mission_id }
}

async function startTask({ call }: Conversation, mission_id: string): Promise<string> {
  return (await call('start_task', { mission_id, name: 'Sign in' })).structuredContent.task_id
}

function updatesOf(server: ServerProcess): readonly Answer[] {
  return server.messages.filter(({ method }) => method === 'notifications/resources/updated')
}

function updated(server: ServerProcess, uri: string): Promise<Answer> {
  return server.message(
    ({ method, params }) => method === 'notifications/resources/updated' && params.uri === uri,
  )
}

test('2025-11-25: what another process records is told to who subscribed, and to nobody else', async () => {
  const { listener, worker, mission_id } = await twoProcesses()
  const { ask } = await legacy(listener)
  const uri = `waymark://missions/${mission_id}`
  expect((await ask('resources/subscribe', { uri })).result).toEqual({})
  const task_id = await startTask(worker, mission_id)
  expect(await updated(listener, uri)).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri },
  })
  await listener.message(({ method }) => method === 'notifications/resources/list_changed')
  const taskUri = `waymark://tasks/${task_id}`
  await ask('resources/subscribe', { uri: taskUri })
  await ask('resources/subscribe', { uri: `${taskUri}/changes` })
  await worker.call('log_milestone', { task_id, message: 'Half way', progress: 50 })
  await updated(listener, taskUri)
  expect(updatesOf(listener).some(({ params }) => params.uri === `${taskUri}/changes`)).toBe(false)
  await worker.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  await updated(listener, `${taskUri}/changes`)
})

test('2025-11-25: unsubscribing ends it', async () => {
  const { listener, worker, mission_id } = await twoProcesses()
  const { ask } = await legacy(listener)
  const uri = `waymark://missions/${mission_id}`
  await ask('resources/subscribe', { uri })
  await ask('resources/unsubscribe', { uri })
  const task_id = await startTask(worker, mission_id)
  const taskUri = `waymark://tasks/${task_id}`
  await ask('resources/subscribe', { uri: taskUri })
  await worker.call('log_milestone', { task_id, message: 'Half way' })
  await updated(listener, taskUri)
  expect(updatesOf(listener).map(({ params }) => params.uri)).toEqual([taskUri])
})

test('2025-11-25: an address that is none of ours cannot be subscribed to', async () => {
  const { ask } = await legacy(startServer())
  const { error } = await ask('resources/subscribe', { uri: 'nope://x' })
  expect(error).toMatchObject({ code: -32602, data: { uri: 'nope://x' } })
})

test('2025-11-25: a client that read the list is told after its own calls when the list changed', async () => {
  const server = startServer()
  const { ask, call } = await legacy(server)
  const told = () =>
    server.messages.filter(({ method }) => method === 'notifications/resources/list_changed').length
  const { mission_id } = (await call('start_mission', { name: 'n', objective: 'o' })).structuredContent
  await ask('resources/list')
  expect(told()).toBe(0)
  const task_id = await startTask({ ask, call }, mission_id)
  await server.message(({ method }) => method === 'notifications/resources/list_changed')
  await call('log_milestone', { task_id, message: 'Half way' })
  await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  await server.message(() => told() === 2)
})

test('a person’s decision about a blocker is told to who reads the task', async () => {
  const { folder, listener, worker, mission_id } = await twoProcesses()
  const { ask } = await legacy(listener)
  const task_id = await startTask(worker, mission_id)
  const { issue_id } = (
    await worker.call('log_issue', {
      task_id,
      type: 'unclear_requirement',
      description: 'Which provider?',
      resolution: 'Waiting.',
      requires_human_review: true,
    })
  ).structuredContent
  const uri = `waymark://tasks/${task_id}`
  await ask('resources/subscribe', { uri })
  runWaymark(folder, 'resolve', issue_id, '--answer', 'Use the first one.')
  await updated(listener, uri)
})

function listenTo(server: ServerProcess, id: string, notifications: object): Promise<Answer> {
  const params = { notifications, _meta: envelope }
  server.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })
  return server.message(
    ({ method, params: sent }) =>
      method === 'notifications/subscriptions/acknowledged' &&
      sent._meta['io.modelcontextprotocol/subscriptionId'] === id,
  )
}

test('2026-07-28: a listen request is told what it asked for, with its id', async () => {
  const { listener, worker, mission_id } = await twoProcesses()
  const { ask } = modern(listener)
  const uri = `waymark://missions/${mission_id}`
  const acknowledged = await listenTo(listener, 'one', { resourceSubscriptions: [uri] })
  expect(acknowledged.params.notifications).toEqual({ resourceSubscriptions: [uri] })
  await listenTo(listener, 'two', { resourcesListChanged: true })
  await startTask(worker, mission_id)
  const { params } = await updated(listener, uri)
  expect(params).toEqual({ uri, _meta: { 'io.modelcontextprotocol/subscriptionId': 'one' } })
  const listChanged = await listener.message(
    ({ method }) => method === 'notifications/resources/list_changed',
  )
  expect(listChanged.params._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 'two' })

  listener.send({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 'one', _meta: envelope },
  })
  await ask('tools/list')
  const before = updatesOf(listener).length
  const task_id = await startTask(worker, mission_id)
  const taskUri = `waymark://tasks/${task_id}`
  await listenTo(listener, 'three', { resourceSubscriptions: [taskUri] })
  await worker.call('log_milestone', { task_id, message: 'Half way' })
  await updated(listener, taskUri)
  // The task's own beginning may be told as well, where it was heard of after the request.
  const told = updatesOf(listener).slice(before)
  expect(new Set(told.map(({ params: some }) => some.uri))).toEqual(new Set([taskUri]))
})

test('2026-07-28: open subscriptions are ended in good form when the input ends', async () => {
  const { listener } = await twoProcesses()
  await listenTo(listener, 'one', { resourcesListChanged: true })
  expect(await listener.end()).toBe(0)
  expect(listener.messages.at(-1)).toMatchObject({ id: 'one', result: { resultType: 'complete' } })
})

test('2026-07-28: what is recorded right after the acknowledgement is not missed, also before there is a database', async () => {
  const folder = temporaryRepository()
  const listener = startServer({ folder })
  await listenTo(listener, 'one', { resourcesListChanged: true })
  const worker = await legacy(startServer({ folder }))
  await worker.call('start_mission', { name: 'n', objective: 'o' })
  await listener.message(({ method }) => method === 'notifications/resources/list_changed')
})
