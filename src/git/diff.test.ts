import { expect, test } from 'vitest'
import type { Difference } from './comparison.ts'
import { pairEqualContents } from './diff.ts'
import { parseNumstat } from './patch.ts'

test('numstat gives lines, renames, and null for what has no lines', () => {
  expect(parseNumstat(['1\t2\ta\tb', '3\t0\t', 'old', 'new', '-\t-\tbinary'])).toEqual([
    { path: 'a\tb', count: { added: 1, deleted: 2 } },
    { path: 'new', from: 'old', count: { added: 3, deleted: 0 } },
    { path: 'binary', count: null },
  ])
})

function difference(path: string, before: string | null, after: string | null): Difference {
  const state = (oid: string | null) => (oid === null ? null : { mode: '100644', oid })
  return {
    path,
    before: state(before),
    after: state(after),
    headBefore: null,
    headAfter: null,
    entryBefore: undefined,
    entryAfter: undefined,
  }
}

test('equal contents pair up once each; an edited file pairs with nothing', () => {
  const pairs = pairEqualContents([
    difference('gone', 'x', null),
    difference('came', null, 'x'),
    difference('came too', null, 'x'),
    difference('edited', 'y', 'x'),
  ])
  expect([...pairs]).toEqual([['came', 'gone']])
})
