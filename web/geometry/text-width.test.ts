import fc from 'fast-check'
import { expect, test } from 'vitest'
import { monoWidth, textWidth } from './text-width.ts'

test('widths add up, and grow with the size', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(textWidth(one + other)).toBeCloseTo(textWidth(one) + textWidth(other))
      expect(textWidth(one, 26)).toBeCloseTo(2 * textWidth(one, 13))
    }),
  )
  expect(monoWidth('+318')).toBeGreaterThan(28)
})
