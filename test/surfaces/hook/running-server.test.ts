import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { projectOfHooks } from '../../../src/app/hook-server.ts'
import { hookGreeting } from '../../../src/app/settings/hook-sockets.ts'
import { hashText } from '../../../src/sessions/capture/hash.ts'
import { amount, soakTest } from '../../support/amount.ts'
import { bin, type Ran } from '../../support/program.ts'
import { removeFolder } from '../../support/removed-folder.ts'
import { dismiss, runBeside, startAlone } from '../../support/started-program.ts'
import { decisionOf, fileIn, type HookProject, openHookProject } from './hook-project.ts'

// A server that runs in the project answers its hooks. Whatever it does, the hook's own decision is the same.

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'claude-code', version: '1' },
  },
}

/** A project whose sockets have short paths, whatever the folder for temporary files is called. */
function openServedProject(): HookProject {
  const state = mkdtempSync('/tmp/waymark-')
  onTestFinished(() => removeFolder(state))
  return openHookProject({ environment: { XDG_STATE_HOME: state } })
}

function socketFolder({ environment }: Pick<HookProject, 'environment'>): string {
  return join(environment['XDG_STATE_HOME'] ?? '', 'waymark/hooks')
}

function socketsOf(project: Pick<HookProject, 'environment'>): readonly string[] {
  const folder = socketFolder(project)
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sock')) : []
}

/** Starts an agent's server and waits until it answers hooks. */
async function startServer({ folder, environment }: HookProject) {
  const known = socketsOf({ environment })
  const server = startAlone([bin, 'mcp'], { folder, environment })
  server.write(`${JSON.stringify(initialize)}\n`)
  onTestFinished(() => dismiss(server))
  const own = () => socketsOf({ environment }).find((name) => !known.includes(name))
  await expect.poll(own).toBeDefined()
  return { server, socket: join(socketFolder({ environment }), own() ?? '') }
}

/** Calls a hook beside this process, with the names of the parts of the program that it loads. */
async function hookBeside(project: HookProject, event: string, payload: object) {
  const { home, folder, environment } = project
  const [preload, parts] = [join(home, 'preload.cjs'), join(home, 'parts.json')]
  writeFileSync(preload, tellsParts)
  const ran = await runBeside(['hook', event], {
    folder,
    environment: { ...environment, NODE_OPTIONS: `--require "${preload}"`, PARTS: parts },
    input: JSON.stringify({ session_id: 's', cwd: folder, ...payload }),
  })
  const loaded: readonly string[] = JSON.parse(readFileSync(parts, 'utf8'))
  return { ran, isOwn: loaded.some((part) => /hook-record-/.test(part)) }
}

/** Calls a hook that a server answers. On a busy machine it may greet too late: then the hook is called once more. */
async function hookByServer(project: HookProject, event: string, payload: object) {
  const first = await hookBeside(project, event, payload)
  let [isOwn, times] = [first.isOwn, 1]
  for (; isOwn && times < 5; times += 1) isOwn = (await hookBeside(project, event, payload)).isOwn
  return { ran: first.ran, isOwn, times }
}

const tellsParts = `
  process.on('exit', () =>
    require('node:fs').writeFileSync(process.env.PARTS, JSON.stringify(Object.keys(require.cache))))
`

const calls = (folder: string): readonly (readonly [string, object])[] => [
  ['pre-tool-use', { tool_name: 'Bash', tool_input: { command: 'ls' } }],
  ['pre-tool-use', { tool_name: 'Edit', tool_input: fileIn(folder, 'docs/a.md') }],
  ['pre-tool-use', { tool_name: 'Write', tool_input: fileIn(folder, 'src/pay.ts') }],
  ['pre-tool-use', { tool_name: 'Read', tool_input: fileIn(folder, 'src/pay.ts') }],
  ['session-start', {}],
  ['stop', {}],
]

