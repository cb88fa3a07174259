import { execFileSync, spawn } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MissionId } from '../../src/kernel/id.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { agent, aMission } from '../support/entities.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { emptyPostgres, isPostgresLeftOut } from '../support/postgres/database.ts'
import { bin } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { startAlone } from '../support/started-program.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { started } from '../surfaces/http/serve-process.ts'
import { agentMachine, connectedMachine, ranAt, teamServer } from './machines.ts'

function environmentOf(home: string, database: string): Record<string, string> {
  const known = Object.entries(serverEnvironment(home)).filter(([name]) => !/^(AI_AGENT|CLAUDE)/.test(name))
  return { ...Object.fromEntries(known), HOME: home, WAYMARK_DATABASE: database }
}

/** A server of its own process on a database. */
function serve(database: string) {
  const home = temporaryFolder()
  const environment = environmentOf(home, database)
  return started(startAlone([bin, 'serve', '--port', '0'], { folder: home, environment }))
}

describe.skipIf(isPostgresLeftOut)('servers on one database, as processes', () => {
  test('case 12: eight that start at once on an empty database all serve', async () => {
    await using database = await emptyPostgres()
    const narrow = new URL(database.url)
    narrow.searchParams.set('pool', '2')
    const servings = await Promise.all(Array.from({ length: 8 }, () => serve(narrow.href)))
    for (const { port } of servings) {
      const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status
      await expect.poll(ready, { timeout: 30_000 }).toBe(200)
    }
  })
})

/** A PostgreSQL whose disk is a small one of its own; null where this machine gives none to its user. */
async function onSmallDisk(
  binaries: string,
): Promise<{ readonly url: string; readonly disk: string } | null> {
  const disk = temporaryFolder()
  const port = await new Promise<number>((resolve) => {
    const taken = createServer().listen(0, '127.0.0.1', () => {
      const address = taken.address()
      taken.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
  // The log that the server writes ahead has room: it is the tables that find none.
  const script = `
    mount -t tmpfs -o size=120m tmpfs "$1" && mkdir "$1/ahead" "$1/rest" &&
    mount -t tmpfs -o size=72m tmpfs "$1/rest" &&
    "$2/initdb" -D "$1/rest/data" -X "$1/ahead/wal" -U waymark -A trust --wal-segsize=1 --no-sync --no-instructions --encoding=UTF8 --no-locale >/dev/null &&
    exec "$2/postgres" -D "$1/rest/data" -c listen_addresses=127.0.0.1 -c port=$3 -c unix_socket_directories= -c max_wal_size=16MB -c min_wal_size=2MB -c fsync=off -c shared_buffers=16MB`
  const words = ['--user', '--map-user=1000', '--map-group=1000', '--keep-caps', '--mount']
  const child = spawn('unshare', [...words, 'sh', '-c', script, 'sh', disk, binaries, String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString()
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGINT')
    await ended
  })
  const url = `postgres://waymark@127.0.0.1:${port}/postgres`
  for (let round = 0; round < 300 && child.exitCode === null; round += 1) {
    const client = new Client({ connectionString: url })
    client.on('error', () => undefined)
    const isUp = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => undefined)
    if (isUp) return { url, disk: `${disk}/rest` }
    await sleep(100)
  }
  if (/unshare|mount/.test(said) && !/initdb|postgres:/.test(said)) return null
  throw new Error(`PostgreSQL did not start on a small disk: ${said}`)
}

const [binaries] = globSync('/usr/lib/postgresql/*/bin').toSorted()

describe.skipIf(isPostgresLeftOut || binaries === undefined)('a disk of PostgreSQL that is full', () => {
  test('case 43: writes are refused with a sentence, reads go on, and it recovers by itself', async (context) => {
    const small = await onSmallDisk(binaries ?? '')
    if (small === null) return context.skip('this user may mount no disk of its own')
    const project = { root: temporaryFolder(), name: null, machine: 'laptop' }
    const store = openPostgresStore({ url: small.url, project, ids: randomIds })
    onTestFinished(() => store.close())
    const written: string[] = []
    const begins = async (number: number) => {
      const id = `m-${number}` as MissionId
      // Nothing that can be made shorter.
      const description = Array.from({ length: 6_000 }, () => Math.random().toString(36)).join('')
      const mission = aMission({ id, description })
      const idempotency = { key: id, owner: 'a', connection: null, operation: 'start', inputHash: 'x' }
      const decide = async () => ({ events: [{ kind: 'mission.started', mission } as const], answer: id })
      written.push(await store.record({ actor: agent, at: 1, idempotency, decide }))
    }
    await begins(0)
    const client = new Client({ connectionString: small.url })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.end())
    // A file of somebody else takes nearly all that is left.
    await client.query(
      `copy (select repeat('x', 1000000) from generate_series(1, 20)) to '${small.disk}/other'`,
    )
    let refused: unknown = null
    let number = 1
    for (; refused === null && number < 2_000; number += 1) {
      refused = await begins(number).then(
        () => null,
        (error: unknown) => error,
      )
    }
    expect(refused).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^The disk of the database .* is full/),
    })
    expect(await store.view(({ eventLog: log }) => log.head())).toBe(written.length + 1)
    await expect(begins(number)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await client.query(`copy (select 1) to program 'rm ${small.disk}/other'`).catch(() => undefined)
    await begins(number)
    const { events, check } = await store.view(async ({ eventLog: log }) => ({
      events: await log.since(0, 100_000),
      check: await log.verify(),
    }))
    expect(check.brokenAt).toBeNull()
    const kept = events.flatMap(({ body }) => (body.kind === 'mission.started' ? [body.mission.id] : []))
    expect(kept).toEqual(written)
  })
})

