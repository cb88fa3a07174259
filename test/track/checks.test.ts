import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { amount, soakTest } from '../support/amount.ts'
import {
  type Answer,
  agentActor,
  openProject,
  person,
  type TestProject,
  troubles,
} from '../support/project.ts'

// What a check ran is counted outside the tree, which it would change otherwise.
const counting = (then = '') => `echo ran >> ../runs.txt\n${then}\n`

function timesRun({ folder }: TestProject): number {
  const file = join(folder, '..', 'runs.txt')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
}

interface CheckedTask {
  readonly project: TestProject
  readonly id: string
  readonly complete: (more?: object) => Promise<Answer>
  readonly items: () => Promise<readonly Answer[]>
  readonly approve: () => Promise<void>
  /** The results of checks, as the record has them. */
  readonly results: () => Promise<readonly Answer[]>
}

/** A started task whose check is `sh check.sh`, with a changed file. */
async function checkedTask(script: string, check: object | string = 'sh check.sh'): Promise<CheckedTask> {
  const project = await openProject()
  project.write('check.sh', counting(script))
  project.git('add', '-A')
  project.git('commit', '-qm', 'Add a check')
  const task = { name: 'A', goal: 'A', done_when: { check: [check] } }
  const actor = { ...agentActor, connection: 'c1' }
  const { task_id: id } = await project.call('start_task', task, { actor })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const items = async () => (await project.call('inbox', { kind: 'command' })).items
  return {
    project,
    id,
    complete: (more = {}) =>
      project.call('complete_task', {
        task_id: id,
        status: 'success',
        outcome: { summary: 'Did it.' },
        ...more,
      }),
    items,
    approve: async () => {
      await project.call('complete_task', {
        task_id: id,
        status: 'success',
        outcome: { summary: 'Did it.' },
        preview: true,
      })
      for (const { item_id } of await items())
        await project.call('approve', { id: item_id }, { actor: person })
    },
    results: async () => {
      const { events } = await project.call('log', { limit: 200 })
      return events
        .filter(({ kind }: Answer) => kind === 'command.ended')
        .map(({ body }: Answer) => [body.status, body.treeHeld])
    },
  }
}

