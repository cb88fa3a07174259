import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { type Answer, openProject, type ProjectOptions, person } from '../support/project.ts'

const asPerson = { actor: person }

/** A project whose completions are judged as they are given, with one task that was started. */
async function startedTask(options: ProjectOptions = {}) {
  const project = await openProject({ explainsNoChange: false, ...options })
  const { call } = project
  const start = async (input: object = {}) =>
    (await call('start_task', { name: 'Limit logins', goal: 'g', ...input })).task_id
  const task_id = await start()
  const complete = (summary: string, more: Answer = {}) =>
    call('complete_task', {
      task_id,
      status: 'success',
      ...more,
      outcome: { summary, ...more.outcome },
    })
  const inbox = async () => (await call('inbox', {}, asPerson)).items as readonly Answer[]
  const attempts = async (id = task_id) => (await call('show', { id })).attempts as readonly Answer[]
  const isWhole = async () => {
    expect(await project.context.store.inspect()).toMatchObject({ differences: [], error: null })
  }
  return { ...project, task_id, start, complete, inbox, attempts, isWhole }
}
type StartedTask = Awaited<ReturnType<typeof startedTask>>

const asksForReview = { manual_review_needed: true, manual_review_reason: 'Please look.' }
const rulesOf = ({ verdict }: Answer): readonly string[] => verdict.reasons.map(({ rule }: Answer) => rule)
const edit = ({ write }: StartedTask) => write('src/auth.ts', 'export const auth = 2\n')

// The rules are in verdict-journeys.test.ts: these are the projects that its agents do not have.
describe('what contradicts a completion', () => {
  test.each([
    { where: 'without git', options: { git: false } },
    { where: 'on another machine', options: { isOnMachine: true } },
  ])('$where, a change counts, and none contradicts', async ({ options }) => {
    const changed = await startedTask(options)
    edit(changed)
    const unchanged = await startedTask(options)
    for (const [task, is, rules] of [
      [changed, 'unproven', ['no_check']],
      [unchanged, 'contradicted', ['nothing_changed', 'no_check']],
    ] as const) {
      const preview = await task.complete('Done.', { preview: true })
      const completed = await task.complete('Done.')
      expect(rulesOf(completed)).toEqual(rules)
      expect(completed.verdict.is).toBe(is)
      expect(preview.verdict).toEqual(completed.verdict)
      expect((await task.attempts())[0]).toMatchObject({ verdict: completed.verdict, former_verdicts: [] })
      await task.isWhole()
    }
  })
})

test('a claim of one package is not answered by a file of another that ends alike', async () => {
  const task = await startedTask()
  const [api, core] = ['packages/api/src/index.ts', 'packages/core/src/index.ts']
  for (const path of [api, core, 'core/src/index.ts', 'src/index.ts']) task.write(path, 'export {}\n')
  task.git('add', '-A')
  task.git('commit', '-qm', 'Add packages')
  const id = await task.start()
  for (const path of [core, 'src/index.ts']) task.write(path, 'export const a = 1\n')
  const claimed = async (summary: string) => {
    const outcome = { summary }
    const input = { task_id: id, status: 'success', outcome, preview: true }
    const { verdict } = await task.call('complete_task', input)
    return verdict.reasons.flatMap(({ rule, paths }: Answer) => (rule === 'claimed_not_changed' ? paths : []))
  }
  expect(await claimed(`Updated ${api}.`)).toEqual([api])
  expect(await claimed('Created packages/new/src/index.ts.')).toEqual(['packages/new/src/index.ts'])
  // `core/src/index.ts` is a file, and the end of another.
  expect(await claimed('Updated core/src/index.ts, src/index.ts and waymark/src/index.ts.')).toEqual([])
})