const slow = `process: { dialect: 1, id: slow, version: "1.0.0", name: Slow, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: tests }]
guards:
  tests: { type: command, run: "sleep 3600", timeout: 2h }
`

describe('a server and the machines that work for it, as processes', () => {
  test('case 39: the command of a machine that was killed counts as running for a minute, and is begun again then', async () => {
    const server = await teamServer()
    const machine = agentMachine()
    await ranAt(machine, ['connect', server.address, '--trust-commands'], {
      WAYMARK_TOKEN: server.token('agent'),
    })
    machine.write('.waymark/processes/slow.yaml', slow)
    const first = await machine.connect()
    const { run_id: run } = await first.call('state_gate_create_run', { process_id: 'slow' })
    const finish = (by: typeof first, key: string): Promise<Answer> =>
      by.client
        .callTool({
          name: 'state_gate_emit_event',
          arguments: { run_id: run, event_name: 'finish', expected_revision: 1, idempotency_key: key },
        })
        .then(({ structuredContent }) => structuredContent)
        .catch((error: unknown) => ({ error: String(error) }))
    await finish(first, 'one')
    const { items } = await server.api('inbox')
    await server.api('approve', { id: items.find(({ kind }: Answer) => kind === 'command').item_id })
    void finish(first, 'two')
    const observer = await machine.connect()
    const state = async () => JSON.stringify(await observer.call('state_gate_get_state', { run_id: run }))
    await expect.poll(state, { timeout: 20_000 }).toContain('is running')
    const sleeping = pidsOf('sleep 3600')
    expect(sleeping.length).toBeGreaterThan(0)
    onTestFinished(() => {
      for (const pid of pidsOf('sleep 3600')) {
        if (!sleeping.includes(pid)) endQuietly(pid)
      }
      for (const pid of sleeping) endQuietly(pid)
    })
    first.kill()
    const killedAt = performance.now()
    await sleep(30_000)
    expect(await state()).toContain('is running')
    await expect.poll(state, { timeout: 60_000, interval: 1_000 }).not.toContain('is running')
    expect(performance.now() - killedAt).toBeGreaterThan(35_000)
    expect(performance.now() - killedAt).toBeLessThan(90_000)
    const second = await machine.connect()
    void finish(second, 'three')
    await expect.poll(state, { timeout: 20_000 }).toContain('is running')
    second.kill()
  })

  test('case 44: no file, no answer, no log entry and no list of processes of a whole run holds a token', async () => {
    const server = await teamServer()
    const tokens = [server.newToken('builder'), server.token('person'), server.token('agent')]
    const [builder = ''] = tokens
    const machine = connectedMachine(server, builder)
    const seen: string[] = []
    const agentThere = await machine.connect()
    const call = async (tool: string, input: object) => {
      const answer = await agentThere.call(tool, input)
      seen.push(JSON.stringify(answer))
      return answer
    }
    const { task_id } = await call('start_task', { name: 'Sign in', areas: ['src/'] })
    machine.write('src/auth.ts', 'export const auth = 2\n')
    const hook = { cwd: machine.folder, hook_event_name: 'PreToolUse', tool_name: 'Bash' }
    const said = JSON.stringify({ ...hook, tool_input: { command: `echo ${'x'.repeat(40)}` } })
    seen.push(await ranAt(machine, ['hook', 'pre-tool-use'], {}, said))
    seen.push(processes())
    server.child.kill('SIGKILL')
    await server.ended
    seen.push(JSON.stringify(await agentThere.refused('log_milestone', { task_id, message: 'It is away' })))
    const back = await server.again()
    await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
    seen.push(
      processes(),
      machine.run('status').out,
      machine.run('doctor').out,
      machine.run('machine', 'list').out,
    )
    seen.push(JSON.stringify(await server.log()))
    await agentThere.close()
    back.child.kill('SIGTERM')
    const printed = await back.ended
    seen.push(printed.out, printed.error)
    const told = [(await server.ended).out, (await server.ended).error, ...seen]
    const places = [server.home, machine.home].flatMap((home) =>
      globSync('**/*', { cwd: home, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    )
    expect(places.length).toBeGreaterThan(20)
    for (const token of tokens) {
      expect(told.findIndex((text) => text.includes(token))).toBe(-1)
      const holding = places.filter((path) => readFileSync(path).includes(token))
      // Where a user's own tokens are kept, and the servers that they know.
      expect(holding.filter((path) => !/\/(servers\.json|server\/[\w-]+\.token)$/.test(path))).toEqual([])
    }
    rmSync(machine.home, { recursive: true, force: true })
  })
})

function processes(): string {
  return globSync('/proc/[0-9]*/cmdline')
    .map((path) => {
      try {
        return readFileSync(path, 'utf8')
      } catch {
        return '' // it ended
      }
    })
    .join('\n')
}

function pidsOf(words: string): readonly number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
  return listed.split('\n').flatMap((line) => {
    const [, pid, args] = /^\s*(\d+) (.*)$/.exec(line) ?? []
    return args === words ? [Number(pid)] : []
  })
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
