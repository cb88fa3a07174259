import { describe, expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId, NotificationId } from '../../src/kernel/id.ts'
import type { RecordedStep } from '../../src/lines/domain/line-hashes.ts'
import type { NoticeDelivery } from '../../src/notifications/ports/notification-reads.ts'
import { agent, anAttempt } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { aChange, closing, happened } from './events.ts'
import { planTask } from './plan-events.ts'

describe.each(dialects)('long lists in $dialect', ({ fresh, isQuick }) => {
  test.runIf(isQuick)(
    'of more attempts than are looked at together, the next look shows the others',
    async () => {
      await using temporary = await fresh()
      const { store } = temporary
      await happened(store, 1, { kind: 'task.planned', task: planTask(1) })
      // Twenty at each time: 25 times are the first 500.
      for (let time = 2; time < 28; time += 1) {
        const events = Array.from({ length: 20 }).flatMap((_, which): readonly NewProjectEvent[] => {
          const number = 20 * time + which
          const attempt = anAttempt({ id: `a-${number}` as AttemptId, number, missionId: null })
          return [{ kind: 'attempt.opened', attempt }, closing(attempt)]
        })
        await happened(store, time, ...events)
      }
      const ended = (after: number | null) =>
        store.view(({ reviews }) => reviews.endedSince(after, 'someone'))
      const first = await ended(1)
      expect([first.attempts.length, first.isCut]).toEqual([500, true])
      const second = await ended(first.attempts.at(-1)?.closedAt ?? 0)
      expect([second.attempts.length, second.isCut]).toEqual([20, false])
      const ever = await ended(null)
      expect([ever.attempts.length, ever.attempts.at(-1)?.closedAt]).toEqual([500, 27])
    },
  )

  test('of each path the newest attempts are told, also where another path is in all of them', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, { kind: 'task.planned', task: planTask(1) })
    const events = Array.from({ length: 30 }).flatMap((_, number): readonly NewProjectEvent[] => {
      const attempt = anAttempt({ id: `a-${number}` as AttemptId, number, missionId: null })
      const paths = number === 0 ? ['every.ts', 'once.ts'] : ['every.ts']
      return [
        { kind: 'attempt.opened', attempt },
        closing(
          attempt,
          paths.map((path) => aChange(path)),
        ),
      ]
    })
    await happened(store, 2, ...events)
    const found = await store.view(({ tasks }) => tasks.changedBy(['every.ts', 'once.ts']))
    const of = (wanted: string) =>
      found.flatMap(({ path, attemptId }) => (path === wanted ? [attemptId] : []))
    expect(of('once.ts')).toEqual(['a-0'])
    expect(of('every.ts')).toEqual(Array.from({ length: 20 }, (_, at) => `a-${29 - at}`))
  })

  test('the lines of every step count, also where more of them are recorded at once than are read at once', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const steps = Array.from({ length: 1500 }, (_, at): RecordedStep => {
      const around = { lines: [], hashes: '' }
      const state = { before: null, after: `${at}`.padStart(40, '0'), origin: 'task', around } as const
      const added = 'abcdefghijk'
      return {
        path: `f${at}`,
        ...state,
        hunks: [[1, 0, 1, 1]],
        added,
        removed: '',
        owners: ['a-1'],
        certainty: 'certain',
      }
    })
    const moved = { headBefore: null, headAfter: null, stashMoved: false, ran: false, broughtFrom: [] }
    const span = { ...moved, tree: '/tree', since: 1, until: 2, steps }
    const others = { ...span, steps: steps.map((step) => ({ ...step, path: `other/${step.path}` })) }
    await happened(store, 2, { kind: 'lines.recorded', span }, { kind: 'lines.recorded', span: others })
    // By another attempt that ended at the same time.
    await happened(store, 3, { kind: 'lines.recorded', span: { ...span, until: 3 } })
    expect(await store.view(({ lines }) => lines.addedBy())).toEqual([{ attemptId: 'a-1', lines: 3000 }])
  })

  test('what waits for one notification holds up no other', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, { kind: 'task.planned', task: planTask(1) })
    const waiting = (notificationId: string, seq: number): NoticeDelivery => ({
      id: `${notificationId}.${seq}`,
      notificationId: notificationId as NotificationId,
      seq,
      about: { kind: 'blocker' } as NoticeDelivery['about'],
      createdAt: 1,
      state: 'waiting',
      body: null,
      tries: 0,
      dueAt: 1,
      leasedUntil: 0,
      endedAt: null,
      error: null,
    })
    const shut = Array.from({ length: 1200 }, (_, at) => waiting('nf-1', at + 1))
    const beside = {
      kind: 'notices kept',
      notices: [...shut, waiting('nf-2', 7)],
      cursor: null,
      before: null,
    } as const
    await store.record({
      actor: agent,
      at: 1,
      decide: async () => ({ events: [], sideWrites: [beside], answer: null }),
    })
    const found = await store.view(({ notifications }) => notifications.waiting())
    expect(found.filter(({ notificationId }) => notificationId === 'nf-2')).toHaveLength(1)
    expect(found.slice(0, 3).map(({ seq }) => seq)).toEqual([1, 2, 3])
  })
})
