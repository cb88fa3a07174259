import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { bin } from '../../support/program.ts'
import { openCommandLine, startWork } from './command-line.ts'

test('TM-076 a result is on stdout with code 0, a failure on stderr with code 1', () => {
  const { run } = openCommandLine()
  const good = run('status', '--json')
  expect(good).toMatchObject({ code: 0, error: '' })
  expect(JSON.parse(good.out)).toMatchObject({ recorded: false })
  const bad = run('show', 't-nothere')
  expect(bad).toMatchObject({ code: 1, out: '' })
  expect(bad.error.split('\n')).toEqual([
    'waymark: mission or task not found: t-nothere',
    expect.stringContaining('waymark mission list'),
    '',
  ])
})

test.each([
  [['statuss'], 'There is no command "statuss".', 'waymark status'],
  [['task', 'strat'], 'There is no command "task strat".', 'waymark task start'],
  [['start_task'], 'There is no command "start_task".', 'waymark task start'],
  [['complete-mission'], 'There is no command "complete-mission".', 'waymark mission complete'],
  [['task:strat'], 'There is no command "task strat".', 'waymark task start'],
  [
    ['whoami', 'x'],
    'whoami takes no values by position; it was given "x".',
    'waymark whoami --help explains.',
  ],
  [['status', '--fromat', 'json'], 'status has no flag --fromat.', '--format'],
  [['status', 'now'], 'status takes no values by position; it was given "now".', 'waymark status --help'],
  [['status', '--format', 'xml'], '--format cannot be "xml": choose json or text.', ''],
  [['log', '--limit', 'many'], '--limit must be a number, not "many".', 'waymark log --help'],
  [['log', '--limit'], '--limit needs a value.', 'waymark log --help'],
  [['log', '--limit', '--format', 'text'], '--limit needs a value.', 'waymark log --help'],
  [['log', '--limit', '1', '--limit', '2'], '--limit was given 2 times; it takes one value.', ''],
  [['log', '-x'], 'log has no flag -x.', 'waymark log --help'],
  [['mission', 'start', 'Name'], '--objective is missing.', 'waymark mission start --help'],
  [['blame'], '<file> is missing.', 'Usage: waymark blame <file>'],
  [['workflow', 'start', 'W', '--plan', 'nope'], '--plan takes JSON, and this is not JSON: nope', '--plan'],
  [['completion', 'tcsh'], 'There is no completion for tcsh.', 'bash, zsh or fish'],
])('what is not understood ends with code 2: %j', (words, message, hint) => {
  const { run } = openCommandLine()
  const { code, out, error } = run(...words)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(error.split('\n')[0]).toBe(`waymark: ${message}`)
  expect(error.split('\n').slice(1).join('\n')).toContain(hint)
})

test('a refusal names the way on in commands, not in tools', () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  const again = project.run('mission', 'complete', missionId, '--status', 'done', '--summary', 'All of it')
  expect(again.code).toBe(1)
  expect(again.error).toContain(taskId)
  expect(again.error).not.toMatch(/\b(complete_task|complete_mission|get_context)\b/)
})

test('a pipe that closes early is no error', () => {
  const { folder, environment, run } = openCommandLine()
  expect(run('mission', 'start', 'Long', '--objective', 'long '.repeat(3000)).code).toBe(0)
  const command = '"$0" "$1" log --limit 1000 | true; "$0" "$1" log | head -c 1; "$0" "$1" --help | head -n 1'
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, bin], {
    cwd: folder,
    env: { ...environment },
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/checks it against git/)
})

test('verify ends with 1 where a command failed, so that a script can use it', () => {
  const { run, json, write } = openCommandLine()
  write(
    '.waymark/processes/checked.yaml',
    `process: { dialect: 1, id: checked, version: "1", name: Checked, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: ["*"] }]
transitions: [{ from: work, event: finish, to: done, guard: checks }]
guards: { checks: { type: command, run: "test -f made.txt" } }
`,
  )
  const { run_id } = json('run', 'create', 'checked')
  expect(run('decide', run_id, 'finish').code).toBe(1)
  expect(run('verify', run_id).code).toBe(1)
  const { items } = json('inbox')
  expect(run('approve', items[0].item_id).code).toBe(0)
  expect(run('verify', run_id)).toMatchObject({ code: 1, out: expect.stringContaining('failed') })
  write('made.txt', 'Made.')
  expect(run('verify', run_id)).toMatchObject({ code: 0, out: expect.stringContaining('passed') })
})

test.each([
  ['missions', 'mission list'],
  ['tasks', 'task list'],
  ['phases', 'phase list'],
  ['processes', 'process list'],
  ['runs', 'run list'],
  ['stauts', 'status'],
  ['tidy', 'prune'],
  ['log_issue', 'issue log'],
  ['get-state', 'run show'],
  ['inboxx', 'inbox'],
  ['misson list', 'mission list'],
  ['task done', 'task complete'],
  ['task delete', 'task drop'],
  ['run start', 'run create'],
  ['backup copy.db', 'backup create'],
])('waymark %s suggests waymark %s', (written, meant) => {
  const { run } = openCommandLine({ git: false })
  const { code, error } = run(...written.split(' '))
  expect(code).toBe(2)
  expect(error).toContain(`Did you mean: waymark ${meant}\n`)
})

test('help of doctor lists the flags that are operations of their own', () => {
  const { out } = openCommandLine({ git: false }).run('doctor', '--help')
  for (const flag of ['--chain', '--repair']) expect(out).toContain(`  ${flag} `)
})
