import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { type HttpProject, jsonOf, openHttpProject } from './http-project.ts'

async function firstFrame({ port }: HttpProject, path: string, options: ClientOptions) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options)
  onTestFinished(() => socket.terminate())
  const [data] = await once(socket, 'message')
  return JSON.parse(String(data))
}

test('a program reads the live feed of each project with its token', async () => {
  const project = await openHttpProject({ folders: ['shop', 'till'] })
  const headers = { Authorization: `Bearer ${project.agentToken}` }
  expect(await firstFrame(project, '/ws', { headers })).toMatchObject({ event: 'hello', project: 'shop' })
  expect(await firstFrame(project, '/p/till/ws?since=0', { headers })).toMatchObject({ project: 'till' })
  const metrics = await (await fetch(`${project.address}/metrics`, { headers })).text()
  expect(metrics).toContain('waymark_live_connections 2\n')
})

test('a page of the dashboard reads it with its cookie, and no page of another port does', async () => {
  const project = await openHttpProject()
  const { address, personToken, port } = project
  const asPerson = { method: 'POST', headers: { Authorization: `Bearer ${personToken}` } }
  const { code } = await jsonOf(fetch(`${address}/api/login-code`, asPerson))
  const login = await fetch(`${address}/login?code=${code}`, { redirect: 'manual' })
  const headers = { Cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const own = await firstFrame(project, '/ws', { headers, origin: address })
  expect(own).toMatchObject({ event: 'hello' })
  const foreign = firstFrame(project, '/ws', { headers, origin: `http://127.0.0.1:${port + 1}` })
  await expect(foreign).rejects.toThrow('403')
  await expect(firstFrame(project, '/ws', {})).rejects.toThrow('401')
})

test('who reads the feed is told that the server ends', async () => {
  const project = await openHttpProject()
  const headers = { Authorization: `Bearer ${project.agentToken}` }
  const socket = new WebSocket(`ws://127.0.0.1:${project.port}/ws`, { headers })
  await once(socket, 'message')
  const closing = once(socket, 'close')
  await project.stop()
  expect((await closing)[0]).toBe(1001)
})
