import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { processStart } from '../../../src/app/process.ts'
import { freshLogin, isGenuine, RunningServers } from '../../../src/app/serve/running-servers.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { jsonOf, openHttpProject } from './http-project.ts'
import { serveHome } from './serve-process.ts'

interface Stranger {
  readonly port: number
  readonly address: string
  /** All that was sent to it, headers and bodies. */
  readonly heard: () => string
}

/** Another program on a port, which answers whatever it was made to answer. */
async function stranger(answer: (path: string, body: string) => Promise<string> | string): Promise<Stranger> {
  let heard = ''
  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request)
      heard += `${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n${body}\n`
      response.setHeader('Content-Type', 'application/json')
      response.end(await answer(request.url ?? '', body))
    })()
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on TCP
  return { port, address: `127.0.0.1:${port}`, heard: () => heard }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test('a login is asked for with a proof of which run it is, and no one else is answered', async () => {
  const { port, address } = await openHttpProject()
  const server = { port, address: address.slice('http://'.length), instance: 'test-run' }
  const login = await freshLogin(server)
  expect((await fetch(login, { redirect: 'manual' })).status).toBe(303)
  const other = { ...server, instance: 'another run' }
  await expect(freshLogin(other)).rejects.toThrow('is not the server that was started here')
  expect(await isGenuine(server)).toBe(true)
  expect(await isGenuine(other)).toBe(false)
})

test('a proof counts once, and only for who was asked', async () => {
  const { address } = await openHttpProject()
  const post = (path: string, body: object) =>
    fetch(`${address}/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  expect((await post('login-code', { answered: 'x', proof: 'y' })).status).toBe(401)
  expect((await post('login-code', { answered: 'x' })).status).toBe(400)
  expect((await post('login-proof', { key: 'none', asked: 'a'.repeat(20) })).status).toBe(401)
  expect((await fetch(`${address}/api/login-code`, { method: 'POST' })).status).toBe(401)
})

test('a stranger on the port of a server learns no token, also when it passes everything on to the real one', async () => {
  const real = await openHttpProject()
  const other = await stranger(async (path, body) => {
    const headers = { 'Content-Type': 'application/json' }
    const passed = await fetch(`${real.address}${path}`, { method: 'POST', headers, body })
    return passed.text()
  })
  const claimed = { port: other.port, address: other.address, instance: 'test-run' }
  await expect(freshLogin(claimed)).rejects.toThrow('could not prove that it is your Waymark')
  expect(await isGenuine(claimed)).toBe(false)
  expect(other.heard()).toContain('login-proof')
  expect(other.heard()).not.toContain('login-code')
  for (const secret of [real.personToken, real.agentToken, claimed.instance])
    expect(other.heard()).not.toContain(secret)
})

test('health tells no name of the run', async () => {
  const { address } = await openHttpProject()
  expect(await jsonOf(fetch(`${address}/healthz`))).toEqual({
    status: 'ok',
    version: expect.any(String),
    projects: 1,
  })
})

test('waymark serve beside a stranger who took the port of a killed server tells it nothing', async () => {
  const { repository, serve, home, token } = serveHome()
  const folder = repository('shop')
  const state = join(home, 'state', 'waymark', 'server')
  const servers = new RunningServers(state)
  const left = { pid: 2 ** 30, started: 'long ago', instance: 'test-run', projects: [folder] }
  const other = await stranger(() => JSON.stringify({ status: 'ok', instance: left.instance, code: 'x' }))
  servers.announce({ ...left, port: 1, address: other.address })
  // As if this process were the server that wrote it, and the stranger at its port.
  const own = { pid: process.pid, started: processStart(process.pid) ?? '' }
  servers.announce({ ...left, ...own, port: other.port, address: other.address })
  const { greeting } = await serve(folder, '--port', '0')
  expect(greeting).toContain('Waymark serves shop')
  expect(other.heard()).toContain('login-proof')
  for (const kind of ['person', 'agent'] as const) expect(other.heard()).not.toContain(token(kind))
  expect(readdirSync(state)).not.toContain('server-1.json')
})

test('the file of a server counts only for the process that wrote it, and is removed otherwise', async () => {
  const { port, address, folder } = await openHttpProject()
  const state = temporaryFolder()
  const servers = new RunningServers(state)
  const running = {
    pid: process.pid,
    started: processStart(process.pid) ?? '',
    port,
    address: address.slice('http://'.length),
    instance: 'test-run',
    projects: [folder],
  }
  servers.announce(running)
  expect(await servers.serving([folder])).toEqual(running)
  // The number of its process was given to another one since.
  servers.announce({ ...running, started: 'long ago' })
  expect(await servers.serving([folder])).toBeNull()
  expect(existsSync(join(state, `server-${port}.json`))).toBe(false)
})

test('a process is told from another one that has its number', () => {
  expect(processStart(process.pid)).toBe(processStart(process.pid))
  expect(processStart(process.pid)).not.toBe(processStart(process.ppid))
  expect(processStart(2 ** 30)).toBeNull()
})
