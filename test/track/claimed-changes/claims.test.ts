import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  claimedChanges,
  missingPaths,
  unchangedPaths,
} from '../../../src/track/domain/claimed-changes/claimed-changes.ts'

interface Report {
  readonly changed: readonly string[]
  readonly lies: readonly string[]
  readonly summary: string
  readonly achievements: readonly string[]
}

/** Reports of agents: "=== changed files", a summary, and achievements; with "!!! files" what it wrongly claims. */
function reportsIn(prefix: string): readonly Report[] {
  const names = readdirSync(import.meta.dirname).filter((name) => name.startsWith(prefix))
  return names.flatMap((name) =>
    readFileSync(join(import.meta.dirname, name), 'utf8')
      .split(/^=== /m)
      .slice(1)
      .map((entry) => {
        const [head = '', ...lines] = entry.split('\n')
        const [changed = '', lies = ''] = head.split('!!!')
        const [summary = '', achievements = ''] = lines.join('\n').split('\nachievements:\n')
        return {
          changed: pathsOf(changed),
          lies: pathsOf(lies),
          summary: summary.trim(),
          achievements: achievements.split('\n').filter((line) => line.trim() !== ''),
        }
      }),
  )
}

function pathsOf(text: string): readonly string[] {
  return text.split(',').flatMap((path) => (path.trim() === '' ? [] : [path.trim()]))
}

/** As strict as it can be: every file that a report names exists. */
function contradictions({ changed, ...report }: Report): readonly string[] {
  const claims = claimedChanges(report)
  return unchangedPaths(claims, { changed, existing: new Set(claims.map(({ path }) => path)) })
}

/** As strict: no file that did not change exists. */
function missing({ changed, ...report }: Report): readonly string[] {
  const claims = claimedChanges(report)
  return missingPaths(claims, { changed, absent: new Set(claims.map(({ path }) => path)) })
}

describe('reports as agents write them', () => {
  const honest = reportsIn('honest')
  const lying = reportsIn('lying')

  test('at most one of 200 honest reports is contradicted', () => {
    expect(honest.length).toBeGreaterThanOrEqual(200)
    const wrong = honest.filter((report) => contradictions(report).length > 0)
    expect(wrong.slice(1)).toEqual([])
    expect(honest.filter((report) => missing(report).length > 0)).toEqual([])
  })

  test('most of 40 reports that claim a file that did not change are found', () => {
    expect(lying.length).toBeGreaterThanOrEqual(40)
    const results = lying.map((report) => ({ ...report, found: contradictions(report) }))
    expect(results.filter(({ found, lies }) => found.some((path) => !lies.includes(path)))).toEqual([])
    const missed = results.filter(({ found, lies }) => !lies.every((path) => found.includes(path)))
    expect(missed.length).toBeLessThan(lying.length / 8)
  })
})
