import { setNewest } from '../kernel/limited-map.ts'
import { type NewObject, objectId } from './pack.ts'
import { displayPath, nulRecords, type PathBytes, pathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './process.ts'
import type { Repository } from './repository.ts'
import type { GitState } from './status.ts'

export interface TreeDifference {
  readonly before: GitState | null
  readonly after: GitState | null
}

/** Runs no program, and includes submodules even if a .gitmodules excludes them (`ignore = all`). */
export const leavingNothingOut = ['--no-ext-diff', '--ignore-submodules=none'] as const

/** The differences between two trees, file by file. */
export async function treeDifference(
  place: PrivateDirectory,
  before: string,
  after: string,
): Promise<Map<PathBytes, TreeDifference>> {
  if (before === after) return new Map()
  const question = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', ...leavingNothingOut]
  return parseRawDifference(nulRecords(await git([...question, before, after], privateCall(place))))
}

/** Parses `diff-tree --raw -z` without renames: `:<mode> <mode> <oid> <oid> <status>`, then the path. */
export function parseRawDifference(records: readonly string[]): Map<PathBytes, TreeDifference> {
  const differences = new Map<PathBytes, TreeDifference>()
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [modeBefore = '', modeAfter = '', before = '', after = ''] = (records[at] ?? '').slice(1).split(' ')
    differences.set(records[at + 1] ?? '', {
      before: state(modeBefore, before),
      after: state(modeAfter, after),
    })
  }
  return differences
}

function state(mode: string, oid: string): GitState | null {
  return mode === '000000' ? null : { mode, oid }
}

// Below every system's limit for a command line.
const pathsPerCall = 200

/** The states of a few paths in HEAD. */
export async function headStates(
  place: PrivateDirectory,
  { head }: Pick<Repository, 'head'>,
  paths: readonly PathBytes[],
): Promise<Map<PathBytes, GitState>> {
  if (head === null) return new Map()
  const key = JSON.stringify([head.tree, place.contents, place.objects])
  const known = statesInTrees.get(key) ?? new Map<PathBytes, GitState | null>()
  setNewest(statesInTrees, maxTrees, key, known)
  const states = new Map<PathBytes, GitState>()
  const asked: PathBytes[] = []
  for (const path of paths) {
    const state = known.get(path)
    if (state === undefined) asked.push(path)
    else if (state !== null) states.set(path, state)
  }
  const listed = await listStates(place, head.tree, asked)
  // Of a folder git lists the files below: then what was not found may be one.
  const isWhole = asked.filter((path) => listed.has(path)).length === listed.size
  for (const path of asked) {
    const state = listed.get(path) ?? null
    if (state !== null || isWhole) setNewest(known, maxPaths, path, state)
  }
  for (const [path, state] of listed) states.set(path, state)
  return states
}

// A tree never changes. By the objects as well: what one repository says of a tree counts for no other.
const statesInTrees = new Map<string, Map<PathBytes, GitState | null>>()
const maxTrees = 20
const maxPaths = 1_000

async function listStates(
  place: PrivateDirectory,
  tree: string,
  paths: readonly PathBytes[],
): Promise<Map<PathBytes, GitState>> {
  const states = new Map<PathBytes, GitState>()
  for (let from = 0; from < paths.length; from += pathsPerCall) {
    const some = paths.slice(from, from + pathsPerCall)
    // Node passes arguments as text: for a path that is not UTF-8, the whole tree is listed.
    const names = some.map(displayPath)
    const named = names.every((name, at) => pathBytes(name) === some[at]) ? names : []
    const output = await git(['ls-tree', '-r', '-z', '--full-tree', tree, '--', ...named], privateCall(place))
    for (const record of nulRecords(output)) {
      const tab = record.indexOf('\t')
      const [mode = '', , oid = ''] = record.slice(0, tab).split(' ')
      states.set(record.slice(tab + 1), { mode, oid })
    }
  }
  return states
}