describe('a check of a task', () => {
  test('runs on the measured content once a person approved it, and asks until then', async () => {
    const task = await checkedTask('true')
    const items = await task.items()
    expect(items).toMatchObject([
      { task_id: task.id, run_id: null, request: { run: 'sh check.sh', folder: task.project.folder } },
    ])
    expect(await task.complete({ preview: true })).not.toHaveProperty('completed')
    expect(await task.items()).toEqual(items)
    expect(timesRun(task.project)).toBe(0)
    await task.approve()
    expect(await task.items()).toEqual([])
    expect(await task.complete({ preview: true })).not.toHaveProperty('completed')
    expect(timesRun(task.project)).toBe(1)
    expect((await task.complete()).completed_at).not.toBeNull()
    // The result of the preview counts: the content is the same.
    expect(timesRun(task.project)).toBe(1)
    expect(await task.results()).toEqual([['passed', true]])
    expect(troubles(await task.project.call('doctor'))).toEqual([])
  })

  test('asks when a task starts, so that its end is proven: once for all tasks, and again for another content', async () => {
    const task = await checkedTask('true')
    const { project } = task
    const [item] = await task.items()
    const other = { name: 'B', goal: 'B', done_when: { check: ['sh check.sh'] } }
    expect((await project.call('start_task', other)).warnings).not.toContainEqual(
      expect.stringContaining('sh check.sh'),
    )
    expect(await task.items()).toHaveLength(1)
    await project.call('approve', { id: item?.['item_id'] }, { actor: person })
    expect((await task.complete()).verdict).toMatchObject({ is: 'proven' })
    const pinned = { ...other, done_when: { check: [{ run: 'sh check.sh', pinned: ['check.sh'] }] } }
    expect((await project.call('start_task', pinned)).warnings).toContainEqual(
      expect.stringContaining('sh check.sh'),
    )
    expect(await task.items()).toHaveLength(1)
  })

  test('runs again when the content changed, and not for a failed attempt', async () => {
    const task = await checkedTask('exit 3')
    await task.approve()
    await task.complete({ preview: true })
    task.project.write('src/auth.ts', 'export const auth = 3\n')
    await task.complete({ preview: true })
    expect(timesRun(task.project)).toBe(2)
    task.project.write('src/auth.ts', 'export const auth = 4\n')
    await task.complete({ status: 'failed' })
    expect(timesRun(task.project)).toBe(2)
    expect(await task.results()).toEqual([
      ['failed', true],
      ['failed', true],
    ])
  })

  test('ends at its time limit', async () => {
    const task = await checkedTask('sleep 60', { run: 'sh check.sh', timeout: '1s' })
    await task.approve()
    expect((await task.complete()).completed_at).not.toBeNull()
    expect(await task.results()).toEqual([['timed_out', true]])
  })

  test('does not count a check that writes files, and does not repeat it', async () => {
    const task = await checkedTask('echo x > src/auth.ts; echo "export const auth = 2" > src/auth.ts')
    await task.approve()
    await task.complete({ preview: true })
    await task.complete({ preview: true })
    expect(await task.results()).toEqual([['passed', false]])
    expect(timesRun(task.project)).toBe(1)
  })

  soakTest('may print a megabyte', async () => {
    const task = await checkedTask('yes 0123456789 | head -c 1000000')
    await task.approve()
    expect((await task.complete()).completed_at).not.toBeNull()
    const { events } = await task.project.call('log', { limit: 200 })
    const ended = events.find(({ kind }: Answer) => kind === 'command.ended')
    expect(ended.body.status).toBe('passed')
    expect(ended.body.output.length).toBeLessThanOrEqual(2_000)
  })

  test('asks again with the difference when its script changed', async () => {
    const project = await openProject()
    const manifest = (script: string) => JSON.stringify({ scripts: { check: script } })
    project.write('package.json', manifest('true'))
    const done_when = { check: ['npm run check'] }
    const { task_id } = await project.call('start_task', { name: 'A', goal: 'A', done_when })
    const preview = () =>
      project.call('complete_task', {
        task_id,
        status: 'success',
        outcome: { summary: 'Did it.' },
        preview: true,
      })
    await preview()
    const items = async () => (await project.call('inbox', { kind: 'command' })).items
    const [first] = await items()
    expect(first.request.files).toMatchObject([{ path: 'package.json#check', text: 'true' }])
    await project.call('approve', { id: first.item_id }, { actor: person })
    project.write('package.json', manifest('curl example.org'))
    await preview()
    const [second] = await items()
    expect(second.request.before).toMatchObject({ author: person.name, changed: ['package.json#check'] })
    expect(second.request.before.diff).toContain('+curl example.org')
  })

  test('runs the checks of the project, the mission and the task in that order, one after the other', async () => {
    const task = await checkedTask('true', 'echo task >> ../runs.txt')
    const value = JSON.stringify({ check: ['echo project >> ../runs.txt'] })
    await task.project.call('setting_set', { name: 'done_when', value }, { actor: person })
    await task.approve()
    await task.complete()
    const ran = readFileSync(join(task.project.folder, '..', 'runs.txt'), 'utf8')
    expect(ran).toBe('project\ntask\n')
  })

  test('is not run if CI reported a result for the same content', async () => {
    const task = await checkedTask('exit 1')
    task.project.git('commit', '-qam', 'Change')
    const runner = { ...agentActor, name: 'ci', runner: true as const }
    await task.project.call('ci_report', { check: 'sh check.sh', status: 'success' }, { actor: runner })
    await task.complete()
    expect(timesRun(task.project)).toBe(0)
  })

  test('completes nothing while a check runs; the same call waits for it, whatever its key', async () => {
    const task = await checkedTask('while [ ! -f ../go ]; do sleep 0.05; done')
    await task.approve()
    const { project, id } = task
    const context = { ...project.context, commandWaitMs: 300 }
    const input = { task_id: id, status: 'success', outcome: { summary: 'Did it.' } }
    const call = () => project.call('complete_task', input, { context, idempotencyKey: 'one' })
    expect(await call()).toMatchObject({
      completed: false,
      completed_at: null,
      running_checks: [{ command: 'sh check.sh', since: expect.any(String) }],
    })
    expect((await project.call('show', { id })).attempts).toMatchObject([{ status: 'open' }])
    expect(await call()).toMatchObject({ completed: false })
    writeFileSync(join(project.folder, '..', 'go'), '')
    await expect.poll(async () => (await task.results()).length, { timeout: 5_000 }).toBe(1)
    expect(await call()).toMatchObject({ completed_at: expect.any(String) })
    expect(timesRun(project)).toBe(1)
  })

  test('waits for the check of another task in the same folder', async () => {
    const task = await checkedTask('while [ ! -f ../go ]; do sleep 0.05; done')
    await task.approve()
    const { project } = task
    const done_when = { check: ['echo other >> ../other.txt'] }
    const other = await project.call('start_task', { name: 'B', goal: 'B', agent_name: 'b', done_when })
    const context = { ...project.context, commandWaitMs: 300 }
    const outcome = { summary: 'Did it.' }
    const preview = (task_id: string) =>
      project.call('complete_task', { task_id, status: 'success', outcome, preview: true }, { context })
    await preview(other.task_id)
    for (const { item_id } of await task.items())
      await project.call('approve', { id: item_id }, { actor: person })
    expect(await preview(task.id)).toMatchObject({ completed: false, preview: true })
    expect(await preview(other.task_id)).toMatchObject({
      completed: false,
      running_checks: [{ command: done_when.check[0], since: null }],
    })
    expect(existsSync(join(project.folder, '..', 'other.txt'))).toBe(false)
    writeFileSync(join(project.folder, '..', 'go'), '')
    await expect.poll(async () => (await task.results()).length, { timeout: 5_000 }).toBe(2)
  })
})

