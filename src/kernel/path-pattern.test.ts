import { expect, test } from 'vitest'
import { pathInsidePrefix, pathPatterns, patternProblem } from './path-pattern.ts'

function matchingPaths(patterns: readonly string[], paths: readonly string[]): readonly string[] {
  return paths.filter(pathPatterns(patterns).matches)
}

const files = [
  'src',
  'src/a.ts',
  'src/deep/b.ts',
  'srcs/c.ts',
  'lib/src/d.ts',
  'Src/e.ts',
  'a.md',
  'docs/.x/a.md',
]

test.each(['src', 'src/', './src/', '/src', '/src/**', 'src/**', './/src//', ' src/ ', 'src/.', '{src,src}'])(
  '%j names a folder with all that is in it, from the project’s folder',
  (pattern) => {
    const found = matchingPaths([pattern], files)
    expect(found.filter((path) => path !== 'src')).toEqual(['src/a.ts', 'src/deep/b.ts'])
  },
)

test.each([
  ['src/*', ['src/a.ts']],
  ['*.md', ['a.md']],
  ['**/*.md', ['a.md', 'docs/.x/a.md']],
  ['**/src', ['src', 'src/a.ts', 'src/deep/b.ts', 'lib/src/d.ts']],
  ['*/src/', ['lib/src/d.ts']],
  ['{src,docs}/**/*.{ts,md}', ['src/a.ts', 'src/deep/b.ts', 'docs/.x/a.md']],
  ['s?c/a.ts', ['src/a.ts']],
  ['[Ss]rc/', ['src/a.ts', 'src/deep/b.ts', 'Src/e.ts']],
  ['.', files],
  ['/', files],
  ['**', files],
] as const)('%j matches %j', (pattern, found) => {
  expect(
    matchingPaths([pattern], files).filter((path) => path !== 'src' || found.includes(path as never)),
  ).toEqual(found)
})

test('an exclamation mark excludes paths from the other patterns; alone it means everything else', () => {
  expect(matchingPaths(['src/', '!src/deep/'], files)).toEqual(['src', 'src/a.ts'])
  expect(matchingPaths(['!src/deep', 'src'], files)).toEqual(['src', 'src/a.ts'])
  expect(matchingPaths(['!src', '!**/*.md'], files)).toEqual(['srcs/c.ts', 'lib/src/d.ts', 'Src/e.ts'])
  expect(matchingPaths(['./!odd'], ['!odd', 'odd'])).toEqual(['!odd'])
})

test('characters of file names are no operators: parentheses, brackets, plus, at, dollar', () => {
  const odd = [
    'app/(shop)/page.tsx',
    'app/[id]/page.tsx',
    'app/@modal/x.ts',
    'c++/a.cc',
    'a|b/c',
    '$x/y',
    'a^b/c',
  ]
  for (const path of odd) {
    const folder = path.slice(0, path.lastIndexOf('/'))
    expect(matchingPaths([path], odd), path).toEqual([path])
    expect(matchingPaths([folder], odd), folder).toEqual([path])
    expect(matchingPaths([`${folder}/**`], odd), `${folder}/**`).toEqual([path])
    expect(matchingPaths([`${folder}/*`], odd), `${folder}/*`).toEqual([path])
  }
  expect(matchingPaths(['app/(shop)/'], ['app/shop/page.tsx'])).toEqual([])
})

test('composed and decomposed letters are one; a pattern twice is as good as once', () => {
  const decomposed = 'src/cafe\u0301.ts'
  expect(matchingPaths(['src/caf\u00e9.ts'], [decomposed])).toEqual([decomposed])
  expect(matchingPaths(['src/cafe\u0301*'], ['src/caf\u00e9.ts'])).toEqual(['src/caf\u00e9.ts'])
  expect(matchingPaths(['src', 'src/', 'src'], files)).toEqual(['src', 'src/a.ts', 'src/deep/b.ts'])
})

test('no pattern matches a path outside the project', () => {
  expect(matchingPaths(['**', '.', '!x'], ['../a', '..', '/etc/passwd'])).toEqual([])
  expect([
    pathInsidePrefix('app/src/a.ts', 'app/'),
    pathInsidePrefix('a.ts', 'app/'),
    pathInsidePrefix('a.ts', ''),
  ]).toEqual(['src/a.ts', null, 'a.ts'])
})

test.each([
  '',
  '  ',
  '!',
  '..',
  '../x',
  'src/../x',
  '!../x',
  '.git/',
  '.git/config',
  'sub/.git/hooks/**',
  'C:/x',
  '~/x',
  'src\\a.ts',
  '{1..20}/x',
  'src/{a)}{/**',
  '*'.repeat(2_000),
])('%j can match nothing, so a list with it is refused', (pattern) => {
  expect(patternProblem(pattern)).not.toBeNull()
  expect(() => pathPatterns(['src/', pattern])).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})

test.each(['.gitignore', '.github/', 'a..b/c', '...', '.waymark/processes/', '[!a]*', 'a b/c'])(
  '%j can match a file',
  (pattern) => {
    expect(patternProblem(pattern)).toBeNull()
  },
)
