import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFromState } from '../kernel/files/state-folder.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { setNewest } from '../kernel/limited-map.ts'
import { quoteAlternate } from './private-directory.ts'
import { type GitCall, type GitEnvironment, GitError, git, noGit, runGit } from './process.ts'
import { loadState, type WorkTreeState } from './recorded-state.ts'

/**
 * The contents and trees of a project's snapshots, each stored once, in a folder of git objects for each format.
 * Unreferenced objects are first put aside and removed a day later, so that a snapshot that another process takes
 * meanwhile loses nothing.
 */
const folderName = 'contents'
const aside = '-aside'
const oneDay = 24 * 60 * 60 * 1000
const anHour = 60 * 60 * 1000

const megabyte = 1024 * 1024

/** Over this size, contents of further files are not kept. In bytes. */
export const contentBudget = 1024 * megabyte

// Rewriting pays off only for this many bytes, or for so many packs that finding an object takes long.
const worthwhile = { bytes: megabyte, share: 0.1, packs: 20 }

/** The folder for contents of one format; created if missing. */
export function contentsFolder(stateFolder: string, objectFormat: string): string {
  const folder = join(stateFolder, folderName, objectFormat)
  mkdirSync(join(folder, 'pack'), { recursive: true, mode: 0o700 })
  return folder
}

/** The folders to search for an object: one that was put aside may still be needed. */
export function contentPlaces(contents: string | undefined): string[] {
  return contents === undefined ? [] : [contents, `${contents}${aside}`]
}