/** The entries of some folders of a tree, by path; `''` is the tree itself. Missing folders are left out. */
export async function readTrees(
  place: PrivateDirectory,
  root: string,
  folders: readonly PathBytes[],
): Promise<Map<PathBytes, TreeEntries>> {
  if (root === emptyTree(formatOf(root))) return new Map()
  const names = folders.map((folder) => `${root}:${folder}`)
  // Only a newer git accepts names that contain the usual separator.
  const odd = names.some((name) => name.includes('\n'))
  const input = Buffer.from(names.map((name) => `${name}${odd ? '\0' : '\n'}`).join(''), 'latin1')
  const output = await git(
    ['cat-file', '--batch', '--buffer', ...(odd ? ['-z'] : [])],
    privateCall(place, input),
  )
  const trees = new Map<PathBytes, TreeEntries>()
  let at = 0
  for (const [which, folder] of folders.entries()) {
    const missing = Buffer.from(`${names[which]} missing\n`, 'latin1')
    if (output.subarray(at, at + missing.length).equals(missing)) {
      at += missing.length
      continue
    }
    const line = output.indexOf('\n', at)
    const [, type, size] = output.toString('latin1', at, line).split(' ')
    at = line + 1
    // A submodule has a type and no content.
    if (size === undefined) continue
    const end = at + Number(size)
    if (type === 'tree') trees.set(folder, parseTree(output.subarray(at, end), formatOf(root)))
    at = end + 1
  }
  return trees
}

/** The entries of a tree, by name. */
export type TreeEntries = ReadonlyMap<PathBytes, GitState>

export const folderMode = '40000'

/** The format of the objects that an id belongs to. */
export function formatOf(oid: string): 'sha1' | 'sha256' {
  return oid.length === 64 ? 'sha256' : 'sha1'
}

/** The id of the empty tree, which git knows without storing it. */
export function emptyTree(objectFormat: string): string {
  return objectId(objectFormat, treeObject(new Map()))
}

/** Parses the content of a tree object: repeated `<mode> <name>\0<id>`. */
function parseTree(content: Buffer, objectFormat: string): TreeEntries {
  const idLength = objectFormat === 'sha256' ? 32 : 20
  const entries = new Map<PathBytes, GitState>()
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const end = content.indexOf(0, space)
    const next = end + 1 + idLength
    entries.set(content.toString('latin1', space + 1, end), {
      mode: content.toString('latin1', at, space),
      oid: content.toString('hex', end + 1, next),
    })
    at = next
  }
  return entries
}

/** The tree that holds these entries. */
export function treeObject(entries: TreeEntries): NewObject {
  const records = [...entries]
    .map(([name, { mode, oid }]) => ({
      head: `${mode} ${name}\0`,
      oid,
      order: mode === folderMode ? `${name}/` : name,
    }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  const length = records.reduce((sum, { head, oid }) => sum + head.length + oid.length / 2, 0)
  const content = Buffer.allocUnsafe(length)
  let at = 0
  for (const { head, oid } of records) {
    at += content.write(head, at, 'latin1')
    at += content.write(oid, at, 'hex')
  }
  return { type: 'tree', content }
}

interface TreeNode {
  /** The new state of the path, null for none; undefined if only paths below it differ. */
  own: GitState | null | undefined
  readonly below: Map<PathBytes, TreeNode>
}

export interface TreePatch {
  readonly objectFormat: string
  /** The new state of each path; null for none. */
  readonly changes: ReadonlyMap<PathBytes, GitState | null>
  /** Folders that count only in part: `includes` decides for each entry, a folder's ending with `/`. */
  readonly partial: readonly PathBytes[]
  readonly includes: (path: PathBytes) => boolean
}

/** A tree with changes. Only the folders that contain them are computed again. */
export class PatchedTree {
  readonly #request: TreePatch
  readonly #top: TreeNode = { own: undefined, below: new Map() }

  constructor(request: TreePatch) {
    this.#request = request
    for (const [path, state] of request.changes) this.#node(path).own = state
    for (const folder of request.partial) this.#node(folder)
  }

  /** The folders whose entries `id` needs. */
  folders(): PathBytes[] {
    return [...new Set([...parents(this.#top, ''), ...this.#request.partial])]
  }

  /** The id of the tree, from the entries of `folders()` before the changes. Null if it is empty. */
  id(trees: ReadonlyMap<PathBytes, TreeEntries>): string | null {
    return this.#folder(this.#top, '', trees)?.oid ?? null
  }

  #node(path: PathBytes): TreeNode {
    let node = this.#top
    for (const name of path.split('/')) {
      const next = node.below.get(name) ?? { own: undefined, below: new Map() }
      node.below.set(name, next)
      node = next
    }
    return node
  }

  #folder(node: TreeNode, path: PathBytes, trees: ReadonlyMap<PathBytes, TreeEntries>): GitState | null {
    const { objectFormat, partial, includes } = this.#request
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
    return entries.size === 0 ? null : { mode: folderMode, oid: objectId(objectFormat, treeObject(entries)) }
  }

  #after(
    node: TreeNode,
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

function parents(node: TreeNode, path: PathBytes): PathBytes[] {
  const inside = [...node.below].flatMap(([name, child]) =>
    child.below.size === 0 ? [] : parents(child, path === '' ? name : `${path}/${name}`),
  )
  return [path, ...inside]
}
