import { join } from 'node:path'
import {
  compareSnapshots,
  comparisonPlace,
  type Difference,
  reconcileIgnored,
  type Span,
  typeDiffers,
} from './comparison.ts'
import { PackWriter } from './pack.ts'
import { nulRecords, type PathBytes, pathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type Environment, git, gitFault, noGit, runGit } from './process.ts'
import type { DiskState } from './recorded-state.ts'
import type { GitState } from './status.ts'
import { folderMode, formatOf, treeObject } from './trees.ts'

/** The unified diff between two snapshots, of some paths when given. Null when the contents are gone. */
export async function unifiedDiff(
  span: Span,
  environment: Environment,
  paths: readonly string[] | undefined,
): Promise<string | null> {
  const place = comparisonPlace(span, environment)
  const compared = await compareSnapshots(span, place)
  const { differences } = reconcileIgnored(span, compared.values())
  const wanted = paths === undefined ? differences : await named(place, differences, paths)
  if (wanted.length === 0) return ''
  const found = await diffContents(place, wanted, ['-p', '--no-color'])
  return found?.output.toString('utf8') ?? null
}

/** The differences of some paths, with both ends of a rename where one of them is named. */
async function named(
  place: PrivateDirectory,
  differences: readonly Difference[],
  paths: readonly string[],
): Promise<readonly Difference[]> {
  const names = new Set(paths.map(pathBytes))
  const chosen = differences.filter(({ path }) => names.has(path))
  const isWhole = chosen.every(({ before, after }) => before !== null && after !== null)
  if (chosen.length === 0 || isWhole) return chosen
  for (const { path, from } of (await changeDetails(place, differences)).details) {
    if (from === undefined || !(names.has(path) || names.has(from))) continue
    names.add(path)
    names.add(from)
  }
  return differences.filter(({ path }) => names.has(path))
}

/** What git says of a changed path once it can read both of its states. */
export interface ChangeDetail {
  readonly path: PathBytes
  /** The old path of a rename. */
  readonly from?: PathBytes
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

export interface ChangeDetails {
  readonly details: readonly ChangeDetail[]
  /** Those whose content is gone or was not kept, of which nothing but a rename is told. */
  readonly uncounted: readonly Difference[]
}

/** Renames and line counts of changed paths. */
export async function changeDetails(
  place: PrivateDirectory,
  differences: readonly Difference[],
): Promise<ChangeDetails> {
  const found = await diffContents(place, differences, ['-z', '--numstat'])
  const uncounted = differences.filter(({ path }) => found === null || found.without.has(path))
  const counted = found === null ? [] : parseNumstat(nulRecords(found.output))
  const paired = [...pairEqualContents(uncounted)].map(([path, from]): ChangeDetail => {
    return { path, from, addedLines: null, deletedLines: null }
  })
  return { details: [...counted, ...paired], uncounted }
}

/** Parses `--numstat -z`: `added<tab>deleted<tab>path`, or an empty path followed by the old and the new one. */
export function parseNumstat(records: readonly string[]): ChangeDetail[] {
  const details: ChangeDetail[] = []
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? ''
    const [added = '', deleted = ''] = record.split('\t', 2)
    const path = record.slice(added.length + deleted.length + 2)
    const lines = { addedLines: count(added), deletedLines: count(deleted) }
    if (path !== '') details.push({ path, ...lines })
    else {
      details.push({ path: records[at + 2] ?? '', from: records[at + 1] ?? '', ...lines })
      at += 2
    }
  }
  return details
}

function count(text: string): number | null {
  return text === '-' ? null : Number(text)
}

/** Pairs a file that went with one that came, of equal content, among paths that git cannot compare. */
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
export function changesType({ before, after }: Difference): boolean {
  return before !== null && after !== null && typeDiffers(before, after)
}

interface ContentDiff {
  readonly output: Buffer
  /** Paths whose content is gone or was not kept: they are no part of the output. */
  readonly without: ReadonlySet<PathBytes>
}

/** Asks git for the difference of two trees that hold what changed and nothing else. Null where no content is there. */
async function diffContents(
  place: PrivateDirectory,
  differences: readonly Difference[],
  form: readonly string[],
): Promise<ContentDiff | null> {
  const unkept = differences.filter(({ before, after }) => isUnkept(before) || isUnkept(after))
  const without = new Set(unkept.map(({ path }) => path))
  for (;;) {
    const usable = differences.filter(({ path }) => !without.has(path))
    if (usable.length === 0) return null
    const { trees, pack } = await treesOf(place, usable)
    const question = ['diff-tree', '-r', '-M50%', '--no-ext-diff', '--no-textconv', ...form, ...trees]
    const key = `${place.directory} ${question.join(' ')}`
    const known = answers.get(key)
    if (known !== undefined) return { output: known, without }
    await pack.close()
    const call = privateCall(place)
    const result = await runGit(question, call)
    if (result.code === 0) {
      rememberAnswer(key, result.output)
      return { output: result.output, without }
    }
    if (result.code === noGit) return null
    // Some content was pruned or never fetched. Ask which, and leave it out.
    const missing = await pathsWithoutContent(place, usable)
    if (missing.length === 0) throw gitFault(question, result, call)
    for (const path of missing) without.add(path)
  }
}

function isUnkept(state: DiskState | null): boolean {
  return state !== null && (state.oid === null || state.unkept === true || state.mode === '160000')
}

// By the directory of the later snapshot: of a mission's only task both differences are the same.
const answers = new Map<string, Buffer>()
const mostAnswers = 20
const longestAnswer = 256 * 1024

function rememberAnswer(key: string, output: Buffer): void {
  if (output.length > longestAnswer) return
  answers.set(key, output)
  const [oldest] = answers.keys()
  if (answers.size > mostAnswers && oldest !== undefined) answers.delete(oldest)
}

/** The trees of both sides, and the pack that they are to be written with. */
async function treesOf(
  place: PrivateDirectory,
  differences: readonly Difference[],
): Promise<{ readonly trees: readonly string[]; readonly pack: PackWriter }> {
  const format = formatOf(differences.map(({ before, after }) => before?.oid ?? after?.oid)[0] ?? '')
  const pack = new PackWriter(join(place.directory, 'objects'), format)
  const trees: string[] = []
  for (const side of ['before', 'after'] as const) {
    const top: Folder = new Map()
    for (const difference of differences) {
      const state = difference[side]
      if (state?.oid != null) put(top, difference.path.split('/'), { mode: state.mode, oid: state.oid })
    }
    trees.push(await addTree(top, pack))
  }
  return { trees, pack }
}

type Folder = Map<string, GitState | Folder>

function put(folder: Folder, [name = '', ...below]: readonly string[], state: GitState): void {
  if (below.length === 0) {
    folder.set(name, state)
    return
  }
  const found = folder.get(name)
  const inside: Folder = found instanceof Map ? found : new Map()
  folder.set(name, inside)
  put(inside, below, state)
}

async function addTree(folder: Folder, pack: PackWriter): Promise<string> {
  const entries = new Map<PathBytes, GitState>()
  for (const [name, inside] of folder) {
    const state = inside instanceof Map ? { mode: folderMode, oid: await addTree(inside, pack) } : inside
    entries.set(name, state)
  }
  return pack.add(treeObject(entries))
}

async function pathsWithoutContent(
  place: PrivateDirectory,
  differences: readonly Difference[],
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
