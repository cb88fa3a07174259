import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantOfText } from './fields.ts'

test('a time without a zone is UTC, wherever it is read', () => {
  expect(instantOfText('2026-01-31 09:30')).toBe(Date.UTC(2026, 0, 31, 9, 30))
  expect(instantOfText('2026-01-31')).toBe(Date.UTC(2026, 0, 31))
  expect(instantOfText('2026-01-31T09:30:15.250+0100')).toBe(Date.UTC(2026, 0, 31, 8, 30, 15, 250))
  expect(instantOfText('2026-01-31t09:30:15.123456789z')).toBe(Date.UTC(2026, 0, 31, 9, 30, 15, 123))
})

test('what is no time is null', () => {
  for (const text of ['', 'soon', '31.01.2026', '2026-13-01', '2026-01-31T25:00', '1769851800000']) {
    expect(instantOfText(text), text).toBeNull()
  }
})

test('every ISO time is read as it was written', () => {
  const date = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(date, (at) => {
      expect(instantOfText(at.toISOString())).toBe(at.getTime())
    }),
  )
})
