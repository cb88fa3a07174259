import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine, startWork } from './command-line.ts'

/** Every file below a folder with what is in it. */
function contentsOf(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    files.map((name) => {
      const path = join(folder, name)
      const found = lstatSync(path)
      const hash = found.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      return [name, `${found.mode} ${found.mtimeMs} ${hash}`]
    }),
  )
}

/** Text of two runs differs by how long ago something was. */
function withoutAges({ out }: { readonly out: string }): string {
  return out.replaceAll(/\d+ s ago/g, '')
}

test('without a command, a repository without a record is described, and nothing is written', () => {
  const project = openCommandLine()
  const commit = (subject: string, trailer: string) =>
    project.git('commit', '--quiet', '--allow-empty', '-m', subject, '-m', trailer)
  commit('Add the form', 'Co-Authored-By: Claude <noreply@anthropic.com>')
  commit('Check the mail address', 'Assisted-by: Codex:gpt-5')
  commit('Name the owner', 'Signed-off-by: Ada <ada@example.com>')
  project.git('worktree', 'add', '--quiet', '-b', 'feature/login', '../login')
  project.write('src/app.ts', 'export const app = 2\n')
  project.write('notes.md', 'Later\n')
  execFileSync('mkdir', ['-p', join(project.folder, '.claude')])
  const before = contentsOf(project.home)

  const { code, out, error } = project.run()
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(out).toContain('project has no Waymark project yet.')
  expect(out).toMatch(/uncommitted +2 files: .*notes\.md/)
  expect(out).toMatch(
    /agent commits +2 of the last 4 commits\n +Codex: Check the mail address \(.*\)\n +Claude: Add/,
  )
  expect(out).toMatch(/work trees +\.\.\/login \(feature\/login\)/)
  expect(out).toMatch(/clients found +.*Claude Code/)
  expect(out.match(/waymark \w+/g)).toEqual(['waymark init'])
  const inFolder = project.runWith({ folder: join(project.folder, 'src') })
  expect(withoutAges(inFolder)).toBe(withoutAges({ out }))
  expect(JSON.parse(project.run('--json').out)).toMatchObject({
    uncommitted: { total: 2 },
    agent_commits: [{ agent: 'Codex' }, { agent: 'Claude' }],
    work_trees: [{ branch: 'feature/login' }],
    next: 'waymark init',
  })
  expect(contentsOf(project.home)).toEqual(before)
})

test('without a command, a repository where a client was set up says so and how to begin', () => {
  const project = openCommandLine()
  execFileSync('mkdir', ['-p', join(project.folder, '.claude')])
  expect(project.run('setup', 'claude', '--yes').code).toBe(0)
  expect(JSON.parse(project.run('--json').out)).toMatchObject({
    set_up: ['Claude Code'],
    next: 'waymark open',
  })
  expect(project.run().out).toMatch(/^project is set up for Claude Code\./)
})

test('without a command, a project shows its status', () => {
  const project = openCommandLine()
  startWork(project)
  expect(withoutAges(project.run())).toBe(withoutAges(project.run('status')))
  expect(JSON.parse(project.run('--json').out).running).toHaveLength(1)
})

test('without a command, a repository without commits or a configured program says so', () => {
  const project = openCommandLine({ git: false })
  project.git('init', '--quiet')
  // A filter that would write a file if it ran.
  project.git('config', 'filter.spy.clean', 'touch ran; cat')
  project.write('.gitattributes', '* filter=spy\n')
  const { code, out } = project.run()
  expect([code, out]).toEqual([0, expect.stringContaining('no commit yet')])
  expect(readdirSync(project.folder)).not.toContain('ran')
})

test('outside a repository it says what works there, and the way on', () => {
  const project = openCommandLine({ git: false })
  const { code, out, error } = project.run()
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(out).toContain(project.folder)
  for (const command of ['waymark init', 'waymark demo']) expect(out).toContain(command)
})
