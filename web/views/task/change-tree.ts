import type { Change } from '../../api/answers.ts'

/** The files of one folder, in one part of the tree. */
export interface FolderOfChanges {
  readonly folder: string
  readonly changes: readonly Change[]
}

/** By folder, folders in order; what is out of scope comes first, so that it is seen. */
export function changeTree(changes: readonly Change[]): readonly FolderOfChanges[] {
  const outside = changes.filter(({ scope }) => scope === 'out')
  const inside = changes.filter(({ scope }) => scope !== 'out')
  return [...foldersOf(outside), ...foldersOf(inside)]
}

function foldersOf(changes: readonly Change[]): readonly FolderOfChanges[] {
  const folders = Map.groupBy(changes, ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  return [...folders]
    .map(([folder, inFolder]) => ({
      folder,
      changes: inFolder.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** Five squares, as many green and red ones as the lines are. */
export function squares(
  added: number | null,
  deleted: number | null,
): readonly ('added' | 'deleted' | 'none')[] {
  const total = (added ?? 0) + (deleted ?? 0)
  if (total === 0) return ['none', 'none', 'none', 'none', 'none']
  const filled = Math.min(5, total)
  const exact = (filled * (added ?? 0)) / total
  const green = Math.min(
    Math.max(Math.round(exact), (added ?? 0) > 0 ? 1 : 0),
    filled - ((deleted ?? 0) > 0 && filled > 1 ? 1 : 0),
  )
  return Array.from({ length: 5 }, (_, at) => (at < green ? 'added' : at < filled ? 'deleted' : 'none'))
}