test('answers each hook as the hook does by itself', async () => {
  const project = openServedProject()
  project.startTask('Add the form', ['src/auth/'])
  project.createRun()
  project.json('setting', 'set', 'stop_hook', 'block_once')
  const ask = async (call: (...words: Parameters<typeof hookBeside>) => ReturnType<typeof hookBeside>) => {
    const answers: Ran[] = []
    const own: boolean[] = []
    for (const [event, payload] of calls(project.folder)) {
      const { ran, isOwn } = await call(project, event, payload)
      answers.push(ran)
      own.push(isOwn)
    }
    return { answers, own }
  }
  const alone = await ask(hookBeside)
  await startServer(project)
  const answered = await ask(hookByServer)
  expect(answered.answers).toEqual(alone.answers)
  expect(alone.answers.filter(({ out }) => out !== '').length).toBeGreaterThan(3)
  expect([new Set(alone.own), new Set(answered.own)]).toEqual([new Set([true]), new Set([false])])
})

test('guards a git command and records it once, with the caller that the hook saw', async () => {
  const project = openServedProject()
  project.startTask('Add the form', ['src/'], '--agent-name', 'codex')
  project.write('src/app.ts', 'export const app = 2\n')
  await startServer(project)
  const payload = {
    hook_event_name: 'PreToolUse',
    session_id: 'other',
    transcript_path: '/x/.claude/projects/y.jsonl',
    tool_name: 'Bash',
    tool_input: { command: 'git reset --hard' },
  }
  const { ran, isOwn, times } = await hookByServer(project, 'pre-tool-use', payload)
  expect(isOwn).toBe(false)
  expect(decisionOf(ran).decision).toBe('ask')
  const database = new Database(join(project.folder, '.waymark/waymark.db'), { readonly: true })
  const guarded = database.prepare('select client, client_session, answer from guarded_command').all()
  database.close()
  expect(guarded).toEqual(Array(times).fill({ client: 'claude', client_session: 'other', answer: 'ask' }))
  expect(project.git('status', '--porcelain')).toContain('src/app.ts')
})

/** A process at the socket of the project that is no server of ours. */
async function fakeServer(project: HookProject, answer: (socket: Socket) => void): Promise<string> {
  mkdirSync(socketFolder(project), { recursive: true, mode: 0o700 })
  const path = join(socketFolder(project), `${hashText(project.folder)}-fake.sock`)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    answer(socket)
  })
  await new Promise<void>((resolve) => {
    server.listen(path, resolve)
  })
  onTestFinished(() => {
    server.close()
  })
  return path
}

/** What a server of the project says first. */
function greetingOf({ folder, environment }: HookProject): string {
  return JSON.stringify(hookGreeting(join(folder, '.waymark/waymark.db'), environment))
}

test.for<readonly [string, (socket: Socket, greeting: string) => void]>([
  ['says nothing', () => undefined],
  ['closes at once', (socket) => socket.destroy()],
  ['greets with no JSON', (socket) => socket.write('hello\n')],
  ['greets without an end', (socket) => socket.write('{"version"')],
  ['greets with two megabytes', (socket) => socket.write('x'.repeat(2 * 1024 * 1024))],
  [
    'is of another version',
    (socket, greeting) => {
      socket.write(greeting.replace(/\d+\.\d+\.\d+/, '0.0.1'))
      socket.on('data', () => socket.end('{"out":""}\n'))
    },
  ],
  [
    'has another record',
    (socket, greeting) => {
      socket.write(greeting.replace('waymark.db', 'other.db'))
      socket.on('data', () => socket.end('{"out":""}\n'))
    },
  ],
  [
    'ends without an answer',
    (socket, greeting) => {
      socket.write(greeting)
      socket.on('data', () => socket.destroy())
    },
  ],
  [
    'answers with no text',
    (socket, greeting) => {
      socket.write(greeting)
      socket.on('data', () => socket.end('{"out":1}\n'))
    },
  ],
])('a server that %s leaves the decision to the hook', async ([, answer]) => {
  const project = openServedProject()
  project.createRun()
  await fakeServer(project, (socket) => answer(socket, `${greetingOf(project)}\n`))
  const { ran, isOwn } = await hookBeside(project, 'pre-tool-use', { tool_name: 'Bash' })
  expect(isOwn).toBe(true)
  expect(decisionOf(ran).decision).toBe('deny')
})

