import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ranAt } from './edges.ts'
import { hostileServer, machineOf } from './hostile-server.ts'

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
  const asked: readonly (readonly [
    words: readonly string[],
    calls: readonly { call: string; args: unknown[] }[],
  ])[] = [
    [['import', 'other.md'], files.map((path) => ({ call: 'planFiles.load', args: [path, null] }))],
    [
      ['process', 'show', 'other'],
      [...files, 'linked'].map((path) => ({ call: 'processFiles.load', args: [path] })),
    ],
    [
      ['decide', 'r-1', 'finish'],
      [
        ...files.map((path) => ({ call: 'evidenceFiles.read', args: [folder, [path]] })),
        { call: 'witness.locate', args: [join(folder, '.git')] },
        { call: 'witness.locate', args: [dirname(folder)] },
        {
          call: 'commandApprovals.filesOf',
          args: [{ run: 'x', folder, pinned: ['../beside.txt', '.git/config'] }],
        },
      ],
    ],
    [['blame', 'src/api.ts'], [{ call: 'witness.file', args: [{ folder, path: '.env', salt: 's' }] }]],
  ]
  for (const [words, calls] of asked) {
    server.askFor(calls)
    await ranAt(machine, [...words, '--json'])
    expect(server.said()).toHaveLength(calls.length)
    for (const { call, args, failure } of server.said())
      expect(failure?.code, `${call} ${JSON.stringify(args)}`).toMatch(/^(FORBIDDEN|NOT_FOUND)$/)
  }
  for (const [words, call] of [
    [['process', 'list'], { call: 'processFiles.list', args: [] }],
    [['inbox'], { call: 'evidenceFiles.contents', args: [folder, files.slice(0, 4)] }],
  ] as const) {
    server.askFor([call])
    await ranAt(machine, [...words, '--json'])
    expect(server.said()[0]?.answer).toBeDefined()
    expect(JSON.stringify(server.said())).not.toMatch(/hidden-|repositoryformatversion/)
  }

  // What was named is read, and nothing beside it.
  server.askFor([
    { call: 'planFiles.load', args: [join(folder, 'plan.md'), null] },
    { call: 'planFiles.load', args: ['src/private.txt', null] },
  ])
  await ranAt(machine, ['import', join(folder, 'plan.md'), '--json']).catch(() => undefined)
  expect(server.said().map(({ failure }) => failure?.details?.reason ?? null)).toEqual([
    null,
    'not_named_here',
  ])
})

test('removes no work tree and no branch for a server but those of the task that was named', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  machine.git('branch', 'precious')
  const path = `${machine.folder}-other`
  machine.git('worktree', 'add', '-q', path)
  const tree = { path, branch: 'precious', head: null, taskId: 't-1', exists: true }
  const add = { folder: machine.folder, path: `${machine.folder}-new`, branch: 'made', taskId: 't-2' }
  server.askFor([
    { call: 'linkedTrees.remove', args: [machine.folder, tree] },
    { call: 'linkedTrees.discard', args: [machine.folder, tree] },
    { call: 'linkedTrees.add', args: [add] },
  ])
  await ranAt(machine, ['worktree', 'remove', 't-1', '--json'])
  expect(server.said().every(({ failure }) => failure !== undefined)).toBe(true)
  expect(existsSync(path)).toBe(true)
  expect(machine.git('branch', '--list', 'precious')).toContain('precious')
})

test('measures for a server only what the called operation declares, inside the work tree', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const { folder } = machine
  const outside = { engine: 'git', directory: '/etc', top: '/etc', prefix: '', id: 'x' }
  const measured = async (operation: string, name: string, brief: unknown) => {
    server.askToMeasure(operation, [{ name, brief }])
    await ranAt(machine, ['task', 'start', 'A', '--json'])
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
})
