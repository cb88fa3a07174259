import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { quoteShellWord as quoted } from '../../../src/kernel/shell-word.ts'
import { bin } from '../../support/program.ts'
import { notFound } from '../../support/project.ts'
import { openCommandLine, refusalIn } from '../../surfaces/cli/command-line.ts'

function opened(...programs: readonly string[]) {
  const project = openCommandLine()
  const folder = join(project.home, 'programs')
  mkdirSync(folder)
  for (const program of programs) {
    const file = join(folder, program)
    writeFileSync(
      file,
      `#!/bin/sh\npwd > '${join(project.home, program)}'\n[ -t 0 ] && [ -t 1 ] || exit 9\nexit 7\n`,
    )
    chmodSync(file, 0o755)
  }
  project.json('phase', 'add', '--id', 'P1', '--name', 'Build')
  const { id } = project.json('task', 'add', '--title', 'Draw', '--phase', 'P1')
  const environment = { PATH: `${folder}:/usr/bin:/bin` }
  const run = (...words: readonly string[]) => project.runWith({ environment }, 'worktree', ...words)
  const refused = (...words: readonly string[]) => refusalIn(run(...words, '--json'))
  return { ...project, task: id as string, path: `${project.folder}-${id}`, tools: environment, run, refused }
}

test('the command that starts a client in the tree is printed alone, for a shell; the tree is made once', () => {
  const { run, runWith, task, path, json } = opened()
  const printed = run('add', task, '--client', 'claude')
  expect(printed).toMatchObject({ code: 0, out: `cd ${quoted(path)} && claude\n` })
  expect(printed.error).toBe(
    `Claude Code is not set up in ${path}, because the files of setup are not committed. Commit them, or run waymark setup claude --user.\n`,
  )
  expect(runWith({}, 'setup', 'codex', '--user', '--yes').code).toBe(0)
  expect(run('start', task, '--client=codex', '--print')).toMatchObject({
    out: `cd ${quoted(path)} && codex\n`,
    error: '',
  })
  expect(json('worktree', 'list').total).toBe(1)
})

test('a path with a space and a quote is one word of the shell', () => {
  const { run, task, home } = opened()
  const path = join(home, "it's é")
  const { out } = run('add', task, '--folder', path, '--client', 'opencode')
  expect(execFileSync('sh', ['-c', out.replace(/&& opencode$/m, '&& pwd')], { encoding: 'utf8' })).toBe(
    `${path}\n`,
  )
})

test('without a name, the one client that is installed is meant; of several, one is to be named', () => {
  const one = opened('gemini')
  expect(one.run('start', one.task, '--print').out).toBe(`cd ${quoted(one.path)} && gemini\n`)
  const two = opened('gemini', 'codex')
  expect(two.refused('start', two.task, '--print')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'client_ambiguous',
  })
  const none = opened()
  expect(none.refused('start', none.task, '--print')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'client_not_installed',
  })
  expect(existsSync(two.path)).toBe(false)
})

test('what cannot be is said, with the way on, and makes no tree', () => {
  const { refused, runWith, task, path } = opened('claude')
  expect(refused('start', task, '--client', 'emacs')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'client_unknown',
  })
  expect(refused('start')).toMatchObject({ code: 'INVALID_INPUT', reason: 'task_missing' })
  expect(refused('start', task)).toMatchObject({ code: 'UNAVAILABLE', reason: 'terminal_needed' })
  const agents = { environment: { CLAUDECODE: '1' } }
  const words = ['worktree', 'add', task, '--client', 'claude', '--start', '--json']
  expect(refusalIn(runWith(agents, ...words))).toMatchObject({ code: 'FORBIDDEN', reason: 'person_needed' })
  expect(existsSync(path)).toBe(false)
  expect(refused('start', 't-nothing', '--client', 'claude', '--print')).toMatchObject(notFound('task'))
})

test.skipIf(!existsSync('/usr/bin/script'))(
  'a client has the terminal, in the tree, and its exit code is told',
  () => {
    const { task, path, folder, home, environment, tools } = opened('claude')
    const line = `'${process.execPath}' '${bin}' worktree start ${task}`
    const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
      cwd: folder,
      env: { ...environment, ...tools },
      encoding: 'utf8',
    })
    expect(stdout).toContain(`cd ${quoted(path)} && claude`)
    expect(status).toBe(7)
    expect(readFileSync(join(home, 'claude'), 'utf8')).toBe(`${path}\n`)
  },
)
