import { accessSync, constants, existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { blobId, type DiskFile } from './disk.ts'
import { readIndexFile } from './index-file.ts'
import { nulInput, onDisk, type PathBytes, quotePath } from './path-bytes.ts'
import { keepingCall, type PrivateDirectory, privateCall } from './private-directory.ts'
import { git, runGit } from './run-git.ts'
import type { GitState } from './status.ts'

/** A file on disk whose state must be found. */
export interface Candidate {
  readonly path: PathBytes
  readonly file: DiskFile
  readonly tracked: boolean
  /** What the index holds: git leaves line endings alone where the index has them already. */
  readonly index: GitState | null
}

export interface Tiers {
  /** Hashed, and the content kept for lines and renames. */
  readonly keep: readonly Candidate[]
  /** Hashed only. */
  readonly identify: readonly Candidate[]
  /** Too much to read: size and times stand for the content. */
  readonly glance: readonly Candidate[]
}

const megabyte = 1024 * 1024
const limits = {
  keptFile: 5 * megabyte,
  keptUntracked: { files: 2_000, bytes: 64 * megabyte },
  identified: { files: 50_000, bytes: 2048 * megabyte },
}

/** Shares out how closely each file is looked at. */
export function shareTiers(candidates: readonly Candidate[], mayKeep: boolean): Tiers {
  const keep: Candidate[] = []
  const identify: Candidate[] = []
  const glance: Candidate[] = []
  const kept = allowance(limits.keptUntracked)
  const identified = allowance(limits.identified)
  for (const candidate of candidates) {
    const { size } = candidate.file.stat
    if (mayKeep && size <= limits.keptFile && (candidate.tracked || kept(size))) keep.push(candidate)
    else if (identified(size)) identify.push(candidate)
    else glance.push(candidate)
  }
  return { keep, identify, glance }
}

/** States of the files whose content is kept, by a small index of these paths only. */
export async function hashAndKeep(
  place: PrivateDirectory,
  candidates: readonly Candidate[],
  { objectFormat, byIndex }: { readonly objectFormat: string; readonly byIndex: boolean },
): Promise<Map<PathBytes, GitState>> {
  if (candidates.length === 0) return new Map()
  const small = { ...place, index: join(place.directory, 'overlay.index') }
  const plain = ['-c', 'core.sparseCheckout=false', '-c', 'core.bigFileThreshold=1']
  const seeds = byIndex ? indexRecords(candidates) : []
  if (seeds.length > 0) {
    await git([...plain, 'update-index', '-z', '--index-info'], privateCall(small, nulInput(seeds)))
  }
  const add = [...plain, 'update-index', '-z', '--add', '--remove', '--replace', '--stdin']
  const paths = candidates.map(({ path }) => path)
  const added = await runGit(add, keepingCall(small, nulInput(paths)))
  // A file may not be readable, or have become shorter while git read it.
  if (added.code !== 0) await git(add, keepingCall(small, nulInput(readable(place.top, candidates))))
  const states = smallIndex(small.index, objectFormat)
  rmSync(small.index, { force: true })
  return states
}

function smallIndex(path: string, objectFormat: string): Map<PathBytes, GitState> {
  const states = new Map<PathBytes, GitState>()
  // Where every file has gone meanwhile, git writes no index at all.
  if (!existsSync(path)) return states
  const read = readIndexFile(readFileSync(path), objectFormat, (record) => {
    states.set(record.path, record.state())
  })
  if (!read) throw new Error(`git wrote ${path} in a version other than the one that it was told to.`)
  return states
}

/** Ids of files whose content is not kept. */
export async function hashOnly(
  place: PrivateDirectory,
  candidates: readonly Candidate[],
  objectFormat: string,
): Promise<Map<PathBytes, string>> {
  const links = candidates.filter(({ file }) => file.kind === 'link')
  const files = candidates.filter(({ file }) => file.kind === 'file')
  const known = readable(place.top, files)
  const ids = new Map<PathBytes, string>()
  for (const { path } of links) {
    ids.set(path, blobId(objectFormat, readlinkSync(onDisk(place.top, path), { encoding: 'buffer' })))
  }
  if (known.length === 0) return ids
  const input = Buffer.from(known.map((path) => `${quotePath(path)}\n`).join(''), 'latin1')
  const output = await git(['hash-object', '--stdin-paths'], privateCall(place, input))
  for (const [at, oid] of output.toString('latin1').trimEnd().split('\n').entries()) {
    const path = known[at]
    if (path !== undefined) ids.set(path, oid)
  }
  return ids
}

function indexRecords(candidates: readonly Candidate[]): string[] {
  return candidates.flatMap(({ path, index }) => {
    return index === null || index.mode === '160000' ? [] : [`${index.mode} ${index.oid}\t${path}`]
  })
}

function allowance(limit: { readonly files: number; readonly bytes: number }): (size: number) => boolean {
  let files = 0
  let bytes = 0
  return (size) => {
    if (files + 1 > limit.files || bytes + size > limit.bytes) return false
    files += 1
    bytes += size
    return true
  }
}

function readable(top: string, candidates: readonly Candidate[]): PathBytes[] {
  return candidates
    .filter(({ path, file }) => file.kind === 'link' || isReadable(top, path))
    .map(({ path }) => path)
}

function isReadable(top: string, path: PathBytes): boolean {
  try {
    accessSync(onDisk(top, path), constants.R_OK)
    return true
  } catch {
    return false
  }
}
