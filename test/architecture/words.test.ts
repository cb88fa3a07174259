import { homedir } from 'node:os'
import { expect, test } from 'vitest'
import { filesBelow, productFiles, root, type SourceFile } from './source-files.ts'

const everything = ['src', 'scripts', 'bin', 'test', 'examples', 'bench', 'docs', '.ci'].flatMap((folder) =>
  filesBelow(folder, '.ts', '.js', '.mjs', '.md', '.json', '.jsonl', 'run'),
)

// Put together from parts, so that this file does not find itself.
const marks = [
  'TO' + 'DO:',
  'TO' + 'DO(',
  '// TO' + 'DO',
  'FIX' + 'ME',
  '@ts-' + 'ignore',
  '@ts-' + 'expect-error',
  'eslint-' + 'disable',
]

test('nothing is left to do in a comment, and no check is switched off', () => {
  expect(linesWith(everything, (line) => marks.some((mark) => line.includes(mark)))).toEqual([])
})

test('no value is of any type', () => {
  const any = /(?::|<|\bas|\|)\s*any\b(?!\w)/
  expect(linesWith(productFiles(), (line) => any.test(withoutTexts(line)))).toEqual([])
})

test('only what the store records and projects writes rows', () => {
  const writes =
    /\.(insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(|\b(insert into|delete from)\b|\bupdate \w+ set\b/i
  const allowed = /^src\/(store\/(record\/|postgres\/create\.ts)|\w+\/tables\/)/
  const elsewhere = productFiles().filter(({ path }) => !allowed.test(path))
  expect(linesWith(elsewhere, (line) => writes.test(line))).toEqual([])
})

test('a type has a name of its own, which can be searched for', () => {
  const declared = new Map<string, string[]>()
  for (const { path, text } of [...productFiles(), ...filesBelow('web', '.ts', '.tsx')]) {
    if (path.endsWith('.test.ts')) continue
    for (const [, name = ''] of text.matchAll(/^(?:export )?(?:type|interface|class|enum) (\w+)/gm))
      declared.set(name, [...(declared.get(name) ?? []), path])
  }
  expect(declared.size).toBeGreaterThan(1_000)
  expect([...declared].filter(([, paths]) => paths.length > 1)).toEqual([])
})

test('no file names a folder of the machine it was written on', () => {
  const folders = [root, homedir() === '/' ? root : `${homedir()}/`]
  expect(linesWith(everything, (line) => folders.some((folder) => line.includes(folder)))).toEqual([])
})

function linesWith(files: readonly SourceFile[], isWrong: (line: string) => boolean): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, at) => ({ line, at: at + 1 }))
      .filter(({ line }) => isWrong(line))
      .map(({ line, at }) => `${path}:${at}: ${line.trim().slice(0, 100)}`),
  )
}

/** A line without its texts and comments, in which "any" is a word. */
function withoutTexts(line: string): string {
  return line.replace(/'[^']*'|"[^"]*"|`[^`]*`|\/\/.*$|^\s*\/?\*.*$/g, '')
}
