import { describe, expect, test } from 'vitest'
import type { AttemptId, InboxItemId, MissionId, TaskId } from '../../../src/kernel/id.ts'
import { statsOf } from '../../../src/reports/domain/stats.ts'
import { weeksIn } from '../../../src/reports/domain/weeks.ts'
import { dialects } from '../../store/dialects.ts'
import { aChange, closing, happened } from '../../store/events.ts'
import { agent, aMission, anAttempt, anItem, aTask } from '../../support/entities.ts'

const mission = 'm-1' as MissionId
const question = { since: null, missionId: null, groupBy: null, weekOf: weeksIn('UTC'), now: 10_000 }

describe.each(dialects)('what figures are made of, in $dialect', ({ fresh }) => {
  test('is read with the lines, the words and the task of each attempt, and the answers of people', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, { kind: 'mission.started', mission: aMission() })
    const attempts = [1, 2, 3].map((number) =>
      anAttempt({
        id: `a-${number}` as AttemptId,
        taskId: `t-${number}` as TaskId,
        openedAt: 1000 * number,
        missionId: number === 3 ? null : mission,
        agentName: number === 2 ? null : 'builder',
      }),
    )
    for (const [at, attempt] of attempts.entries()) {
      const planned = aTask({ id: attempt.taskId, role: at === 0 ? 'developer' : null, status: 'to_do' })
      await happened(store, 2, { kind: 'task.planned', task: planned })
      await happened(store, attempt.openedAt, { kind: 'attempt.opened', attempt })
    }
    const changes = [
      aChange('a.ts', { addedLines: 7, deletedLines: 1, scope: 'out' }),
      aChange('b.png', { addedLines: null, deletedLines: null }),
    ]
    const [first, second, third] = attempts
    if (!first || !second || !third) throw new Error('there are three')
    await happened(store, 5000, closing(first, changes))
    await happened(store, 6000, closing(second, [], 'failed'))
    for (const [number, actor] of [agent, { ...agent, kind: 'person', name: 'Tess' } as const].entries()) {
      const item = anItem({ id: `h-${number}` as InboxItemId, kind: 'review', openedAt: 7000 })
      await happened(store, 7000, { kind: 'inbox.opened', item })
      const closed = {
        kind: 'inbox.closed',
        itemId: item.id,
        missionId: mission,
        taskId: item.taskId,
        status: 'dismissed',
        answer: 'No.',
      } as const
      await store.record({ actor, at: 9000, decide: async () => ({ events: [closed], answer: null }) })
    }

    await store.view(async ({ stats }) => {
      const { records, isCut } = await stats.records({ since: null, missionId: null, limit: 10 })
      expect(isCut).toBe(false)
      expect(records.attempts).toEqual([
        expect.objectContaining({ id: 'a-3', status: 'open', closedAt: null, measured: null }),
        expect.objectContaining({ id: 'a-2', agent: 'claude', status: 'failed', role: null }),
        {
          id: 'a-1',
          taskId: 't-1',
          missionId: mission,
          agent: 'builder',
          model: null,
          number: 1,
          status: 'success',
          openedAt: 1000,
          closedAt: 5000,
          measured: { scopeMatches: false, outOfScope: 0, addedLines: 7, deletedLines: 1, withoutLines: 1 },
          verdict: { first: 'unproven', rules: ['no_check'], last: 'unproven' },
          landing: null,
          tokensInput: 100,
          tokensOutput: 20,
          role: 'developer',
          resolution: 'success',
        },
      ])
      expect(records.answers).toEqual([
        {
          kind: 'review',
          missionId: mission,
          agent: 'builder',
          role: 'developer',
          openedAt: 7000,
          closedAt: 9000,
        },
      ])
      expect([...records.setBack]).toEqual(['t-1'])
      expect(statsOf(records, question).all).toMatchObject({
        firstPass: { n: 1, passed: 0 },
        waiting: { n: 1, median: 2000 },
      })
      const later = await stats.records({ since: 5500, missionId: mission, limit: 10 })
      expect(later.records.attempts.map(({ id }) => id)).toEqual(['a-2'])
      const cut = await stats.records({ since: null, missionId: null, limit: 1 })
      expect(cut).toMatchObject({ isCut: true, records: { attempts: [{ id: 'a-3' }] } })
    })
  })
})