/** The size of the kept contents on disk, in bytes. */
export function countStoredBytes(folder: string): number {
  let bytes = 0
  for (const name of readdirSync(join(folder, 'pack'))) {
    bytes += statSync(join(folder, 'pack', name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}

/** The size of the kept contents of every format, in bytes. */
export function storedBytes(stateFolder: string): number {
  const root = join(stateFolder, folderName)
  const formats = existsSync(root) ? readdirSync(root).filter((name) => /^sha(1|256)$/.test(name)) : []
  return formats.reduce((sum, format) => sum + countStoredBytes(join(root, format)), 0)
}

/** A git call on the kept contents only. */
function contentsCall(
  folder: string,
  around: { readonly directory: string; readonly environment: GitEnvironment; readonly also?: string[] },
  input?: Buffer,
): GitCall {
  return {
    folder,
    environment: {
      ...around.environment,
      GIT_DIR: around.directory,
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: (around.also ?? []).map(quoteAlternate).join(':'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
    ...(input === undefined ? {} : { input }),
  }
}

export interface ContentsSweep {
  readonly stateFolder: string
  /** The folder of the snapshots, all of which count. */
  readonly snapshots: string
  readonly environment: GitEnvironment
  readonly now: number
}

/** Puts unreferenced objects aside, and removes those that were put aside a day ago. */
export async function sweepContents(sweep: ContentsSweep): Promise<void> {
  const root = join(sweep.stateFolder, folderName)
  const formats = (await readdir(root).catch(() => [])).filter((name) => /^sha(1|256)$/.test(name))
  for (const format of formats) {
    const lock = join(root, `${format}.lock`)
    const locked = await stat(lock).catch(() => null)
    if (locked !== null && sweep.now - locked.mtimeMs > anHour) removeFromState(sweep.stateFolder, lock)
    if (!(await makeFolderIfMissing(lock))) continue
    try {
      await sweepFormat(join(root, format), sweep)
    } catch (error) {
      // Without git nothing changes.
      if (!(error instanceof GitError && error.code === noGit)) throw error
    } finally {
      removeFromState(sweep.stateFolder, lock)
    }
  }
}

async function makeFolderIfMissing(path: string): Promise<boolean> {
  return mkdir(path).then(
    () => true,
    () => false,
  )
}

async function sweepFormat(folder: string, sweep: ContentsSweep): Promise<void> {
  const named = await namedObjects(folder, sweep)
  // A snapshot is being taken, and its objects are not known yet.
  if (named === null) return
  const { environment, now } = sweep
  const put = `${folder}${aside}`
  await mkdir(join(put, 'pack'), { recursive: true, mode: 0o700 })
  const around = { directory: named.directory, environment }
  const oldPacks = await packsIn(folder)
  const here = await objectSizes(folder, around)
  const there = await objectSizes(put, around)
  const wanted = await withTrees(folder, named, { ...around, also: [put] })
  const all = sum(here.values())
  const idle = sum([...here].filter(([oid]) => !wanted.has(oid)).map(([, size]) => size))
  const returning = [...there.keys()].some((oid) => wanted.has(oid) && !here.has(oid))
  const isWorthwhile = idle >= worthwhile.bytes && idle >= all * worthwhile.share
  if (isWorthwhile || returning || oldPacks.length > worthwhile.packs) {
    const staying = [...wanted].filter((oid) => here.has(oid) || there.has(oid))
    const written = staying.length === 0 ? '' : await writePack(folder, staying, { ...around, also: [put] })
    for (const pack of oldPacks) {
      if (pack !== `pack-${written}`) await movePackAside(pack, { from: folder, to: put, now })
    }
  }
  await removeOld(join(put, 'pack'), sweep)
  await removeOld(join(folder, 'pack'), sweep, /^tmp_/)
}

interface StoredObjects {
  readonly blobs: ReadonlySet<string>
  readonly trees: ReadonlySet<string>
  /** A private directory that git can be started in. */
  readonly directory: string
}

// Null if unknown: a snapshot is being taken, or there is none.
async function namedObjects(
  folder: string,
  { snapshots, now }: ContentsSweep,
): Promise<StoredObjects | null> {
  const blobs = new Set<string>()
  const trees = new Set<string>()
  let directory: string | null = null
  for (const name of await readdir(snapshots).catch(() => [])) {
    const place = join(snapshots, name)
    const state = await loadState(place)
    if (state === null) {
      const begun = await stat(join(place, 'HEAD')).catch(() => null)
      if (begun !== null && now - begun.mtimeMs < oneDay) return null
      continue
    }
    directory = place
    for (const { contents, tree, overlay } of state.repositories) {
      if (contents !== folder) continue
      trees.add(tree)
      for (const { disk } of overlay.values()) {
        if (disk?.oid != null && disk.unkept === undefined) blobs.add(disk.oid)
      }
    }
  }
  // Without a snapshot there is no directory to run git in, and nothing is referenced.
  if (directory === null) return null
  return { blobs, trees, directory }
}

type ContentsCallOptions = Parameters<typeof contentsCall>[1]

async function objectSizes(folder: string, around: ContentsCallOptions): Promise<Map<string, number>> {
  const question = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objectsize:disk)']
  const lines = (await git(question, contentsCall(folder, around))).toString('latin1').split('\n')
  return new Map(
    lines.filter(Boolean).map((line) => {
      const [oid = '', size = '0'] = line.split(' ')
      return [oid, Number(size)] as const
    }),
  )
}

async function withTrees(
  folder: string,
  { blobs, trees }: StoredObjects,
  around: ContentsCallOptions,
): Promise<Set<string>> {
  const wanted = new Set(blobs)
  const present = await git(
    ['cat-file', '--batch-check=%(objectname)', '--buffer'],
    contentsCall(folder, around, Buffer.from([...trees, ''].join('\n'))),
  )
  const presentTrees = present
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('missing'))
  if (presentTrees.length === 0) return wanted
  const question = ['rev-list', '--objects', '--filter=blob:none', '--no-object-names', '--stdin']
  const listed = await git(
    [...question, '--missing=allow-any'],
    contentsCall(folder, around, Buffer.from([...presentTrees, ''].join('\n'))),
  )
  for (const oid of listed.toString('latin1').split('\n')) if (oid !== '') wanted.add(oid)
  return wanted
}

/** Writes objects into one pack of a folder, and returns the pack's name. */
async function writePack(
  folder: string,
  oids: readonly string[],
  around: ContentsCallOptions,
): Promise<string> {
  const input = Buffer.from([...oids, ''].join('\n'))
  const target = join(folder, 'pack/pack')
  const output = await git(['pack-objects', '-q', '--window=0', target], contentsCall(folder, around, input))
  return output.toString('latin1').trim()
}

/** The objects that a folder does not have. */
async function missingObjects(
  folder: string,
  oids: readonly string[],
  around: ContentsCallOptions,
): Promise<string[]> {
  const question = ['cat-file', '--batch-check=%(objectname)', '--buffer']
  const output = await git(question, contentsCall(folder, around, Buffer.from([...oids, ''].join('\n'))))
  return output
    .toString('latin1')
    .split('\n')
    .flatMap((line) => (line.endsWith(' missing') ? [line.slice(0, line.indexOf(' '))] : []))
}

/** The names of a folder's packs. */
async function packsIn(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'pack'))
  return names.filter((name) => name.endsWith('.idx')).map((name) => name.slice(0, -'.idx'.length))
}

async function movePackAside(
  pack: string,
  { from, to, now }: { readonly from: string; readonly to: string; readonly now: number },
): Promise<void> {
  const endings = (await readdir(join(from, 'pack'))).filter((name) => name.startsWith(`${pack}.`))
  // Move the index last: it implies that the pack exists.
  for (const name of endings.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
    const target = join(to, 'pack', name)
    await rename(join(from, 'pack', name), target)
    await utimes(target, now / 1000, now / 1000)
  }
}

async function removeOld(
  folder: string,
  { stateFolder, now }: Pick<ContentsSweep, 'stateFolder' | 'now'>,
  which = /./,
): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => null)
    if (stats !== null && stats.mtimeMs <= now - oneDay && which.test(name))
      removeFromState(stateFolder, path)
  }
}

