import { hash } from 'node:crypto'
import { join } from 'node:path'
import { setNewest } from '../kernel/limited-map.ts'
import { isSecretFile } from '../kernel/secret-files.ts'
import {
  compareSnapshots,
  comparisonPlace,
  type Difference,
  isDifferentType,
  reconcileIgnored,
  type SnapshotPair,
} from './comparison.ts'
import { PackWriter } from './pack.ts'
import { type ChangedContent, type LineCount, parseNumstat, parsePatch, patchForm } from './patch.ts'
import { displayPath, nulRecords, type PathBytes, quotePath } from './paths.ts'
import type { OmittedFile, UnifiedDiff } from './ports/work-tree.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type GitEnvironment, git, gitFault, noGit, runGit } from './process.ts'
import { type DiskState, maxKeptFileBytes } from './recorded-state.ts'
import type { GitState } from './status.ts'
import { folderMode, formatOf, leavingNothingOut, treeObject } from './trees.ts'

/** The unified diff between two snapshots, of some paths when given. */
export async function unifiedDiff(
  span: SnapshotPair,
  environment: GitEnvironment,
  paths: readonly string[] | undefined,
): Promise<UnifiedDiff> {
  const place = comparisonPlace(span, environment)
  const compared = await compareSnapshots(span, place)
  const { differences } = reconcileIgnored(span, compared.values())
  const wanted = paths === undefined ? differences : await namePaths(place, differences, paths)
  if (wanted.length === 0) return { text: '', leftOut: [] }
  const diff = await diffContents(place, wanted, ['-p', '--no-color'])
  const secret = secretsAmong(wanted)
  const omitted = wanted
    .filter(({ path }) => diff === null || diff.without.has(path))
    .map((difference) => {
      const why = secret.has(difference.path) ? 'secret' : omissionReason(difference, diff === null)
      return { path: difference.path, why }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  return {
    text: (diff?.output.toString('utf8') ?? '') + omitted.map(withoutContent).join(''),
    leftOut: omitted.map(({ path, why }) => ({ path: displayPath(path), why })),
  }
}

function omissionReason({ before, after }: PathChange, isWithoutGit: boolean): OmittedFile['why'] {
  const states = [before, after].filter((state) => state !== null)
  if (states.some(({ mode }) => mode === '160000')) return 'repository'
  if (states.some(({ mode }) => !/^1[02]0/.test(mode))) return 'special'
  const unkept = states.filter(isContentMissing)
  if (unkept.length === 0) return isWithoutGit ? 'no_git' : 'no_longer_kept'
  const isLarge = unkept.some(({ oid, stat }) => oid === null || (stat?.size ?? 0) > maxKeptFileBytes)
  return isLarge ? 'too_large' : 'not_kept'
}

const leftOutWords = {
  secret: 'Secret file: its content is not shown',
  too_large: `Left out: too large, contents over ${maxKeptFileBytes / 1024 / 1024} MB are not kept`,
  not_kept: 'Left out: its content was not kept',
  no_longer_kept: 'Left out: its content is no longer kept',
  repository: 'Left out: another repository',
  special: 'Left out: not a regular file, it has no lines',
  no_git: 'Left out: git is not installed here',
} as const satisfies Record<OmittedFile['why'], string>

/** The entry of a file without content: its name and the reason. */
function withoutContent({
  path,
  why,
}: {
  readonly path: PathBytes
  readonly why: OmittedFile['why']
}): string {
  const names = [`a/${path}`, `b/${path}`].map((name) =>
    /^[ !#-[\]-~]*$/.test(name) ? name : quotePath(name),
  )
  return `diff --git ${names.join(' ')}\n${leftOutWords[why]}\n`
}

/** The differences of some paths, with both paths of a rename if one is named. */
async function namePaths(
  place: PrivateDirectory,
  differences: readonly Difference[],
  paths: readonly string[],
): Promise<readonly Difference[]> {
  // Callers have the names as they are displayed.
  const shown = new Set(paths)
  const chosen = differences.filter(({ path }) => shown.has(displayPath(path)))
  const isWhole = chosen.every(({ before, after }) => before !== null && after !== null)
  if (chosen.length === 0 || isWhole) return chosen
  const names = new Set(chosen.map(({ path }) => path))
  for (const { path, from } of (await changeDetails(place, differences)).details) {
    if (from === undefined || !(names.has(path) || names.has(from))) continue
    names.add(path)
    names.add(from)
  }
  return differences.filter(({ path }) => names.has(path))
}

/** The details of a changed path from git, which needs both of its states. */
export interface ChangeDetail {
  readonly path: PathBytes
  /** The old path of a rename. */
  readonly from?: PathBytes
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

export interface ChangeDetails {
  readonly details: readonly ChangeDetail[]
  /** Differences without content, for which only renames are known. */
  readonly uncounted: readonly Difference[]
}

/** Renames and line counts of changed paths. */
export async function changeDetails(
  place: PrivateDirectory,
  differences: readonly Difference[],
): Promise<ChangeDetails> {
  const { counted, without } = await countDiffLines(place, differences)
  const uncounted = differences.filter(({ path }) => without.has(path))
  const paired = [...pairEqualContents(uncounted)].map(([path, from]): ChangeDetail => {
    return { path, from, addedLines: null, deletedLines: null }
  })
  return { details: [...counted, ...paired], uncounted }
}

interface DiffCounts {
  readonly counted: readonly ChangeDetail[]
  readonly without: ReadonlySet<PathBytes>
}

async function countDiffLines(
  place: PrivateDirectory,
  differences: readonly Difference[],
): Promise<DiffCounts> {
  // The lines are usually needed too at the end of an attempt, so one git call serves both.
  if (!canBePatched(differences)) return numstat(place, differences)
  const { changed, without } = await patchesOf(place, differences)
  // That call treats large files as binary.
  const open = changed.filter(({ count }) => count == null)
  const names = new Set(open.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])))
  const rest =
    open.length === 0
      ? []
      : (
          await numstat(
            place,
            differences.filter(({ path }) => names.has(path)),
          )
        ).counted
  const left = new Map(rest.map((detail) => [detail.path, detail]))
  return {
    counted: changed.map(({ path, from, count }): ChangeDetail => {
      const { addedLines, deletedLines } = left.get(path) ?? linesIn(count)
      return { path, ...(from !== undefined && { from }), addedLines, deletedLines }
    }),
    without,
  }
}

async function numstat(place: PrivateDirectory, differences: readonly PathChange[]): Promise<DiffCounts> {
  const diff = await diffContents(place, differences, ['-z', '--numstat'])
  if (diff === null) return { counted: [], without: new Set(differences.map(({ path }) => path)) }
  const counted = parseNumstat(nulRecords(diff.output)).map(({ count, ...names }) => {
    return { ...names, ...linesIn(count) }
  })
  return { counted, without: diff.without }
}

function linesIn(count: LineCount | null | undefined): Pick<ChangeDetail, 'addedLines' | 'deletedLines'> {
  return { addedLines: count?.added ?? null, deletedLines: count?.deleted ?? null }
}

/** Whether the lines of these changes are read at once. */
export function canBePatched(differences: readonly PathChange[]): boolean {
  return differences.length <= maxPatched && differences.every(isOfFiles)
}

// A change of type has two patches.
function isOfFiles({ before, after }: PathChange): boolean {
  return [before, after].every((state) => state === null || state.mode.startsWith('100'))
}

export interface Patches {
  /** In the order of their paths. */
  readonly changed: readonly ChangedContent[]
  /** Paths whose content is gone or was not kept. */
  readonly without: ReadonlySet<PathBytes>
}

// For more files, reading the lines just to count them costs too much.
const maxPatched = 1_000
// Larger files count as binary.
export const textOnly = ['-c', 'core.bigFileThreshold=1m']

const patched = new Map<string, Promise<Patches>>()
const maxKept = 2

/**
 * The removed and added lines of changed files, with their counts. Two git processes share the work: only removed and
 * added files must stay together, to find renames.
 */
export function patchesOf(place: PrivateDirectory, compared: readonly PathChange[]): Promise<Patches> {
  const key = keyOf(place, compared)
  const cached = patched.get(key)
  if (cached !== undefined) return cached
  const forget = () => patched.delete(key)
  const pending = readPatches(place, compared, forget)
  pending.catch(forget)
  if (compared.length <= maxPatched) setNewest(patched, maxKept, key, pending)
  return pending
}

async function readPatches(
  place: PrivateDirectory,
  compared: readonly PathChange[],
  forget: () => void,
): Promise<Patches> {
  const parts = splitComparison(compared)
  const diffs = await Promise.all(
    parts.map((part) => diffContents(place, part, [...patchForm, '--numstat', '-U3'], textOnly)),
  )
  const changed = diffs.flatMap((diff) => (diff === null ? [] : parsePatch(diff.output)))
  const without = diffs.flatMap((diff, at) => [
    ...(diff?.without ?? parts[at]?.map(({ path }) => path) ?? []),
  ])
  if (diffs.some((diff) => (diff?.output.length ?? 0) > maxAnswerLength)) forget()
  if (parts.length > 1) changed.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { changed, without: new Set(without) }
}

// For fewer files, starting a process takes longer than its work.
const leastInPart = 30

function splitComparison(compared: readonly PathChange[]): readonly (readonly PathChange[])[] {
  const half = Math.floor(compared.length / 2)
  if (half < leastInPart) return [compared]
  const isEdit = ({ before, after }: PathChange) => before !== null && after !== null
  const edited = compared.filter(isEdit)
  const others = compared.filter((one) => !isEdit(one))
  const parts = [[...others, ...edited.slice(0, Math.max(0, half - others.length))]]
  parts.push(edited.slice(Math.max(0, half - others.length)))
  return parts.filter((part) => part.length > 0)
}

/** Pairs a removed file with an added one of equal content, among paths that git cannot compare. */
export function pairEqualContents(differences: readonly Difference[]): Map<PathBytes, PathBytes> {
  const gone = differences.filter(({ before, after }) => before?.oid != null && after === null)
  const come = differences.filter(({ before, after }) => before === null && after?.oid != null)
  const pairs = new Map<PathBytes, PathBytes>()
  const left = Map.groupBy(gone, ({ before }) => before?.oid ?? '')
  for (const sameName of [true, false]) {
    for (const { path, after } of come) {
      const sources = left.get(after?.oid ?? '') ?? []
      const at = sources.findIndex((source) => !sameName || nameOf(source.path) === nameOf(path))
      if (at < 0 || pairs.has(path)) continue
      const [source] = sources.splice(at, 1)
      if (source !== undefined) pairs.set(path, source.path)
    }
  }
  return pairs
}

function nameOf(path: PathBytes): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether a difference is a change of type, such as a file that became a link. */
export function isTypeChange({ before, after }: Difference): boolean {
  return before !== null && after !== null && isDifferentType(before, after)
}

/** A path with its states before and after. */
export type PathChange = Pick<Difference, 'path' | 'before' | 'after'>

export interface ContentDiff {
  readonly output: Buffer
  /** Paths whose content is gone or was not kept: the output leaves them out. */
  readonly without: ReadonlySet<PathBytes>
}

/** Runs git's diff of two trees that contain only the changed files. Null if there is no git. */
export async function diffContents(
  place: PrivateDirectory,
  differences: readonly PathChange[],
  form: readonly string[],
  settings: readonly string[] = [],
): Promise<ContentDiff | null> {
  const secret = secretsAmong(differences)
  const unkept = differences.filter(
    ({ path, before, after }) => secret.has(path) || isContentMissing(before) || isContentMissing(after),
  )
  const without = new Set(unkept.map(({ path }) => path))
  for (;;) {
    const usable = differences.filter(({ path }) => !without.has(path))
    if (usable.length === 0) return { output: Buffer.alloc(0), without }
    const { trees, finishWriting } = await treesOf(place, usable)
    const question = [
      ...settings,
      'diff-tree',
      '-r',
      '-M50%',
      ...leavingNothingOut,
      '--no-textconv',
      ...form,
      ...trees,
    ]
    const key = `${place.directory} ${question.join(' ')}`
    const output = answers.get(key)
    if (output !== undefined) return { output, without }
    await finishWriting()
    const call = privateCall(place)
    const result = await runGit(question, call)
    if (result.code === 0) {
      rememberAnswer(key, result.output)
      return { output: result.output, without }
    }
    if (result.code === noGit) return null
    // Some content was pruned or never fetched. Find out which, and leave it out.
    const missing = await pathsWithoutContent(place, usable)
    if (missing.length === 0) throw gitFault(question, result, call)
    for (const path of missing) without.add(path)
  }
}

/** Paths of secret files, and of files that a secret file was renamed to unchanged. */
export function secretsAmong(differences: readonly PathChange[]): ReadonlySet<PathBytes> {
  const secret = differences.filter(({ path }) => isSecretFile(displayPath(path)))
  const ids = new Set(
    secret.flatMap(({ before, after }) => (after === null ? before?.oid : null)).filter(isText),
  )
  const renamed = differences.filter(({ before, after }) => before === null && ids.has(after?.oid ?? ''))
  return new Set([...secret, ...renamed].map(({ path }) => path))
}

function isContentMissing(state: DiskState | null): boolean {
  return state !== null && (state.oid === null || state.unkept === true || state.mode === '160000')
}

// Keyed by the directory of the later snapshot: a mission with one task has the same diff as the task.
const answers = new Map<string, Buffer>()
const maxAnswers = 20
const maxAnswerLength = 256 * 1024

function rememberAnswer(key: string, output: Buffer): void {
  if (output.length > maxAnswerLength) return
  setNewest(answers, maxAnswers, key, output)
}

interface TreePair {
  readonly trees: readonly string[]
  /** Writes the trees, once. */
  readonly finishWriting: () => Promise<void>
}

// An attempt that worked alone, its lines and its mission all use the same trees.
const treePairs = new Map<string, Promise<TreePair>>()
const maxMade = 8

/** The trees of both sides. */
function treesOf(place: PrivateDirectory, differences: readonly PathChange[]): Promise<TreePair> {
  const key = keyOf(place, differences)
  const cached = treePairs.get(key)
  if (cached !== undefined) return cached
  const forget = () => treePairs.delete(key)
  const pending = makeTrees(place, differences, forget)
  pending.catch(forget)
  setNewest(treePairs, maxMade, key, pending)
  return pending
}

function keyOf({ directory }: PrivateDirectory, compared: readonly PathChange[]): string {
  const names = compared.map(({ path, before, after }) => {
    return `${before?.mode} ${before?.oid} ${before?.unkept} ${after?.mode} ${after?.oid} ${after?.unkept} ${path}\0`
  })
  return `${directory} ${hash('sha256', names.join(''))}`
}

async function makeTrees(
  place: PrivateDirectory,
  differences: readonly PathChange[],
  onFailure: () => void,
): Promise<TreePair> {
  const format = formatOf(differences.map(({ before, after }) => before?.oid ?? after?.oid)[0] ?? '')
  const pack = new PackWriter(join(place.directory, 'objects'), format)
  const trees: string[] = []
  for (const side of ['before', 'after'] as const) {
    const top: GitStateFolder = new Map()
    for (const difference of differences) {
      const state = difference[side]
      if (state?.oid != null)
        putInFolder(top, difference.path.split('/'), { mode: state.mode, oid: state.oid })
    }
    trees.push(await addTree(top, pack))
  }
  let writing: Promise<void> | null = null
  const finishWriting = () => {
    writing ??= pack.close().catch((error: unknown) => {
      onFailure()
      throw error
    })
    return writing
  }
  return { trees, finishWriting }
}

type GitStateFolder = Map<string, GitState | GitStateFolder>

function putInFolder(
  folder: GitStateFolder,
  [name = '', ...below]: readonly string[],
  state: GitState,
): void {
  if (below.length === 0) {
    folder.set(name, state)
    return
  }
  const existing = folder.get(name)
  const inside: GitStateFolder = existing instanceof Map ? existing : new Map()
  folder.set(name, inside)
  putInFolder(inside, below, state)
}

async function addTree(folder: GitStateFolder, pack: PackWriter): Promise<string> {
  const entries = new Map<PathBytes, GitState>()
  for (const [name, inside] of folder) {
    const state = inside instanceof Map ? { mode: folderMode, oid: await addTree(inside, pack) } : inside
    entries.set(name, state)
  }
  return pack.add(treeObject(entries))
}

async function pathsWithoutContent(
  place: PrivateDirectory,
  differences: readonly PathChange[],
): Promise<PathBytes[]> {
  const ids = new Set(differences.flatMap(({ before, after }) => [before?.oid, after?.oid]).filter(isText))
  const input = Buffer.from(`${[...ids].join('\n')}\n`)
  const output = await git(['cat-file', '--batch-check=%(objectname)', '--buffer'], privateCall(place, input))
  const lines = output.toString('latin1').split('\n')
  const missing = new Set(lines.filter((line) => line.endsWith(' missing')).map((line) => line.split(' ')[0]))
  return differences
    .filter(({ before, after }) => missing.has(before?.oid ?? '') || missing.has(after?.oid ?? ''))
    .map(({ path }) => path)
}

function isText(value: string | null | undefined): value is string {
  return value != null
}
