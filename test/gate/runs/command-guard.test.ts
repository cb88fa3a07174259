import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { happened } from '../../store/events.ts'
import { type Answer, agentActor, person, type TestProject } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf, type TestRun } from './run.ts'

/** A gate whose command is `sh check.sh`; `outside` is where it may write without changing the tree. */
function checking(more = ''): string {
  return process('checking', {
    guards: `  tests_pass: { type: command, run: "sh check.sh", timeout: 30s, fresh: tree${more} }`,
    guard: 'tests_pass',
  })
}

// What the command ran is counted outside the tree, which it would change otherwise.
const counting = (then = '') => `echo ran >> ../runs.txt
${then}
`

async function withCheck(script: string, text = checking()): Promise<TestRun> {
  const run = await runOf(text, { git: true })
  run.project.write('check.sh', script)
  return run
}

function timesRun({ folder }: TestProject): number {
  const file = join(folder, '..', 'runs.txt')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
}

async function waiting({ project }: TestRun) {
  const { items } = await project.call('inbox', { kind: 'command' })
  return items
}

async function allow(run: TestRun): Promise<void> {
  await run.refused('go')
  const [item] = await waiting(run)
  await run.project.call('approve', { id: item.item_id }, { actor: person })
}

async function missing(run: TestRun): Promise<string> {
  const failure = await run.refused('go')
  return [failure.details?.['missing_guards'], failure.hint].flat().join('\n')
}

test('a command runs on emit, once a person approved it, and not before; reads and dry runs ask nobody', async () => {
  const run = await withCheck(counting())
  await run.state()
  await run.events(true)
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: false })
  expect(await waiting(run)).toEqual([])
  expect(await missing(run)).toContain('tests_pass: "sh check.sh" needs a person\'s approval')
  await run.refused('go')
  const items = await waiting(run)
  expect(items).toMatchObject([
    { kind: 'command', run_id: run.id, request: { run: 'sh check.sh', folder: run.project.folder } },
  ])
  expect(timesRun(run.project)).toBe(0)
  expect(await failureOf(run.project.call('approve', { id: items[0].item_id }))).toMatchObject({
    code: 'FORBIDDEN',
  })
  await run.project.call('approve', { id: items[0].item_id }, { actor: person })
  expect(await waiting(run)).toEqual([])
  expect((await run.state()).missing_guards).toMatchObject([
    { guard_name: 'tests_pass', current_status: '"sh check.sh" has not run' },
  ])
  await run.emit('go', { dry_run: true })
  expect(timesRun(run.project)).toBe(0)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
  expect(timesRun(run.project)).toBe(1)
})

test('a rejected command never runs, and is not asked about again until it changed or the no is taken back', async () => {
  const run = await withCheck(counting('# one'), checking(', pinned: ["check.sh"]'))
  await run.refused('go')
  const [item] = await waiting(run)
  const rejecting = { id: item.item_id, reason: 'It talks to the network.' }
  await run.project.call('reject', rejecting, { actor: person })
  const told = await missing(run)
  expect(told).toContain('Tess refused to let "sh check.sh" run: It talks to the network.')
  expect(await waiting(run)).toEqual([])
  expect(await run.project.call('verify', { run_id: run.id })).toMatchObject({
    passed: false,
    commands: [{ status: 'refused', refused_by: 'Tess', reason: 'It talks to the network.' }],
  })
  run.project.write('check.sh', counting('# two'))
  expect(await missing(run)).toContain("needs a person's approval")
  expect(await waiting(run)).toHaveLength(1)
  run.project.write('check.sh', counting('# one'))
  expect(await missing(run)).toContain('Tess refused')
  const { refused } = await run.project.call('command_list')
  expect(refused).toMatchObject([{ run: 'sh check.sh', author: 'Tess', reason: 'It talks to the network.' }])
  const revoking = { hash: refused[0].hash.slice(0, 8) }
  await run.project.call('command_revoke', revoking, { actor: person })
  await allow(run)
  expect(timesRun(run.project)).toBe(0)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a rejection counts for every spelling that surely means the same, and a question names a similar one', async () => {
  const run = await withCheck(counting())
  await run.refused('go')
  const [item] = await waiting(run)
  await run.project.call('reject', { id: item.item_id, reason: 'No.' }, { actor: person })
  const spelled = (line: string) =>
    runOf(
      checking().replace('run: "sh check.sh"', () => `run: ${JSON.stringify(line)}`),
      { project: run.project },
    )
  expect(await missing(await spelled(' sh  "check.sh"'))).toContain('Tess refused to let')
  expect(await waiting(run)).toEqual([])
  for (const line of ['A=1 sh check.sh', 'sh -c "sh check.sh"', './check.sh']) {
    await (await spelled(line)).refused('go')
  }
  const asked = await waiting(run)
  expect(asked).toHaveLength(3)
  for (const { reason } of asked) {
    expect(reason).toMatch(/\. Tess rejected a similar command on \d{4}-\d\d-\d\d: "sh check\.sh"\. May /)
  }
})

