import { expect, test } from 'vitest'
import { openCommandLine, startWork } from './command-line.ts'

test('an answer is text, and JSON where a flag or WAYMARK_FORMAT names it', () => {
  const { run, runWith, folder } = openCommandLine()
  const text = /^Nothing needs you\.\n.*\nproject +\/.*\n$/s
  expect(run('status').out).toMatch(text)
  const json = run('status', '--json')
  expect(json.out.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(json.out)).toMatchObject({ project: folder, witness: 'git' })
  expect(run('status', '--format', 'json')).toEqual(json)
  expect(run('--format', 'json', 'status')).toEqual(json)
  expect(run('--json', 'status')).toEqual(json)
  const environment = { WAYMARK_FORMAT: 'json' }
  expect(runWith({ environment }, 'status')).toEqual(json)
  expect(JSON.parse(runWith({ environment }, 'review').out)).toMatchObject({ waiting: [] })
  expect(JSON.parse(runWith({ environment }, 'capture', 'status').out)).toMatchObject({
    on: false,
    project: folder,
  })
  expect(runWith({ environment }, 'status', '--format=text').out).toMatch(text)
  const unknown = runWith({ environment: { WAYMARK_FORMAT: 'yaml' } }, 'status')
  expect(unknown).toMatchObject({ code: 2, out: '', error: expect.stringContaining('"yaml"') })
})

test('a refusal is one JSON object on standard output where JSON is wanted, with its exit code', () => {
  const { run, runWith } = openCommandLine()
  const refused = run('show', 't-nothere', '--json')
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('waymark mission list') })
  expect(refused.out.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(refused.out)).toEqual({
    success: false,
    error: {
      code: 'NOT_FOUND',
      reason: 'mission_or_task_not_found',
      message: 'mission or task not found: t-nothere',
      hint: expect.stringContaining('waymark mission list'),
      fix: expect.objectContaining({ operation: expect.any(String) }),
      details: null,
    },
  })
  expect(runWith({ environment: { WAYMARK_FORMAT: 'json' } }, 'show', 't-nothere').out).toBe(refused.out)
  expect(run('show', 't-nothere', '--json', '--format', 'text').out).toBe('')
  expect(run('show', 't-nothere').out).toBe('')
})

test.each([
  [['status', '--fromat=x', '--json'], 2, 'INVALID_INPUT', 'usage_invalid'],
  [['mission', 'start', 'Name', '--json'], 2, 'INVALID_INPUT', 'input_invalid'],
  [['setup', 'nobody', '--json'], 2, 'INVALID_INPUT', 'client_unknown'],
  [['check', '--json'], 2, 'INVALID_INPUT', 'record_not_found'],
])('the reason of a refusal is in its JSON: %j', (words, code, kind, reason) => {
  const { out, ...ran } = openCommandLine().run(...words)
  expect(ran).toMatchObject({ code, error: expect.stringMatching(/^waymark: /) })
  expect(JSON.parse(out)).toMatchObject({ success: false, error: { code: kind, reason } })
})

test('what import reads again is printed as JSON, whatever the format', () => {
  const { run } = openCommandLine()
  run('mission', 'start', 'Steered \u009b31m', '--objective', 'Any')
  const lines = run('export')
    .out.trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(JSON.stringify(lines)).toContain('Steered \u009b31m')
  expect(JSON.parse(run('plan', 'export').out)).toMatchObject({ tasks: [] })
})

test('blame prints a line for each line where a program asks so', () => {
  const { run } = openCommandLine()
  const { out } = run('blame', 'src/app.ts', '--porcelain')
  expect(out).toMatch(/^1\tbefore\tbefore Waymark\t-\t-\t-\t[0-9a-f]{40}\texport const app = 1\n$/)
  expect(JSON.parse(run('blame', 'src/app.ts', '--porcelain', '--json').out)).toMatchObject({ lines: 1 })
})

test('TM-028 flags are spelt like the fields, with hyphens or as they are, in any order, with spaces or colons', () => {
  const { json } = openCommandLine()
  const { mission_id: missionId } = json(
    'mission:start',
    '--objective',
    'Any',
    '--name',
    'Order',
    '--total-phases',
    '5',
  )
  expect(json('show', missionId)).toMatchObject({ name: 'Order', objective: 'Any', total_phases: 5 })
  const other = json('mission', 'start', '--total_phases=6', 'Second', '--objective=Other')
  expect(json('show', other.mission_id)).toMatchObject({ name: 'Second', total_phases: 6 })
})

test('objects are given by dotted flags or as JSON, lists by repetition or as JSON', () => {
  const project = openCommandLine()
  const first = startWork(project)
  const summary = [
    '--outcome.summary',
    'Done',
    '--outcome.achievements',
    'one',
    '--outcome.achievements',
    'two',
  ]
  project.json(
    'task',
    'complete',
    first.taskId,
    '--status',
    'success',
    ...summary,
    '--metadata.tests_status',
    'passed',
  )
  const second = startWork(project)
  const outcome = JSON.stringify({ summary: 'Done', achievements: ['one'] })
  const more = [
    '--outcome',
    outcome,
    '--outcome.achievements',
    '["one", "two"]',
    '--metadata.tests-status',
    'pass',
  ]
  project.json('task', 'complete', second.taskId, '--status', 'success', ...more)
  const claimed = [first, second].map(({ taskId }) => project.json('show', taskId).attempts[0].claimed)
  expect(claimed[0]).toMatchObject({ summary: 'Done', achievements: ['one', 'two'], tests_status: 'passed' })
  expect(claimed[1]).toEqual(claimed[0])
})

