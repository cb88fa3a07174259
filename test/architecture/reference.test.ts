import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { referencePages } from '../../scripts/reference/pages.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { root } from './source-files.ts'

const folder = join(root, 'docs', 'reference')

test('docs/reference is what npm run docs writes', () => {
  const stale = [...referencePages(catalog)]
    .filter(([name, text]) => stored(name) !== text)
    .map(([name]) => name)
  expect(stale, 'run: npm run docs').toEqual([])
})

test('docs/reference has no page of an operation that is gone', () => {
  const pages = readdirSync(folder).filter((name) => name !== 'benchmarks.md')
  expect(pages.sort()).toEqual([...referencePages(catalog).keys()].sort())
})

test('names, tools and commands are used once each', () => {
  for (const field of ['name', 'tool', 'command'] as const) {
    const values = catalog.map((operation) => operation[field]).filter((value) => value !== undefined)
    expect(values).toEqual([...new Set(values)])
  }
})

function stored(name: string): string | null {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
