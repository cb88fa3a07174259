import { expect, test } from 'vitest'
import { pathsNamedIn, withoutDenials } from './claimed-paths.ts'

const claims = (summary: string, achievements: readonly string[] = []) => ({ summary, achievements })

test('a path is named only whole, wherever it stands in the text', () => {
  const paths = ['src/a.ts', 'utils.ts', 'a b.ts']
  expect(pathsNamedIn(claims('I edited src/a.ts.'), paths)).toEqual(['src/a.ts'])
  expect(pathsNamedIn(claims('(./src/a.ts:12, `utils.ts`)'), paths)).toEqual(['src/a.ts', 'utils.ts'])
  expect(pathsNamedIn(claims('old/src/a.ts, src/a.tsx, src/a.ts.bak, my-utils.ts'), paths)).toEqual([])
  expect(pathsNamedIn({ ...claims('no'), limitations: ['a b.ts is slow'] }, paths)).toEqual(['a b.ts'])
})

test('a path is named between letters beyond ASCII, and with invisible ones in it', () => {
  const paths = ['src/a.ts', 'src/Ü.ts', '設定a.ts']
  expect(pathsNamedIn(claims('修正了src/a.ts。'), paths)).toEqual(['src/a.ts'])
  expect(pathsNamedIn(claims(`„src/a\u200b.ts“, ${'src/Ü.ts'.normalize('NFD')}、設定a.ts`), paths)).toEqual(
    paths,
  )
  const claim = withoutDenials(claims('src/Ü.tsを修正しました。I did not touch src/a.ts。'))
  expect(pathsNamedIn(claim, paths)).toEqual(['src/Ü.ts'])
})

test('a file that the agent says it did not touch is not claimed', () => {
  const named = (summary: string) =>
    pathsNamedIn(withoutDenials(claims(summary)), ['src/a.ts', 'src/main.js'])
  expect(named("Changed src/a.ts. I did not touch src/main.js; it is codex's.")).toEqual(['src/a.ts'])
  expect(named("I didn't edit src/main.js\nsrc/a.ts takes a discount.")).toEqual(['src/a.ts'])
  expect(named('src/main.js is not mine; src/a.ts is.')).toEqual(['src/a.ts'])
  expect(named('The total did not round: fixed in src/a.ts.')).toEqual(['src/a.ts'])
})

test.each([
  ['The total did not round, so I changed src/a.ts.', ['src/a.ts']],
  ['As the total did not round, I edited src/a.ts.', ['src/a.ts']],
  ['The total did not round so I changed src/a.ts.', ['src/a.ts']],
  ['Changed src/a.ts because it did not write the header.', ['src/a.ts']],
  ['I changed src/a.ts and did not touch src/main.js.', ['src/a.ts']],
  ['Changed src/a.ts without touching src/main.js.', ['src/a.ts']],
  ['I did not touch src/main.js, but I rewrote src/a.ts.', ['src/a.ts']],
  ['I did not touch src/a.ts except that I rewrote src/a.ts.', ['src/a.ts']],
  ['I did not touch src/main.js because src/main.js is not on my list.', []],
  ['I did not touch src/main.js, src/a.ts or others.', []],
  ['src/a.ts was not changed by me, so src/a.ts is as it was.', []],
])('a denial takes back only what it says: %s', (summary, named) => {
  expect(pathsNamedIn(withoutDenials(claims(summary)), ['src/a.ts', 'src/main.js'])).toEqual(named)
})
