import { expect, test } from 'vitest'
import { parseRawDifference } from './trees.ts'

test('a raw difference has the state of each side, or null where there is none', () => {
  const none = '0'.repeat(40)
  const parsed = parseRawDifference([`:000000 100644 ${none} aa A`, 'new', ':100644 120000 aa bb T', 'a b'])
  expect([...parsed]).toEqual([
    ['new', { before: null, after: { mode: '100644', oid: 'aa' } }],
    ['a b', { before: { mode: '100644', oid: 'aa' }, after: { mode: '120000', oid: 'bb' } }],
  ])
})
