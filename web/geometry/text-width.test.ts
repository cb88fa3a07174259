import fc from 'fast-check'
import { expect, test } from 'vitest'
import { elide, monoWidth, textWidth } from './text-width.ts'

test('a text that was cut fits, begins as it did, and is as long as it can be', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.integer({ min: 0, max: 300 }), (text, width) => {
      const cut = elide(text, width)
      if (textWidth(text) <= width) expect(cut).toBe(text)
      else if (cut !== '') {
        expect(textWidth(cut)).toBeLessThanOrEqual(width)
        expect(text.startsWith(cut.slice(0, -1))).toBe(true)
      }
    }),
  )
  expect(elide('Rename and copy detection', 90)).toBe('Rename an…')
})

test('widths add up, and grow with the size', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(textWidth(one + other)).toBeCloseTo(textWidth(one) + textWidth(other))
      expect(textWidth(one, 26)).toBeCloseTo(2 * textWidth(one, 13))
    }),
  )
  expect(monoWidth('+318')).toBeGreaterThan(28)
})
