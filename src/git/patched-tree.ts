import type { PathBytes } from './path-bytes.ts'
import type { GitState } from './status.ts'
import { folderMode, type TreeEntries, treeId } from './tree-object.ts'

interface Node {
  /** What is at the path now, null for nothing; undefined where only what is below differs. */
  own: GitState | null | undefined
  readonly below: Map<PathBytes, Node>
}

export interface PatchWish {
  readonly objectFormat: string
  /** What is at a path now; null for nothing. */
  readonly changes: ReadonlyMap<PathBytes, GitState | null>
  /** Folders that do not count as a whole: each entry in them is asked for, a folder's with `/` at its end. */
  readonly partial: readonly PathBytes[]
  readonly includes: (path: PathBytes) => boolean
}

/** A tree with changes, of which only the folders on the way to them are computed anew. */
export class PatchedTree {
  readonly #wish: PatchWish
  readonly #top: Node = { own: undefined, below: new Map() }

  constructor(wish: PatchWish) {
    this.#wish = wish
    for (const [path, state] of wish.changes) this.#node(path).own = state
    for (const folder of wish.partial) this.#node(folder)
  }

  /** The folders whose entries `id` needs. */
  folders(): PathBytes[] {
    return [...new Set([...parents(this.#top, ''), ...this.#wish.partial])]
  }

  /** The id of the tree, from the entries of `folders()` before the changes. Null when nothing is in it. */
  id(trees: ReadonlyMap<PathBytes, TreeEntries>): string | null {
    return this.#folder(this.#top, '', trees)?.oid ?? null
  }

  #node(path: PathBytes): Node {
    let node = this.#top
    for (const name of path.split('/')) {
      const next = node.below.get(name) ?? { own: undefined, below: new Map() }
      node.below.set(name, next)
      node = next
    }
    return node
  }

  #folder(node: Node, path: PathBytes, trees: ReadonlyMap<PathBytes, TreeEntries>): GitState | null {
    const { objectFormat, partial, includes } = this.#wish
    const entries = new Map(trees.get(path))
    for (const [name, child] of node.below) {
      const place = path === '' ? name : `${path}/${name}`
      const after = this.#after(child, { place, before: entries.get(name) ?? null, trees })
      if (after === null) entries.delete(name)
      else entries.set(name, after)
    }
    if (partial.includes(path)) {
      for (const [name, { mode }] of entries) {
        if (!includes(`${path}/${name}${mode === folderMode ? '/' : ''}`)) entries.delete(name)
      }
    }
    return entries.size === 0 ? null : { mode: folderMode, oid: treeId(entries, objectFormat) }
  }

  #after(
    node: Node,
    at: {
      readonly place: PathBytes
      readonly before: GitState | null
      readonly trees: ReadonlyMap<PathBytes, TreeEntries>
    },
  ): GitState | null {
    if (node.own || (node.own === null && node.below.size === 0)) return node.own
    const wasFolder = at.before?.mode === folderMode
    if (wasFolder && !at.trees.has(at.place)) throw new Error(`The repository lacks the tree ${at.place}.`)
    const folder = this.#folder(node, at.place, at.trees)
    if (folder !== null || wasFolder) return folder
    return node.own === null ? null : at.before
  }
}

function parents(node: Node, path: PathBytes): PathBytes[] {
  const inside = [...node.below].flatMap(([name, child]) =>
    child.below.size === 0 ? [] : parents(child, path === '' ? name : `${path}/${name}`),
  )
  return [path, ...inside]
}
