import { type Dirent, readdirSync, readFileSync, readSync, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { readRegular, withRegular } from '../kernel/files/regular-file.ts'
import type { OperationInProgress, ReflogPosition } from './recorded-state.ts'

export interface ReflogEntry {
  readonly from: string
  readonly to: string
  /** commit, merge, pull, checkout, rebase, reset, cherry-pick, revert, am … */
  readonly verb: string
  /** The bracketed part: `amend`, `initial`, `merge`, `start`, `pick`, `continue`, `finish`. */
  readonly detail: string
  readonly message: string
  /** Milliseconds since the epoch, to the second. */
  readonly movedAt: number
  /** Of a commit that a command made by copying another one: it certainly or perhaps existed before. */
  readonly existed?: 'before' | 'perhaps'
}

const remembered = 256

/** The current end of HEAD's reflog. Null if there is none. */
export function reflogPosition(path: string): ReflogPosition | null {
  return ifRegular(path, (file, { size }) => ({
    size,
    tail: slice(file, Math.max(0, size - remembered), size),
  }))
}

/** The entries between two positions. Null if unknown: there is no log, or it was rewritten. */
export function reflogBetween(
  path: string,
  from: ReflogPosition | null,
  to: ReflogPosition | null,
): ReflogEntry[] | null {
  if (to === null) return null
  const start = from ?? { size: 0, tail: '' }
  if (to.size < start.size) return null
  if (to.size === start.size && to.tail === start.tail) return []
  return ifRegular(path, (file) => {
    const before = slice(file, start.size - start.tail.length, start.size)
    return before === start.tail ? parseReflog(slice(file, start.size, to.size)) : null
  })
}

/** Parses lines of `logs/HEAD`: `<old> <new> <who> <seconds> <zone><tab><message>`. */
export function parseReflog(text: string): ReflogEntry[] {
  return text.split('\n').flatMap((line) => {
    const tab = line.indexOf('\t')
    const [from, to] = line.split(' ', 2)
    if (tab < 0 || from === undefined || to === undefined) return []
    const message = Buffer.from(line.slice(tab + 1), 'latin1').toString('utf8')
    const seconds = /(?<!\d)(\d+) [+-]\d{4}$/.exec(line.slice(0, tab))?.[1]
    return [{ from, to, ...parseAction(message), message, movedAt: Number(seconds ?? 0) * 1000 }]
  })
}

// `commit (amend): text`, `pull --rebase origin main (pick): text`, `merge topic: Fast-forward`, `am: text`.
function parseAction(message: string): { verb: string; detail: string } {
  const action = /^([^:]*?)(?: \(([a-z -]+)\))?(?::|$)/.exec(message)
  const words = (action?.[1] ?? '').split(' ')
  return { verb: words[0] ?? '', detail: action?.[2] ?? '' }
}

function ifRegular<T>(path: string, read: (file: number, stats: Stats) => T): T | null {
  try {
    return withRegular(path, read)
  } catch {
    return null
  }
}

function slice(file: number, from: number, to: number): string {
  const buffer = Buffer.alloc(Math.max(0, to - from))
  const length = readSync(file, buffer, 0, buffer.length, from)
  return buffer.subarray(0, length).toString('latin1')
}

/** The commits that the refs of a repository point to. */
export interface RefTips {
  readonly all: readonly string[]
  /** The tips of remote-tracking branches, which a fetch brought. */
  readonly remote: readonly string[]
  /** The newest stash. Missing without a stash, and in records of earlier versions. */
  readonly stash?: string
  /** All stashes, the newest first. Missing without one, and in records of earlier versions. */
  readonly stashes?: readonly string[]
}

/** More refs than this are not read. */
const maxRefs = 20_000

/** Reads loose and packed refs without starting git. Null if there are too many, or in another format. */
export async function readRefTips(commonFolder: string): Promise<RefTips | null> {
  const refs = await readRefs(commonFolder)
  if (refs === null) return null
  const remote = refs.filter(({ name }) => name.startsWith('refs/remotes/'))
  const stash = refs.find(({ name }) => name === 'refs/stash')?.tip
  const stashes = stash === undefined ? [] : await stashCommits(commonFolder)
  return {
    all: tipsOf(refs),
    remote: tipsOf(remote),
    ...(stash !== undefined && { stash }),
    ...(stashes.length > 0 && { stashes }),
  }
}

/** Packed refs, and the loose ones that replace them. Null if there are too many. */
export async function readRefs(commonFolder: string): Promise<readonly Ref[] | null> {
  const packed = parsePackedRefs(await textOf(join(commonFolder, 'packed-refs')))
  const loose = await looseRefs(commonFolder)
  if (loose === null || packed.length + loose.length > maxRefs) return null
  return [...packed, ...loose]
}

/** The branch that a remote calls its default, as a full ref; null if it is not known here. */
export async function remoteDefault(commonFolder: string, remote: string): Promise<string | null> {
  const text = await textOf(join(commonFolder, 'refs', 'remotes', remote, 'HEAD'))
  return /^ref: (refs\/remotes\/\S+)\s*$/.exec(text)?.[1] ?? null
}

const maxStashes = 20

async function stashCommits(commonFolder: string): Promise<readonly string[]> {
  const entries = parseReflog(await textOf(join(commonFolder, 'logs', 'refs', 'stash')))
  return entries
    .slice(-maxStashes)
    .map(({ to }) => to)
    .reverse()
}

export interface Ref {
  readonly name: string
  readonly tip: string
}

/** `<oid> <name>` per line; `^<oid>` is the target of the tag before it. */
export function parsePackedRefs(text: string): readonly Ref[] {
  return text.split('\n').flatMap((line) => {
    const [tip = '', name = ''] = line.split(' ')
    if (/^[0-9a-f]{40,64}$/.test(tip) && name !== '') return [{ name, tip }]
    return /^\^[0-9a-f]{40,64}$/.test(tip) ? [{ name: '', tip: tip.slice(1) }] : []
  })
}

async function looseRefs(commonFolder: string): Promise<readonly Ref[] | null> {
  const refs: Ref[] = []
  let seen = 0
  const folders = ['refs']
  // Grows while it is walked through.
  for (const folder of folders) {
    for (const entry of entriesIn(join(commonFolder, folder))) {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(name)
      if (!entry.isFile()) continue
      seen += 1
      if (seen > maxRefs) return null
      // Others are answered meanwhile.
      if (seen % 100 === 0) await setImmediate()
      const text = ifRegular(join(commonFolder, name), (file) => readFileSync(file, 'latin1'))
      const tip = (text ?? '').trim()
      if (/^[0-9a-f]{40,64}$/.test(tip)) refs.push({ name, tip })
    }
  }
  return refs
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** How coarse the times of files may be, in milliseconds. */
const fileTimeStep = 2_000

/**
 * Whether a branch or a tag may have moved since a time, other than to `tip`, without starting git: always true
 * where there are other work trees. What a fetch or a stash moves does not count.
 */
export async function mayRefsHaveMoved(gitFolder: string, since: number, tip: string): Promise<boolean> {
  const isNew = async (name: string, from = since - fileTimeStep) => {
    const found = await stat(join(gitFolder, name)).catch(() => null)
    return found !== null && Math.max(found.mtimeMs, found.ctimeMs) >= from
  }
  // Refs in a format that only git reads, and heads of other work trees.
  const outside = ['reftable', 'commondir', 'worktrees'].map((name) => isNew(name, 0))
  if ((await Promise.all([...outside, isNew('packed-refs')])).includes(true)) return true
  const loose = await looseRefs(gitFolder)
  if (loose === null) return true
  const others = loose.filter(
    (ref) => ref.tip !== tip && ref.name !== 'refs/stash' && !ref.name.startsWith('refs/remotes/'),
  )
  return (await Promise.all(others.map(({ name }) => isNew(name)))).includes(true)
}

function tipsOf(refs: readonly Ref[]): readonly string[] {
  return [...new Set(refs.map(({ tip }) => tip))]
}

async function textOf(path: string): Promise<string> {
  return readRegular(path).then(
    (content) => content.toString('latin1'),
    () => '',
  )
}

const marks = [
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['BISECT_LOG', 'bisect'],
] as const

/** The operation in progress, such as a merge or a rebase. */
export async function operationInProgress(gitFolder: string): Promise<OperationInProgress | null> {
  // List the folder once: nearly always none of the files exists, and six failing reads are slower.
  const names = new Set(entriesIn(gitFolder).map(({ name }) => name))
  const present = marks.map(([file]) => names.has(file))
  // A rebase that stops at a conflict leaves CHERRY_PICK_HEAD as well; the rebase is what is in progress.
  const name = present[3] || present[4] ? 'rebase' : marks.find((_, at) => present[at])?.[1]
  if (name === undefined) return null
  if (name === 'merge') return { name, commits: await readHeads(gitFolder, 'MERGE_HEAD') }
  const picked = await Promise.all(
    ['CHERRY_PICK_HEAD', 'REBASE_HEAD'].map((file) => readHeads(gitFolder, file)),
  )
  return { name, commits: [], picked: picked.flat() }
}

async function readHeads(gitFolder: string, file: string): Promise<string[]> {
  const text = await readRegular(join(gitFolder, file)).then(String, () => '')
  return text.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line))
}
