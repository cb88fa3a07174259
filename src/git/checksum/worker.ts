import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { ChangeReport } from '../../domain/track/changes.ts'
import { displayPath } from '../paths.ts'
import type { Entry } from './manifest.ts'
import { changesBetween, touchedBetween, unifiedDiffBetween } from './report.ts'
import { type ScanRequest, scan } from './scan.ts'

/** A job for the worker thread. */
export type Assignment = {
  readonly [Name in JobName]: {
    readonly id: number
    readonly job: Name
    readonly input: Parameters<Jobs[Name]>
  }
}[JobName]

/** What the worker thread answers, under the assignment's id. */
export type Answer =
  | { readonly id: number; readonly value: ReturnType<Jobs[JobName]> }
  | { readonly id: number; readonly error: unknown }

parentPort?.on('message', (assignment: Assignment) => parentPort?.postMessage(answer(assignment)))

function answer(assignment: Assignment): Answer {
  try {
    return { id: assignment.id, value: perform(assignment) }
  } catch (error) {
    return { id: assignment.id, error }
  }
}

function perform(assignment: Assignment): ReturnType<Jobs[JobName]> {
  switch (assignment.job) {
    case 'scan':
      return jobs.scan(...assignment.input)
    case 'treeHash':
      return jobs.treeHash(...assignment.input)
    case 'changes':
      return jobs.changes(...assignment.input)
    case 'touched':
      return jobs.touched(...assignment.input)
    case 'unifiedDiff':
      return jobs.unifiedDiff(...assignment.input)
  }
}

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

/** The hash of what is in the files that no ignore rule leaves out. What was not read counts by its size and times. */
export function listedHash(entries: readonly Entry[]): string {
  const hash = createHash('sha256')
  for (const { path, mode, hash: content, size, modified, changed, ignored } of entries) {
    if (ignored) continue
    hash.update(`${mode} ${content ?? `${size} ${modified} ${changed}`} ${path}\0`, 'latin1')
  }
  return hash.digest('hex')
}
