import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitLists, fitSections } from './budget.ts'
import { excerpt } from './text.ts'

test('keeps a small list whole and gives a large one the remainder', () => {
  const small = Array.from({ length: 3 }, () => 'x'.repeat(10))
  const large = Array.from({ length: 100 }, () => 'y'.repeat(97))
  const kept = fitSections(
    [
      { name: 'large', entries: large },
      { name: 'small', entries: small },
    ],
    1_039,
  )
  expect(kept.get('small')).toBe(3)
  expect(kept.get('large')).toBe(10)
})

test('fits the budget, except that each list keeps one entry', () => {
  const lists = fc.array(fc.array(fc.string({ maxLength: 200 }), { maxLength: 30 }), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(lists, fc.integer({ min: 100, max: 5_000 }), (texts, budget) => {
      const sections = texts.map((entries, index) => ({ name: String(index), entries }))
      const kept = fitSections(sections, budget)
      const size = sections.flatMap(({ name, entries }) => entries.slice(0, kept.get(name)).slice(1))
      const used = size.reduce((sum, entry) => sum + JSON.stringify(entry).length + 1, 0)
      expect(used).toBeLessThanOrEqual(budget)
      for (const { name, entries } of sections) {
        expect(kept.get(name)).toBeGreaterThanOrEqual(Math.min(1, entries.length))
      }
    }),
  )
})

test('an excerpt is never longer than its limit', () => {
  expect(excerpt('short')).toBe('short')
  expect(excerpt('x'.repeat(300), 10)).toBe('xxxxxxxxx…')
})

test('cuts the lists of a record and keeps its other fields', () => {
  const record = { name: 'a', tasks: Array.from({ length: 50 }, () => 'x'.repeat(100)), total: 50, none: [] }
  const cut = fitLists(record, 1_000)
  expect(cut).toMatchObject({ name: 'a', total: 50, none: [] })
  expect(JSON.stringify(cut).length).toBeLessThan(1_100)
  expect(fitLists(record, 100_000)).toEqual(record)
})