describe('what follows from a verdict', () => {
  const settled = async ({ call, task_id }: StartedTask) =>
    (await call('taskman_task_get', { id: task_id })).settled !== false

  test.each([
    { mode: 'review', isSettled: false },
    { mode: 'flag', isSettled: true },
  ])('with $mode, a contradicted task is done and in the inbox', async ({ mode, isSettled }) => {
    const task = await startedTask()
    await task.call('setting_set', { name: 'completion', value: mode }, asPerson)
    const completed = await task.complete('Done.')
    expect(completed).toMatchObject({
      status: 'success',
      verdict: { is: 'contradicted' },
      waits_for: [{ kind: 'verdict' }],
      verification: { scope_match: null, unexpected_files: [], warnings: [] },
    })
    expect(completed.settled).toBe(isSettled ? undefined : false)
    expect(await settled(task)).toBe(isSettled)
    expect(await task.call('taskman_task_get', { id: task.task_id })).toMatchObject({ status: 'done' })
    expect(await task.inbox()).toMatchObject([{ kind: 'verdict', task_id: task.task_id }])
    expect((await task.call('status')).plan).toMatchObject({ done: 1, done_waiting: 1 })
    await task.isWhole()
  })

  test('a change of the setting counts for the open items, too', async () => {
    const task = await startedTask()
    await task.complete('Done.')
    expect(await settled(task)).toBe(false)
    await task.call('setting_set', { name: 'completion', value: 'flag' }, asPerson)
    expect(await settled(task)).toBe(true)
    await task.isWhole()
  })

  test('with refuse, a contradicted task stays open, and the refusal names the rules', async () => {
    const task = await startedTask()
    await task.call('setting_set', { name: 'completion', value: 'refuse' }, asPerson)
    const refused = {
      code: 'REFUSED',
      reason: 'completion_contradicted',
      details: { rules: ['nothing_changed', 'no_check'] },
      fix: { operation: 'complete_task' },
    }
    const input = { task_id: task.task_id, status: 'success', outcome: { summary: 'Done.' } }
    expect(await task.refused('complete_task', { ...input, preview: true })).toMatchObject(refused)
    expect(await task.refused('complete_task', input)).toMatchObject(refused)
    expect(await task.inbox()).toEqual([])
    expect(await task.attempts()).toMatchObject([{ status: 'open', verdict: null }])
  })

  test('with refuse, an unproven task is done and waits for a person', async () => {
    const task = await startedTask()
    await task.call('setting_set', { name: 'completion', value: 'refuse' }, asPerson)
    edit(task)
    expect(await task.complete('Done.')).toMatchObject({
      settled: false,
      verdict: { is: 'unproven' },
      waits_for: [{ kind: 'verdict' }],
    })
    expect(await settled(task)).toBe(false)
  })

  test('it changes neither the phase nor the end of a workflow', async () => {
    const { call } = await openProject({ explainsNoChange: false })
    await call('setting_set', { name: 'inbox_gate', value: 'all' }, asPerson)
    const { workflow_id } = await call('start_workflow', { name: 'W' })
    const { task_id } = await call('start_task', { workflow_id, name: 'a', goal: 'g' })
    const input = { task_id, status: 'success', outcome: { summary: 'Done.' } }
    expect(await call('complete_task', input)).toMatchObject({ verdict: { is: 'contradicted' } })
    expect(await call('show', { id: workflow_id })).toMatchObject({ status: 'COMPLETED' })
  })
})