test('a list of objects is given as JSON, whole or one by one', () => {
  const { json } = openCommandLine()
  const steps = [
    { step: 'first', goal: 'Begin' },
    { step: 'second', goal: 'Go on' },
  ]
  const whole = json('workflow', 'start', 'Whole', '--plan', JSON.stringify(steps))
  const single = json(
    'workflow',
    'start',
    'Single',
    ...steps.flatMap((step) => ['--plan', JSON.stringify(step)]),
  )
  for (const { planned_tasks: planned } of [whole, single]) expect(planned).toMatchObject(steps)
})

test('what was measured is shown apart from what was claimed', () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  project.write('src/app.ts', 'export const app = 2\n')
  project.write('elsewhere.ts', 'export const elsewhere = 1\n')
  const completed = project.run(
    'task',
    'complete',
    taskId,
    '--status',
    'success',
    '--outcome.summary',
    'Only the form',
    '--format',
    'text',
  ).out
  expect(completed).toContain('● Measured exactly. Out of scope: 1 of 2 files')
  expect(completed.match(/elsewhere\.ts {2}\+1 -0 {2}out of scope/g)).toHaveLength(1)
  expect(completed).toContain('M  src/app.ts  +1 -1')
  const { out: shown } = project.run('show', taskId, '--format', 'text')
  expect(shown).toMatch(/claims:\n\s+Only the form/)
  expect(project.run('diff', taskId, '--format', 'text').out).toContain('\n+export const app = 2\n')
})

test('every command of a day has a text for a person', () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  const issue = [
    '--type',
    'bug',
    '--description',
    'It breaks',
    '--resolution',
    'Left out',
    '--requires-human-review',
  ]
  const { issue_id: issueId } = project.json('issue', 'log', taskId, ...issue)
  const decision = [
    '--category',
    'architecture',
    '--question',
    'Which form?',
    '--chosen',
    'Plain',
    '--reasoning',
    'Fast',
  ]
  project.json('decision', 'log', taskId, ...decision)
  project.json('progress', 'log', taskId, 'Half of it', '--progress', '50')
  const text = (...words: readonly string[]) => project.run(...words, '--format', 'text').out
  expect(text('status')).toMatch(
    /^1 item needs you, the oldest opened .*Running now\n.*Add the form.*Open missions\n.*Sign in/s,
  )
  expect(text('inbox')).toMatch(/blocker.*It breaks\n {2}Workaround by \w+: "Left out"/s)
  expect(
    text('context', missionId, '--include', 'tasks', '--include', 'blockers', '--include', 'decisions'),
  ).toMatch(/Tasks\n.*Add the form.*Blockers\n.*It breaks.*Decisions\n- Which form\? Plain/s)
  expect(text('mission', 'list')).toMatch(new RegExp(`Sign in +in progress +1/1 .*${missionId}`))
  expect(text('show', missionId)).toMatch(/objective +People can sign in/)
  expect(text('changes', taskId)).toMatch(/so far: no file changed/)
  expect(text('resolve', issueId, 'Leave it')).toMatch(
    /^Answered blocker h-\w+\. The agent reads your text when it asks for its context or starts the task; if it has stopped, tell it to go on: Leave it\n$/,
  )
  expect(text('inbox')).toBe('Nothing needs you.\n')
  expect(text('doctor')).toMatch(/ok +log +\d+ log entries, the hash chain is intact/)
  expect(text('log')).toMatch(
    /started the record.*started mission.*logged an issue.*logged progress of "Add the form".*answered an inbox item/s,
  )
})

test('text is coloured only where colours are wanted', () => {
  const project = openCommandLine()
  startWork(project)
  const esc = String.fromCharCode(27)
  const shown = (environment: Record<string, string>) =>
    project.runWith({ environment }, 'status', '--format', 'text').out
  expect(shown({})).not.toContain(esc)
  expect(shown({ FORCE_COLOR: '1' })).toContain(`${esc}[36min progress`)
  expect(shown({ NO_COLOR: '1' })).not.toContain(esc)
})

test('the same idempotency key is answered once', () => {
  const { json, run } = openCommandLine()
  const words = ['mission', 'start', 'Once', '--objective', 'Once', '--idempotency-key', 'k1']
  const first = json(...words)
  expect(json(...words)).toEqual(first)
  expect(json('mission', 'list').total).toBe(1)
  const other = run('mission', 'start', 'Other', '--objective', 'Once', '--idempotency-key', 'k1')
  expect(other).toMatchObject({ code: 1, out: '' })
})
