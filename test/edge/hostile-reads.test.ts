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
  const asked = [
    ...files.flatMap((path) => [
      { call: 'planFiles.load', args: [path, null] },
      { call: 'processFiles.load', args: [path] },
      { call: 'evidenceFiles.read', args: [folder, [path]] },
    ]),
    { call: 'processFiles.load', args: ['linked'] },
    { call: 'witness.file', args: [{ folder, path: '.env', salt: 's' }] },
    { call: 'witness.locate', args: [join(folder, '.git')] },
    { call: 'witness.locate', args: [dirname(folder)] },
    {
      call: 'commandApprovals.filesOf',
      args: [{ run: 'x', folder, pinned: ['../beside.txt', '.git/config'] }],
    },
  ]
  server.askFor(
    asked,
    [{ call: 'processFiles.list', args: [] }],
    [{ call: 'evidenceFiles.contents', args: [folder, files.slice(0, 4)] }],
  )
  await ranAt(machine, ['status', '--json'])
  const said = server.said()
  for (const { call, args, failure } of said.slice(0, asked.length))
    expect(failure?.code, `${call} ${JSON.stringify(args)}`).toMatch(/^(FORBIDDEN|NOT_FOUND)$/)
  expect(JSON.stringify(said)).not.toMatch(/hidden-|repositoryformatversion/)

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
