import { expect, test } from 'vitest'
import { pathsNamedIn } from './claimed-paths.ts'

const claims = (summary: string, achievements: readonly string[] = []) => ({ summary, achievements })

test('a path is named only whole, wherever it stands in the text', () => {
  const paths = ['src/a.ts', 'utils.ts', 'a b.ts']
  expect(pathsNamedIn(claims('I edited src/a.ts.'), paths)).toEqual(['src/a.ts'])
  expect(pathsNamedIn(claims('(./src/a.ts:12, `utils.ts`)'), paths)).toEqual(['src/a.ts', 'utils.ts'])
  expect(pathsNamedIn(claims('old/src/a.ts, src/a.tsx, src/a.ts.bak, my-utils.ts'), paths)).toEqual([])
  expect(pathsNamedIn({ ...claims('no'), limitations: ['a b.ts is slow'] }, paths)).toEqual(['a b.ts'])
})
