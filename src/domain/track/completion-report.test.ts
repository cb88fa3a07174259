import { expect, test } from 'vitest'
import type { Measured } from '../fact.ts'
import type { ReportedChange } from './changes.ts'
import { claimedNotFound, completionReport, namedIn } from './completion-report.ts'

function change(path: string, more: Partial<ReportedChange> = {}): ReportedChange {
  return {
    path,
    change: 'modified',
    origin: 'task',
    addedLines: 1,
    deletedLines: 0,
    scope: 'in',
    attribution: 'certain',
    ...more,
  }
}

function evidence(changes: readonly ReportedChange[], unexpected: readonly string[] = []): Measured {
  return {
    verification: 'verified',
    changes,
    ignored: { added: [], modified: [], deleted: [] },
    scope: { matches: unexpected.length === 0, unexpected },
    warnings: [],
    endSnapshot: null,
  }
}

test('a rename stands in its own list and in no other', () => {
  const report = completionReport(evidence([change('b.ts', { change: 'renamed', from: 'a.ts' })]), 't-1')
  expect(report.files_changed).toEqual({
    added: [],
    modified: [],
    deleted: [],
    renamed: [{ from: 'a.ts', to: 'b.ts' }],
  })
})

test('a long report is cut, out of scope first, and says where the rest is', () => {
  const many = Array.from({ length: 500 }, (_, n) => change(`src/a-rather-long-folder-name/file-${n}.ts`))
  const report = completionReport(evidence([...many, change('zzz.ts', { scope: 'out' })], ['zzz.ts']), 't-1')
  expect(report.details[0]).toMatchObject({ path: 'zzz.ts', scope: 'out' })
  expect(report.counts).toEqual({ added: 0, modified: 501, deleted: 0, renamed: 0 })
  expect(report).toMatchObject({ all_changes: 'waymark://tasks/t-1/changes' })
  expect(JSON.stringify(report).length).toBeLessThan(7_000)
})

test('a short report is whole and names no other place', () => {
  const report = completionReport(evidence([change('a.ts')]), 't-1')
  expect(report.details).toHaveLength(1)
  expect(report).not.toHaveProperty('all_changes')
})

const claims = (summary: string, achievements: readonly string[] = []) => ({ summary, achievements })

test('a file that was claimed and not changed is found out, once', () => {
  const claimed = claims('Fixed `src/a.ts` and ./src/b.ts.', ['src/b.ts works, and/or 3/4 of it'])
  expect(claimedNotFound(claimed, ['src/a.ts'])).toEqual(['src/b.ts'])
})

test('a file may be named from the middle of its path; an address is no file', () => {
  const claimed = claims('See diff/reader.ts, and https://example.com/src/x.ts.')
  expect(claimedNotFound(claimed, ['src/diff/reader.ts'])).toEqual([])
})

test('a path is named only whole, wherever it stands in the text', () => {
  const paths = ['src/a.ts', 'utils.ts', 'a b.ts']
  expect(namedIn(claims('I edited src/a.ts.'), paths)).toEqual(['src/a.ts'])
  expect(namedIn(claims('(./src/a.ts:12, `utils.ts`)'), paths)).toEqual(['src/a.ts', 'utils.ts'])
  expect(namedIn(claims('old/src/a.ts, src/a.tsx, src/a.ts.bak, my-utils.ts'), paths)).toEqual([])
  expect(namedIn({ ...claims('no'), limitations: ['a b.ts is slow'] }, paths)).toEqual(['a b.ts'])
})
