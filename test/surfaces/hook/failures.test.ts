import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { bin, runAlone } from '../../support/program.ts'
import { openHookProject } from './hook-project.ts'

const malformed = ['', 'not json', '{"cwd":', '[]', '"text"', 'null', '\u0000']

test('what is not understood leaves the way open, with one line for whoever looks for the reason', () => {
  const { createRun, raw } = openHookProject()
  createRun()
  for (const text of malformed) {
    const { code, out, error } = raw(['hook', 'pre-tool-use'], text)
    expect({ text, code, out }).toEqual({ text, code: 0, out: '' })
    expect(error).toMatch(/^waymark hook pre-tool-use: [^\n]+\n$/)
  }
})

test('a person may have failures stand in the way', () => {
  const { createRun, json, raw, hook } = openHookProject()
  createRun()
  json('setting', 'set', 'hook_on_error', 'closed')
  for (const text of malformed) {
    const { code, out } = raw(['hook', 'pre-tool-use'], text)
    expect(code).toBe(0)
    expect(JSON.parse(out).hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('hook_on_error is "closed"'),
    })
  }
  const gone = hook('pre-tool-use', { tool_name: 'Bash', cwd: '/nowhere/at/all' })
  expect(gone.out).toContain('"deny"')
  expect(hook('stop', { cwd: '/nowhere/at/all' })).toMatchObject({ code: 0, out: '' })
  expect(raw(['hook', 'session-start'], 'not json')).toMatchObject({ code: 0, out: '' })
})

test('a folder that is gone is a failure, and leaves the way open', () => {
  const { createRun, hook } = openHookProject()
  createRun()
  const { code, out, error } = hook('pre-tool-use', { tool_name: 'Bash', cwd: '/nowhere/at/all' })
  expect({ code, out }).toEqual({ code: 0, out: '' })
  expect(error).toContain('/nowhere/at/all')
})

test('a database that is locked or damaged leaves the way open: what a person set cannot be read', () => {
  const { createRun, json, hook, folder } = openHookProject()
  createRun()
  json('setting', 'set', 'hook_on_error', 'closed')
  const file = join(folder, '.waymark/waymark.db')
  const locker = new Database(file)
  onTestFinished(() => {
    locker.close()
  })
  locker.pragma('locking_mode = exclusive')
  locker.pragma('journal_mode = delete')
  locker.exec('begin exclusive')
  const locked = hook('pre-tool-use', { tool_name: 'Bash' })
  expect(locked).toMatchObject({ code: 0, out: '' })
  expect(locked.error).toMatch(/^waymark hook pre-tool-use: [^\n]+\n$/)
  locker.close()
  for (const side of ['-wal', '-shm', '-journal']) rmSync(`${file}${side}`, { force: true })
  writeFileSync(file, 'no database')
  const damaged = hook('pre-tool-use', { tool_name: 'Bash' })
  expect(damaged).toMatchObject({ code: 0, out: '' })
  expect(damaged.error).toContain('is not a Waymark database')
})

test('a call as large as a file is answered', () => {
  const { createRun, decide, folder } = openHookProject()
  createRun()
  const content = 'x'.repeat(2 * 1024 * 1024)
  expect(decide('Write', { file_path: join(folder, 'src/app.ts'), content }).decision).toBe('deny')
})

test('more than any client would say is not read', () => {
  const { createRun, json, folder, environment } = openHookProject()
  createRun()
  const input = 'x'.repeat(65 * 1024 * 1024)
  json('setting', 'set', 'hook_on_error', 'closed')
  // The process that runs programs one after the other is given their input as JSON.
  const { code, out } = runAlone([bin, 'hook', 'pre-tool-use'], { folder, environment, input })
  expect(code).toBe(0)
  expect(JSON.parse(out).hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringContaining('more than 64 MB'),
  })
})

test('a call without a tool is left alone', () => {
  const { createRun, hook } = openHookProject()
  createRun()
  for (const name of [undefined, 7, '', {}]) {
    expect(hook('pre-tool-use', { tool_name: name })).toEqual({ code: 0, out: '', error: '' })
  }
})

test('a misspelt event never blocks: its exit code is not the one that forbids a call', () => {
  const { raw } = openHookProject()
  const { code, out, error } = raw(['hook', 'pre-tool-usage'], '{}')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(error).toContain('Did you mean pre-tool-use?')
})
