import { randomBytes } from 'node:crypto'
import {
  compareSnapshots,
  comparisonPlace,
  type Difference,
  reconcileIgnored,
  type Span,
  typeDiffers,
} from './comparison.ts'
import { nulRecords, type PathBytes, pathBytes, quotePath } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type Environment, git, runGit } from './process.ts'
import type { DiskState } from './recorded-state.ts'

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
  const commits = await writeChangeCommits(place, wanted)
  if (commits.without.size === wanted.length) return null
  const question = ['diff-tree', '-r', '-p', '-M50%', '--no-color', '--no-ext-diff', '--no-textconv']
  const output = await git([...question, commits.before, commits.after], privateCall(place))
  return output.toString('utf8')
}

/** The differences of some paths, with both ends of a rename where one of them is named. */
async function named(
  place: Parameters<typeof writeChangeCommits>[0],
  differences: readonly Difference[],
  paths: readonly string[],
): Promise<readonly Difference[]> {
  const names = new Set(paths.map(pathBytes))
  const chosen = differences.filter(({ path }) => names.has(path))
  const isWhole = chosen.every(({ before, after }) => before !== null && after !== null)
  if (chosen.length === 0 || isWhole) return chosen
  const details = await changeDetails(place, await writeChangeCommits(place, differences))
  for (const { path, from } of details) {
    if (from === undefined || !(names.has(path) || names.has(from))) continue
    names.add(path)
    names.add(from)
  }
  return differences.filter(({ path }) => names.has(path))
}

/** What git says of a changed path once both of its states are in commits. */
export interface ChangeDetail {
  readonly path: PathBytes
  /** The old path of a rename. */
  readonly from?: PathBytes
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

/** The two commits that hold only what changed. */
export interface ChangeCommits {
  readonly before: string
  readonly after: string
  /** Paths whose content is gone or was not kept: they are in neither commit. */
  readonly without: ReadonlySet<PathBytes>
}

/** Puts the changed paths, as they were and as they are, into two commits in the private directory. */
export async function writeChangeCommits(
  place: PrivateDirectory,
  differences: readonly Difference[],
): Promise<ChangeCommits> {
  const unkept = differences.filter(({ before, after }) => isUnkept(before) || isUnkept(after))
  const without = new Set(unkept.map(({ path }) => path))
  const first = await importCommits(place, differences, without)
  if (first !== null) return { ...first, without }
  // Some content was pruned or never fetched. Ask which, and leave it out.
  for (const path of await pathsWithoutContent(place, differences)) without.add(path)
  const second = await importCommits(place, differences, without)
  if (second === null) throw new Error('git fast-import refused contents that git cat-file has found.')
  return { ...second, without }
}

/** Renames and line counts of the changed paths. Paths without content are missing from the answer. */
export async function changeDetails(
  place: PrivateDirectory,
  commits: ChangeCommits,
): Promise<ChangeDetail[]> {
  const question = ['diff-tree', '-r', '-z', '-M50%', '--numstat', '--no-ext-diff', '--no-textconv']
  return parseNumstat(nulRecords(await git([...question, commits.before, commits.after], privateCall(place))))
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

/** Pairs a file that went with one that came, of equal content, among paths that git cannot compare. */
export function pairEqualContents(differences: readonly Difference[]): Map<PathBytes, PathBytes> {
  const gone = new Map<string, PathBytes[]>()
  for (const { path, before, after } of differences) {
    if (before?.oid == null || after !== null) continue
    gone.set(before.oid, [...(gone.get(before.oid) ?? []), path])
  }
  const pairs = new Map<PathBytes, PathBytes>()
  for (const { path, before, after } of differences) {
    const from = before === null && after?.oid != null ? gone.get(after.oid)?.shift() : undefined
    if (from !== undefined) pairs.set(path, from)
  }
  return pairs
}

function count(text: string): number | null {
  return text === '-' ? null : Number(text)
}

function isUnkept(state: DiskState | null): boolean {
  return state !== null && (state.oid === null || state.unkept === true || state.mode === '160000')
}

// Null when an object is missing.
async function importCommits(
  place: PrivateDirectory,
  differences: readonly Difference[],
  without: ReadonlySet<PathBytes>,
): Promise<{ before: string; after: string } | null> {
  const usable = differences.filter(({ path }) => !without.has(path))
  // A name of its own, so that two comparisons at the same time do not wait for each other's lock.
  const reference = `refs/changes/${randomBytes(8).toString('hex')}`
  const stream = [
    ...commitCommands(
      `${reference}/before`,
      1,
      usable.map(({ path, before }) => ({ path, state: before })),
    ),
    ...commitCommands(
      `${reference}/after`,
      2,
      usable.map(({ path, after }) => ({ path, state: after })),
    ),
    'get-mark :1',
    'get-mark :2',
    'done',
  ]
  const input = Buffer.from(`${stream.join('\n')}\n`, 'latin1')
  const result = await runGit(['fast-import', '--quiet', '--force', '--done'], privateCall(place, input))
  const [before, after] = result.output.toString('latin1').split('\n')
  return result.code === 0 && before && after ? { before, after } : null
}

interface ImportedPath {
  readonly path: PathBytes
  readonly state: DiskState | null
}

function commitCommands(reference: string, mark: number, paths: readonly ImportedPath[]): string[] {
  const files = paths.flatMap(({ path, state }) =>
    state?.oid == null ? [] : [`M ${state.mode} ${state.oid} ${quotePath(path)}`],
  )
  return [`commit ${reference}`, `mark :${mark}`, 'committer Waymark <> 0 +0000', 'data 0', ...files, '']
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

/** Whether a difference is a change of type, such as a file that became a link. */
export function changesType({ before, after }: Difference): boolean {
  return before !== null && after !== null && typeDiffers(before, after)
}
