import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readRegular } from '../kernel/files/regular-file.ts'
import type { SnapshotPair } from './comparison.ts'

/** The most entries that are read in another work tree: this only finds a hint. */
const maxEntries = 2_000
const passedOver = new Set(['.git', 'node_modules', '.waymark'])

/** Notes about other work trees of the repository that changed since a snapshot: perhaps the work was done there. */
export async function changedOtherTrees({ from }: SnapshotPair): Promise<string[]> {
  const others = await otherWorkTrees(from.top)
  const changed: string[] = []
  for (const other of others) {
    if (await hasTreeChangedSince(other, from.takenAt)) changed.push(other.top)
  }
  if (changed.length === 0) return []
  return [
    `Nothing changed here, but another work tree of this repository did: ${changed.slice(0, 3).join(', ')}. A task that works there must be started there, or with work_tree.`,
  ]
}

/**
 * The tops of the other work trees of the repository that exist and point back to it: a repository may name any folder
 * as one of its own, and what is in a work tree may be read.
 */
export async function otherTreeTops(top: string): Promise<string[]> {
  const others = await otherWorkTrees(top)
  const isOwn = await Promise.all(
    others.map(async (other) => (await gitFolderOf(other.top)) === other.gitFolder),
  )
  return others.filter((_, index) => isOwn[index]).map((other) => other.top)
}

interface OtherTree {
  readonly top: string
  /** Its own part of the repository: index and reflog. */
  readonly gitFolder: string
}

export async function otherWorkTrees(top: string): Promise<OtherTree[]> {
  const own = await gitFolderOf(top)
  if (own === null) return []
  const common = resolve(own, (await readGitText(join(own, 'commondir'))) ?? '.')
  // It may also claim to be a work tree of any other repository, or its main one.
  const isOfItsOwn =
    common === own
      ? own === join(top, '.git')
      : await isLinkedTree({ top, gitFolder: own, commonFolder: common })
  if (!isOfItsOwn) return []
  const names = await readdir(join(common, 'worktrees')).catch(() => [])
  const linked = await Promise.all(
    names.map(async (name) => {
      const gitFolder = join(common, 'worktrees', name)
      const pointer = await readGitText(join(gitFolder, 'gitdir'))
      return pointer === null ? [] : [{ top: dirname(resolve(gitFolder, pointer)), gitFolder }]
    }),
  )
  const main = { top: dirname(common), gitFolder: common }
  return [main, ...linked.flat()].filter(({ gitFolder }) => gitFolder !== own)
}

/** The folder that `.git` is, or points to. */
export async function gitFolderOf(top: string): Promise<string | null> {
  const path = join(top, '.git')
  const stats = await stat(path).catch(() => null)
  if (stats === null) return null
  if (stats.isDirectory()) return path
  const pointer = /^gitdir: (.+)$/m.exec((await readGitText(path)) ?? '')?.[1]
  return pointer === undefined ? null : resolve(top, pointer)
}

/** Whether a repository lists a folder as a work tree, instead of it only looking like one. */
export async function isLinkedTree(tree: {
  readonly top: string
  readonly gitFolder: string
  readonly commonFolder: string
}): Promise<boolean> {
  if (dirname(tree.gitFolder) !== join(tree.commonFolder, 'worktrees')) return false
  const pointer = await readGitText(join(tree.gitFolder, 'gitdir'))
  return pointer !== null && resolve(tree.gitFolder, pointer) === join(tree.top, '.git')
}

async function hasTreeChangedSince({ top, gitFolder }: OtherTree, time: number): Promise<boolean> {
  if (await isNewer(join(gitFolder, 'logs', 'HEAD'), time)) return true
  const waiting = [top]
  let seen = 0
  for (let folder = waiting.pop(); folder !== undefined && seen < maxEntries; folder = waiting.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    seen += entries.length
    for (const entry of entries) {
      if (passedOver.has(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else if (await isNewer(path, time)) return true
    }
  }
  return false
}

async function isNewer(path: string, time: number): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats !== null && stats.mtimeMs > time
}

/** The text of a small file of git; null if there is none. */
export async function readGitText(path: string): Promise<string | null> {
  return readRegular(path).then(
    (content) => content.toString('utf8').trim(),
    () => null,
  )
}
