import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { schemaStatements } from '../../src/store/schema/schema.ts'
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
  const pages = filesBelow('web', '.ts', '.tsx').filter(({ path }) => !path.endsWith('.test.ts'))
  const declared = declarations(
    [...productFiles(), ...pages],
    /^(?:export )?(?:type|interface|class|enum) (\w+)/gm,
  )
  expect(declared.size).toBeGreaterThan(1_000)
  expect([...declared].filter(([, paths]) => paths.length > 1)).toEqual([])
  const components = declarations(pages, /^(?:export )?function ([A-Z]\w+)/gm)
  expect(components.size).toBeGreaterThan(100)
  expect([...components.keys()].filter((name) => declared.has(name))).toEqual([])
})

test('an exported function has a name of its own, too', () => {
  const declared = declarations(productFiles(), /^export (?:async )?function\*? (\w+)/gm)
  expect(declared.size).toBeGreaterThan(1_000)
  expect([...declared].filter(([, paths]) => paths.length > 1)).toEqual([])
})

const participle =
  /^(?:[a-z]+(?:[^e]ed|itten|oken|aken|osen|idden|own|ught|ept|ound)|told|said|held|sent|made|lost|met|seen|gone|done|begun|built|paid|meant|heard|felt)$/
// Nouns, adjectives and verbs that look like one.
const noParticiples = ['accept', 'bound', 'down', 'embed', 'need', 'own', 'round', 'shutdown', 'token']

test('no function is named by a bare participle', () => {
  const pages = filesBelow('web', '.ts', '.tsx').filter(({ path }) => !path.endsWith('.test.ts'))
  const forms = [
    /\bfunction\*? ([a-z]+)\b/g,
    /^\s*(?:static |async |#)*([a-z]+)\([^)]*\)(?:: [^={]+)? \{\s*$/gm,
    /\b(?:const|let) ([a-z]+) = (?:async )?\([^()]*\)(?:: [^=\n]*)? =>/g,
    /^\s*(?:readonly ([a-z]+)\??: \([^)]*\) =>|([a-z]+)\??\([^)]*\): )/gm,
  ]
  const names = [...productFiles(), ...pages].flatMap(({ path, text }) =>
    forms.flatMap((form) =>
      [...text.matchAll(form)].map(([, name, other]) => ({ path, name: name ?? other ?? '' })),
    ),
  )
  expect(names.length).toBeGreaterThan(1_000)
  const wrong = names.filter(({ name }) => participle.test(name) && !noParticiples.includes(name))
  expect(wrong).toEqual([])
})

// `by` whom, `of` what and `at` which time or place are said by the name: `author`, `total`, `recorded_at`.
const bareNames = ['by', 'of', 'as', 'at']

test('no field of an operation, a process file or a column has a bare preposition as its name', () => {
  const schemas: unknown[] = ['docs/reference/catalog.json', 'processes/process.schema.json'].map((path) =>
    JSON.parse(readFileSync(join(root, path), 'utf8')),
  )
  const names = fieldNames(schemas)
  expect(names.size).toBeGreaterThan(500)
  expect(bareNames.filter((name) => names.has(name))).toEqual([])
  const columns = schemaStatements('sqlite').flatMap((text) =>
    [...text.matchAll(/^ +(\w+) (?:text|bigint|blob|double)/gm)].map(([, name = '']) => name),
  )
  expect(columns).toContain('recorded_at')
  expect(bareNames.filter((name) => columns.includes(name))).toEqual([])
})

test('no field that a schema of the product reads has a bare preposition as its name', () => {
  const field = /\b(?:by|of|as|at): (?:z|list|choice|count|path|place|text|time|words)\b/
  const declared = productFiles().filter(({ text }) => text.includes("from 'zod'"))
  expect(linesWith(declared, (line) => field.test(line))).toEqual([])
})

test('no log entry of the recorded day has a key that is a bare preposition', () => {
  const log = gunzipSync(readFileSync(join(root, 'demo', 'log.jsonl.gz'))).toString('utf8')
  const keys = new Set([...log.matchAll(/"(\w+)":/g)].map(([, key = '']) => key))
  expect(keys).toContain('recordedAt')
  expect(bareNames.filter((name) => keys.has(name))).toEqual([])
})

test('no file names a folder of the machine it was written on', () => {
  const folders = [root, homedir() === '/' ? root : `${homedir()}/`]
  expect(linesWith(everything, (line) => folders.some((folder) => line.includes(folder)))).toEqual([])
})

/** The files that declare each name. */
function declarations(files: readonly SourceFile[], pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  const declared = new Map<string, string[]>()
  for (const { path, text } of files)
    for (const [, name = ''] of text.matchAll(pattern))
      declared.set(name, [...(declared.get(name) ?? []), path])
  return declared
}

/** The names of the properties that JSON schemas declare. */
function fieldNames(schema: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return names
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && typeof value === 'object')
      for (const name of Object.keys(value)) names.add(name)
    fieldNames(value, names)
  }
  return names
}

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
