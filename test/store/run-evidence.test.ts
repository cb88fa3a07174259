import { describe, expect, test } from 'vitest'
import type { AttemptId, CommandResultId, InboxItemId, MissionId, TaskId } from '../../src/kernel/id.ts'
import { aMission, anAttempt, anItem, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aChange, closing, happened } from './events.ts'
import { aCommand, approved, created, kept, r, refused } from './run-events.ts'

const begun = [kept, created(), created({ id: r(2) })] as const
const m = (number: number) => `m-${number}` as MissionId
const t = (number: number) => `t-${number}` as TaskId
const a = (number: number) => `a-${number}` as AttemptId
const h = (number: number) => `h-${number}` as InboxItemId

describe.each(dialects)('what is known of a run in $dialect', ({ fresh, isQuick }) => {
  test('refusals are read newest first, and counted by event and code since a revision', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const said = [
      refused(),
      refused({ revision: 3, message: 'Again.' }),
      refused({ revision: 3, code: 'FORBIDDEN', role: null, missing: [] }),
      refused({ revision: 3, event: 'approve' }),
    ]
    await happened(store, 1, ...begun, ...said, refused({ runId: r(2) }))
    await store.view(async ({ runs }) => {
      const page = await runs.refusals(r(1), { limit: 3 })
      expect(page.items.map(({ item }) => item)).toEqual(
        said
          .slice(1)
          .map(({ refusal }) => refusal)
          .toReversed(),
      )
      expect(page.total).toBe(4)
      const rest = await runs.refusals(r(1), { limit: 3, before: page.items[2]?.seq ?? 0 })
      expect(rest.items.map(({ item }) => item)).toEqual([said[0]?.refusal])
      const alike = { event: 'submit_plan', code: 'GUARD_FAILED' }
      expect(await runs.refusalsAlike(r(1), { ...alike, since: 1 })).toBe(2)
      expect(await runs.refusalsAlike(r(1), { ...alike, since: 2 })).toBe(1)
      expect(await runs.refusalsAlike(r(1), { ...alike, since: 4 })).toBe(0)
      expect((await runs.find('run-1'))?.revision).toBe(1)
    })
  })

  test('approvals are read oldest first, each of its own run', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const given = [approved(), approved({ artifact: null, reason: 'Well done.', author: 'Tom' })]
    await happened(store, 1, ...begun, ...given, approved({ runId: r(2) }))
    expect(await store.view(({ runs }) => runs.approvals(r(1)))).toEqual(
      given.map(({ approval }) => approval),
    )
  })

  test('a command has one last result in a folder on a tree, and another on any tree', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const commands = [
      aCommand(1),
      aCommand(2),
      aCommand(3, { tree: 'tree-2', runId: null }),
      aCommand(4, { folder: '/other' }),
      aCommand(5, { run: 'npm run build' }),
    ]
    await happened(
      store,
      1,
      ...begun,
      ...commands.map((command) => ({ kind: 'command.started', command }) as const),
    )
    const end = { status: 'failed', exitCode: 2, output: 'no', treeHeld: false } as const
    const commandId = 'cmd-2' as CommandResultId
    await happened(store, 8, { kind: 'command.ended', commandId, runId: r(1), ...end })
    await store.view(async ({ runs }) => {
      const command = { run: 'npm test', folder: '/tree' }
      expect(await runs.commandResult(command, 'tree-1')).toEqual(aCommand(2, { ...end, endedAt: 8 }))
      expect(await runs.commandResult(command)).toEqual(commands[2])
      expect(await runs.commandResult(command, 'tree-9')).toBeNull()
      expect(await runs.commandResult({ ...command, run: 'npm' })).toBeNull()
      expect(await runs.command('cmd-3')).toEqual(commands[2])
      expect(await runs.command('cmd-9')).toBeNull()
    })
  })

  test('a setting has the value that it was given last', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    expect(await store.view(({ runs }) => runs.settings())).toEqual(new Map())
    const set = (value: string) => ({ kind: 'setting.changed', name: 'hook_on_error', value }) as const
    await happened(store, 1, set('open'), { kind: 'setting.changed', name: 'elicitation', value: 'off' })
    await happened(store, 2, set('closed'))
    expect(await store.view(({ runs }) => runs.settings())).toEqual(
      new Map([
        ['hook_on_error', 'closed'],
        ['elicitation', 'off'],
      ]),
    )
  })

  test('holds say what is asked about which run; open ones are found by run and by command', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const nowhere = { missionId: null, taskId: null, attemptId: null }
    const approvals = [{ role: 'reviewer', artifact: null }]
    const request = {
      kind: 'decision',
      state: 'review',
      revision: 3,
      events: ['approve'],
      approvals,
    } as const
    const command = {
      kind: 'command',
      run: 'npm test',
      folder: '/tree',
      pinned: ['a.json'],
      hash: 'c1',
    } as const
    const items = [
      anItem({ ...nowhere, id: h(1), kind: 'approval', runId: r(1), request }),
      anItem({ ...nowhere, id: h(2), kind: 'command', runId: r(1), request: command }),
      anItem({ ...nowhere, id: h(3), kind: 'command', runId: r(2), request: { ...command, hash: 'c2' } }),
      anItem({ ...nowhere, id: h(4) }),
    ]
    await happened(store, 1, ...begun, ...items.map((item) => ({ kind: 'inbox.opened', item }) as const))
    await store.view(async (reads) => {
      expect(await reads.inboxItems.ofRun(r(1))).toEqual(items.slice(0, 2))
      expect(await reads.inboxItems.openCommands('c1')).toEqual([items[1]])
      expect(await reads.inboxItems.openCommands('c3')).toEqual([])
      const listed = await reads.inboxItems.list({ status: 'open' }, { limit: 10 })
      expect(listed.items.map(({ item }) => item.item)).toEqual(items)
    })
    const closed = {
      kind: 'inbox.closed',
      missionId: null,
      taskId: null,
      status: 'resolved',
      answer: null,
    } as const
    await happened(store, 2, { ...closed, itemId: h(2) })
    await store.view(async (reads) => {
      expect(await reads.inboxItems.ofRun(r(1))).toEqual([items[0]])
      expect(await reads.inboxItems.openCommands('c1')).toEqual([])
      expect(await reads.inboxItems.openCommands('c2')).toEqual([items[2]])
      // It closed by itself.
      expect(await reads.inboxItems.answeredCommands(['c1'], null)).toEqual([])
    })
    await happened(store, 3, { ...closed, itemId: h(3), action: 'approved', decided: true })
    const answers = () =>
      store.view(async ({ inboxItems }) => ({
        known: await inboxItems.answeredCommands(['c1', 'c2'], null),
        elsewhere: await inboxItems.answeredCommands(['c1', 'c2'], 'machine 2'),
        last: (await inboxItems.lastAnsweredCommands('c', 10)).map(({ id }) => id),
        others: await inboxItems.lastAnsweredCommands('c1', 10),
      }))
    const approved = { hash: 'c2', item: expect.objectContaining({ id: h(3), status: 'resolved' }) }
    // An approval counts on the machine that asked, anything else everywhere.
    expect(await answers()).toEqual({ known: [approved], elsewhere: [], last: [h(3)], others: [] })
    await happened(store, 4, { kind: 'command.revoked', hash: 'c2', run: 'x', folder: '/', reason: null })
    const revoked = [{ hash: 'c2', item: null }]
    expect(await answers()).toEqual({ known: revoked, elsewhere: revoked, last: [], others: [] })
    expect(await store.inspect()).toMatchObject({ differing: 0 })
  })

  test('the work on a task or in a mission is its attempts, first to last, with their changes', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const attempts = [
      anAttempt({ id: a(1), taskId: t(1) }),
      anAttempt({ id: a(2), taskId: t(2) }),
      anAttempt({ id: a(3), taskId: t(3), missionId: null }),
    ]
    const changes = [aChange('b.ts', { scope: 'out' }), aChange('a.ts', { change: 'renamed', from: 'c.ts' })]
    await happened(
      store,
      1,
      { kind: 'mission.started', mission: aMission() },
      ...[1, 2].map((number) => ({ kind: 'task.planned', task: aTask({ id: t(number) }) }) as const),
      { kind: 'task.planned', task: aTask({ id: t(3), missionId: null }) },
      ...attempts.map((attempt) => ({ kind: 'attempt.opened', attempt }) as const),
    )
    await happened(store, 2, closing(anAttempt(), changes))
    await store.view(async ({ runs }) => {
      const ids = async (subject: Parameters<typeof runs.attemptsOf>[0]) =>
        (await runs.attemptsOf(subject)).map(({ id }) => id)
      expect(await ids({ missionId: m(1), taskId: null })).toEqual(['a-1', 'a-2'])
      expect(await ids({ missionId: null, taskId: t(3) })).toEqual(['a-3'])
      expect(await ids({ missionId: null, taskId: null })).toEqual([])
      const found = await runs.changesOf([a(2), a(1)])
      expect(found.map(({ attemptId, measurement }) => [attemptId, measurement])).toEqual([
        ['a-2', null],
        ['a-1', 'exact'],
      ])
      expect(found[0]?.changes).toEqual([])
      expect(found[1]?.changes.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual(
        changes.toReversed(),
      )
      expect(await runs.changesOf([])).toEqual([])
    })
  })

  test.runIf(isQuick)('changes that are more than are read are not taken for all', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const mission = aMission()
    const many = Array.from({ length: 20_001 }, (_, index) => aChange(`src/${index}.ts`))
    await happened(
      store,
      1,
      { kind: 'mission.started', mission },
      { kind: 'task.planned', task: aTask() },
      { kind: 'attempt.opened', attempt: anAttempt() },
      closing(anAttempt(), many),
    )
    const [found] = await store.view(({ runs }) => runs.changesOf([a(1)]))
    expect(found?.changes).toHaveLength(20_000)
    expect(found?.measurement).toBe('unknown')
  })
})
