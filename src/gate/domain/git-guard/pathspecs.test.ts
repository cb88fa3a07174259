import { expect, test } from 'vitest'
import { matchesGlob, pathspecMatcher } from './pathspecs.ts'

const files = ['a.ts', 'src/a.ts', 'src/deep/b.ts', 'docs/a b.md', 'src-old/a.ts', 'é.ts']

test.each([
  [['.'], '', files],
  [['.'], 'src/', ['src/a.ts', 'src/deep/b.ts']],
  [['a.ts'], '', ['a.ts']],
  [['a.ts'], 'src/', ['src/a.ts']],
  [['../a.ts'], 'src/', ['a.ts']],
  [['src'], '', ['src/a.ts', 'src/deep/b.ts']],
  [['src/'], '', ['src/a.ts', 'src/deep/b.ts']],
  [['./src/./deep/..'], '', ['src/a.ts', 'src/deep/b.ts']],
  [['*.ts'], '', ['a.ts', 'src/a.ts', 'src/deep/b.ts', 'src-old/a.ts', 'é.ts']],
  [['src*'], '', ['src/a.ts', 'src/deep/b.ts', 'src-old/a.ts']],
  [['s?c'], '', ['src/a.ts', 'src/deep/b.ts']],
  [['[s]rc'], '', ['src/a.ts', 'src/deep/b.ts']],
  [[':/a.ts'], 'src/', ['a.ts']],
  [[':(top)a.ts'], 'src/', ['a.ts']],
  [[':/'], 'src/', files],
  [['.', ':!src'], '', ['a.ts', 'docs/a b.md', 'src-old/a.ts', 'é.ts']],
  [[':^src'], '', ['a.ts', 'docs/a b.md', 'src-old/a.ts', 'é.ts']],
  [['.', ':(exclude)*.md', ':!/src*'], '', ['a.ts', 'é.ts']],
  [[':(icase)SRC'], '', ['src/a.ts', 'src/deep/b.ts']],
  [[':(literal)*.ts'], '', []],
  [[':(glob)src/*.ts'], '', ['src/a.ts', 'src/deep/b.ts']],
  [['/repo/src'], 'docs/', ['src/a.ts', 'src/deep/b.ts']],
  [['/repo'], 'docs/', files],
  [['/repository/src'], '', []],
  [['../..'], 'src/', []],
  [['/etc/passwd'], '', []],
  [['HEAD~1', 'a.ts'], '', ['a.ts']],
  [['docs/a b.md'], '', ['docs/a b.md']],
  [[], '', []],
])('%j in %j', (specs, prefix, expected) => {
  const matches = pathspecMatcher(specs, { top: '/repo', prefix })
  expect(files.filter((path) => matches(path))).toEqual(expected)
})

test('matches a pattern of many stars in time', () => {
  expect(matchesGlob(`${'*a'.repeat(2000)}b`, 'a'.repeat(4000))).toBe(false)
  expect(matchesGlob('*'.repeat(10_000), 'a')).toBe(true)
  expect(matchesGlob('[', '[')).toBe(true)
  expect(matchesGlob('\\', '\\')).toBe(true)
  expect(matchesGlob('\\*', '*')).toBe(true)
  expect(matchesGlob('\\*', 'a')).toBe(false)
})
