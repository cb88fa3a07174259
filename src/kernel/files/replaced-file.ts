import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../failure.ts'
import {
  actInside,
  type ContainedPath,
  entryAt,
  fileRefusal,
  isSame,
  type PathRefusal,
  RefusedFolder,
  realPath,
} from './contained-file.ts'
import { closeFolder, makeFolderIn, type OpenFolder, openFolder } from './open-folder.ts'

/** A regular file, or a link with its target as content; the mode as git writes it. */
export interface ContainedEntry {
  readonly mode: '100644' | '100755' | '120000'
  readonly content: Uint8Array
}

/** The entry at a path now. */
export interface PresentEntry {
  readonly mode: ContainedEntry['mode']
  /** Of the mode and the content. */
  readonly hash: string
  /** Null if it is longer than asked for. */
  readonly content: Buffer | null
}

/** Reads what is at a path by its own names: no link is followed, the path itself included. Null for nothing. */
export function entryWithin(
  base: string,
  path: string,
  { maxBytes }: { readonly maxBytes: number },
): PresentEntry | null | PathRefusal {
  const found: { entry: PresentEntry | null | PathRefusal } = { entry: null }
  const done = actInside(base, path, openFolderOfTree, (folder, name) => {
    found.entry = presentEntry(`${folder.path}/${name}`, maxBytes)
    return undefined
  })
  if (!('reason' in done)) return found.entry
  if (done.detail === 'ENOTDIR') return { reason: 'below_file' }
  return done.reason === 'missing' ? null : done
}

/**
 * Writes an entry at a path by its own names, or removes it for null, if the one that is there still has the expected
 * hash: null for nothing. Atomic: the content is on the disk before it takes the name.
 */
export function replaceWithin(
  base: string,
  path: string,
  next: { readonly entry: ContainedEntry | null; readonly expected: string | null },
): ContainedPath | PathRefusal {
  const { entry, expected } = next
  const open = entry === null ? openFolderOfTree : makeFolderOfTree
  return actInside(base, path, open, (folder, name, place) => {
    const target = `${folder.path}/${name}`
    const draft = `${folder.path}/.waymark-${randomUUID()}.tmp`
    try {
      if (entry !== null) writeDraft(draft, entry, entryAt(target))
      const present = presentEntry(target, 0)
      if (present !== null && 'reason' in present) return present
      if ((present?.hash ?? null) !== expected) return { reason: 'changed' }
      // A folder of the path may have become a link meanwhile.
      if (realPath(folder.path) !== dirname(place.absolute)) return { reason: 'changed' }
      if (entry !== null) renameSync(draft, target)
      else if (present !== null) unlinkSync(target)
      return undefined
    } finally {
      rmSync(draft, { force: true })
    }
  })
}

/** Removes the folder at a path, and those above it inside the base, as long as they are empty. */
export function removeEmptyFolders(base: string, path: string): void {
  for (let at = path; at !== '' && at !== '.'; at = dirname(at)) {
    const removed = actInside(base, at, openFolderOfTree, (folder, name) => {
      rmdirSync(`${folder.path}/${name}`)
      return undefined
    })
    if ('reason' in removed) return
  }
}

/** Never into a repository inside the base: its files are its own. */
function openFolderOfTree(folder: OpenFolder, name: string): OpenFolder {
  return ownFolder(openFolder(`${folder.path}/${name}`))
}

function makeFolderOfTree(folder: OpenFolder, name: string): OpenFolder {
  return ownFolder(makeFolderIn(folder, name, 0o777))
}

function ownFolder(folder: OpenFolder): OpenFolder {
  if (entryAt(`${folder.path}/.git`) === undefined) return folder
  closeFolder(folder)
  throw new RefusedFolder('repository')
}

function presentEntry(path: string, maxBytes: number): PresentEntry | null | PathRefusal {
  const stats = entryAt(path)
  if (stats === undefined) return null
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(path, { encoding: 'buffer' })
    const hash = entryHash('120000').update(target).digest('hex')
    return { mode: '120000', hash, content: target }
  }
  const unfit = fileRefusal(stats, Number.POSITIVE_INFINITY)
  if (unfit !== null) return unfit
  const mode = stats.mode & 0o100 ? '100755' : '100644'
  const file = openSync(path, constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!isSame(fstatSync(file), stats)) return { reason: 'changed' }
    const hash = entryHash(mode)
    const kept: Buffer[] = []
    let size = 0
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes)
      const read = readSync(file, chunk, 0, chunkBytes, null)
      if (read === 0) break
      size += read
      hash.update(chunk.subarray(0, read))
      if (size <= maxBytes) kept.push(chunk.subarray(0, read))
    }
    return { mode, hash: hash.digest('hex'), content: size <= maxBytes ? Buffer.concat(kept) : null }
  } finally {
    closeSync(file)
  }
}

const chunkBytes = 256 * 1024

function entryHash(mode: ContainedEntry['mode']) {
  return createHash('sha256').update(`${mode}\0`)
}

function writeDraft(draft: string, { mode, content }: ContainedEntry, replaced: Stats | undefined): void {
  if (mode === '120000') {
    try {
      symlinkSync(Buffer.from(content), draft)
      return
    } catch (error) {
      // As git does where links are not allowed, it becomes a file.
      if (process.platform !== 'win32' || errorCode(error) !== 'EPERM') throw error
    }
  }
  const isExecutable = mode === '100755'
  // `wx` never follows a link at the name itself.
  const file = openSync(draft, 'wx', isExecutable ? 0o777 : 0o666)
  try {
    // Who may read the file stays the same.
    if (replaced?.isFile()) {
      const may = replaced.mode & 0o666
      fchmodSync(file, isExecutable ? may | ((may & 0o444) >> 2) : may)
    }
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
