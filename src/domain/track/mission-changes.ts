import type { ChangeKind, FileChange, Origin } from './changes.ts'

/** What became of a path between the state at a mission's first attempt in a work tree and the state at its last end. */
export interface MissionChange {
  readonly path: string
  readonly from?: string
  /** `none`: attempts changed it, and at the end it is as it was. */
  readonly change: ChangeKind | 'none'
  readonly origin: Origin
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Someone outside the mission wrote there too, as far as that was seen. */
  readonly others?: true
}

/** What a mission's record says of a work tree, and what was measured when another of its attempts ended there. */
export interface MissionMeasured {
  /** What is recorded of the paths that earlier attempts changed. */
  readonly recorded: readonly MissionChange[]
  /** What the attempt that ends changed. */
  readonly own: readonly FileChange[]
  /** The difference between the two states, of any path. */
  readonly states: readonly FileChange[]
  /** Paths that changed while no attempt of the mission was open, or that others may have changed. */
  readonly others: ReadonlySet<string>
}

/**
 * The rows of a mission's record that are different once an attempt has ended. Only paths that an attempt of the
 * mission changed count; each counts once, however many attempts changed it.
 */
export function changesOfMission({
  recorded,
  own,
  states,
  others,
}: MissionMeasured): readonly MissionChange[] {
  const before = new Map(recorded.map((row) => [row.path, row]))
  const ends = ({ path, from }: Pick<FileChange, 'path' | 'from'>) =>
    from === undefined ? [path] : [path, from]
  const paths = new Set([...before.keys(), ...own.flatMap(ends)])
  const found = new Map(
    states
      .filter((change) => ends(change).some((path) => paths.has(path)))
      .map((change) => [change.path, change]),
  )
  const rows = [...new Set([...paths, ...found.keys()])].map((path): MissionChange => {
    const change = found.get(path)
    const names = change === undefined ? [path] : ends(change)
    const alsoOthers = names.some((name) => others.has(name) || before.get(name)?.others === true)
    return {
      path,
      ...(change?.from !== undefined && { from: change.from }),
      change: change?.change ?? 'none',
      origin: change?.origin ?? 'task',
      addedLines: change === undefined ? 0 : change.addedLines,
      deletedLines: change === undefined ? 0 : change.deletedLines,
      ...(alsoOthers && { others: true }),
    }
  })
  return rows.filter((row) => !isSame(row, before.get(row.path)))
}

function isSame(row: MissionChange, recorded: MissionChange | undefined): boolean {
  if (recorded === undefined) return false
  return (
    row.from === recorded.from &&
    row.change === recorded.change &&
    row.origin === recorded.origin &&
    row.addedLines === recorded.addedLines &&
    row.deletedLines === recorded.deletedLines &&
    row.others === recorded.others
  )
}
