import { on, once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { startProgram } from '../support/started-program.ts'
import { agentMachine, connectedMachine, teamServer } from './machines.ts'

test('an agent works on one machine, and the server keeps the record', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  const agent = await machine.connect()
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('start_task')

  const mission = await agent.call('start_mission', { name: 'Sign in', objective: 'People can sign in' })
  const started = await agent.call('start_task', {
    mission_id: mission.mission_id,
    name: 'Add tokens',
    goal: 'Tokens exist',
    areas: ['src/auth.ts', 'src/', '!docs/**'],
  })
  expect(started).toMatchObject({ snapshot_type: 'git', areas: [{ files: 1 }, { files: 2 }, { files: 0 }] })
  machine.write('src/auth.ts', 'export const auth = 2\n')
  machine.write('config/keys.yaml', 'none\n')
  const ended = await agent.call('complete_task', {
    task_id: started.task_id,
    status: 'success',
    outcome: { summary: 'Tokens were added in src/auth.ts.' },
  })
  expect(ended).toMatchObject({
    files_changed: { added: ['config/keys.yaml'], modified: ['src/auth.ts'] },
    measurement: 'exact',
    verification: { scope_match: false, unexpected_files: ['config/keys.yaml'] },
  })
  expect(existsSync(join(machine.folder, '.waymark', 'waymark.db'))).toBe(false)

  const shown = await server.api('changes', { id: started.task_id })
  expect(shown.total).toBe(2)
  const events = await server.log()
  const keys = join(machine.home, 'state', 'waymark', 'machine', 'machine-keys')
  const [key = ''] = readdirSync(keys)
  const own = JSON.parse(readFileSync(join(keys, key), 'utf8'))
  const closed = events.find(({ body }: Answer) => body.kind === 'attempt.closed')
  expect(closed.actor).toMatchObject({
    name: 'edge-client',
    kind: 'agent',
    channel: 'stdio',
    machine: own.id,
  })
  expect(closed.body.evidence.endSnapshot).toMatchObject({ machineId: own.id, top: machine.folder })
})

test('a folder is connected: its command line asks the server, and its token stays with its user', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.token('person'))
  await server.api('taskman_phase_add', { id: 'words', name: 'Words' })
  const added = machine.run(
    'task',
    'add',
    '--title',
    'Write the guide',
    '--phase',
    'words',
    '--format',
    'json',
  )
  expect(added.error).toBe('')
  const { id } = JSON.parse(added.out)
  expect(machine.run('task', 'list').out).toContain('Write the guide')
  expect(JSON.parse(machine.run('task', 'get', id.slice(0, 7), '--format', 'json').out)).toMatchObject({ id })
  expect(server.run('task', 'list').out).toContain('Write the guide')
  // As on the server's machine, in the words of the command line.
  expect(machine.run('mission', 'start', 'M').error).toContain('--objective is missing.')
  const status = JSON.parse(machine.run('status', '--format', 'json').out)
  expect(status.project).toBe(machine.folder)

  const kept = join(machine.home, 'state', 'waymark', 'machine', 'servers.json')
  expect(statSync(kept).mode & 0o777).toBe(0o600)
  expect(readFileSync(kept, 'utf8')).toContain(server.token('person'))
  expect(readFileSync(join(machine.folder, '.waymark', 'server'), 'utf8')).toBe(`${server.address}/p/shop\n`)
  expect(machine.git('status', '--short')).toBe('')
  const inProject = readdirSync(join(machine.folder, '.waymark')).map((name) =>
    readFileSync(join(machine.folder, '.waymark', name), 'utf8'),
  )
  expect(inProject.join('\n')).not.toContain(server.token('person'))

  const other = agentMachine()
  const connect = (address: string, token = 'wrong') => {
    other.environment['WAYMARK_TOKEN'] = token
    return other.run('connect', address).error
  }
  expect(connect(server.address)).toContain('rejected this token')
  expect(connect('http://waymark.example.com')).toContain('is not encrypted')
  expect(connect('ftp://waymark.example.com')).toContain('is not the address of a server')
  expect(connect('http://127.0.0.1:9')).toContain('cannot be reached')
  expect(connect(`${server.address}/p/none`, server.token('agent'))).toContain('no project "none"')
})

test('work in a linked work tree is shown in the main one too', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.token('person'))
  const added = JSON.parse(machine.run('task', 'add', 'Say hello', '--json').out)
  const { path } = JSON.parse(machine.run('worktree', 'add', added.id, '--json').out)
  const there = (...words: readonly string[]) =>
    runProgram(words, { folder: path, environment: machine.environment })
  expect(there('task', 'start', added.id, '--json').code).toBe(0)
  writeFileSync(join(path, 'src', 'hello.ts'), 'export const hello = 1\n')
  expect(
    there('task', 'complete', added.id, 'Added src/hello.ts.', '--status', 'success', '--json').code,
  ).toBe(0)
  expect(machine.run('diff', added.id).out).toContain('hello = 1')
  expect(machine.run('review', added.id).out).toContain('hello = 1')
})

test('init in a connected folder names its server, and makes no record beside it', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.token('person'))
  const address = `${server.address}/p/shop`
  const before = readdirSync(join(machine.folder, '.waymark')).sort()
  const piped = machine.run('init')
  expect(piped).toMatchObject({ code: 0, out: '', error: expect.stringContaining(address) })
  expect(JSON.parse(machine.run('init', '--yes', '--json').out)).toMatchObject({ record: address })
  expect(readdirSync(join(machine.folder, '.waymark')).sort()).toEqual(before)

  const named = agentMachine()
  named.environment['WAYMARK_SERVER'] = address
  expect(JSON.parse(named.run('init', '--yes', '--json').out)).toMatchObject({ record: address })
  expect(existsSync(join(named.folder, '.waymark'))).toBe(false)
  named.environment['WAYMARK_SERVER'] = ''
  named.environment['WAYMARK_DATABASE'] = join(named.home, 'team.db')
  expect(JSON.parse(named.run('init', '--yes', '--json').out)).toMatchObject({
    record: join(named.home, 'team.db'),
  })
  expect(existsSync(join(named.folder, '.waymark'))).toBe(false)
})

test('waymark watch on a machine prints the time of each entry that the server records', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  const program = startProgram(['watch', '--all'], machine)
  onTestFinished(async () => {
    program.kill('SIGINT')
    await program.gone
  })
  const lines = on(createInterface({ input: program.stdout }), 'line')
  await once(program.stderr, 'data') // its greeting: it follows the log
  const agent = await machine.connect()
  await agent.call('start_mission', { name: 'Sign in', objective: 'People can sign in' })
  const { value } = await lines.next()
  expect(value?.[0]).toMatch(/^\d\d:\d\d:\d\d {2}agent started/)
})
