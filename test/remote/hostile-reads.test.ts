import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { hostileServer, machineOf } from './hostile-server.ts'
import { ranAt } from './machines.ts'

test('reads no file for a server that nobody at the machine named, nor one of git, with secrets or outside', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const { folder } = machine
  machine.write('.env', 'TOKEN=hidden-in-env\n')
  machine.write('plan.md', '# Plan\n\n- [ ] Task\n')
  machine.write('../beside.txt', 'hidden-beside\n')
  machine.write('src/private.txt', 'hidden-in-project\n')
  mkdirSync(join(folder, '.waymark', 'processes'), { recursive: true })
  symlinkSync('../../.env', join(folder, '.waymark', 'processes', 'linked.yaml'))
  const files = ['.env', '.git/config', join(folder, '.git', 'config'), '../beside.txt', 'src/private.txt']
  const measured = async (words: readonly string[], operation: string, briefs: Record<string, object[]>) => {
    const asked = Object.entries(briefs).flatMap(([name, all]) => all.map((brief) => ({ name, brief })))
    server.askToMeasure(operation, asked)
    await ranAt(machine, [...words, '--json']).catch(() => undefined)
    expect(JSON.stringify(server.measured())).not.toMatch(/hidden-|repositoryformatversion/)
    return server.measured().map(({ failure }) => failure?.reason ?? null)
  }
  // Of files that the inbox shows, the machine tells hashes and which of them changed.
  const events = { state: 'work' }
  const shown = (paths: readonly string[], seen: string | null) => [
    { artifacts: paths, changed: [], known: [], command: null, events, content: 'a'.repeat(64), seen },
  ]
  const inboxBriefs = {
    hashes: [[{ top: folder, paths: files }]],
    shown: [shown(files, null), shown([], 'a'.repeat(64)), shown(files, 'a'.repeat(64))],
  }
  expect(await measured(['inbox'], 'inbox', inboxBriefs)).toEqual([null, null, null, null])
  const emit = [
    'run',
    'emit',
    '--run-id',
    'r-1',
    '--event-name',
    'finish',
    '--expected-revision',
    '1',
    '--idempotency-key',
    'k',
  ]
  const submitted = files.map((path) => [{ path, hasSchema: true }])
  expect(await measured(emit, 'state_gate_emit_event', { submitted })).toEqual(
    files.map(() => 'not_named_here'),
  )
  // What was named is read, and nothing beside it.
  const named = join(folder, 'plan.md')
  const plans = [named, ...files].map((file) => ({ file, from: null }))
  const notNamed = files.map(() => 'not_named_here')
  expect(await measured(['import', named], 'plan_import', { plan: plans })).toEqual([null, ...notNamed])
  const processes = [...files, 'linked'].map((process) => ({ process }))
  expect(await measured(['process', 'show', 'other'], 'process_show', { process: processes })).toEqual([
    ...notNamed,
    expect.any(String),
  ])
  const pinned = (path: string) => [{ run: 'x', folder, pinned: [path], asks: true }]
  const commands = [pinned('../beside.txt'), [{ run: 'x', folder: dirname(folder), pinned: [], asks: false }]]
  expect(await measured(['inbox'], 'inbox', { commands })).toEqual(['outside_project', 'outside_project'])
  expect(await measured(['process', 'list'], 'process_list', { processes: [{}] })).toEqual([null])
})

test('removes and makes no work tree for a server but those of the task that was named, and once', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const applied = async (operation: string, words: readonly string[], ...plans: readonly object[]) => {
    server.askToMeasure(operation, ...plans.map((brief) => [{ name: 'apply', brief }]))
    await ranAt(machine, [...words, '--json'])
    return server.measured().map(({ failure }) => failure?.reason ?? null)
  }
  machine.git('branch', 'precious')
  const path = `${machine.folder}-other`
  machine.git('worktree', 'add', '-q', path)
  const tree = { path, branch: 'precious', head: null, taskId: 't-1', exists: true }
  const remove = ['worktree', 'remove', 't-1']
  expect(await applied('worktree_remove', remove, tree)).toEqual(['not_named_here'])
  expect(await applied('worktree_remove', [...remove, '--force'], tree)).toEqual(['not_named_here'])
  expect(existsSync(path)).toBe(true)
  expect(machine.git('branch', '--list', 'precious')).toContain('precious')

  const add = ['worktree', 'add', 't-2']
  const made = { taskId: 't-2', path: `${machine.folder}-new`, branch: 'made' }
  expect(await applied('worktree_add', add, { ...made, taskId: 't-3' })).toEqual(['not_named_here'])
  expect(await applied('worktree_add', add, { ...made, path: '/tmp/elsewhere' })).toEqual(['outside_project'])
  expect(await applied('worktree_list', ['worktree', 'list'], made)).toEqual(['unknown_measurement'])
  const again = { ...made, path: `${machine.folder}-again`, branch: 'again' }
  expect(await applied('worktree_add', add, made, again)).toEqual([null, 'applied_once'])
  expect(existsSync(again.path)).toBe(false)
})

test('measures for a server only what the called operation declares, inside the work tree', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const { folder } = machine
  const outside = { engine: 'git', directory: '/etc', top: '/etc', prefix: '', id: 'x' }
  machine.write('.env', 'TOKEN=hidden-in-env\n')
  const measured = async (
    operation: string,
    name: string,
    brief: unknown,
    words: readonly string[] = ['task', 'start', '--planned-task-id', 't-1'],
  ) => {
    server.askToMeasure(operation, [{ name, brief }])
    await ranAt(machine, [...words, '--json'])
    return server.measured()[0]
  }
  const refused = { failure: { code: 'FORBIDDEN', reason: 'unknown_measurement' } }
  expect(await measured('complete_task', 'end', [])).toMatchObject(refused)
  expect(await measured('start_task', 'held', {})).toMatchObject(refused)
  expect(await measured('start_task', 'constructor', {})).toMatchObject(refused)
  expect(await measured('start_task', 'start', { planned: null, overHttp: false, more: 1 })).toMatchObject(
    refused,
  )
  expect(await measured('start_task', 'areas', { ref: outside, areas: ['**'], others: [] })).toMatchObject({
    failure: { code: 'FORBIDDEN', reason: 'no_snapshot' },
  })
  expect(await measured('start_task', 'start', { planned: null, overHttp: false })).toMatchObject({
    measured: { ref: { top: folder } },
  })
  const linesOf = (path: string) => ({
    wanted: [{ path }],
    copies: false,
    salt: 's',
    text: true,
    mayLack: false,
  })
  expect(await measured('blame', 'files', linesOf('.env'), ['blame', 'src/api.ts'])).toMatchObject({
    failure: { code: 'FORBIDDEN', reason: 'unreadable_file' },
  })
  const readable = await measured('blame', 'files', linesOf('src/api.ts'), ['blame', 'src/api.ts'])
  expect(readable?.measured).toMatchObject([
    { file: { path: 'src/api.ts', hashes: [expect.any(String)] }, blamed: null },
  ])
  expect(JSON.stringify(readable?.measured)).not.toContain('"text"')
  // A file is read by its path only where it was named here.
  const other = await measured('process_show', 'process', { process: '.env' }, ['process', 'show', 'other'])
  expect(other).toMatchObject({ failure: { code: 'FORBIDDEN', reason: 'not_named_here' } })
  const plan = { file: 'src/api.ts', from: null }
  expect(await measured('plan_import', 'plan', plan, ['import', 'other.md'])).toMatchObject({
    failure: { code: 'FORBIDDEN', reason: 'not_named_here' },
  })
})
