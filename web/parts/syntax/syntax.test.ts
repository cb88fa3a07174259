import { expect, test } from 'vitest'
import { languageOf, tokenColors } from './syntax.ts'

test('the language is known by the name', () => {
  expect(languageOf('src/a.test.tsx')).toBe('typescript')
  expect(languageOf('Dockerfile')).toBe('dockerfile')
  expect(languageOf('LICENSE')).toBeNull()
  expect(languageOf('src/a.constructor')).toBeNull()
})

test('a comment over several lines is coloured in each of them', () => {
  const lines = ['/* one', '   two */ const x = "s"']
  const colours = tokenColors(lines, 'typescript') ?? []
  const said = colours.map((ranges, at) =>
    ranges.map(({ from, to, colour }) => [lines[at]?.slice(from, to), colour]),
  )
  expect(said[0]).toEqual([['/* one', 'comment']])
  expect(said[1]).toEqual([
    ['   two */', 'comment'],
    ['const', 'keyword'],
    ['"s"', 'string'],
  ])
})

test('code within code keeps its place', () => {
  const lines = ['<p>x</p>', '<script>const y = 1</script>']
  const found = tokenColors(lines, 'xml')?.[1] ?? []
  expect(found.map(({ from, to }) => lines[1]?.slice(from, to))).toContain('const')
})

test('a very long line is left as it is', () => {
  expect(tokenColors(['x'.repeat(3_000)], 'typescript')).toBeNull()
})
