import { expect, test } from 'vitest'
import { parseStatus } from './status.ts'

const a = 'a'.repeat(40)
const b = 'b'.repeat(40)
const none = '0'.repeat(40)

test('a tracked entry has the states of HEAD and index, and says what git saw on disk', () => {
  const { tracked } = parseStatus([
    `1 .M N... 100644 100644 100755 ${a} ${a} a file with  spaces`,
    `1 A. N... 000000 100644 100644 ${none} ${b} added`,
    `1 .D N... 100644 100644 000000 ${a} ${a} gone`,
  ])
  expect(tracked).toEqual([
    {
      path: 'a file with  spaces',
      head: { mode: '100644', oid: a },
      index: { mode: '100644', oid: a },
      onDisk: 'different',
    },
    { path: 'added', head: null, index: { mode: '100644', oid: b }, onDisk: 'as in the index' },
    { path: 'gone', head: { mode: '100644', oid: a }, index: { mode: '100644', oid: a }, onDisk: 'absent' },
  ])
})

test('a conflict names a side that exists', () => {
  const { conflicts } = parseStatus([
    `u UD N... 100644 000000 100755 100644 ${a} ${none} ${b} path`,
    `u UU N... 100644 100644 100644 100644 ${none} ${a} ${b} other`,
  ])
  expect(conflicts).toEqual([
    { path: 'path', side: { mode: '100755', oid: b } },
    { path: 'other', side: { mode: '100644', oid: a } },
  ])
})

test('untracked and ignored paths keep their bytes', () => {
  expect(parseStatus(['? new\nline', '? nested/', '! .env', '! build/'])).toEqual({
    tracked: [],
    conflicts: [],
    untracked: ['new\nline', 'nested/'],
    ignored: ['.env', 'build/'],
  })
})
