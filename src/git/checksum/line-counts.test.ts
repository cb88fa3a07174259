import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { hunksOf } from './hunks.ts'
import { lineCounts } from './line-counts.ts'

const folder = mkdtempSync(join(tmpdir(), 'lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 20 }), fc.constantFrom('', '\n'))
  .map(([lines, end]) => lines.join('\n') + end)

test('counts what git counts in a minimal diff', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      writeFileSync(join(folder, 'a'), before)
      writeFileSync(join(folder, 'b'), after)
      const args = ['diff', '--no-index', '--minimal', '--numstat', 'a', 'b']
      const { stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
      const [added = 0, deleted = 0] = stdout.split('\t').slice(0, 2).map(Number)
      expect(lineCounts(before, after)).toEqual(
        before === after ? { added: 0, deleted: 0 } : { added, deleted },
      )
    }),
    { numRuns: 150 },
  )
})

test('the hunks of a diff add and delete as many lines as are counted', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = (hunksOf(before, after) ?? []).flatMap((hunk) => hunk.lines)
      const signed = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
      expect({ added: signed('+'), deleted: signed('-') }).toEqual(lineCounts(before, after))
    }),
  )
})

test('a text that was written anew is counted however long it is', () => {
  const written = (word: string): string =>
    Array.from({ length: 50_000 }, (_, line) => `${word} ${line}\n`).join('')
  expect(lineCounts(written('old'), written('new'))).toEqual({ added: 50_000, deleted: 50_000 })
})

test('a text whose lines were all moved is not counted', () => {
  const lines = Array.from({ length: 10_000 }, (_, line) => `${line}\n`)
  expect(lineCounts(lines.join(''), lines.toReversed().join(''))).toBeNull()
})
