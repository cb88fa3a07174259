import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { soakTest } from '../../support/amount.ts'
import { refusalIn } from '../cli/command-line.ts'
import { jsonOf } from './http-project.ts'
import { closed, requestText, sendRaw } from './raw.ts'
import { serveHome } from './serve-process.ts'

test('it serves, logs in, and ends when it is told', async () => {
  const { repository, serveAlone, home, token } = serveHome()
  const { port, greeting, child, ended } = await serveAlone(repository('shop'), '--port', '0')
  expect(greeting).toContain(`Waymark serves shop at http://127.0.0.1:${port}`)
  const login = /Dashboard: (\S+)/.exec(greeting)?.[1] ?? ''
  expect((await fetch(login, { redirect: 'manual' })).status).toBe(303)
  const file = join(home, 'state', 'waymark', 'server', `server-${port}.json`)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: child.pid, port })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  child.kill('SIGTERM')
  const { code, error } = await ended
  expect(code).toBe(0)
  expect(existsSync(file)).toBe(false)
  const lines = error
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'Waymark is serving.'],
    ['info', 'Waymark stops as soon as running requests are answered.'],
    ['info', 'Waymark stopped.'],
  ])
  for (const secret of [token('person'), token('agent'), 'code=']) expect(error).not.toContain(secret)
})

test('a second one of the same project finds the first, and gives a fresh login address', async () => {
  const { repository, serve, run } = serveHome()
  const folder = repository('shop')
  const { port, child } = await serve(folder, '--port', '0')
  const { code, out } = run(folder, 'serve')
  expect(code).toBe(0)
  expect(out).toContain(
    `Waymark is already serving here, at http://127.0.0.1:${port} (process ${child.pid}).`,
  )
  const login = /Dashboard: (\S+)/.exec(out)?.[1] ?? ''
  expect((await fetch(login, { redirect: 'manual' })).status).toBe(303)
})

test('a port that another program has is refused by its number', async () => {
  const { repository, run } = serveHome()
  const foreign = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void foreign.close())
  await once(foreign, 'listening')
  const { port } = foreign.address() as AddressInfo // it listens on TCP
  const { code, error } = run(repository('shop'), 'serve', '--port', String(port))
  expect(code).toBe(1)
  expect(error).toContain(`waymark: Port ${port} of 127.0.0.1 is used by another program`)
})

test('a port that another Waymark has is refused with its project and address', async () => {
  const { repository, serve, run } = serveHome()
  const shop = repository('shop')
  const { port } = await serve(shop, '--port', '0')
  const { code, error } = run(repository('till'), 'serve', '--port', String(port))
  expect(code).toBe(1)
  expect(error).toContain(`Port ${port} is used by the Waymark server of ${shop} (process `)
  expect(error).toContain(`at http://127.0.0.1:${port}.`)
})

soakTest('a project is served on the port of the last time where it is free', async () => {
  const { repository, serve } = serveHome()
  const folder = repository('shop')
  const first = await serve(folder, '--port', '0')
  first.child.kill('SIGTERM')
  await first.ended
  const second = await serve(folder)
  expect(second.port).toBe(first.port)
  second.child.kill('SIGTERM')
  await second.ended
  const foreign = createServer().listen(first.port, '127.0.0.1')
  onTestFinished(() => void foreign.close())
  await once(foreign, 'listening')
  expect((await serve(folder)).port).not.toBe(first.port)
})

test('several projects are served by one, and refused where a folder is none', async () => {
  const { repository, serve, run, token, home } = serveHome()
  const [shop, till] = [repository('shop'), repository('till')]
  const { port, greeting } = await serve(
    home,
    '--port',
    '0',
    '--project',
    shop,
    '--project',
    till,
    '--project',
    shop,
  )
  expect(greeting).toContain('Waymark serves shop, till (/p/till/) at')
  const headers = { Authorization: `Bearer ${token('agent')}` }
  const { projects } = await jsonOf(fetch(`http://127.0.0.1:${port}/api/projects`, { headers }))
  expect(projects).toEqual([
    { key: 'shop', name: 'shop', folder: shop },
    { key: 'till', name: 'till', folder: till },
  ])
  const missing = run(home, 'serve', '--project', join(home, 'nothing'))
  expect([missing.code, missing.error]).toEqual([1, expect.stringContaining('There is no folder')])
  const none = run(home, 'serve')
  expect([none.code, none.error]).toEqual([1, expect.stringContaining('No project: ')])
})

test('other machines are let in only with tokens that somebody made', async () => {
  const { repository, serve, run, token, home } = serveHome()
  const folder = repository('shop')
  const refused = run(folder, 'serve', '--allow-remote', '--port', '0')
  expect(refused.code).toBe(1)
  expect(refused.error).toContain('none was created')
  expect(refused.error).toContain('waymark token create')
  const hosted = run(folder, 'serve', '--host', '0.0.0.0')
  expect([hosted.code, hosted.error]).toEqual([2, expect.stringContaining('needs --allow-remote')])
  const added = JSON.parse(run(folder, 'token', 'add', 'ci', '--role', 'builder', '--json').out)
  const { port } = await serve(folder, '--allow-remote', '--allow-host', 'build.example', '--port', '0')
  const authorized = { Authorization: `Bearer ${added.secret}` }
  const remote = await sendRaw(
    port,
    requestText('GET /api/session', { Host: 'build.example', ...authorized }),
  )
  expect(JSON.parse(remote.body).actor).toMatchObject({ name: 'ci', kind: 'agent', role: 'builder' })
  const otherPort = await sendRaw(port, requestText('GET /healthz', { Host: `127.0.0.1:${port - 1}` }))
  expect(otherPort.status).toBe(403)
  const rebound = await sendRaw(port, requestText('GET /healthz', { Host: `evil.example:${port}` }))
  expect(rebound.status).toBe(403)
  const { tokens } = JSON.parse(run(home, 'token', 'list', '--json').out)
  expect(tokens).toMatchObject([{ name: 'person' }, { name: 'agent' }, { name: 'ci', role: 'builder' }])
  expect(run(home, 'token', 'remove', 'ci').code).toBe(0)
  const asked = requestText('GET /api/session', { Host: 'build.example', ...authorized })
  await vi.waitFor(async () => expect((await sendRaw(port, asked)).status).toBe(401), 5_000)
  expect(token('agent')).not.toBe('')
})