function sum(sizes: Iterable<number>): number {
  let total = 0
  for (const size of sizes) total += size
  return total
}

/**
 * Keeps the trees of a snapshot's HEADs among the kept contents, so that the comparison survives a pruned or deleted
 * repository. Runs after the answer; without it the comparison still works while the commit exists.
 */
export async function keepBaseline(state: WorkTreeState, environment: GitEnvironment): Promise<void> {
  for (const { directory, objects, head, tree, contents } of state.repositories) {
    if (head === null || contents === undefined) continue
    const key = JSON.stringify([contents, tree, objects])
    const pending = keeping.get(key) ?? holdTree(tree, contents, { directory, environment, objects })
    keeping.set(key, pending)
    await pending.finally(() => keeping.delete(key))
  }
}

// What is being kept now: an attempt that ends soon after its start often has the same tree as there.
const keeping = new Map<string, Promise<void>>()

interface KeptRepository {
  readonly directory: string
  readonly environment: GitEnvironment
  readonly objects: string
}

async function holdTree(tree: string, contents: string, repository: KeptRepository): Promise<void> {
  if (isHeld(contents, tree)) return
  const before = await packsIn(contents)
  // Where nothing is kept yet, git need not list the kept objects.
  if (await keepTree(tree, contents, { ...repository, isEmpty: before.length === 0 })) {
    await recordHeldTree(contents, tree, before)
  }
}

async function keepTree(
  tree: string,
  contents: string,
  { objects, isEmpty, ...around }: KeptRepository & { readonly isEmpty: boolean },
): Promise<boolean> {
  // A tree is kept with all of its content, or not at all.
  if (!isEmpty && (await missingObjects(contents, [tree], around)).length === 0) return true
  const reading = { ...around, also: [objects] }
  const question = ['rev-list', '--objects', '--filter=blob:none', '--no-object-names', tree]
  const listed = await runGit(question, contentsCall(contents, reading))
  if (listed.code !== 0) return false
  const oids = listed.output.toString('latin1').split('\n').filter(Boolean)
  const missing = isEmpty ? oids : await missingObjects(contents, oids, around)
  await writePack(contents, missing, reading)
  return true
}

const maxHeld = 200

// The packs that existed when a tree was kept, by folder and tree. While all of them exist, so does the tree.
const held = new Map<string, readonly string[]>()

function isHeld(contents: string, tree: string): boolean {
  const packs = held.get(`${contents} ${tree}`)
  return packs?.every((pack) => existsSync(join(contents, 'pack', `${pack}.idx`))) ?? false
}

async function recordHeldTree(contents: string, tree: string, before: readonly string[]): Promise<void> {
  const packs = await packsIn(contents)
  // Contents were swept meanwhile.
  if (!before.every((pack) => packs.includes(pack))) return
  setNewest(held, maxHeld, `${contents} ${tree}`, packs)
}

/** Removes private directories that are unreferenced and older than 24 hours. Returns how many. */
export async function sweepDirectories(
  { stateFolder, snapshots, now }: Pick<ContentsSweep, 'stateFolder' | 'snapshots' | 'now'>,
  keep: ReadonlySet<string>,
): Promise<number> {
  const names = await readdir(snapshots).catch(() => [])
  let removed = 0
  for (const name of names) {
    const directory = join(snapshots, name)
    if (keep.has(directory)) continue
    const stats = await stat(directory).catch(() => null)
    if (stats === null || now - stats.mtimeMs < oneDay) continue
    if (removeFromState(stateFolder, directory)) removed += 1
    await yieldToEventLoop()
  }
  return removed
}