test('of what a command printed at length its log entry has the end, and all of it is answered', async () => {
  const run = await withCheck(counting('at=0; while [ $at -lt 900 ]; do echo line $at; at=$((at+1)); done'))
  await allow(run)
  await run.emit('go')
  const { events: projectEvents } = await run.project.call('log', { limit: 100 })
  const ended = projectEvents.find(({ kind }: { kind: string }) => kind === 'command.ended')
  expect(ended.body.output).toHaveLength(2_000)
  expect(ended.body.output).toMatch(/line 899\n$/)
  expect(ended.body.whole).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const kept = await run.project.context.store.view(({ runs }) => runs.commandOutput(ended.body.commandId))
  expect(kept?.text).toMatch(/^line 0\n[\s\S]*line 899\n$/)
  expect(kept?.bytes).toBe(ended.body.whole.bytes)
})

test('a result is of the content that was approved, of pinned files that git ignores too', async () => {
  const text = checking(', pinned: ["check.sh", "limits.local"]')
  const run = await withCheck(counting('exit 1'), text)
  run.project.write('.gitignore', 'limits.local\n')
  run.project.write('limits.local', 'one\n')
  await allow(run)
  expect(await missing(run)).toContain('failed with exit code 1')
  expect(timesRun(run.project)).toBe(1)
  run.project.write('limits.local', 'two\n')
  await allow(run)
  expect((await run.state()).missing_guards).toMatchObject([
    { current_status: 'files changed since "sh check.sh" ran' },
  ])
  await run.refused('go')
  expect(timesRun(run.project)).toBe(2)
  run.project.write('limits.local', 'one\n')
  await run.refused('go')
  expect(timesRun(run.project)).toBe(2)
})

test('a command that failed says how, and is not run again on the same tree', async () => {
  const run = await withCheck(counting("echo '3 tests failed' >&2\nexit 4"))
  await allow(run)
  const told = await missing(run)
  expect(told).toContain('tests_pass: "sh check.sh" failed with exit code 4')
  expect(told).toContain('3 tests failed')
  await run.refused('go')
  expect(timesRun(run.project)).toBe(1)
  run.project.write('check.sh', counting())
  expect((await run.state()).missing_guards[0].current_status).toBe('files changed since "sh check.sh" ran')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
  expect(timesRun(run.project)).toBe(2)
})

test('a result is stale when the tree changes, and fresh again when it is taken back', async () => {
  const text = checking().replace('guard: tests_pass', 'guard: { all: [tests_pass, ready] }')
  const run = await withCheck(
    counting(),
    text.replace('guards:', 'guards:\n  ready: { type: milestone, id: M1 }'),
  )
  await allow(run)
  await run.refused('go')
  const statuses = async () => {
    const { missing_guards } = await run.state()
    return missing_guards.map(({ current_status }: { current_status: string }) => current_status)
  }
  expect(await statuses()).toEqual(['there is no milestone M1'])
  run.project.write('src/api.ts', 'export const api = 2\n')
  expect(await statuses()).toContain('files changed since "sh check.sh" ran')
  run.project.write('src/api.ts', 'export const api = 1\n')
  expect(await statuses()).toEqual(['there is no milestone M1'])
  expect(timesRun(run.project)).toBe(1)
})

test('a command that takes too long is stopped, and the guard says so', async () => {
  const text = checking().replace('timeout: 30s', 'timeout: 300ms')
  const run = await withCheck(counting('sleep 30'), text)
  await allow(run)
  expect(await missing(run)).toContain('tests_pass: "sh check.sh" took too long')
})

test('a command that changes the tree proves nothing about it', async () => {
  const run = await withCheck('echo $$ > made.txt')
  await allow(run)
  expect(await missing(run)).toContain('tests_pass: ')
  expect(await run.state()).toMatchObject({ current_state: 'work' })
})

const changedAndBack: readonly (readonly [string, string])[] = [
  ['written twice', 'cp src/api.ts ../was; echo bad > src/api.ts; cat ../was > src/api.ts'],
  [
    'written twice, with its times set back',
    'cp src/api.ts ../was; touch -r src/api.ts ../times; cat ../was > src/api.ts; touch -r ../times src/api.ts',
  ],
  ['moved away and back', 'mv src/api.ts src/other.ts; mv src/other.ts src/api.ts'],
  ['replaced by another', 'cp src/api.ts src/new.ts; mv src/new.ts src/api.ts'],
]