describe('the fix of a reason', () => {
  const fixOf = ({ verdict }: Answer, rule: string): string =>
    verdict.reasons.find((reason: Answer) => reason.rule === rule).fix

  test('asks for a review once, and then names the inbox item that asks', async () => {
    const task = await startedTask()
    const outcome = { no_change_reason: 'It was there.' }
    const asking = { ...outcome, ...asksForReview }
    const ask = 'Ask a person to accept the task. Call complete_task again, with "manual_review_needed": true'
    expect(fixOf(await task.complete('Nothing to do.', { outcome }), 'no_change')).toContain(ask)
    const [preview, amended] = [
      await task.complete('Nothing to do.', { outcome: asking, preview: true }),
      await task.complete('Nothing to do.', { outcome: asking }),
    ]
    expect(amended).toMatchObject({ amended: true, waits_for: [{ kind: 'review' }] })
    const asked = (by: string) =>
      `A person is asked to accept the task, by ${by}. Nothing else is to be done about it.`
    expect(fixOf(amended, 'no_change')).toBe(asked(`inbox item ${amended.waits_for[0].item_id}`))
    expect(fixOf(preview, 'no_change')).toMatch(/^A person is asked to accept the task, by /)
    const corrected = await task.call('complete_task', { task_id: task.task_id, correction: 'Once more.' })
    expect(fixOf(corrected, 'no_change')).toBe(fixOf(amended, 'no_change'))
    const other = await task.start({ name: 'Another' })
    const previewed = {
      task_id: other,
      status: 'success',
      preview: true,
      outcome: { summary: 's', ...asking },
    }
    expect(fixOf(await task.call('complete_task', previewed), 'no_change')).toBe(asked('the completion'))
  })

  test('names calls that reopen a task that has ended', async () => {
    const task = await startedTask()
    const criterion = 'At most 5 attempts'
    const id = await task.start({ name: 'Count', done_when: { criteria: [criterion] } })
    const complete = (met: boolean) =>
      task.call('complete_task', {
        task_id: id,
        status: 'success',
        outcome: { summary: 'Done.', criteria: [{ criterion, met }] },
      })
    edit(task)
    const fix = fixOf(await complete(false), 'criterion_unmet')
    const calls = [...fix.matchAll(/(\w+) (\{.*?\})/g)]
    expect(calls.map(([, tool]) => tool)).toEqual(['taskman_task_edit', 'start_task'])
    for (const [, tool = '', input = ''] of calls) await task.call(tool, JSON.parse(input))
    expect(rulesOf(await complete(true))).toEqual(['no_check'])
  })
})

describe('how a contradicted task is cleared', () => {
  const contradicted = async (options: ProjectOptions = {}) => {
    const task = await startedTask(options)
    expect(await task.complete('Changed src/api.ts.')).toMatchObject({ settled: false })
    return task
  }

  test.each([
    { how: 'a reason', summary: 'Nothing to do.', more: { outcome: { no_change_reason: 'It was there.' } } },
    { how: 'a part of success', summary: 'Only looked.', more: { status: 'partial_success' } },
  ])('by $how, judged on the same measurement', async ({ summary, more }) => {
    const task = await contradicted()
    // What changes later is not part of it.
    task.write('src/api.ts', 'export const api = 2\n')
    const amended = await task.complete(summary, more)
    expect(amended).toMatchObject({
      amended: true,
      status: more.status ?? 'success',
      waits_for: [],
      verdict: { is: 'unproven' },
    })
    expect(rulesOf(amended).at(-1)).toBe('no_check')
    expect(amended).not.toHaveProperty('settled')
    expect(await task.inbox()).toEqual([])
    expect(await task.attempts()).toMatchObject([
      {
        claimed: { summary },
        verdict: { is: 'unproven' },
        former_verdicts: [{ verdict: { is: 'contradicted' }, summary: 'Changed src/api.ts.' }],
      },
    ])
    expect(await task.complete(summary, more)).toMatchObject({ already_completed: true })
    await task.isWhole()
  })

  test('words that are still contradicted leave it open, for the reasons that remain', async () => {
    const task = await contradicted()
    const amended = await task.complete('Nothing changed.')
    expect(amended).toMatchObject({ amended: true, settled: false, verdict: { is: 'contradicted' } })
    expect(rulesOf(amended)).toEqual(['nothing_changed', 'no_check'])
    const [item, ...others] = await task.inbox()
    expect(others).toEqual([])
    expect(item).toMatchObject({ kind: 'verdict', paths: [] })
  })

  test('as failed, the task is to do again', async () => {
    const task = await contradicted()
    const amended = await task.complete('It does not work.', { status: 'failed' })
    expect(amended).toMatchObject({ amended: true, waits_for: [] })
    expect(amended).not.toHaveProperty('verdict')
    expect(await task.call('taskman_task_get', { id: task.task_id })).toMatchObject({ status: 'to_do' })
    expect(await task.attempts()).toMatchObject([{ status: 'failed', verdict: null }])
    await task.isWhole()
  })

  test('by another attempt, whose completion replaces the verdict', async () => {
    const task = await contradicted()
    await task.start({ planned_task_id: task.task_id })
    task.write('src/api.ts', 'export const api = 2\n')
    expect(await task.inbox()).toHaveLength(1)
    const completed = await task.complete('Changed src/api.ts.')
    expect(completed).toMatchObject({ verdict: { is: 'unproven' }, waits_for: [] })
    expect(await task.inbox()).toEqual([])
    await task.isWhole()
  })

  test('a person who sends it back reopens the task', async () => {
    const task = await contradicted()
    const [item] = await task.inbox()
    await task.call('reject', { id: item.item_id, reason: 'Add the limiter.' }, asPerson)
    expect(await task.call('taskman_task_get', { id: task.task_id })).toMatchObject({ status: 'to_do' })
  })

  test('a preview of other words records nothing', async () => {
    const task = await contradicted()
    const preview = await task.complete('Looked.', { status: 'partial_success', preview: true })
    expect(preview).toMatchObject({ preview: true, amended: true, verdict: { is: 'unproven' } })
    expect(await task.inbox()).toHaveLength(1)
    expect(await task.attempts()).toMatchObject([{ verdict: { is: 'contradicted' } }])
  })
})

