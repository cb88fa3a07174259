import type { ChangeReport } from '../../domain/track/changes.ts'
import { displayPath } from '../path-bytes.ts'
import { listedHash } from './listed-hash.ts'
import { changesBetween, touchedBetween } from './report.ts'
import { type ScanRequest, scan } from './scan.ts'
import { unifiedDiffBetween } from './unified-diff.ts'

export interface ScanAnswer {
  readonly id: string
  readonly paths: readonly string[]
  readonly notes: readonly string[]
}

/** What the worker thread can be asked for, by name, with its answer. Directories are private directories. */
export interface Jobs {
  readonly scan: (request: ScanRequest) => ScanAnswer
  readonly treeHash: (request: ScanRequest) => { readonly hash: string; readonly paths: readonly string[] }
  readonly changes: (from: string, to: string) => ChangeReport
  readonly touched: (from: string, to: string) => readonly string[] | null
  readonly unifiedDiff: (from: string, to: string, paths?: readonly string[]) => string | null
}

export type JobName = keyof Jobs

export const jobs: Jobs = {
  scan(request) {
    const { id, manifest } = scan(request)
    const listed = manifest.entries.filter(
      ({ ignored, mode }) => ignored === undefined && mode !== 'unreadable',
    )
    const unread = manifest.entries.filter(({ problem }) => problem !== undefined)
    return {
      id,
      paths: listed.map(({ path }) => displayPath(path)),
      notes: [
        ...manifest.notes,
        ...unread.slice(0, 20).map(({ path, problem }) => `${displayPath(path)}: ${problem}`),
      ],
    }
  },
  treeHash(request) {
    const { entries } = scan(request).manifest
    return {
      hash: listedHash(entries),
      paths: entries.filter(({ ignored }) => ignored === undefined).map(({ path }) => displayPath(path)),
    }
  },
  changes: changesBetween,
  touched: touchedBetween,
  unifiedDiff: unifiedDiffBetween,
}
