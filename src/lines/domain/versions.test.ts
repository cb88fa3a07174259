import { expect, test } from 'vitest'
import { type GitTrace, type KnownVersion, knownLines } from './versions.ts'

const version = (rows: readonly string[], more: Partial<KnownVersion> = {}): KnownVersion => ({
  hashes: rows,
  isArrived: false,
  isBase: false,
  isOtherName: false,
  ...more,
})

const file = ['first line', 'other one', 'brought one', 'brought two', 'written here', 'last line']
const added = new Set([3, 4, 5])
const whole = ['first line', 'other one', 'brought one', 'brought two', 'last line']

function known(trace: GitTrace, ...versions: readonly KnownVersion[]) {
  const { brought, alike } = knownLines({ hashes: file, added, trace }, versions)
  return { brought: [...brought], alike: [...alike] }
}

test('a command of git brings single lines', () => {
  const other = version(['first line', 'brought one', 'something else'])
  expect(known('command', other)).toEqual({ brought: [3], alike: [] })
  expect(known('commit', other)).toEqual({ brought: [], alike: [3] })
})

test('a commit brings lines only with all that a version adds', () => {
  expect(known('commit', version(whole))).toEqual({ brought: [3, 4], alike: [] })
  expect(known('commit', version([...whole, 'and more']))).toEqual({ brought: [], alike: [3, 4] })
})

test('without a trace of git three lines in a row are needed, or what HEAD had before', () => {
  expect(known('none', version(whole))).toEqual({ brought: [], alike: [3, 4] })
  expect(known('none', version(whole, { isBase: true }))).toEqual({ brought: [3, 4], alike: [] })
  expect(known('none', version([...file.slice(2, 5), 'and more']))).toEqual({ brought: [3, 4, 5], alike: [] })
  const first = { hashes: file.slice(2), added: new Set([1, 2, 3]), trace: 'none' as const }
  expect([...knownLines(first, [version([...file.slice(2, 5), 'and more'])]).brought]).toEqual([1, 2, 3])
})

test('a thin or repeated line counts beside another one only, unless its version certainly arrived', () => {
  const rows = ['first line', '~}', 'long enough', '~}']
  const ask = (more: Partial<KnownVersion>) =>
    [
      ...knownLines({ hashes: rows, added: new Set([2, 4]), trace: 'command' }, [
        version(['~}', 'something else'], more),
      ]).brought,
    ].length
  expect(ask({})).toBe(0)
  expect(ask({ isArrived: true })).toBe(1)
})

test('a file of another name needs three of its lines, or half', () => {
  const other = (rows: readonly string[]) => version(rows, { isOtherName: true })
  expect(
    known('command', other(['brought one', ...Array.from({ length: 9 }, (_, at) => `other ${at}`)])).brought,
  ).toEqual([])
  expect(known('command', other(['brought one', 'something else'])).brought).toEqual([3])
})

test('a line that counts by itself is found beside more repeated ones that do not', () => {
  const rows = ['brought one', '~}', '~}', '~}']
  const repeated = { hashes: rows, added: new Set([1, 2, 3, 4]), trace: 'command' as const }
  expect([...knownLines(repeated, [version(rows.toReversed())]).brought]).toEqual([1])
})
