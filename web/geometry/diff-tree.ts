import { sumOfLines } from '../../src/track/domain/changes.ts'

/** A changed path, as answers of operations spell it. */
export interface DiffPath {
  readonly path: string
  /** Null when not countable. */
  readonly added_lines: number | null
  readonly deleted_lines: number | null
  readonly scope?: string | null
}

/** What a folder's files come to. */
export interface DiffTally {
  readonly files: number
  /** Null where files changed and the lines of none could be counted. */
  readonly added: number | null
  readonly deleted: number | null
  readonly outOfScope: number
}

export interface DiffFile<C extends DiffPath> {
  readonly kind: 'file'
  readonly path: string
  readonly name: string
  readonly change: C
}

export interface DiffFolder<C extends DiffPath> extends DiffTally {
  readonly kind: 'folder'
  /** Without the last `/`. */
  readonly path: string
  /** Folders with nothing but one folder in them share one name: `src/diff/read`. */
  readonly name: string
  readonly children: readonly DiffNode<C>[]
}

export type DiffNode<C extends DiffPath> = DiffFile<C> | DiffFolder<C>

/** The changes as a tree: folders first, each list by name, whatever the order they came in. */
export function diffTree<C extends DiffPath>(changes: readonly C[]): DiffFolder<C> {
  const distinct = [...new Map(changes.map((change) => [change.path, change])).values()]
  return folderOf('', distinct)
}

/** `path` is that of the folder with its `/`, or empty. */
function folderOf<C extends DiffPath>(path: string, changes: readonly C[]): DiffFolder<C> {
  const parts = Map.groupBy(changes, (change) => nextPathPart(path, change.path))
  const names = [...parts.keys()].sort(compareKindThenName)
  const children = names.flatMap((part): readonly DiffNode<C>[] => {
    const inside = parts.get(part) ?? []
    if (part.endsWith('/')) return [compressFolder(part, folderOf(path + part, inside))]
    return inside.map((change) => ({ kind: 'file', path: change.path, name: part, change }))
  })
  return { kind: 'folder', path: path.slice(0, -1), name: path.slice(0, -1), children, ...tallyOf(changes) }
}

/** What follows the folder: a file's name, or a folder's with its `/`. */
function nextPathPart(path: string, changed: string): string {
  const slash = changed.indexOf('/', path.length)
  return slash === -1 ? changed.slice(path.length) : changed.slice(path.length, slash + 1)
}

function compressFolder<C extends DiffPath>(part: string, folder: DiffFolder<C>): DiffFolder<C> {
  const name = part.slice(0, -1)
  const [only] = folder.children
  if (folder.children.length !== 1 || only?.kind !== 'folder') return { ...folder, name }
  return { ...only, name: `${name}/${only.name}` }
}

function compareKindThenName(a: string, b: string): number {
  const folders = Number(b.endsWith('/')) - Number(a.endsWith('/'))
  if (folders !== 0) return folders
  return a < b ? -1 : a > b ? 1 : 0
}

function tallyOf(changes: readonly DiffPath[]): DiffTally {
  return {
    files: changes.length,
    added: sumOfLines(changes.map(({ added_lines }) => added_lines)),
    deleted: sumOfLines(changes.map(({ deleted_lines }) => deleted_lines)),
    outOfScope: changes.filter(({ scope }) => scope === 'out').length,
  }
}

/** A row of the tree as it is drawn: `depth` 0 is at the top. */
export interface DiffRow<C extends DiffPath> {
  readonly node: DiffNode<C>
  readonly depth: number
}

/** The rows that are seen while some folders, named by their paths, are folded. */
export function diffRows<C extends DiffPath>(
  root: DiffFolder<C>,
  folded: ReadonlySet<string>,
  depth = 0,
): readonly DiffRow<C>[] {
  return root.children.flatMap((node) => {
    const row = { node, depth }
    if (node.kind === 'file' || folded.has(node.path)) return [row]
    return [row, ...diffRows(node, folded, depth + 1)]
  })
}

/** The changes in the order of the tree. */
export function changesInOrder<C extends DiffPath>(root: DiffFolder<C>): readonly C[] {
  return root.children.flatMap((node) => (node.kind === 'file' ? [node.change] : changesInOrder(node)))
}
