import { expect, test } from 'vitest'
import { lineParts, plainText, wordDifferences } from './line-parts.ts'
import { blocksOf, type ReviewHunk, reviewRows } from './review-rows.ts'

const hunk: ReviewHunk = {
  old_start: 4,
  new_start: 4,
  lines: [
    { kind: ' ', old: 4, new: 4, text: 'a' },
    { kind: '-', old: 5, text: 'const one = 1' },
    { kind: '-', old: 6, text: 'const two = 2' },
    { kind: '+', new: 5, text: 'const one = 11' },
    { kind: ' ', old: 7, new: 6, text: 'b' },
  ],
}

test('unified, removed lines stand over added ones, each with the line it is compared with', () => {
  const rows = reviewRows([hunk], 'unified')
  expect(rows.map(({ key }) => key)).toEqual(['gap 1', 'n4', 'o5', 'o6', 'n5', 'n6'])
  expect(rows[0]).toMatchObject({ hidden: 3 })
  expect(rows.map((row) => row.kind === 'line' && row.begins)).toEqual([
    false,
    false,
    true,
    false,
    false,
    false,
  ])
  expect(rows[2]).toMatchObject({ partner: { text: 'const one = 11' } })
  expect(rows[3]).toMatchObject({ partner: null })
})

test('side by side, what was removed stands beside what came in its place', () => {
  const rows = reviewRows([hunk], 'split')
  expect(
    rows.map((row) => (row.kind === 'line' ? [row.old?.old ?? null, row.new?.new ?? null] : row.hidden)),
  ).toEqual([3, [4, 4], [5, 5], [6, null], [7, 6]])
})

test('between two hunks the lines that are not shown are counted', () => {
  const later = { old_start: 50, new_start: 49, lines: [{ kind: '+', new: 49, text: 'x' }] } as const
  expect(reviewRows([hunk, later], 'unified').filter(({ kind }) => kind === 'gap')).toEqual([
    { kind: 'gap', key: 'gap 1', hidden: 3 },
    { kind: 'gap', key: 'gap 7', hidden: 42 },
  ])
})

test('blocks hold every row once, in order', () => {
  const lines = Array.from({ length: 101 }, (_, at) => ({ kind: '+' as const, new: at + 1, text: '' }))
  const rows = reviewRows([{ old_start: 0, new_start: 1, lines }], 'unified')
  expect(blocksOf(rows).flat()).toEqual(rows)
  expect(blocksOf(rows).every(({ length }) => length <= 20)).toBe(true)
})

test('the words in which two lines differ are found; lines that share little are compared as a whole', () => {
  const found = wordDifferences('const one = 1', 'const one = 11')
  expect(found).toEqual({ before: [{ from: 12, to: 13 }], after: [{ from: 12, to: 14 }] })
  expect(wordDifferences('return first', '} else while (x) {}')).toBeNull()
  expect(wordDifferences('a'.repeat(2_000), 'a'.repeat(2_001))).toBeNull()
})

test('a line is cut where a colour or a change begins, and is whole again put together', () => {
  const text = 'const one = 11'
  const colours = [{ from: 0, to: 5, colour: 'keyword' }]
  const parts = lineParts(text, { colours, changed: [{ from: 3, to: 9 }] })
  expect(parts.map(({ text: part }) => part).join('')).toBe(text)
  expect(parts.map(({ text: part, colour, changed }) => [part, colour, changed])).toEqual([
    ['con', 'keyword', false],
    ['st', 'keyword', true],
    [' one', null, true],
    [' = 11', null, false],
  ])
})

test('characters that are not seen, or turn others around, are named', () => {
  expect(plainText('safe\u202Egnp.exe\u001b[31m\u200b')).toBe('safeU+202Egnp.exeU+001B[31mU+200B')
  expect(plainText('tab\tand ünïcode 漢字 🙂')).toBe('tab\tand ünïcode 漢字 🙂')
  expect(lineParts('a\u202eb', { colours: [], changed: [] })).toEqual([
    { text: 'a', odd: false, colour: null, changed: false },
    { text: 'U+202E', odd: true, colour: null, changed: false },
    { text: 'b', odd: false, colour: null, changed: false },
  ])
})
