import type { PathBytes } from './paths.ts'

/** A path's state as git records it: mode and object id. */
export interface GitState {
  readonly mode: string
  readonly oid: string
}

/** A tracked path that differs between HEAD, index and disk. */
export interface TrackedEntry {
  readonly path: PathBytes
  readonly head: GitState | null
  readonly index: GitState | null
  /** The state on disk, compared with the index. */
  readonly onDisk: 'as in the index' | 'different' | 'absent'
}

export interface ConflictEntry {
  readonly path: PathBytes
  /** One side of the conflict, for conversions that depend on the index, such as line endings. */
  readonly side: GitState | null
}

export interface GitStatus {
  readonly tracked: readonly TrackedEntry[]
  readonly conflicts: readonly ConflictEntry[]
  /** Files, and nested repositories with a `/` at the end. */
  readonly untracked: readonly PathBytes[]
  /** Files, and folders with a `/` at the end. */
  readonly ignored: readonly PathBytes[]
}

const absentMode = '000000'

/** Parses `git status --porcelain=v2 -z --no-renames`. */
export function parseStatus(records: readonly string[]): GitStatus {
  const tracked: TrackedEntry[] = []
  const conflicts: ConflictEntry[] = []
  const untracked: PathBytes[] = []
  const ignored: PathBytes[] = []
  for (const record of records) {
    const kind = record[0]
    if (kind === '?') untracked.push(record.slice(2))
    if (kind === '!') ignored.push(record.slice(2))
    if (kind === '1') tracked.push(parseTracked(record))
    if (kind === 'u') conflicts.push(parseConflict(record))
  }
  return { tracked, conflicts, untracked, ignored }
}

// 1 XY sub mH mI mW hH hI path
function parseTracked(record: string): TrackedEntry {
  const { fields, path } = splitFields(record, 8)
  const [, xy = '', , headMode, indexMode, , headOid, indexOid] = fields
  const onDisk = xy[1] === '.' ? 'as in the index' : xy[1] === 'D' ? 'absent' : 'different'
  return { path, head: state(headMode, headOid), index: state(indexMode, indexOid), onDisk }
}

// u XY sub m1 m2 m3 mW h1 h2 h3 path
function parseConflict(record: string): ConflictEntry {
  const { fields, path } = splitFields(record, 10)
  const [, , , base, ours, theirs, , baseOid, oursOid, theirsOid] = fields
  return { path, side: state(ours, oursOid) ?? state(theirs, theirsOid) ?? state(base, baseOid) }
}

function state(mode: string | undefined, oid: string | undefined): GitState | null {
  if (mode === undefined || oid === undefined || mode === absentMode) return null
  return { mode, oid }
}

function splitFields(record: string, count: number): { fields: string[]; path: PathBytes } {
  const fields: string[] = []
  let from = 0
  for (let field = 0; field < count; field += 1) {
    const space = record.indexOf(' ', from)
    fields.push(record.slice(from, space))
    from = space + 1
  }
  return { fields, path: record.slice(from) }
}
