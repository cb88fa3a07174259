import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('each of the 105 cases has a test of its number', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
  const text = files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n')
  const numbers = new Set(
    [...text.matchAll(/^test\(['"]case (\d+)[:,]/gm)].map(([, number]) => Number(number)),
  )
  const missing = Array.from({ length: 105 }, (_, at) => at + 1).filter((number) => !numbers.has(number))
  expect(missing).toEqual([])
})
