import { expect, test } from 'vitest'
import { pathsNamedIn, unmeasuredClaims } from './claimed-paths.ts'

const claims = (summary: string, achievements: readonly string[] = []) => ({ summary, achievements })

test('a file that was claimed and not changed is found out, once', () => {
  const claimed = claims('Fixed `src/a.ts` and ./src/b.ts.', ['src/b.ts works, and/or 3/4 of it'])
  expect(unmeasuredClaims(claimed, ['src/a.ts'])).toEqual(['src/b.ts'])
})

test('a file may be named from the middle of its path; an address is no file', () => {
  const claimed = claims('See diff/reader.ts, and https://example.com/src/x.ts.')
  expect(unmeasuredClaims(claimed, ['src/diff/reader.ts'])).toEqual([])
})

test('a path is named only whole, wherever it stands in the text', () => {
  const paths = ['src/a.ts', 'utils.ts', 'a b.ts']
  expect(pathsNamedIn(claims('I edited src/a.ts.'), paths)).toEqual(['src/a.ts'])
  expect(pathsNamedIn(claims('(./src/a.ts:12, `utils.ts`)'), paths)).toEqual(['src/a.ts', 'utils.ts'])
  expect(pathsNamedIn(claims('old/src/a.ts, src/a.tsx, src/a.ts.bak, my-utils.ts'), paths)).toEqual([])
  expect(pathsNamedIn({ ...claims('no'), limitations: ['a b.ts is slow'] }, paths)).toEqual(['a b.ts'])
})
