import type { ChangeReport } from '../../domain/track/changes.ts'
import type { Snapshot, SnapshotRef } from '../../ports/work-tree.ts'
import { runJob } from './run-job.ts'

export interface ChecksumRequest {
  /** Absolute path of the folder to witness. */
  readonly top: string
  /** From there to the project's folder: `''`, or ending with `/`. */
  readonly prefix: string
  /** Absolute path of the private directory to write; created if need be. */
  readonly directory: string
  /** The private directory of an earlier snapshot of the same top: what did not change since is not read again. */
  readonly reuse?: string
}

/** Records the state of a work tree without git. Fails only if the top cannot be listed or the directory not written. */
export async function checksumSnapshot({
  top,
  prefix,
  directory,
  reuse,
}: ChecksumRequest): Promise<Snapshot> {
  const request = reuse === undefined ? { top, directory } : { top, directory, reuse }
  const { id, paths, notes } = await runJob('scan', request)
  return { ref: { engine: 'checksum', directory, top, prefix, id }, paths, dirty: [], notes }
}

/** The hash of the content of every file that is not ignored, and which. Writes a snapshot, for the next to reuse. */
export function checksumTreeHash(
  request: Omit<ChecksumRequest, 'prefix'>,
): Promise<{ readonly hash: string; readonly paths: readonly string[] }> {
  return runJob('treeHash', request)
}

/** What differs between two checksum snapshots. A lost one answers `unknown`. */
export function checksumChanges(from: SnapshotRef, to: SnapshotRef): Promise<ChangeReport> {
  return runJob('changes', from.directory, to.directory)
}

/** The paths that differ, without renames and lines. Null when a snapshot is lost. */
export function checksumTouched(from: SnapshotRef, to: SnapshotRef): Promise<readonly string[] | null> {
  return runJob('touched', from.directory, to.directory)
}

/** The unified diff, of one path (old or new name) when given. Null when a snapshot or that path's content is lost. */
export function checksumUnifiedDiff(
  from: SnapshotRef,
  to: SnapshotRef,
  paths?: readonly string[],
): Promise<string | null> {
  return paths === undefined
    ? runJob('unifiedDiff', from.directory, to.directory)
    : runJob('unifiedDiff', from.directory, to.directory, paths)
}
