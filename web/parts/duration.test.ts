import { expect, test } from 'vitest'
import { clockText, durationText } from './duration.ts'

test.each([
  [-5, '0s'],
  [1_500, '2s'],
  [59_499, '59s'],
  [59_999, '1m'],
  [60_000, '1m'],
  [3_599_499, '59m'],
  [3_900_000, '1h 05m'],
  [100 * 3_600_000, '4d 4h'],
])('%d milliseconds are %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text)
})

test('another day is named', () => {
  const at = new Date(2026, 10, 14, 11, 28).getTime()
  expect(clockText(at, at + 1_000)).toBe('11:28')
  expect(clockText(at, at + 86_400_000)).toBe('14 Nov, 11:28')
})
