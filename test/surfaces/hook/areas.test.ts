import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileIn, openHookProject } from './hook-project.ts'

test('an edit outside the areas of the open work is a question, with the way on', () => {
  const { startTask, decide, folder } = openHookProject()
  const { task_id: task } = startTask('Add the form', ['src/auth/'])
  expect(decide('Edit', fileIn(folder, 'src/auth/form.ts')).decision).toBe('none')
  expect(decide('Edit', fileIn(folder, 'src/pay.ts'))).toEqual({
    decision: 'ask',
    reason: `Waymark: src/pay.ts is out of scope for the open work on "Add the form" (${task}): src/auth/. Stay in scope, or declare this file first: start_task { "parent_task_id": "${task}", "name": "…", "areas": ["src/pay.ts"] }.`,
  })
  for (const tool of ['Write', 'MultiEdit']) {
    expect(decide(tool, fileIn(folder, 'src/pay.ts')).decision).toBe('ask')
  }
  expect(decide('NotebookEdit', { notebook_path: join(folder, 'src/pay.ipynb') }).decision).toBe('ask')
  expect(decide('Read', fileIn(folder, 'src/pay.ts')).decision).toBe('none')
  expect(decide('Write', fileIn(folder, 'package-lock.json')).decision).toBe('none')
})

test('a person sets whether it is a question, a refusal or nothing', () => {
  const { startTask, decide, folder, json } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  json('setting', 'set', 'hook_out_of_scope', 'deny')
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('deny')
  json('setting', 'set', 'hook_out_of_scope', 'ignore')
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('none')
})

test('the areas of several attempts count together, and one without areas restricts nothing', () => {
  const { startTask, decide, folder, json } = openHookProject()
  const free = startTask('Look around', [])
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('none')
  startTask('Add the form', ['src/auth/'])
  const pay = startTask('Pay', ['src/pay.ts'])
  expect(decide('Edit', fileIn(folder, 'src/auth/form.ts')).decision).toBe('none')
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('none')
  expect(decide('Edit', fileIn(folder, 'src/mail.ts')).decision).toBe('ask')
  for (const { task_id: task } of [pay, free]) {
    json('task', 'complete', task, '--status', 'success', '--outcome.summary', 'Done.')
  }
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('ask')
})

test('the strictest of state and areas wins', () => {
  const { startTask, createRun, decide, folder, json } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  createRun()
  expect(decide('Write', fileIn(folder, 'src/pay.ts'))).toMatchObject({
    decision: 'deny',
    reason: expect.not.stringContaining('out of scope'),
  })
  const { decision, reason } = decide('Edit', fileIn(folder, 'src/pay.ts'))
  expect(decision).toBe('ask')
  expect(reason).toContain("needs a person's decision about Edit")
  expect(reason).toContain('src/pay.ts is out of scope')
  json('setting', 'set', 'hook_out_of_scope', 'deny')
  expect(decide('Edit', fileIn(folder, 'src/pay.ts')).decision).toBe('deny')
})

test('only files of the work tree are judged, wherever a path seems to lead', () => {
  const { startTask, decide, folder, home } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  expect(decide('Write', fileIn(home, 'elsewhere.ts')).decision).toBe('none')
  expect(decide('Write', { file_path: '/etc/hosts' }).decision).toBe('none')
  expect(decide('Write', { file_path: `${folder}/src/auth/../pay.ts` }).decision).toBe('ask')
  expect(decide('Write', { file_path: `${folder}/../${folder.split('/').at(-1)}/src/pay.ts` }).decision).toBe(
    'ask',
  )
  expect(decide('Write', { file_path: 'src/pay.ts' }).decision).toBe('ask')
  expect(decide('Write', { file_path: '../outside.ts' }).decision).toBe('none')
  mkdirSync(join(folder, 'src/auth'))
  symlinkSync(join(folder, 'src'), join(folder, 'src/auth/up'))
  expect(decide('Write', fileIn(folder, 'src/auth/up/pay.ts')).decision).toBe('ask')
  symlinkSync(home, join(folder, 'out'))
  expect(decide('Write', fileIn(folder, 'out/x.ts')).decision).toBe('none')
})

test.each([
  [{ file_path: 42 }],
  [{ file_path: null }],
  [{ file_path: ['src/pay.ts'] }],
  [{ file_path: { toString: 'x' } }],
  [{ file_path: '' }],
  [{ file_path: 'src/\0pay.ts' }],
  [{}],
  [[]],
  ['file_path'],
  [null],
])('an edit that names no file is not judged: %j', (input) => {
  const { startTask, hook } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  const ran = hook('pre-tool-use', { tool_name: 'Write', tool_input: input })
  expect(ran).toEqual({ code: 0, out: '', error: '' })
})

test('a path of Windows is a file name here, and outside every area', () => {
  const { startTask, decide } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  expect(decide('Write', { file_path: String.raw`C:\project\src\pay.ts` }).decision).toBe('ask')
  expect(decide('Write', { file_path: String.raw`src\pay.ts` }).decision).toBe('ask')
})

test('an area may name a package of the workspace', () => {
  const { startTask, decide, folder, write } = openHookProject()
  write('package.json', '{ "name": "top", "workspaces": ["packages/*"] }')
  write('packages/web-app/package.json', '{ "name": "@acme/web" }')
  startTask('Add the form', ['@acme/web'])
  expect(decide('Edit', fileIn(folder, 'packages/web-app/index.ts')).decision).toBe('none')
  expect(decide('Edit', fileIn(folder, 'packages/other/index.ts')).decision).toBe('ask')
})

test('each file of a patch is judged, also of one that a shell is given', () => {
  const { startTask, decide, folder, createRun } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  const patch = (...files: readonly string[]) =>
    `*** Begin Patch\n${files.map((file) => `*** Update File: ${file}\n@@\n-a\n+b\n`).join('')}*** End Patch`
  const inside = patch('src/auth/form.ts')
  const both = patch('src/auth/form.ts', 'src/pay.ts')
  expect(decide('apply_patch', { command: inside }).decision).toBe('none')
  expect(decide('apply_patch', { command: both })).toMatchObject({
    decision: 'ask',
    reason: expect.stringContaining('src/pay.ts is out of scope'),
  })
  const heredoc = (text: string) => ({ command: `apply_patch <<'EOF'\n${text}\nEOF\n` })
  expect(decide('Bash', heredoc(inside)).decision).toBe('none')
  expect(decide('Bash', heredoc(both)).decision).toBe('ask')
  expect(decide('Bash', { command: ['bash', '-lc', heredoc(both).command] }).decision).toBe('ask')
  expect(decide('apply_patch', { input: patch(join(folder, 'src/pay.ts')) }).decision).toBe('ask')
  const told = { file_path: join(folder, 'src/auth/notes.md'), content: `apply_patch\n${both}` }
  expect(decide('Write', told).decision).toBe('none')
  createRun()
  expect(decide('apply_patch', { command: inside }).decision).toBe('ask')
})
