import { expect, test } from 'vitest'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { completionReport } from './attempt-answer.ts'

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

function evidence(
  changes: readonly ReportedChange[],
  unexpected: readonly string[] = [],
): AttemptMeasurement {
  return {
    measurement: 'exact',
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