test('a check whose approval was revoked says so in the verdict', async () => {
  const task = await checkedTask('true')
  const [{ request }] = (await task.items()) as [Answer]
  await task.approve()
  await task.project.call('command_revoke', { hash: request.hash }, { actor: person })
  const { verdict } = await task.complete()
  expect(verdict.reasons).toMatchObject([
    {
      rule: 'check_not_approved',
      text: '"sh check.sh" did not run: a person revoked the answer about it.',
    },
  ])
  expect(troubles(await task.project.call('doctor'))).toEqual([])
})

test('verify runs the checks of a task again, on the content as it is', async () => {
  const task = await checkedTask('exit 3')
  await task.approve()
  await task.complete()
  expect(await task.project.call('verify', { task_id: task.id })).toMatchObject({
    task_id: task.id,
    passed: false,
    commands: [{ run: 'sh check.sh', status: 'failed', exit_code: 3 }],
  })
  expect(timesRun(task.project)).toBe(2)
  const plain = await task.project.call('start_task', { name: 'B', goal: 'B' })
  expect(await task.project.refused('verify', { task_id: plain.task_id })).toMatchObject({
    reason: 'no_check',
  })
})

test('a command is asked about once, however many others are', async () => {
  const project = await openProject()
  const ask = async (name: string, check: readonly string[]) => {
    const task = { name, goal: 'A', done_when: { check } }
    await project.call('start_task', task, { actor: { ...agentActor, connection: name } })
    return (await project.call('inbox', { kind: 'command' })).total
  }
  for (let at = 0; at < 10; at += 1)
    await ask(
      `t${at}`,
      Array.from({ length: 20 }, (_, each) => `true ${at} ${each}`),
    )
  expect(await ask('one', ['true one'])).toBe(201)
  expect(await ask('same', ['true one'])).toBe(201)
})