describe('what a task changed since its first attempt began', () => {
  test('counts what an earlier attempt changed', async () => {
    const task = await startedTask()
    edit(task)
    await task.complete('Not yet.', { status: 'failed' })
    await task.start({ planned_task_id: task.task_id })
    expect(rulesOf(await task.complete('Changed src/auth.ts.'))).toEqual(['no_check'])
  })

  test('names files that changed only while it was not started, unless another task changed them', async () => {
    const task = await startedTask()
    const again = async () => {
      await task.start({ planned_task_id: task.task_id })
      return (await task.complete('Did it.')).verdict
    }
    const first = await task.complete('Did it.')
    expect(first.verdict.reasons[0].fix).toContain('What you change before that does not count.')
    const other = await task.start({ name: 'Another' })
    task.write('src/api.ts', 'export const api = 2\n')
    await task.complete('Changed src/api.ts.', { task_id: other })
    expect((await again()).reasons[0].text).toBe('No file changed since the task began.')
    edit(task)
    expect(await again()).toMatchObject({
      is: 'contradicted',
      reasons: [{ text: 'Files changed only while the task was not started:', paths: ['src/auth.ts'] }, {}],
    })
  })

  test('does not count what an earlier attempt changed and a later one restored', async () => {
    const task = await startedTask()
    edit(task)
    await task.complete('Not yet.', { status: 'failed' })
    await task.start({ planned_task_id: task.task_id })
    task.write('src/auth.ts', 'export const auth = 1\n')
    const restored = await task.complete('Done.')
    expect(rulesOf(restored)).toEqual(['nothing_changed', 'no_check'])
    // Neither as destroyed work nor as brought by git.
    expect(restored.verification.warnings).toEqual([expect.stringMatching(/attempt 1: src\/auth\.ts\.$/)])
  })

  test('is no answer to a claim once it was thrown away', async () => {
    const task = await startedTask()
    edit(task)
    await task.complete('Not yet.', { status: 'failed' })
    task.git('checkout', '-q', 'src/auth.ts')
    await task.start({ planned_task_id: task.task_id })
    task.write('src/other.ts', 'export {}\n')
    const claim = 'Rewrote src/auth.ts and added src/other.ts.'
    const first = await task.complete(claim)
    expect(first.verdict.reasons).toMatchObject([
      { rule: 'no_check' },
      { rule: 'claimed_not_own', paths: ['src/auth.ts'], text: 'Claimed, but as before this task again:' },
    ])
    expect(rulesOf(await task.complete('Rewrote src/auth.ts.'))).toEqual(rulesOf(first))
    expect(rulesOf(await task.complete('Added src/other.ts.'))).toEqual(['no_check'])
  })

  test('counts only what changed since a person sent the task back', async () => {
    const task = await startedTask()
    const sendBack = async (id: string) => {
      task.wait(1000)
      await task.call('reject', { id, reason: 'Count the failed ones only.' }, asPerson)
      task.wait(1000)
      await task.start({ planned_task_id: task.task_id })
    }
    edit(task)
    const [review] = (await task.complete('Changed src/auth.ts.', { outcome: asksForReview })).waits_for
    await sendBack(review.item_id)
    const again = await task.complete('Changed src/auth.ts.')
    expect(rulesOf(again)).toEqual(['nothing_changed', 'no_check'])
    expect(again.verdict.reasons[0].text).toBe('No file changed since the task was sent back.')
    expect(again.waits_for[0].question).toMatch(
      /sent it back: “.+” It was completed again without a change: “Changed src\/auth\.ts\.”$/,
    )
    const reason = await task.complete('It does.', { outcome: { no_change_reason: 'It counts those.' } })
    expect(rulesOf(reason)).toEqual(['no_change', 'no_check'])
    // A retry without a person is judged with the attempts before it, since the task was sent back.
    const [item] = await task.inbox()
    await sendBack(item?.item_id)
    task.write('src/auth.ts', 'export const auth = 3\n')
    await task.complete('Not yet.', { status: 'failed' })
    await task.start({ planned_task_id: task.task_id })
    expect(rulesOf(await task.complete('Changed src/auth.ts.'))).toEqual(['no_check'])
    await task.isWhole()
  })

  describe('once a person sent it back', () => {
    /** A task whose first attempt a person sent back; the check only shows what the change alone makes of the verdict. */
    const sentBackTask = async ({
      isStarted = true,
      outcome = asksForReview as Answer,
      options = {} as ProjectOptions,
    } = {}) => {
      const task = await startedTask(options)
      await task.complete('Nothing.', { status: 'failed' })
      const id = await task.start({ name: 'Checked', done_when: { check: ['true'] } })
      for (const { item_id } of await task.inbox()) await task.call('approve', { id: item_id }, asPerson)
      const again = (more: object = {}) => {
        task.wait(1000)
        return task.start({ planned_task_id: id, ...more })
      }
      const complete = (more: Answer = {}) => task.complete('Done.', { task_id: id, ...more })
      task.write('.gitignore', '*.log\n')
      edit(task)
      const [review] = (await task.complete('Changed src/auth.ts.', { task_id: id, outcome })).waits_for
      const sendBack = async () => {
        task.wait(1000)
        await task.call('reject', { id: review.item_id, reason: 'Again.' }, asPerson)
      }
      if (isStarted) {
        await sendBack()
        await again()
      }
      return { ...task, id, again, complete, sendBack }
    }
    type SentBackTask = Awaited<ReturnType<typeof sentBackTask>>
    const commit = ({ git }: SentBackTask, ...more: readonly string[]) =>
      git('commit', '-qm', 'More', ...more)

    test.each<readonly [string, (task: SentBackTask) => unknown]>([
      ['an ignored file', ({ write }) => write('x.log', 'x\n')],
      ['an empty commit', (task) => commit(task, '--allow-empty')],
      [
        'a commit of what was sent back',
        (task) => {
          task.git('add', '-A')
          commit(task)
        },
      ],
      [
        'what one attempt added and the next removed',
        async (task) => {
          task.write('junk.txt', 'junk\n')
          await task.complete({ status: 'failed' })
          await task.again()
          task.remove('junk.txt')
        },
      ],
    ])('%s is no change', async (_, act) => {
      const task = await sentBackTask()
      await act(task)
      const { verdict } = await task.complete()
      expect(verdict.reasons).toMatchObject([
        { rule: 'nothing_changed', text: 'No file changed since the task was sent back.' },
      ])
    })

    test('what a person’s undo took back is no change, what is written after it is one', async () => {
      const task = await sentBackTask({ isStarted: false })
      await task.sendBack()
      task.wait(1000)
      await task.call('undo', { id: task.id, yes: true }, asPerson)
      await task.again()
      const { verdict } = await task.complete()
      expect(verdict).toMatchObject({ is: 'contradicted', reasons: [{ rule: 'nothing_changed' }] })
      await task.again()
      task.write('src/auth.ts', 'export const auth = "again"\n')
      expect((await task.complete()).verdict.is).toBe('proven')
    })

    test('a file in another work tree proves nothing', async () => {
      const task = await sentBackTask()
      task.git('worktree', 'add', '-q', '--detach', '../beside')
      task.write('../beside/src/other.ts', 'export {}\n')
      const later = new Date(Date.now() + 60_000)
      utimesSync(join(task.folder, '../beside/src/other.ts'), later, later)
      const { verdict } = await task.complete()
      expect(verdict).toMatchObject({
        is: 'unproven',
        reasons: [{ rule: 'changes_uncertain', paths: ['src/other.ts'] }],
      })
    })

    test.each<readonly [string, string, object]>([
      ['of its own', 'src/auth.ts', { is: 'proven' }],
      ['of anyone', 'src/new.ts', { is: 'unproven', reasons: [{ paths: ['src/new.ts'] }] }],
    ])('a file %s that changed before the next start counts', async (_, path, verdict) => {
      const task = await sentBackTask({ isStarted: false })
      await task.sendBack()
      task.write(path, 'export const auth = 3\n')
      await task.again()
      expect((await task.complete()).verdict).toMatchObject(verdict)
    })

    test.each<readonly [string, Answer, (task: SentBackTask) => unknown, object]>([
      ['', {}, () => undefined, { is: 'contradicted', reasons: [{ rule: 'nothing_changed' }] }],
      [
        '',
        { isOnMachine: true },
        () => undefined,
        { is: 'contradicted', reasons: [{ rule: 'nothing_changed' }] },
      ],
      [
        ', and someone else after it',
        {},
        ({ write }) => write('src/price.ts', 'export const price = 2\n'),
        { is: 'unproven', reasons: [{ rule: 'changes_uncertain', paths: ['src/price.ts'] }] },
      ],
    ])('a file that another task changed%s', async (_, options, after, verdict) => {
      const task = await sentBackTask({ isStarted: false, options })
      const other = await task.start({ name: 'Add tax' })
      task.write('src/price.ts', 'export const price = 1\n')
      await task.complete({ task_id: other })
      task.git('add', '-A')
      task.git('commit', '-qm', 'Add tax')
      await task.sendBack()
      after(task)
      await task.again()
      expect((await task.complete()).verdict).toMatchObject(verdict)
    })

    test('its own file that only another task changed since does not count', async () => {
      const task = await sentBackTask({ isStarted: false })
      await task.sendBack()
      task.wait(1000)
      const other = await task.start({ name: 'Round' })
      task.write('src/auth.ts', 'export const auth = 3\n')
      await task.complete({ task_id: other })
      await task.again()
      const rules = async () => rulesOf(await task.complete({ preview: true }))
      expect(await rules()).toEqual(['nothing_changed'])
      task.write('src/auth.ts', 'export const auth = 4\n')
      expect(await rules()).not.toContain('nothing_changed')
    })

    const places = [
      { where: 'without git', options: { git: false } },
      { where: 'on another machine', options: { isOnMachine: true } },
    ]
    test.each(places.slice(0, amount({ test: 1, soak: 2 })))(
      '$where, the content is compared, too',
      async ({ options }) => {
        const task = await sentBackTask({ options })
        const rules = async () => rulesOf(await task.complete({ preview: true }))
        expect(await rules()).toContain('nothing_changed')
        task.write('src/auth.ts', 'export const auth = 3\n')
        expect(await rules()).not.toContain('nothing_changed')
        expect(await rules()).not.toContain('changes_uncertain')
      },
    )

    test('in another work tree, only another content than the one sent back counts', async () => {
      const task = await sentBackTask({ isStarted: false })
      await task.sendBack()
      task.git('worktree', 'add', '-q', '--detach', '../beside')
      await task.again({ work_tree: join(task.folder, '../beside') })
      const uncertain = 'What changed since the task was sent back could not be compared.'
      const texts = async () => {
        const { verdict } = await task.complete({ preview: true })
        return verdict.reasons.map(({ text }: Answer) => text)
      }
      expect(await texts()).toContain(uncertain)
      task.write('../beside/src/auth.ts', 'export const auth = 2\n')
      expect(await texts()).toContain(uncertain)
      task.write('../beside/src/auth.ts', 'export const auth = 3\n')
      expect(await texts()).not.toContain(uncertain)
    })

    test('comments do not make it forgotten', async () => {
      const task = await sentBackTask({ isStarted: false, outcome: {} })
      for (const action of ['send_back', 'comment', 'comment', 'comment']) {
        task.wait(1000)
        await task.call('review_send', { subject: { task: task.id }, action, text: 'Again.' }, asPerson)
      }
      await task.again()
      expect(rulesOf(await task.complete())).toEqual(['nothing_changed'])
    })

    test('it counts for an attempt that had begun before', async () => {
      const task = await sentBackTask({ isStarted: false })
      await task.call('taskman_task_edit', { id: task.id, status: 'to_do' })
      await task.again()
      await task.sendBack()
      expect(rulesOf(await task.complete())).toEqual(['nothing_changed'])
    })
  })

  test('counts what was put back because a person asked for it', async () => {
    const task = await startedTask()
    edit(task)
    const [review] = (await task.complete('Changed src/auth.ts.', { outcome: asksForReview })).waits_for
    task.wait(1000)
    await task.call('reject', { id: review.item_id, reason: 'Put it back.' }, asPerson)
    task.wait(1000)
    await task.start({ planned_task_id: task.task_id })
    task.git('checkout', '-q', 'src/auth.ts')
    expect(rulesOf(await task.complete('As before again.'))).toEqual(['no_check'])
  })

  test('finds nothing out of scope in what was put back to its state before the task', async () => {
    const task = await startedTask()
    await task.complete('Another task.', { status: 'failed' })
    const id = await task.start({ areas: ['src/auth.ts'] })
    for (const path of ['src/auth.ts', 'src/api.ts', 'src/new.ts', 'utils.ts']) task.write(path, 'changed\n')
    const first = await task.complete('Changed src/auth.ts.', { task_id: id })
    expect(first.verification.unexpected_files).toEqual(['src/api.ts', 'src/new.ts', 'utils.ts'])
    const [item] = (await task.inbox()).filter(({ kind }) => kind === 'scope')
    await task.call('reject', { id: item?.item_id, reason: 'Restore all but src/auth.ts.' }, asPerson)
    task.wait(1000)
    await task.start({ planned_task_id: id })
    task.git('checkout', '-q', 'src/api.ts')
    task.remove('src/new.ts')
    task.write('utils.ts', 'changed again\n')
    const partly = await task.complete('Restored src/api.ts.', { task_id: id, preview: true })
    expect(partly.verification).toMatchObject({ scope_match: false, unexpected_files: ['utils.ts'] })
    expect(partly.verification.warnings).toContain(
      '⚠️ 1 file(s) modified outside declared scope (src/auth.ts)',
    )
    task.git('checkout', '-q', 'utils.ts')
    const { verification } = await task.complete('Restored them.', { task_id: id })
    expect(verification).toMatchObject({ scope_match: true, unexpected_files: [] })
    expect(verification.warnings.join()).not.toContain('scope')
    const { changes, verification: recorded } = await task.call('changes', { id })
    expect(recorded).toMatchObject({ scope_match: true, unexpected_files: [] })
    expect(changes.map(({ scope }: Answer) => scope)).not.toContain('out')
    await task.isWhole()
  })

  test('of work in another tree is not proven by a check that ran here', async () => {
    const task = await startedTask()
    const checked = await task.start({ name: 'Checked', done_when: { check: ['true'] } })
    const [item] = await task.inbox()
    await task.call('approve', { id: item?.item_id }, asPerson)
    task.git('worktree', 'add', '-q', '--detach', '../beside')
    task.write('../beside/src/auth.ts', 'export const auth = 3\n')
    const later = new Date(Date.now() + 5_000)
    utimesSync(join(task.folder, '../beside/src/auth.ts'), later, later)
    const { verdict } = await task.complete('Did it.', { task_id: checked })
    expect(verdict).toMatchObject({
      is: 'unproven',
      reasons: [{ rule: 'changes_uncertain', paths: ['src/auth.ts'] }],
    })
  })

  test.each<readonly [string, (task: StartedTask) => unknown, object]>([
    [
      'work in another tree is not proven by an ignored file here',
      ({ folder, git, write }) => {
        git('worktree', 'add', '-q', '--detach', '../beside')
        write('../beside/src/auth.ts', 'export const auth = 3\n')
        const later = new Date(Date.now() + 5_000)
        utimesSync(join(folder, '../beside/src/auth.ts'), later, later)
        write('x.log', 'x\n')
      },
      { is: 'unproven', reasons: [{ rule: 'changes_uncertain', paths: ['src/auth.ts'] }] },
    ],
    [
      'an empty commit on another branch is no work',
      ({ git }) => {
        git('worktree', 'add', '-q', '-b', 'side', '../beside')
        git('-C', '../beside', 'commit', '-qm', 'Empty', '--allow-empty')
      },
      { is: 'contradicted', reasons: [{ rule: 'nothing_changed' }] },
    ],
  ])('%s', async (_, act, verdict) => {
    const task = await startedTask()
    task.write('.gitignore', '*.log\n')
    const checked = await task.start({ name: 'Checked', done_when: { check: ['true'] } })
    for (const { item_id } of await task.inbox()) await task.call('approve', { id: item_id }, asPerson)
    act(task)
    expect((await task.complete('Did it.', { task_id: checked })).verdict).toMatchObject(verdict)
  })

  test('counts what an attempt changed that was taken over', async () => {
    const task = await startedTask()
    edit(task)
    task.wait(3 * 60 * 60 * 1000)
    await task.start({ planned_task_id: task.task_id, take_over: true, agent_name: 'Second' })
    expect(rulesOf(await task.complete('Done.'))).toEqual(['no_check'])
  })

  test('counts a resumed attempt from its start', async () => {
    const task = await startedTask()
    edit(task)
    await task.start({ planned_task_id: task.task_id })
    expect(rulesOf(await task.complete('Done.'))).toEqual(['no_check'])
  })

  test('counts what subtasks changed, and a contradicted one leaves the parent unproven', async () => {
    const task = await startedTask()
    await task.complete('Only planned.', { status: 'failed' })
    const [first, second] = [
      await task.start({ parent_task_id: task.task_id, name: 'One' }),
      await task.start({ parent_task_id: task.task_id, name: 'Two' }),
    ]
    edit(task)
    const end = (task_id: string, summary: string) =>
      task.call('complete_task', { task_id, status: 'success', outcome: { summary } })
    expect(rulesOf(await end(first, 'Changed src/auth.ts.'))).not.toContain('nothing_changed')
    const claim = await end(second, 'Changed src/api.ts.')
    expect(claim).toMatchObject({ verdict: { is: 'contradicted' } })
    await task.start({ planned_task_id: task.task_id })
    const parent = await task.complete('Changed src/auth.ts.')
    expect(parent).toMatchObject({ verdict: { is: 'unproven' } })
    expect(rulesOf(parent)).toEqual(['no_check', 'subtask_contradicted'])
  })

  test('does not count what another agent changes afterwards', async () => {
    const task = await startedTask()
    const completed = await task.complete('Done.')
    edit(task)
    expect((await task.attempts())[0].verdict).toEqual(completed.verdict)
  })

  test('its page names the files that changed since, and none that were restored', async () => {
    const task = await startedTask()
    edit(task)
    await task.complete('Changed src/auth.ts.')
    expect((await task.attempts())[0]).not.toHaveProperty('changed_since')
    await new Promise((resolve) => setTimeout(resolve, 20))
    task.write('src/auth.ts', 'export const auth = 3\n')
    expect((await task.attempts())[0]).toMatchObject({ changed_since: ['src/auth.ts'] })
    edit(task)
    expect((await task.attempts())[0]).not.toHaveProperty('changed_since')
  })
})
