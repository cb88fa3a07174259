import { expect, test } from 'vitest'
import { fileIn, openHookProject } from './hook-project.ts'

test('the state of the only active run decides: denied before ask before allowed, and never "allow"', () => {
  const { createRun, decide, folder } = openHookProject()
  const run = createRun()
  expect(decide('Bash', { command: 'ls' })).toEqual({
    decision: 'deny',
    reason: `Waymark: Run ${run} (Gated) is in the state "plan", which denies Bash. Next: state_gate_emit_event with submit_plan (to "build", by agent). \`waymark run show ${run}\` says what is missing.`,
  })
  expect(decide('WebFetch').decision).toBe('ask')
  expect(decide('WebFetch').reason).toContain("needs a person's decision about WebFetch")
  expect(decide('Edit', fileIn(folder, 'src/app.ts')).decision).toBe('ask')
  expect(decide('Task')).toMatchObject({
    decision: 'deny',
    reason: expect.stringContaining('allows only Read, Grep, Write, WebFetch, mcp__github__*, not Task'),
  })
  expect(decide('Read', fileIn(folder, 'src/app.ts')).decision).toBe('none')
})

test('a path that is too long to open does not keep a client waiting', () => {
  const { createRun, decide } = openHookProject()
  createRun()
  const began = performance.now()
  const path = 'a/'.repeat(100_000)
  expect(decide('Bash', { command: 'ls', path }).decision).toBe('deny')
  expect(decide('Write', { file_path: path }).decision).toBe('deny')
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('a name is the whole name, or a beginning with *', () => {
  const { createRun, decide } = openHookProject()
  createRun()
  expect(decide('mcp__github__list_issues').decision).toBe('none')
  expect(decide('mcp__github__delete_repository').decision).toBe('deny')
  expect(decide('mcp__gitlab__list_issues').decision).toBe('deny')
  expect(decide('read').decision).toBe('deny')
  expect(decide('ReadMany').decision).toBe('deny')
})

test('a tool that is limited to files may not leave them', () => {
  const { createRun, decide, folder, home } = openHookProject()
  createRun()
  expect(decide('Write', fileIn(folder, 'docs/plan.md')).decision).toBe('none')
  expect(decide('Write', { file_path: 'docs/deep/plan.md' }).decision).toBe('none')
  expect(decide('Write', fileIn(folder, 'src/app.ts'))).toMatchObject({
    decision: 'deny',
    reason: expect.stringContaining('limits Write to docs/**, not to src/app.ts'),
  })
  expect(decide('Write', { file_path: `${folder}/docs/../src/app.ts` }).decision).toBe('deny')
  expect(decide('Write', fileIn(home, 'docs/plan.md')).decision).toBe('deny')
  expect(decide('Grep', { pattern: 'x', path: `${folder}/src` }).decision).toBe('none')
  expect(decide('Grep', { pattern: 'x', path: folder }).decision).toBe('deny')
  expect(decide('Grep', { pattern: 'x' })).toMatchObject({
    decision: 'ask',
    reason: expect.stringContaining('this call names no file'),
  })
})

test('no state takes Waymark itself away', () => {
  const { createRun, decide } = openHookProject()
  createRun()
  expect(decide('mcp__waymark__state_gate_emit_event').decision).toBe('none')
  expect(decide('mcp__plugin_waymark_waymark__complete_task').decision).toBe('none')
  expect(decide('mcp__waymarks__complete_task').decision).toBe('deny')
})

test('a state without permissions restricts nothing, nor does a finished run', () => {
  const { createRun, decide, json, run } = openHookProject()
  const id = createRun()
  json('run', 'emit', id, 'submit_plan', '--expected-revision', '1', '--idempotency-key', 'a')
  expect(decide('Bash').decision).toBe('none')
  json('run', 'cancel', id, '--reason', 'not needed')
  expect(run('run', 'show', id).out).toContain('canceled')
  expect(decide('Bash').decision).toBe('none')
})

test('of several runs, the one of the work in the tree counts; with none of them bound, none does', () => {
  const { createRun, decide, json, startTask } = openHookProject()
  const mission = json('mission', 'start', 'Sign in', '--objective', 'People can sign in').mission_id
  const bound = createRun('--mission-id', mission)
  const free = createRun()
  expect(decide('Bash').decision).toBe('none')
  const { task_id: task } = startTask('Add the form', [], '--mission-id', mission)
  expect(decide('Bash')).toMatchObject({ decision: 'deny', reason: expect.stringContaining(bound) })
  expect(decide('Bash').reason).not.toContain(free)
  const ofTask = createRun('--task-id', task)
  json('run', 'emit', bound, 'submit_plan', '--expected-revision', '1', '--idempotency-key', 'a')
  expect(decide('Bash')).toMatchObject({ decision: 'deny', reason: expect.stringContaining(ofTask) })
})
