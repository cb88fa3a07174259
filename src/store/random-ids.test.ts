import { expect, onTestFinished, test, vi } from 'vitest'
import { randomIds } from './random-ids.ts'

test('an id is its prefix and twelve characters of Crockford base32', () => {
  expect(randomIds.next('task')).toMatch(/^t-[0-9a-hjkmnp-tv-z]{12}$/)
  expect(randomIds.next('progress')).toMatch(/^pr-[0-9a-hjkmnp-tv-z]{12}$/)
  expect(randomIds.next('workflow')).toMatch(/^w-[0-9a-hjkmnp-tv-z]{12}$/)
})

test('ids do not repeat, and use every character', () => {
  const ids = Array.from({ length: 2000 }, () => randomIds.next('mission').slice(2))
  expect(new Set(ids).size).toBe(2000)
  expect(new Set(ids.join('')).size).toBe(32)
})

test('the id of a run is a UUID of version 7: its time first, the rest random', () => {
  const before = Date.now()
  const ids = Array.from({ length: 200 }, () => randomIds.next('run'))
  const after = Date.now()
  expect(new Set(ids).size).toBe(200)
  for (const id of ids) {
    expect(id).toMatch(/^run-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const time = Number.parseInt(id.slice(4).replaceAll('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(after)
  }
})

test('an event of a run has an id of its own', () => {
  expect(randomIds.next('runEvent')).toMatch(/^evt-[0-9a-hjkmnp-tv-z]{12}$/)
})

test('ids of commands are in the order of time', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const ids = Array.from({ length: 200 }, () => {
    vi.advanceTimersByTime(7)
    return randomIds.next('commandResult')
  })
  for (const id of ids) expect(id).toMatch(/^cmd-[0-9a-hjkmnp-tv-z]{21}$/)
  expect(ids.toSorted()).toEqual(ids)
})
