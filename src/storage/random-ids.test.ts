import { expect, test } from 'vitest'
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