test('asks no server that reads another record or other settings of git', async () => {
  const project = openServedProject()
  project.createRun()
  await startServer(project)
  const payload = { tool_name: 'Bash' }
  const isOwn = async () => (await hookBeside(project, 'pre-tool-use', payload)).isOwn
  expect((await hookByServer(project, 'pre-tool-use', payload)).isOwn).toBe(false)
  const elsewhere = { ...project.environment, GIT_CONFIG_GLOBAL: join(project.home, 'gitconfig') }
  const other = await hookBeside({ ...project, environment: elsewhere }, 'pre-tool-use', payload)
  expect([other.isOwn, decisionOf(other.ran).decision]).toEqual([true, 'deny'])
  const record = join(project.folder, '.waymark')
  cpSync(record, `${record}-copy`, { recursive: true })
  rmSync(record, { recursive: true })
  renameSync(`${record}-copy`, record)
  expect(await isOwn()).toBe(true)
})

test('asks no server in a folder that others can enter', async () => {
  const project = openServedProject()
  project.createRun()
  await fakeServer(project, (socket) => {
    socket.write(`${greetingOf(project)}\n`)
    socket.on('data', () => socket.end('{"out":""}\n'))
  })
  const ask = async () => {
    const { ran } = await hookBeside(project, 'pre-tool-use', { tool_name: 'Bash' })
    return decisionOf(ran).decision
  }
  expect(await ask()).toBe('none')
  chmodSync(socketFolder(project), 0o755)
  expect(await ask()).toBe('deny')
})

test('answers only its own project, and nothing that is no call of a hook', async () => {
  const project = openServedProject()
  const other = openServedProject()
  project.createRun()
  const { socket: path } = await startServer(project)
  const ask = async (line: string) => {
    const socket = connect(path)
    let said = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      said += chunk
    })
    const over = new Promise((resolve) => {
      socket.on('close', resolve).on('error', () => undefined)
    })
    socket.write(line)
    await over
    const [greeting = '', answer = null] = said.trimEnd().split('\n')
    // What is refused unread is reset, and the greeting may be lost with it.
    expect(line.length > 1_000_000 ? [greeting, ''] : [greeting]).toContain(
      line.length > 1_000_000 && greeting === '' ? '' : greetingOf(project),
    )
    return answer
  }
  const caller = { client: 'claude', session: null, canAsk: true }
  const input = JSON.stringify({ tool_name: 'Bash' })
  const request = { event: 'pre-tool-use', input, workingFolder: '/', top: project.folder, caller }
  const line = (fields: object) => `${JSON.stringify({ ...request, ...fields })}\n`
  expect(JSON.parse((await ask(line({}))) ?? '').out).toContain('"deny"')
  for (const fields of [
    { input: JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'x'.repeat(100_000) } }) },
    { caller: { ...caller, client: 'Alice' } },
    { top: other.folder },
    { top: '/nowhere' },
    { top: '/' },
    { top: 'src' },
    { top: `${project.folder}\0` },
    { event: 'prune' },
    { input: 1 },
    { caller: { ...caller, canAsk: 'yes' } },
    { caller: null },
  ])
    expect(await ask(line(fields))).toBeNull()
  for (const words of ['\n', 'x\n', '[]\n', `${'x'.repeat(2 * 1024 * 1024)}`])
    expect(await ask(words)).toBeNull()
  expect(JSON.parse((await ask(line({}))) ?? '').out).toContain('"deny"')
})

