import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileIn, openHookProject } from './hook-project.ts'

const silence = { code: 0, out: '', error: '' }

test('a linked work tree has its own attempts, and the record of the main one', () => {
  const { startTask, decide, folder, home, git } = openHookProject()
  const linked = join(home, 'linked')
  git('worktree', 'add', '-q', linked)
  startTask('Add the form', ['src/auth/'], '--work-tree', linked)
  expect(decide('Edit', fileIn(linked, 'src/pay.ts'), { cwd: linked }).decision).toBe('ask')
  expect(decide('Edit', fileIn(linked, 'src/auth/a.ts'), { cwd: linked }).decision).toBe('none')
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('none')
  expect(existsSync(join(linked, '.waymark/waymark.db'))).toBe(false)
})

test('a folder below the top, and a symbolic link to it, are the same work tree', () => {
  const { startTask, decide, folder, home } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  expect(decide('Edit', { file_path: 'pay.ts' }, { cwd: join(folder, 'src') })).toMatchObject({
    decision: 'ask',
    reason: expect.stringContaining('src/pay.ts'),
  })
  const link = join(home, 'link')
  symlinkSync(folder, link)
  expect(decide('Edit', fileIn(link, 'src/pay.ts'), { cwd: link }).decision).toBe('ask')
  expect(decide('Edit', fileIn(link, 'src/auth/new/a.ts'), { cwd: link }).decision).toBe('none')
})

test('the work trees of a bare repository share the record beside it', () => {
  const { runWith, decide, folder, home, git } = openHookProject()
  const bare = join(home, 'bare', 'project.git')
  const tree = join(home, 'bare', 'tree')
  git('clone', '-q', '--bare', folder, bare)
  git('--git-dir', bare, 'worktree', 'add', '-q', tree)
  const started = runWith({ folder: tree }, 'task', 'start', 'Add the form', '--areas', 'src/auth/')
  expect(started.error).toBe('')
  expect(decide('Edit', fileIn(tree, 'src/pay.ts'), { cwd: tree }).decision).toBe('ask')
})

test('an agent that stands in no project works for the one that its client opened', () => {
  const { startTask, hook, folder, home } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  const call = { tool_name: 'Edit', tool_input: fileIn(folder, 'src/pay.ts') }
  const opened = { CLAUDE_PROJECT_DIR: join(folder, 'src') }
  expect(hook('pre-tool-use', { ...call, cwd: home }, opened).out).toContain('"ask"')
  expect(hook('pre-tool-use', { ...call, cwd: home }).out).toBe('')
})

test('WAYMARK_PROJECT names whose record it is', () => {
  const { createRun, hook, folder, home, git } = openHookProject()
  createRun()
  const other = join(home, 'other')
  git('init', '-q', other)
  const call = { tool_name: 'Bash', cwd: other }
  expect(hook('pre-tool-use', call)).toEqual(silence)
  expect(hook('pre-tool-use', call, { WAYMARK_PROJECT: folder }).out).toContain('"deny"')
})

test('a project without git is found from the folders in it', () => {
  const { startTask, decide, folder } = openHookProject({ git: false })
  startTask('Add the form', ['src/auth/'])
  expect(decide('Edit', fileIn(folder, 'src/pay.ts'), { cwd: join(folder, 'src') }).decision).toBe('ask')
})

test('without cwd the hook speaks for where it was started', () => {
  const { createRun, raw } = openHookProject()
  createRun()
  const { out } = raw(['hook', 'pre-tool-use'], JSON.stringify({ tool_name: 'Bash', tool_input: {} }))
  expect(JSON.parse(out).hookSpecificOutput.permissionDecision).toBe('deny')
})

test('where nothing was recorded the hooks are silent and leave no file', () => {
  const { hook, folder, home } = openHookProject()
  const before = readdirSync(join(folder, '.waymark'))
  for (const event of ['pre-tool-use', 'session-start', 'stop']) {
    expect(hook(event, { tool_name: 'Bash' })).toEqual(silence)
  }
  expect(readdirSync(join(folder, '.waymark'))).toEqual(before)
  const bare = join(home, 'bare')
  mkdirSync(bare)
  expect(hook('pre-tool-use', { tool_name: 'Bash', cwd: bare })).toEqual(silence)
  expect(readdirSync(bare)).toEqual([])
})

test('another project is none of its business', () => {
  const { createRun, hook } = openHookProject()
  createRun()
  const other = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-other-')))
  onTestFinished(() => rmSync(other, { recursive: true }))
  expect(hook('pre-tool-use', { tool_name: 'Bash', cwd: other })).toEqual(silence)
})

test('a database that several projects share answers for each', () => {
  const { runWith, hook, home } = openHookProject()
  const environment = { WAYMARK_DATABASE: join(home, 'shared.db') }
  const begun = runWith({ environment }, 'run', 'create', 'gated')
  expect(begun.error).toBe('')
  const payload = { tool_name: 'Bash' }
  expect(hook('pre-tool-use', payload, environment).out).toContain('"deny"')
  const other = join(home, 'other')
  mkdirSync(other)
  expect(hook('pre-tool-use', { ...payload, cwd: other }, environment)).toEqual(silence)
})

test('work and runs that nobody has begun restrict nothing', () => {
  const { json, hook, folder } = openHookProject()
  json('mission', 'start', 'Sign in', '--objective', 'People can sign in')
  expect(hook('pre-tool-use', { tool_name: 'Write', tool_input: fileIn(folder, 'src/pay.ts') })).toEqual(
    silence,
  )
  expect(hook('stop')).toEqual(silence)
})