test('the question about a command ends where its machine has another answer', async () => {
  const { project, items, complete } = await checkedTask('true')
  const [{ request }] = await items()
  const { run, folder, pinned, hash, files } = request
  const { commandApprovals: approvals } = project.context
  await approvals.approve({ run, folder, pinned, hash, files, author: 'Ana', createdAt: 1 })
  expect((await complete()).verdict.is).toBe('proven')
  expect(await items()).toEqual([])
})

test.each([
  ['passes', 'true', 0],
  ['fails', 'exit 3', 1],
])(
  'a verdict that a person accepted is asked about again only if a later check %s',
  async (_, script, asked) => {
    const { project, id, items, complete } = await checkedTask(script)
    const { verdict } = await complete({ outcome: { summary: 'Changed src/api.ts.' } })
    expect(verdict.is).toBe('contradicted')
    const verdicts = async () => (await project.call('inbox', { kind: 'verdict' }, { actor: person })).items
    const [contradicted] = await verdicts()
    await project.call('approve', { id: contradicted.item_id, reason: 'I saw it.' }, { actor: person })
    const [command] = await items()
    await project.call('approve', { id: command.item_id }, { actor: person })
    expect(await project.call('verify', { task_id: id })).toMatchObject({ passed: asked === 0 })
    expect(await verdicts()).toHaveLength(asked)
  },
)

