import { expect, test } from 'vitest'
import { openHookProject } from './hook-project.ts'

test.each(['startup', 'resume', 'clear', 'compact'])(
  'a session that begins by %s gets one brief',
  (source) => {
    const { json, startTask, createRun, hook } = openHookProject()
    const mission = json('mission', 'start', 'Sign in', '--objective', 'People can sign in').mission_id
    const task = startTask('Add the form', ['src/auth/', '!src/auth/old/'], '--mission-id', mission)
    const run = createRun('--mission-id', mission)
    json('issue', 'log', ...issueWords(task.task_id))
    const { code, out, error } = hook('session-start', { source })
    expect({ code, error }).toEqual({ code: 0, error: '' })
    expect(Object.keys(JSON.parse(out))).toEqual(['hookSpecificOutput'])
    const { hookEventName, additionalContext } = JSON.parse(out).hookSpecificOutput
    expect(hookEventName).toBe('SessionStart')
    expect(additionalContext).toContain(`Mission ${mission}: Sign in. Objective: People can sign in`)
    expect(additionalContext).toContain(
      `Open task ${task.task_id}, attempt ${task.attempt_id}: "Add the form"`,
    )
    expect(additionalContext).toContain('areas src/auth/, !src/auth/old/')
    expect(additionalContext).toContain(`Run ${run} of Gated is in the state "plan", revision 1.`)
    expect(additionalContext).toContain('Plan the form.')
    expect(additionalContext).toContain('submit_plan (to "build", by agent)')
    expect(additionalContext).toMatch(/Needs a person: h-\w+ \(blocker\): .*Which provider/)
  },
)

test('after the last task the brief still names the mission, until it is completed', () => {
  const { json, hook } = openHookProject()
  const mission = json('mission', 'start', 'Sign in', '--objective', 'People can sign in').mission_id
  expect(hook('session-start', { source: 'compact' }).out).toContain(mission)
  json('mission', 'complete', mission, '--status', 'completed', '--summary', 'Done.')
  expect(hook('session-start', { source: 'compact' })).toEqual({ code: 0, out: '', error: '' })
})

test('stop warns about open work, once, and never keeps the agent from stopping', () => {
  const { startTask, hook } = openHookProject()
  const { task_id: task } = startTask('Add the form', [])
  const { code, out, error } = hook('stop', { stop_hook_active: false })
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(JSON.parse(out)).toEqual({
    systemMessage: `Waymark: The task "Add the form" (${task}) is open in this work tree: complete_task closes it.`,
  })
  expect(hook('stop', { stop_hook_active: true })).toEqual({ code: 0, out: '', error: '' })
  startTask('Pay', [])
  expect(JSON.parse(hook('stop').out).systemMessage).toMatch(
    /^Waymark: The tasks .* are open .* closes each\.$/,
  )
})

/** A project that stops an agent once, with a test file and one task that is open. */
function checkedAtStop() {
  const project = openHookProject()
  const { json, write, git, runWith, hook } = project
  json('setting', 'set', 'stop_hook', 'block_once')
  json('setting', 'set', 'done_when', '{"keeps": ["LICENSE"]}')
  write('test/login.test.ts', "test('refuses', () => expect(1).toBe(1))\n")
  git('add', '-A')
  git('commit', '-qm', 'first')
  const start = (name: string) =>
    JSON.parse(runWith({ environment: { CLAUDECODE: '1' } }, 'task', 'start', name, '--json').out).task_id
  const task = start('Add the form')
  const stop = (payload = {}) => {
    const { code, out, error } = hook('stop', { stop_hook_active: false, ...payload })
    expect({ code, error }).toEqual({ code: 0, error: '' })
    return out === '' ? null : JSON.parse(out)
  }
  return { ...project, task, start, stop }
}

test('a setting stops an agent once whose open task changed nothing', () => {
  const { task, stop, write } = checkedAtStop()
  const answer = stop()
  expect(answer).toEqual({ decision: 'block', reason: expect.stringContaining(task) })
  expect(answer.reason).toContain('No file changed')
  expect(stop({ stop_hook_active: true })).toBeNull()
  write('src/form.ts', 'export {}\n')
  expect(stop()).toEqual({ systemMessage: expect.stringContaining(task) })
})

test.each([
  ['LICENSE', 'changed\n', /must not change: LICENSE/],
  ['test/login.test.ts', "test.skip('refuses', () => expect(1).toBe(1))\n", /test\/login\.test\.ts:1/],
])('a setting stops an agent once that changed %s', (path, content, reason) => {
  const { stop, write } = checkedAtStop()
  write(path, content)
  expect(stop()).toEqual({ decision: 'block', reason: expect.stringMatching(reason) })
})

test('an agent is not stopped where the open task may be of another agent', () => {
  const { stop, start } = checkedAtStop()
  start('Pay')
  expect(stop()).toEqual({ systemMessage: expect.any(String) })
})

function issueWords(task: string): readonly string[] {
  return [
    '--task-id',
    task,
    '--type',
    'unclear_requirement',
    '--description',
    'Which provider?',
    '--resolution',
    'Asked',
    '--requires-human-review',
  ]
}
