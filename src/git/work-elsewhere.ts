import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { WorkElsewhere } from '../track/domain/changes.ts'
import { mayRefsHaveMoved } from './git-folder.ts'
import { uncommittedPaths } from './linked-trees.ts'
import { namesOfCommits } from './origin.ts'
import { gitFolderOf, otherTreeTops } from './other-work-trees.ts'
import { diskPath, displayPath, nulRecords, type PathBytes, pathBytes } from './paths.ts'
import type { PastWork, SnapshotRef } from './ports/work-tree.ts'
import { type GitEnvironment, runGit } from './process.ts'

const maxCommits = 500
const maxTrees = 20
const maxPaths = 5_000

/** Commits that are not in a snapshot's HEAD, and the changed files of other work trees, since a time. */
export async function workElsewhere(
  place: SnapshotRef,
  { since, past }: { readonly since: number; readonly past: readonly PastWork[] },
  environment: GitEnvironment,
): Promise<WorkElsewhere> {
  if (place.engine !== 'git') return { commits: 0, paths: [] }
  const [trees, ...found] = await Promise.all([
    otherTreeTops(place.top),
    recentCommits(place, since, environment),
    ...past.map(({ head, from, until }) => recentCommits({ ...place, id: head }, from, environment, until)),
  ])
  const commits = [...new Set(found.flat())]
  const [committed, ...edited] = await Promise.all([
    pathsOfCommits(commits, place, environment),
    ...trees.slice(0, maxTrees).map((top) => editedSince(top, since, environment)),
  ])
  const paths = [...new Set([...committed, ...edited.flat()])].slice(0, maxPaths)
  return { commits: commits.length, paths: paths.map(displayPath) }
}

/** Commits of all branches and work trees, without those that were fetched or stashed. */
async function recentCommits(
  { top, id }: SnapshotRef,
  since: number,
  environment: GitEnvironment,
  until?: number,
): Promise<readonly string[]> {
  const folder = await gitFolderOf(top)
  if (folder !== null && !(await mayRefsHaveMoved(folder, since, id))) return []
  const own = /^[0-9a-f]{40,64}$/.test(id) ? ['--not', id] : []
  const question = [
    'rev-list',
    `--max-count=${maxCommits}`,
    `--max-age=${Math.floor(since / 1000)}`,
    ...(until === undefined ? [] : [`--min-age=${Math.floor(until / 1000)}`]),
    '--exclude=refs/remotes/*',
    '--exclude=refs/stash',
    '--all',
    ...own,
    '--',
  ]
  const { code, output } = await runGit(question, { folder: top, environment, onlyReads: true })
  return code === 0 ? output.toString('latin1').split('\n').filter(Boolean) : []
}

async function pathsOfCommits(
  commits: readonly string[],
  { top }: SnapshotRef,
  environment: GitEnvironment,
): Promise<readonly PathBytes[]> {
  if (commits.length === 0) return []
  const input = Buffer.from(commits.map((commit) => `${commit}\n`).join(''), 'latin1')
  const call = { folder: top, environment, input, onlyReads: true } as const
  const { code, output } = await runGit([...namesOfCommits, '--no-commit-id'], call)
  return code === 0 ? nulRecords(output) : []
}

/** Those of some paths in a work tree that were written or deleted after a time. */
export async function writtenSince(
  top: string,
  time: number,
  paths: readonly string[],
): Promise<readonly string[]> {
  const written = await Promise.all(
    paths.map(async (path) => ((await isNewer(diskPath(top, pathBytes(path)), time)) ? [path] : [])),
  )
  return written.flat()
}

async function editedSince(
  top: string,
  since: number,
  environment: GitEnvironment,
): Promise<readonly PathBytes[]> {
  const paths = (await uncommittedPaths(top, environment)) ?? []
  const edited = await Promise.all(
    paths.slice(0, maxPaths).map(async (path) => ((await isNewer(diskPath(top, path), since)) ? [path] : [])),
  )
  return edited.flat()
}

/** Of a deleted file, its folder shows the time. */
async function isNewer(path: string | Buffer, time: number): Promise<boolean> {
  const stats = await lstat(path).catch(() => lstat(dirname(path.toString())).catch(() => null))
  return stats === null || Math.max(stats.mtimeMs, stats.ctimeMs) > time
}