test('what runs is answered before it ends, and nothing new is let in', async () => {
  const { repository, serve, token } = serveHome()
  const { port, child, ended } = await serve(repository('shop'), '--port', '0')
  const address = `http://127.0.0.1:${port}`
  const headers = { Authorization: `Bearer ${token('agent')}`, 'Content-Type': 'application/json' }
  const reader = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers })
  await once(reader, 'message')
  const closing = once(reader, 'close')
  const body = '{"name":"Shop","objective":"A shop"}'
  const slow = connect(port, '127.0.0.1')
  const unused = connect(port, '127.0.0.1')
  const isUnusedClosed = closed(unused)
  let answer = ''
  const isRead = closed(slow)
  slow.on('data', (data) => {
    answer += data.toString()
  })
  slow.write(
    requestText('POST /api/start_mission', { Host: `127.0.0.1:${port}`, ...headers, ...expecting(body) }),
  )
  await once(slow, 'data') // it has the headers, and waits for the body
  expect(answer).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  child.kill('SIGTERM')
  const [code, reason] = await closing
  expect([code, String(reason)]).toEqual([1001, 'The server is stopping.'])
  await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed')
  // Nobody asked anything on it, so the server does not wait for it.
  await isUnusedClosed
  slow.write(body)
  await isRead
  expect(JSON.parse(answer.split('\r\n\r\n')[2] ?? '')).toMatchObject({ mission_id: expect.any(String) })
  expect((await ended).code).toBe(0)
})

function expecting(body: string) {
  return { Expect: '100-continue', 'Content-Length': String(body.length) }
}

test('an agent that starts it is given no address that logs in', async () => {
  const { repository, run, serve, environment } = serveHome()
  const folder = repository('shop')
  environment['CLAUDECODE'] = '1'
  const { greeting } = await serve(folder, '--port', '0')
  expect(greeting).not.toContain('code=')
  expect(greeting).toContain('run waymark serve in a terminal of your own')
  environment['WAYMARK_FORMAT'] = 'json'
  expect(refusalIn(run(folder, 'token', 'add', 'me', '--kind', 'person'))).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'person_needed',
  })
  delete environment['WAYMARK_FORMAT']
  delete environment['CLAUDECODE']
  expect(run(folder, 'serve').out).toContain('code=')
})

test.each([
  [['serve', '--prot', '1'], 'serve does not take --prot.', 'Did you mean --port?'],
  [['serve', '--port', 'x'], '--port must be a whole number from 0 to 65535, not "x".', 'Usage:'],
  [['serve', '--log-level', 'loud'], '--log-level cannot be "loud"', 'Usage:'],
  [['serve', 'now'], 'serve does not take now.', 'Usage:'],
  [['token', 'ad', 'x'], 'There is no command "token ad".', 'waymark token lists its commands'],
  [['token', 'add', 'x', '--kind', 'robot'], '--kind cannot be "robot"', 'waymark token create --help'],
  [['token', 'add', 'x\ny'], '<name> cannot be', 'Usage:'],
])('%j is refused in a sentence', (words, message, hint) => {
  const { repository, run, home } = serveHome()
  const { code, error, out } = run(repository('shop'), ...words)
  expect([code, out]).toEqual([2, ''])
  expect(error).toContain(message)
  expect(error).toContain(hint)
  expect(readdirSync(home)).not.toContain('state')
})

test('waymark session end ends the sessions of all servers, for people alone', async () => {
  const { repository, serve, run, environment, home } = serveHome()
  const folder = repository('shop')
  const end = (from = folder) => run(from, 'session', 'end', '--json')
  expect(JSON.parse(end().out)).toEqual({ ended: 0 })
  const { port, greeting } = await serve(folder, '--port', '0')
  const login = await fetch(/Dashboard: (\S+)/.exec(greeting)?.[1] ?? '', { redirect: 'manual' })
  const headers = { Cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const asks = async () => (await fetch(`http://127.0.0.1:${port}/api/session`, { headers })).status
  expect(await asks()).toBe(200)
  environment['CLAUDECODE'] = '1'
  expect(refusalIn(end())).toMatchObject({ code: 'FORBIDDEN', reason: 'person_needed' })
  delete environment['CLAUDECODE']
  const { sessions } = JSON.parse(run(home, 'session', 'list', '--json').out)
  expect(sessions).toMatchObject([{ own: false, token_id: expect.stringMatching(/^tk-/) }])
  expect(JSON.parse(end(home).out)).toEqual({ ended: 1 })
  await vi.waitFor(async () => expect(await asks()).toBe(401), 5_000)
})

test.each(['serve', 'token create', 'session end'])('waymark %s --help explains', (command) => {
  const { repository, run } = serveHome()
  const { code, out } = run(repository('shop'), ...command.split(' '), '--help')
  expect([code, out]).toEqual([0, expect.stringContaining(`Usage: waymark ${command}`)])
})