describe('the verdict on a completion with a check', () => {
  const rules = ({ verdict }: Answer) => verdict.reasons.map(({ rule }: Answer) => rule)

  test.each([
    ['passes', 'true', 'sh check.sh', 'proven', []],
    ['fails', 'exit 3', 'sh check.sh', 'contradicted', ['check_failed']],
    ['takes too long', 'sleep 60', { run: 'sh check.sh', timeout: '1s' }, 'unproven', ['check_not_run']],
    ['writes files', 'touch src/auth.ts', 'sh check.sh', 'unproven', ['check_disturbed']],
  ])('that %s', async (_, script, check, is, expected) => {
    const task = await checkedTask(script, check)
    await task.approve()
    const answer = await task.complete()
    expect(answer.verdict.is).toBe(is)
    expect(rules(answer)).toEqual(expected)
    expect(troubles(await task.project.call('doctor'))).toEqual([])
  })

  test('is unproven before a person approved the check', async () => {
    const task = await checkedTask('true')
    const answer = await task.complete()
    expect(answer.verdict.is).toBe('unproven')
    expect(rules(answer)).toEqual(['check_not_approved'])
    expect(answer.verdict.reasons[0].fix).toBe(
      `A person approves it in the inbox, and then runs it in a terminal: waymark verify ${task.id}`,
    )
    const [item] = await task.items()
    expect(await task.project.call('verify', { task_id: task.id })).toMatchObject({
      commands: [{ status: 'unapproved', item_id: item.item_id }],
    })
    const approved = await task.project.call('approve', { id: item.item_id }, { actor: person })
    expect(approved.notes).toMatchObject([expect.stringContaining(`waymark verify ${task.id}`)])
    expect(await task.project.call('verify', { task_id: task.id })).toMatchObject({
      passed: true,
      verdict: { is: 'proven' },
    })
  })

  test('asks in the inbox whether the check may run, and not in a review of the work', async () => {
    const task = await checkedTask('true')
    const review = () => task.project.call('review_show', { task: task.id }, { actor: person })
    const columns = async () => {
      const board = (await task.project.call('board')).columns
      return Object.keys(board).filter((name) => board[name].some(({ id }: Answer) => id === task.id))
    }
    expect(await columns()).toEqual(['active'])
    await task.complete()
    expect(await task.items()).toHaveLength(1)
    const { waiting, content } = await review()
    expect(waiting).toEqual([])
    expect(await columns()).toEqual(['done'])
    const approving = { subject: { task: task.id }, action: 'approve', content }
    await task.project.call('review_send', approving, { actor: person })
    expect(await task.items()).toHaveLength(1)
    expect((await review()).decision).toMatchObject({ action: 'approved' })
  })

  test('asks about a command whose script is missing by its name', async () => {
    const task = await checkedTask('true', 'npm run lint')
    await task.complete()
    const [item] = await task.items()
    expect(item.reason).toContain('no script "lint"')
  })

  test('names the person who rejected the check, and stays open to a later yes', async () => {
    const task = await checkedTask('true')
    const { project } = task
    await task.complete()
    const [item] = await task.items()
    const { hash } = item.request
    const named = `waymark command revoke ${hash.slice(0, 12)}`
    const rejected = await project.call('reject', { id: item.item_id, reason: 'Slow' }, { actor: person })
    expect(rejected.notes).toMatchObject([expect.stringContaining(named)])
    const [attempt] = (await project.call('show', { id: task.id })).attempts
    expect(attempt.verdict).toMatchObject({ is: 'unproven', reasons: [{ rule: 'check_not_approved' }] })
    expect(attempt.verdict.reasons[0].text).toContain(person.name)
    expect(attempt.verdict.reasons[0].text).toContain(named)
    expect(await project.call('verify', { task_id: task.id })).toMatchObject({
      commands: [{ status: 'refused', refused_by: person.name, reason: 'Slow', hash }],
    })
    expect(await project.call('command_list', {})).toMatchObject({ refused: [{ hash, reason: 'Slow' }] })
    await project.call('command_revoke', { hash }, { actor: person })
    expect(await project.call('verify', { task_id: task.id })).toMatchObject({
      commands: [{ status: 'unapproved' }],
    })
    const [again] = await task.items()
    await project.call('approve', { id: again.item_id }, { actor: person })
    expect(await project.call('verify', { task_id: task.id })).toMatchObject({ verdict: { is: 'proven' } })
    expect(troubles(await project.call('doctor'))).toEqual([])
  })

  test('changes when the check passes later on the same content, and its item closes', async () => {
    const task = await checkedTask('test -f ../ready')
    await task.approve()
    const { project } = task
    expect((await task.complete()).verdict.is).toBe('contradicted')
    writeFileSync(join(project.folder, '..', 'ready'), '')
    const verified = await project.call('verify', { task_id: task.id })
    expect(verified).toMatchObject({ passed: true, verdict: { is: 'proven', reasons: [] } })
    expect(verified).not.toHaveProperty('note')
    const [attempt] = (await project.call('show', { id: task.id })).attempts
    expect(attempt).toMatchObject({
      verdict: { is: 'proven', checks: [{ command: 'sh check.sh', exit_code: 0, same_content: true }] },
      former_verdicts: [{ verdict: { is: 'contradicted' } }],
    })
    expect((await project.call('inbox')).items).toEqual([])
    expect((await project.call('stats')).all.verdicts).toMatchObject({ explained: 1, contradicted: 0 })
    expect(troubles(await project.call('doctor'))).toEqual([])
  })

  test('opens an item when the check fails later on the same content', async () => {
    const task = await checkedTask('test ! -f ../broken')
    await task.approve()
    const { project } = task
    expect((await task.complete()).verdict.is).toBe('proven')
    writeFileSync(join(project.folder, '..', 'broken'), '')
    expect(await project.call('verify', { task_id: task.id })).toMatchObject({
      verdict: { is: 'contradicted', reasons: [{ rule: 'check_failed' }] },
    })
    expect((await project.call('inbox')).items).toMatchObject([{ kind: 'verdict', task_id: task.id }])
  })

  test('is not accepted by a review that was sent before the check failed', async () => {
    const task = await checkedTask('exit 3')
    const { project, id } = task
    const by = { actor: person }
    expect((await task.complete()).verdict.is).toBe('unproven')
    const accepted = async () => (await project.call('show', { id })).attempts[0].accepted_by
    const subject = { task: id }
    const { content } = await project.call('review_show', subject, by)
    await project.call('review_send', { subject, action: 'approve', content }, by)
    expect(await accepted()).toBe('Tess')
    for (const { item_id } of await task.items()) await project.call('approve', { id: item_id }, by)
    expect(await project.call('verify', { task_id: id })).toMatchObject({ verdict: { is: 'contradicted' } })
    expect(await accepted()).toBeUndefined()
    const [{ item_id }] = (await project.call('inbox', { kind: 'verdict' })).items
    await project.call('resolve', { id: item_id, dismiss: true }, by)
    expect(await accepted()).toBeUndefined()
    await project.call('review_send', { subject, action: 'approve', content }, by)
    expect(await accepted()).toBe('Tess')
  })

  test('is not accepted by dismissing its inbox item', async () => {
    const task = await checkedTask('exit 3')
    await task.approve()
    await task.complete()
    const [{ item_id }] = (await task.project.call('inbox', { kind: 'verdict' })).items
    await task.project.call('resolve', { id: item_id, dismiss: true }, { actor: person })
    const [attempt] = (await task.project.call('show', { id: task.id })).attempts
    expect(attempt).not.toHaveProperty('accepted_by')
  })

  test('keeps its inbox item, open or answered, when the check fails again', async () => {
    const task = await checkedTask('exit $(cat ../code)')
    const { project } = task
    const code = (value: number) => writeFileSync(join(project.folder, '..', 'code'), `${value}\n`)
    const items = async () => (await project.call('inbox')).items.map(({ item_id }: Answer) => item_id)
    const exitCode = async () =>
      (await project.call('show', { id: task.id })).attempts[0].verdict.checks[0].exit_code
    code(3)
    await task.approve()
    await task.complete()
    const opened = await items()
    expect(opened).toHaveLength(1)
    expect(await project.call('verify', { task_id: task.id })).not.toHaveProperty('verdict')
    expect(await items()).toEqual(opened)
    code(4)
    expect(await project.call('verify', { task_id: task.id })).toMatchObject({
      verdict: { is: 'contradicted' },
    })
    expect(await exitCode()).toBe(4)
    expect(await items()).toEqual(opened)
    await project.call('approve', { id: opened[0] }, { actor: person })
    code(5)
    await project.call('verify', { task_id: task.id })
    expect(await exitCode()).toBe(5)
    expect(await items()).toEqual([])
    code(0)
    expect(await project.call('verify', { task_id: task.id })).toMatchObject({ verdict: { is: 'proven' } })
    expect(troubles(await project.call('doctor'))).toEqual([])
  })

  test('stays when the check runs on other content, or after another attempt', async () => {
    const task = await checkedTask('test -f ../ready')
    await task.approve()
    const { project } = task
    await task.complete()
    writeFileSync(join(project.folder, '..', 'ready'), '')
    project.write('src/other.ts', 'export {}\n')
    const verified = await project.call('verify', { task_id: task.id })
    expect(verified).toMatchObject({
      passed: true,
      note: expect.stringMatching(/^Files of the work tree changed .+ waymark review t-/),
    })
    expect(verified).not.toHaveProperty('verdict')
    expect((await project.call('show', { id: task.id })).attempts[0].verdict.is).toBe('contradicted')
  })

  test('changes by a result that CI reports for the same content', async () => {
    const task = await checkedTask('true')
    const { project } = task
    project.git('commit', '-qam', 'Change')
    const answer = await task.complete()
    expect(rules(answer)).toEqual(['check_not_approved'])
    const runner = { ...agentActor, name: 'ci', runner: true as const }
    const report = (check: string, status: string) =>
      project.call('ci_report', { check, status }, { actor: runner })
    await report('another check', 'failure')
    const current = async () => (await project.call('show', { id: task.id })).attempts[0].verdict.is
    expect(await current()).toBe('unproven')
    await report('sh check.sh', 'success')
    expect(await current()).toBe('proven')
    await report('sh check.sh', 'failure')
    expect(await current()).toBe('contradicted')
    const asked = async () => (await project.call('inbox', { kind: 'verdict' })).items.length
    expect(await asked()).toBe(1)
    // Of a task that is to do again nobody decides.
    const { content } = await project.call('review_show', { task: task.id }, { actor: person })
    const review = { subject: { task: task.id }, action: 'send_back', text: 'Again', content }
    await project.call('review_send', review, { actor: person })
    await report('sh check.sh', 'success')
    await report('sh check.sh', 'failure')
    expect([await current(), await asked()]).toEqual(['contradicted', 0])
    expect(troubles(await project.call('doctor'))).toEqual([])
  })

  test('is unproven if the check fails while another agent works in the tree', async () => {
    const task = await checkedTask('exit 3')
    const actor = { ...agentActor, connection: 'c2' }
    await task.project.call('start_task', { name: 'B', goal: 'B' }, { actor })
    await task.approve()
    const answer = await task.complete()
    expect(answer.verdict.is).toBe('unproven')
    expect(rules(answer)).toContain('check_failed_shared')
  })

  /** Two agents in one tree whose check fails; the first one has ended. */
  async function besideAnother() {
    const task = await checkedTask('exit 3')
    const { project } = task
    const { mission_id: mission } = await project.call('start_mission', { name: 'M', objective: 'O' })
    const start = { name: 'B', goal: 'B', mission_id: mission, done_when: { check: ['sh check.sh'] } }
    const actor = { ...agentActor, connection: 'c2' }
    const { task_id: other } = await project.call('start_task', start, { actor })
    project.write('src/api.ts', 'export const api = 2\n')
    await task.approve()
    const outcome = { summary: 'Changed src/auth.ts.' }
    expect((await task.complete({ outcome })).waits_for).toEqual([])
    const complete = (more: object = {}) =>
      project.call(
        'complete_task',
        { task_id: other, status: 'success', outcome: { summary: 'Changed src/api.ts.' }, ...more },
        { actor },
      )
    const asked = async () =>
      (await project.call('inbox', { kind: 'verdict' })).items.map(({ task_id }: Answer) => task_id)
    return { ...task, other, mission, completeOther: complete, asked }
  }

  test('asks a person once about a check that fails for all, when the last of them ends', async () => {
    const { project, other, completeOther, asked } = await besideAnother()
    const kinds = ({ waits_for }: Answer) => waits_for.map(({ kind }: Answer) => kind)
    expect(kinds(await completeOther({ preview: true }))).toEqual(['verdict'])
    const answer = await completeOther()
    expect(rules(answer)).toEqual(['check_failed_shared'])
    expect(answer).toMatchObject({ verdict: { is: 'unproven' }, settled: false })
    expect(kinds(answer)).toEqual(['verdict'])
    expect(await asked()).toEqual([other])
    const amended = await completeOther({ outcome: { summary: 'Changed src/api.ts, all of it.' } })
    expect([rules(amended), kinds(amended)]).toEqual([['check_failed_shared'], ['verdict']])
    const [{ item_id }] = amended.waits_for
    await project.call('approve', { id: item_id }, { actor: person })
    expect(await asked()).toEqual([])
    expect(troubles(await project.call('doctor'))).toEqual([])
  })

  test('still asks about it after the last of them takes a false claim back, whoever begins meanwhile', async () => {
    const { project, other, completeOther, asked } = await besideAnother()
    const answer = await completeOther({ outcome: { summary: 'Changed utils.ts.' } })
    expect(answer.verdict.is).toBe('contradicted')
    const actor = { ...agentActor, connection: 'c3' }
    await project.call('start_task', { name: 'C', goal: 'C' }, { actor })
    const amended = await completeOther()
    expect(amended).toMatchObject({ verdict: { is: 'unproven' }, settled: false })
    expect(await asked()).toEqual([other])
  })

  test('asks about the last success once the last of them claims only a part', async () => {
    const { id, completeOther, asked } = await besideAnother()
    await completeOther()
    const answer = await completeOther({ status: 'partial_success' })
    expect(rules(answer)).toEqual(['check_failed_shared'])
    expect(await asked()).toEqual([id])
  })

  test.each(['failed', 'partial_success'].slice(0, amount({ test: 1, soak: 2 })))(
    'asks about it once when the last one ends as %s',
    async (status) => {
      const { id, project, completeOther, asked } = await besideAnother()
      const [answer] = [await completeOther({ status })]
      expect(answer.waits_for).toEqual([])
      expect(await asked()).toEqual([id])
      const [{ item_id }] = (await project.call('inbox', { kind: 'verdict' })).items
      await project.call('approve', { id: item_id }, { actor: person })
      const actor = { ...agentActor, connection: 'c3' }
      const { task_id } = await project.call('start_task', { name: 'C', goal: 'C' }, { actor })
      await project.call('complete_task', { task_id, status, outcome: { summary: 'No.' } }, { actor })
      expect(await asked()).toEqual([])
      expect(troubles(await project.call('doctor'))).toEqual([])
    },
  )

  test.each(
    ['abandons it', 'takes it over', 'ends its mission as failed'].slice(0, amount({ test: 1, soak: 3 })),
  )('asks about it once somebody %s, the last one', async (how) => {
    const { id, other, mission, project, asked } = await besideAnother()
    project.wait(3 * 60 * 60 * 1000)
    if (how === 'abandons it') {
      const [{ item_id }] = (await project.call('inbox', { kind: 'stale_attempt' })).items
      await project.call('approve', { id: item_id }, { actor: person })
    } else if (how === 'takes it over') {
      const actor = { ...agentActor, connection: 'c3' }
      await project.call('start_task', { planned_task_id: other, name: 'B', take_over: true }, { actor })
    } else {
      await project.call('complete_mission', { mission_id: mission, status: 'failed', summary: 'No.' })
    }
    expect(await asked()).toEqual([id])
    expect(troubles(await project.call('doctor'))).toEqual([])
  })

  test('answers a criterion later, with other words for the same work', async () => {
    const project = await openProject()
    const promises = { criteria: ['At most 5 attempts'] }
    const { task_id } = await project.call('start_task', { name: 'A', done_when: promises })
    project.write('src/auth.ts', 'export const auth = 2\n')
    const complete = (outcome: object) =>
      project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.', ...outcome } })
    expect(rules(await complete({}))).toEqual(['no_check', 'criterion_unanswered'])
    const criteria = [{ criterion: 'At most 5 attempts', met: true, how: 'A counter' }]
    const answered = await complete({ criteria })
    expect(answered).toMatchObject({ amended: true })
    expect(rules(answered)).toEqual(['no_check'])
    const input = { task_id, status: 'success', outcome: { summary: 'Something else.' } }
    expect(await project.refused('complete_task', input)).toMatchObject({
      reason: 'attempt_already_completed',
    })
  })

  test('judges what the task promises: criteria, changes and files to keep', async () => {
    const task = await checkedTask('true')
    await task.project.call('taskman_task_edit', {
      id: task.id,
      done_when: { criteria: ['It is fast'], changes: ['docs/'], keeps: ['src/auth.ts'] },
    })
    await task.approve()
    const answer = await task.complete()
    expect(answer.verdict.is).toBe('contradicted')
    expect(rules(answer).sort()).toEqual(['changes_missing', 'criterion_unanswered', 'keeps_changed'])
  })

  test('keeps the results of checks when the outcome is changed', async () => {
    const task = await checkedTask('exit 3')
    await task.approve()
    await task.complete()
    const answer = await task.complete({ status: 'partial_success' })
    expect(answer).toMatchObject({ amended: true, verdict: { is: 'unproven' } })
    expect(rules(answer)).toEqual(['check_failed'])
  })
})