test('asks no server that runs another git, or none', async () => {
  const project = openServedProject()
  project.startTask('Add the form', ['src/'], '--agent-name', 'codex')
  project.write('src/app.ts', 'export const app = 2\n')
  await startServer({ ...project, environment: { ...project.environment, PATH: '/nowhere' } })
  const payload = { tool_name: 'Bash', tool_input: { command: 'git reset --hard' } }
  const { ran, isOwn } = await hookBeside(project, 'pre-tool-use', payload)
  expect([isOwn, decisionOf(ran).decision]).toEqual([true, 'ask'])
})

/** A connection that keeps its side open, once it was greeted or turned away. */
async function holdConnection(path: string): Promise<Socket> {
  const socket = connect({ path, allowHalfOpen: true })
  onTestFinished(() => {
    socket.destroy()
  })
  await new Promise<unknown>((resolve) => {
    socket.on('data', resolve).on('end', resolve).on('close', resolve).on('error', resolve)
  })
  return socket
}

soakTest('closes a connection once it is answered, though its peer keeps it open', async () => {
  const project = openServedProject()
  project.createRun()
  const { socket: path } = await startServer(project)
  const socket = await holdConnection(path)
  const ended = new Promise((resolve) => {
    socket.once('end', resolve)
  })
  const caller = { client: 'claude', session: null, canAsk: true }
  const input = JSON.stringify({ tool_name: 'Bash' })
  const request = { event: 'pre-tool-use', input, workingFolder: '/', top: project.folder, caller }
  socket.write(`${JSON.stringify(request)}\n`)
  await ended
  const more = setInterval(() => socket.write('x'), 50)
  onTestFinished(() => clearInterval(more))
  await expect.poll(() => socket.errored).toMatchObject({ code: 'EPIPE' })
})

soakTest('answers few at once, so that no crowd keeps its own callers waiting', async () => {
  const project = openServedProject()
  project.createRun()
  const { socket: path } = await startServer(project)
  const sockets = await Promise.all(Array.from({ length: 40 }, () => holdConnection(path)))
  expect(sockets.filter(({ bytesRead }) => bytesRead > 0)).toHaveLength(16)
  const { ran, isOwn } = await hookBeside(project, 'pre-tool-use', { tool_name: 'Bash' })
  expect([isOwn, decisionOf(ran).decision]).toEqual([true, 'deny'])
})

test('takes away its socket at its end, though connections are open', async () => {
  const project = openServedProject()
  project.createRun()
  const { server, socket: path } = await startServer(project)
  await Promise.all([holdConnection(path), holdConnection(path)])
  server.end()
  await server.gone
  expect(socketsOf(project)).toEqual([])
})

test.for((['SIGTERM', 'SIGINT'] as const).slice(0, amount({ test: 1, soak: 2 })))(
  'takes away its socket when %s ends it',
  async (signal) => {
    const project = openServedProject()
    project.createRun()
    const { server } = await startServer(project)
    server.kill(signal)
    await server.gone
    expect(socketsOf(project)).toEqual([])
  },
)

test('listens where only the user can reach it, and takes away sockets that nothing listens on', async () => {
  const project = openServedProject()
  project.createRun()
  const first = await startServer(project)
  expect(statSync(socketFolder(project)).mode & 0o077).toBe(0)
  first.server.kill('SIGKILL')
  await first.server.gone
  expect(existsSync(first.socket)).toBe(true)
  const { ran, isOwn } = await hookBeside(project, 'pre-tool-use', { tool_name: 'Bash' })
  expect([isOwn, decisionOf(ran).decision]).toEqual([true, 'deny'])
  const second = await startServer(project)
  expect(socketsOf(project)).toHaveLength(1)
  await dismiss(second.server)
  expect(socketsOf(project)).toEqual([])
})

test('only a project with a record in a file has a server for its hooks', () => {
  const { folder, environment, createRun } = openServedProject()
  expect(projectOfHooks(folder, environment)).toBeNull()
  createRun()
  const database = join(folder, '.waymark/waymark.db')
  expect(projectOfHooks(folder, environment)).toEqual({ root: folder, database })
  expect(projectOfHooks(folder, { ...environment, WAYMARK_DATABASE: 'postgres://localhost/x' })).toBeNull()
})
