import { expect, test } from 'vitest'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import type { PhaseId } from '../../kernel/id.ts'
import { shiftEvents } from './play.ts'

const at = Date.parse('2026-03-01T10:00:00.000Z')
const hour = 60 * 60 * 1000

function projectEventAt(time: number, extra: object): ProjectEvent {
  return {
    seq: 1,
    recordedAt: time,
    version: 1,
    actor: { name: 'ada', kind: 'agent', role: null, channel: 'stdio' },
    body: { kind: 'phase.reopened', phaseId: 'ph-1' as PhaseId, ...extra } as ProjectEvent['body'], // what is in it is looked at as any JSON
    hash: '',
  }
}

test('every time of the day moves, however deep it lies; what is no time stays', () => {
  const extra = {
    expiresAt: at + hour,
    answer: { started_at: new Date(at).toISOString(), list: [at, 7, 'ph-1', null, true] },
    bytes: 12_345,
    long_ago: at - 1000 * hour,
    told: `At ${new Date(at).toISOString()} it began.`,
  }
  const [moved] = shiftEvents([projectEventAt(at, extra)], 3 * hour)
  expect(moved).toEqual(
    projectEventAt(at + 3 * hour, {
      ...extra,
      expiresAt: at + 4 * hour,
      answer: {
        started_at: new Date(at + 3 * hour).toISOString(),
        list: [at + 3 * hour, 7, 'ph-1', null, true],
      },
    }),
  )
})

test('moved there and back, a day is what it was', () => {
  const events = [
    projectEventAt(at, { claimedAt: at }),
    projectEventAt(at + hour, { expiresAt: at + 2 * hour }),
  ]
  expect(shiftEvents(shiftEvents(events, 40 * hour), -40 * hour)).toEqual(events)
})
