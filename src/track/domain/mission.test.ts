import { expect, test } from 'vitest'
import { aMission, aPhase } from '../../../test/support/entities.ts'
import { currentPhase, shownStatus } from './mission.ts'

test('the current phase is the first that is not completed and has work, else the first not completed, else a new one', () => {
  const mission = aMission({ totalPhases: 3 })
  const completed = (number: number) => aPhase(number, { status: 'completed' })
  expect(currentPhase(mission, [])).toBe(1)
  expect(currentPhase(mission, [aPhase(1)])).toBe(1)
  expect(currentPhase(mission, [completed(1)])).toBe(2)
  expect(currentPhase(mission, [aPhase(1, { hasWork: false }), aPhase(2)])).toBe(2)
  expect(currentPhase(mission, [completed(1), aPhase(2, { hasWork: false })])).toBe(2)
  expect(currentPhase(mission, [completed(1), completed(3)])).toBe(2)
  expect(currentPhase(mission, [completed(1), completed(2), completed(3)])).toBe(3)
})

test('a mission in progress with an open blocker and nothing running is blocked', () => {
  const mission = aMission()
  expect(shownStatus(mission, { openBlockers: 1, openAttempts: 0 })).toBe('BLOCKED')
  expect(shownStatus(mission, { openBlockers: 1, openAttempts: 1 })).toBe('IN_PROGRESS')
  expect(shownStatus(mission, { openBlockers: 0, openAttempts: 0 })).toBe('IN_PROGRESS')
  expect(shownStatus(aMission({ status: 'completed' }), { openBlockers: 1, openAttempts: 0 })).toBe(
    'COMPLETED',
  )
})
