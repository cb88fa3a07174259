import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { hunksOf, lineCounts } from './report.ts'

const folder = mkdtempSync(join(tmpdir(), 'lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 20 }), fc.constantFrom('', '\n'))
  .map(([lines, end]) => lines.join('\n') + end)

test('counts the fewest lines that lead from one text to the other', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const kept = longestCommon(lines(before), lines(after))
      const fewest = { added: lines(after).length - kept, deleted: lines(before).length - kept }
      expect(lineCounts(before, after)).toEqual(fewest)
    }),
    { numRuns: 500 },
  )
})

// git's minimal diff is now and then a line longer than the shortest one, so it bounds the counts and no more.
test('counts no more than git, and the same difference', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      writeFileSync(join(folder, 'a'), before)
      writeFileSync(join(folder, 'b'), after)
      const args = ['diff', '--no-index', '--minimal', '--numstat', 'a', 'b']
      const { stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
      const [added = 0, deleted = 0] = stdout.split('\t').slice(0, 2).map(Number)
      const counted = lineCounts(before, after) ?? { added: Number.NaN, deleted: Number.NaN }
      expect(counted.added - counted.deleted).toBe((added || 0) - (deleted || 0))
      expect(counted.added).toBeLessThanOrEqual(added || 0)
    }),
    { numRuns: 100 },
  )
})

/** Each line with its end: the last one may have none. */
function lines(whole: string): readonly string[] {
  return whole.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** The length of the longest common subsequence, by the table of the textbook. */
function longestCommon(one: readonly string[], other: readonly string[]): number {
  let above: readonly number[] = other.map(() => 0)
  for (const line of one) {
    const row: number[] = []
    for (const [at, candidate] of other.entries()) {
      const longest = Math.max(above[at] ?? 0, row[at - 1] ?? 0)
      row.push(line === candidate ? Math.max(longest, (above[at - 1] ?? 0) + 1) : longest)
    }
    above = row
  }
  return above.at(-1) ?? 0
}

test('the hunks of a diff add and delete as many lines as are counted', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const changed = (hunksOf(before, after) ?? []).flatMap((hunk) => hunk.lines)
      const signed = (sign: string): number => changed.filter((line) => line.startsWith(sign)).length
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
  const moved = Array.from({ length: 10_000 }, (_, line) => `${line}\n`)
  expect(lineCounts(moved.join(''), moved.toReversed().join(''))).toBeNull()
})
