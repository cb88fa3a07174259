import { describe, expect, test } from 'vitest'
import type {
  DecisionId,
  InboxItemId,
  IssueId,
  MissionId,
  PhaseId,
  ProgressId,
  TaskId,
} from '../../src/kernel/id.ts'
import { agent, aMission, anItem, aTask } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aDecision, anIssue, aProgress, happened } from './events.ts'

const begun = [
  { kind: 'mission.started', mission: aMission() },
  { kind: 'task.planned', task: aTask({ status: 'to_do' }) },
  { kind: 'task.planned', task: aTask({ id: 't-2' as TaskId, status: 'to_do' }) },
] as const

describe.each(dialects)('records in $dialect', ({ fresh }) => {
  test('what was said is read as it was said, newest first, by where, who and when', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const decision = aDecision()
    const later = aDecision({
      id: 'd-2' as DecisionId,
      taskId: 't-2' as TaskId,
      phaseId: 'ph-1' as PhaseId,
      missionId: null,
      agentName: 'zoe',
      createdAt: 9,
      tradeOffs: 'none',
    })
    const issue = anIssue({ id: 'i-1' as IssueId })
    const progress = [aProgress(), aProgress({ id: 'pr-2' as ProgressId, progress: null, metadata: null })]
    await happened(
      store,
      5,
      ...begun,
      { kind: 'decision.logged', decision },
      { kind: 'decision.logged', decision: later },
      { kind: 'issue.logged', issue },
      ...progress.map((said) => ({ kind: 'progress.logged', progress: said }) as const),
    )
    await store.view(async ({ records }) => {
      const all = await records.decisions({}, { limit: 10 })
      expect(all.items.map(({ item }) => item)).toEqual([later, decision])
      const ids = async (filter: Parameters<typeof records.decisions>[0]) =>
        (await records.decisions(filter, { limit: 10 })).items.map(({ item }) => item.id)
      expect(await ids({ taskId: 't-1' as TaskId })).toEqual(['d-1'])
      expect(await ids({ missionId: 'm-1' as MissionId })).toEqual(['d-1'])
      expect(await ids({ phaseId: 'ph-1' as PhaseId })).toEqual(['d-2'])
      expect(await ids({ agent: 'zoe' })).toEqual(['d-2'])
      expect(await ids({ since: 6 })).toEqual(['d-2'])
      expect(await ids({ since: 6, agent: 'builder' })).toEqual([])
      const page = await records.decisions({}, { limit: 1 })
      expect(page.total).toBe(2)
      const next = await records.decisions({}, { limit: 1, before: page.items[0]?.seq ?? 0 })
      expect(next.items.map(({ item }) => item)).toEqual([decision])
      expect((await records.issues({}, { limit: 5 })).items.map(({ item }) => item)).toEqual([issue])
      expect((await records.progress({}, { limit: 5 })).items.map(({ item }) => item)).toEqual(
        progress.toReversed(),
      )
    })
  })

  test('open inbox items are listed by urgency, then oldest first, closed ones newest first, each with its issue', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const issue = anIssue()
    const items = [1, 2, 3, 4].map((number) =>
      anItem({
        id: `h-${number}` as InboxItemId,
        kind: number === 2 ? 'scope' : 'blocker',
        issueId: number === 1 ? issue.id : null,
        paths: ['src/a'],
      }),
    )
    await happened(
      store,
      5,
      ...begun,
      { kind: 'issue.logged', issue },
      ...items.map((item) => ({ kind: 'inbox.opened', item }) as const),
    )
    await store.view(async (reads) => {
      const open = await reads.inboxItems.list({ status: 'open' }, { limit: 3 })
      expect(open.items.map(({ item }) => item.item.id)).toEqual(['h-1', 'h-3', 'h-4'])
      expect(open.total).toBe(4)
      expect(open.items[0]?.item).toMatchObject({ item: items[0], issue })
      const rest = await reads.inboxItems.list(
        { status: 'open' },
        { limit: 3, before: open.items[2]?.seq ?? 0 },
      )
      expect(rest.items.map(({ item }) => item)).toMatchObject([{ item: items[1], issue: null }])
      expect((await reads.inboxItems.list({ kinds: ['scope', 'review'] }, { limit: 9 })).total).toBe(1)
      expect((await reads.inboxItems.list({ kinds: [] }, { limit: 9 })).total).toBe(0)
      expect(await reads.inboxItems.ofIssue('i-1')).toEqual(items[0])
      expect((await reads.inboxItems.ofAttempt('a-1')).map(({ id }) => id)).toEqual([
        'h-1',
        'h-2',
        'h-3',
        'h-4',
      ])
      expect(await reads.inboxItems.idsLike('h-', 2)).toEqual(['h-1', 'h-2'])
    })
    for (const [index, status] of (['resolved', 'dismissed'] as const).entries()) {
      const closed = { missionId: null, taskId: null, status, answer: 'Use the new key.' }
      await happened(store, 10 + index, {
        kind: 'inbox.closed',
        itemId: `h-${index + 1}` as InboxItemId,
        ...closed,
      })
    }
    await store.view(async ({ inboxItems: reads }) => {
      const closed = await reads.list({ status: 'closed' }, { limit: 9 })
      expect(closed.items.map(({ item }) => item.item.id)).toEqual(['h-2', 'h-1'])
      const answered = { status: 'resolved', answer: 'Use the new key.', closedBy: agent.name, closedAt: 10 }
      expect(await reads.find('h-1')).toEqual({ ...items[0], ...answered })
      expect((await reads.list({}, { limit: 9 })).items.map(({ item }) => item.item.id)).toEqual([
        'h-4',
        'h-3',
        'h-2',
        'h-1',
      ])
      expect(
        (await reads.list({ status: 'open', agent: 'builder', missionId: 'm-1' as MissionId }, { limit: 9 }))
          .total,
      ).toBe(2)
    })
  })
})