test.each([true, false])(
  'a file that is changed and put back while a command runs counts as changed (git: %s)',
  async (git) => {
    const first = await runOf(checking(), { git })
    const { project } = first
    project.write('check.sh', counting())
    await allow(first)
    for (const [how, work] of changedAndBack) {
      const run = await runOf(checking(), { project })
      project.write('check.sh', work)
      const told = await missing(run)
      expect(told, how).toContain('tests_pass: files changed while "sh check.sh" ran')
      expect(told, how).toContain('This result does not count: src/api.ts changed while it ran.')
      project.write('check.sh', counting())
      expect(await run.emit('go'), how).toMatchObject({ status: 'succeeded' })
    }
  },
)

test('a pinned file outside of the tree that changes while the command runs voids the result', async () => {
  const run = await withCheck('echo $$ > local.cfg', checking(', pinned: ["local.cfg"]'))
  run.project.write('.gitignore', 'local.cfg\n')
  await allow(run)
  await run.refused('go')
  expect(await missing(run)).toContain("needs a person's approval")
  expect(await run.state()).toMatchObject({ current_state: 'work' })
})

test('a change of a pinned file asks again', async () => {
  const run = await withCheck(counting(), checking(', pinned: ["check.sh"]'))
  await allow(run)
  run.project.write('check.sh', counting('exit 1'))
  expect(await missing(run)).toContain("needs a person's approval")
  expect(timesRun(run.project)).toBe(0)
  expect(await waiting(run)).toHaveLength(1)
  run.project.write('check.sh', counting())
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('two runs that ask for the same command on the same tree share one run of it', async () => {
  const run = await withCheck(counting('sleep 0.3'))
  const other = await runOf(checking(), { project: run.project })
  await allow(run)
  expect(await Promise.all([run.emit('go'), other.emit('go')])).toMatchObject([
    { status: 'succeeded' },
    { status: 'succeeded' },
  ])
  expect(timesRun(run.project)).toBe(1)
})

test('verify runs the commands again, and tells each result', async () => {
  const run = await withCheck(counting('echo fine'))
  const verify = (actor = agentActor) => run.project.call('verify', { run_id: run.id }, { actor })
  const [unapproved] = (await verify()).commands
  expect(unapproved).toEqual({
    run: 'sh check.sh',
    status: 'unapproved',
    item_id: expect.stringMatching(/^h-/),
    items: false,
  })
  await run.project.call('approve', { id: unapproved.item_id }, { actor: person })
  for (const times of [1, 2]) {
    expect(await verify()).toMatchObject({
      passed: true,
      commands: [
        { run: 'sh check.sh', status: 'passed', exit_code: 0, output: expect.stringContaining('fine') },
      ],
    })
    expect(timesRun(run.project)).toBe(times)
  }
  await run.emit('go')
  expect(timesRun(run.project)).toBe(2)
})

test('verify without a command in the state says so', async () => {
  const run = await runOf(process('plain'))
  expect(await failureOf(run.project.call('verify', { run_id: run.id }))).toMatchObject({
    code: 'REFUSED',
    message: `No guard of "work" in run ${run.id} needs a command.`,
  })
})

const redGreen = `process:
  dialect: 1
  id: red-green
  version: "1.0.0"
  name: Red, then green
  initial_state: test
roles: [{ name: agent, kind: agent }]
states: [{ name: test }, { name: build }, { name: done, is_final: true }]
events: [{ name: go, allowed_roles: [agent] }]
transitions:
  - { from: test, event: go, to: build, guard: { all: [red, { not: green }] } }
  - { from: build, event: go, to: done, guard: green }
guards:
  red: { type: command, run: "sh check.sh", exit: nonzero }
  green: { type: command, run: "sh check.sh" }
`

test('red, then green: a command that must fail is run and bound like any other, and one that did not run is not red', async () => {
  const run = await withCheck('exit 0\n', redGreen)
  expect(await missing(run)).toContain('not green: green is unknown')
  await allow(run)
  expect(await missing(run)).toContain('red: "sh check.sh" passed on this tree, but must fail')
  const verified = () => run.project.call('verify', { run_id: run.id })
  expect(await verified()).toMatchObject({ passed: false, commands: [{ status: 'passed', items: false }] })
  run.project.write('check.sh', 'exit 127\n')
  expect(await verified()).toMatchObject({ passed: false })
  run.project.write('check.sh', 'exit 1\n')
  expect(await verified()).toMatchObject({
    passed: true,
    commands: [{ status: 'failed', exit: 'nonzero', items: true }],
  })
  expect(await run.emit('go')).toMatchObject({ transition: { to_state: 'build' } })
  expect(await verified()).toMatchObject({ passed: false, commands: [{ status: 'failed', items: false }] })
  expect(await missing(run)).toContain('green: "sh check.sh" failed with exit code 1')
  run.project.write('check.sh', 'exit 0\n')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

describe('what was approved is what runs', () => {
  const pinning = checking(', pinned: ["check.sh", "scripts"]')

  async function pinned(): Promise<TestRun> {
    const run = await withCheck(counting('# one'), pinning)
    run.project.write('scripts/more.sh', 'true\n')
    await run.refused('go')
    return run
  }

  test('the question shows the pinned files with their hashes, and what changed since the last yes', async () => {
    const run = await pinned()
    const [first] = await waiting(run)
    expect(first.request).toMatchObject({
      files: [
        { path: 'check.sh', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { path: 'scripts', sha256: 'folder' },
        { path: 'scripts/more.sh', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
      before: null,
    })
    await run.project.call('approve', { id: first.item_id }, { actor: person })
    run.project.write('check.sh', counting('# two'))
    await run.refused('go')
    const [second] = await waiting(run)
    expect(second.reason).toContain('check.sh changed since Tess approved it.')
    expect(second.request.before).toMatchObject({ author: 'Tess', changed: ['check.sh'] })
    expect(second.request.before.diff).toContain('-# one\n+# two\n')
  })

  test('approving looks again: a file that changed since is a new question, told with the difference', async () => {
    const run = await pinned()
    const [asked] = await waiting(run)
    run.project.write('scripts/more.sh', 'exit 1\n')
    const approving = run.project.call('approve', { id: asked.item_id }, { actor: person })
    const failure = await failureOf(approving)
    expect(failure).toMatchObject({ code: 'CONFLICT' })
    expect(failure.message).toContain('is about an earlier version of "sh check.sh": scripts/more.sh changed')
    const [now, ...more] = await waiting(run)
    expect(more).toEqual([])
    expect(failure.details?.['item_id']).toBe(now.item_id)
    expect(now.item_id).not.toBe(asked.item_id)
    await run.refused('go')
    expect(timesRun(run.project)).toBe(0)
    await run.project.call('approve', { id: now.item_id }, { actor: person })
    expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
  })

  test('there is one question for a command and its content, however often it changes and whoever asks', async () => {
    const run = await pinned()
    const other = await runOf(pinning, { project: run.project })
    for (const word of ['b', 'c', 'd', 'e']) {
      run.project.write('check.sh', counting(`# ${word}`))
      await Promise.all([run.refused('go'), other.refused('go')])
    }
    expect(await waiting(run)).toHaveLength(1)
    const { items } = await run.project.call('inbox', { kind: 'command', closed: true })
    expect(items).toHaveLength(4)
    expect(items[0].answer).toMatch(/^Its files changed: see h-/)
  })

  test('a question ends when its files are as they were approved again', async () => {
    const run = await withCheck(
      counting(),
      checking(', pinned: ["check.sh"]')
        .replace('guard: tests_pass', 'guard: { all: [tests_pass, ready] }')
        .replace('guards:', 'guards:\n  ready: { type: milestone, id: M1 }'),
    )
    await allow(run)
    run.project.write('check.sh', counting('# other'))
    await run.refused('go')
    expect(await waiting(run)).toHaveLength(1)
    run.project.write('check.sh', counting())
    await run.refused('go')
    expect(await waiting(run)).toEqual([])
  })

  test('a question ends with its run', async () => {
    const [ended, cancelled] = [await pinned(), await pinned()]
    await ended.emit('abandon')
    await cancelled.project.call('run_cancel', { run_id: cancelled.id, reason: 'No use.' }, { actor: person })
    expect([await waiting(ended), await waiting(cancelled)]).toEqual([[], []])
  })

  test('approved commands are listed, and one that is taken back does not run', async () => {
    const run = await pinned()
    const [item] = await waiting(run)
    await run.project.call('approve', { id: item.item_id }, { actor: person })
    const { commands, total, approved_elsewhere: elsewhere } = await run.project.call('command_list')
    expect(total).toBe(1)
    expect(commands).toMatchObject([
      { run: 'sh check.sh', folder: run.project.folder, author: 'Tess', as_approved: true },
    ])
    expect(commands[0].files).toHaveLength(3)
    expect(elsewhere).toEqual([])
    const revoking = { hash: commands[0].hash.slice(0, 8), reason: 'Not needed.' }
    expect(await failureOf(run.project.call('command_revoke', revoking))).toMatchObject({ code: 'FORBIDDEN' })
    expect(
      await failureOf(run.project.call('command_revoke', { hash: 'ffffff' }, { actor: person })),
    ).toMatchObject({
      code: 'NOT_FOUND',
    })
    await run.project.call('command_revoke', revoking, { actor: person })
    expect((await run.project.call('command_list')).commands).toEqual([])
    expect(await missing(run)).toContain("needs a person's approval")
    expect(timesRun(run.project)).toBe(0)
    const { events: projectEvents } = await run.project.call('log', { limit: 20 })
    expect(projectEvents).toContainEqual(expect.objectContaining({ kind: 'command.revoked', actor: 'Tess' }))
  })

  test('restoring a backup revives no approval that was revoked since', async () => {
    const run = await pinned()
    const { project } = run
    const { commandApprovals: list } = project.context
    const [item] = await waiting(run)
    await project.call('approve', { id: item.item_id }, { actor: person })
    const [approved] = await list.list([project.folder])
    const file = join(project.folder, '..', 'record.backup')
    await project.call('backup_create', { file }, { actor: person })
    const restoring = async () => project.call('backup_restore', { file }, { actor: person })
    expect(await restoring()).toMatchObject({ asked_again: 0 })
    await project.call('command_revoke', { hash: item.request.hash }, { actor: person })
    // A machine that was not there has kept its own list.
    if (approved) await list.approve(approved)
    expect(await restoring()).toMatchObject({ asked_again: 1 })
    expect((await project.call('command_list')).commands).toEqual([])
    expect(await missing(run)).toContain("needs a person's approval")
    expect(timesRun(project)).toBe(0)
    // Without the record that is replaced, nobody knows what was revoked.
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(project.folder, `.waymark/waymark.db${end}`), { force: true })
    expect(await restoring()).toMatchObject({ kept: null, asked_again: 1 })
    expect(await missing(run)).toContain("needs a person's approval")
    await allow(run)
    expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
  })

  test.each(['approve', 'reject'] as const)(
    'a command whose answer was revoked elsewhere is asked about again: %s',
    async (verb) => {
      const run = await pinned()
      const { project } = run
      const { commandApprovals: list } = project.context
      const [item] = await waiting(run)
      await project.call(verb, { id: item.item_id, reason: 'I read it.' }, { actor: person })
      const [approved] = await list.list([project.folder])
      const [refused] = await list.refusedIn([project.folder])
      const revoking = { hash: item.request.hash, reason: 'Not needed.' }
      await project.call('command_revoke', revoking, { actor: person })
      // Another machine with this folder has kept its own list.
      if (approved) await list.approve(approved)
      if (refused) await list.refuse(refused)
      expect(await project.call('command_list')).toMatchObject({ commands: [], refused: [] })
      expect(await failureOf(project.call('command_revoke', revoking, { actor: person }))).toMatchObject({
        reason: 'command_approval_not_found',
      })
      expect(await missing(run)).toContain("needs a person's approval")
      expect(timesRun(project)).toBe(0)
      const [again] = await waiting(run)
      expect(again).toMatchObject({ request: { hash: item.request.hash, before: null } })
      await project.call('approve', { id: again.item_id }, { actor: person })
      expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
      expect((await project.call('command_list')).commands).toMatchObject([{ hash: item.request.hash }])
    },
  )

  test('an approved command is listed and revoked after many questions that nobody answered', async () => {
    const run = await pinned()
    const { project } = run
    const [item] = await waiting(run)
    await project.call('approve', { id: item.item_id }, { actor: person })
    const { store, commandApprovals } = project.context
    const question = await store.view(({ inboxItems }) => inboxItems.find(item.item_id))
    const ids = Array.from({ length: 200 }, (_, at) => `h-00000000${String(at).padStart(4, '0')}`)
    const request = { ...item.request, hash: 'f'.repeat(64) }
    const nobodys = { ...question, request, status: 'open' }
    const closed = { missionId: null, taskId: null, status: 'dismissed', answer: null }
    await happened(
      store,
      1,
      ...ids.flatMap((id): Answer[] => [
        { kind: 'inbox.opened', item: { ...nobodys, id } },
        { kind: 'inbox.closed', itemId: id, ...closed },
      ]),
    )
    await commandApprovals.revoke(item.request.hash)
    expect((await project.call('command_list')).approved_elsewhere).toMatchObject([
      { hash: item.request.hash },
    ])
    await project.call('command_revoke', { hash: item.request.hash }, { actor: person })
    expect((await project.call('command_list')).approved_elsewhere).toEqual([])
  })
})
