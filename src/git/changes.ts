import type { ChangeOrigin, ChangeReport, FileChange } from '../track/domain/changes.ts'
import { type BroughtLines, findBrought, movementOf, nothingBrought } from './brought.ts'
import {
  compareSnapshots,
  comparisonPlace,
  type Difference,
  isSameState,
  type ReconciledChanges,
  reconcileIgnored,
  repositoryPairs,
  type SnapshotPair,
} from './comparison.ts'
import { settingsDoubts } from './conversion.ts'
import {
  type ChangeDetail,
  canBePatched,
  changeDetails,
  isTypeChange,
  patchesOf,
  secretsAmong,
} from './diff.ts'
import { type ChangeOrigins, findOrigins } from './origin.ts'
import { changedOtherTrees } from './other-work-trees.ts'
import { displayPath, type PathBytes } from './paths.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { GitEnvironment } from './process.ts'
import { findUndoneChanges, type UndoneChange } from './undone-on-disk.ts'

/** What differs between two snapshots of one work tree. */
export async function reportChanges(span: SnapshotPair, environment: GitEnvironment): Promise<ChangeReport> {
  const place = comparisonPlace(span, environment)
  const compared = await compareSnapshots(span, place)
  const reconciled = reconcileIgnored(span, compared.values())
  const { differences, collapsed } = collapseAddedFolders(span, reconciled.differences)
  const [details, origins, brought] = await Promise.all([
    describe(place, differences),
    findOrigins(place, span, [...compared.values()]),
    broughtInto(place, span, differences),
  ])
  const held = await findUndoneChanges(place, span, { compared: compared.values(), origins })
  const changes = fileChanges(differences, { details, origins, reconciled, brought })
  const all = [...changes, ...collapsed].sort((a, b) => (a.path < b.path ? -1 : 1))
  const secret = [...secretsAmong(differences)].map(displayPath).sort()
  const secrets =
    secret.length === 0 ? [] : [`Lines of secret files are not counted: ${listSomePaths(secret)}.`]
  const lost = details.lost
    ? ['The contents of some changed files are gone or were not kept: their lines are not counted.']
    : []
  const unreadable = [...new Set(unreadableFolders(span))]
  const appeared = appearedWorkTrees(span)
  const doubts = [
    ...new Set([
      ...all.flatMap(({ uncertain }) => uncertain ?? []),
      ...origins.doubts,
      ...settingsDoubts(span),
      ...heldFileDoubts(held),
      ...unreadable.map((path) => `${path} could not be read: its changes are unknown.`),
      ...appeared.map(
        (path) =>
          `${path} became a linked work tree of this repository during the task: its content is unknown.`,
      ),
    ]),
  ]
  const elsewhere = all.length === 0 ? await changedOtherTrees(span) : []
  return {
    status: doubts.length === 0 ? 'exact' : 'partial',
    changes: all,
    ignored: reconciled.ignored,
    headMoves: origins.moves,
    removedWork: [...compared.values()].filter(isRemovalOfEarlierWork).map(({ path }) => displayPath(path)),
    notes: [
      ...new Set([
        ...comparisonNotes(span, compared.values()),
        ...reconciled.notes,
        ...origins.notes,
        ...secrets,
        ...lost,
        ...elsewhere,
      ]),
    ],
    doubts,
    unreadable: [...unreadable, ...appeared, ...held.slice(0, maxHeld).map(({ path }) => displayPath(path))],
  }
}

function heldFileDoubts(held: readonly UndoneChange[]): string[] {
  const pathsOf = (holding: UndoneChange['holding']) => {
    const paths = held.filter((one) => one.holding === holding).map(({ path }) => displayPath(path))
    return listSomePaths(paths.sort())
  }
  const [committed, staged] = [pathsOf('committed'), pathsOf('staged')]
  return [
    ...(committed
      ? [`Committed, and put back on disk: ${committed}. HEAD has a change that is not counted.`]
      : []),
    ...(staged
      ? [`Staged, and put back on disk: ${staged}. The index has a change that is not counted.`]
      : []),
  ]
}

const maxNamed = 5
// More are not needed by guards.
const maxHeld = 100

function listSomePaths(paths: readonly string[]): string {
  const more = paths.length - maxNamed
  return paths.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function unreadableFolders({ from, to }: SnapshotPair): string[] {
  return [...from.repositories, ...to.repositories].flatMap(({ prefix, unreadable = [] }) =>
    unreadable.map((folder) => displayPath(prefix + folder)),
  )
}

/**
 * Linked work trees that were added inside this one. Earlier and removed ones have attempts of their own; a new one may
 * hide files of this one.
 */
function appearedWorkTrees({ from, to }: SnapshotPair): string[] {
  return to.linkedWorkTrees.filter((path) => !from.linkedWorkTrees.includes(path)).map(displayPath)
}

/** The paths that differ, without renames, lines and origins. */
export async function touchedPaths(span: SnapshotPair, environment: GitEnvironment): Promise<string[]> {
  const compared = await compareSnapshots(span, comparisonPlace(span, environment))
  return reconcileIgnored(span, compared.values())
    .differences.map(({ path }) => displayPath(path))
    .sort()
}

interface ChangeDetailIndex {
  readonly byPath: ReadonlyMap<PathBytes, ChangeDetail>
  /** Old paths of renames, which are not deletions. */
  readonly renamedAway: ReadonlySet<PathBytes>
  readonly lost: boolean
}

async function describe(
  place: PrivateDirectory,
  differences: readonly Difference[],
): Promise<ChangeDetailIndex> {
  if (differences.length === 0) return { byPath: new Map(), renamedAway: new Set(), lost: false }
  const { details, uncounted } = await changeDetails(place, differences)
  const secret = secretsAmong(differences)
  return {
    byPath: new Map(details.map((detail) => [detail.path, detail])),
    renamedAway: new Set(details.flatMap(({ from }) => (from === undefined ? [] : [from]))),
    lost: uncounted.some(
      ({ path, before, after }) => !secret.has(path) && before?.mode !== '160000' && after?.mode !== '160000',
    ),
  }
}

/** The lines that git brought; of nested repositories and many files nothing is known. */
async function broughtInto(
  place: PrivateDirectory,
  span: SnapshotPair,
  differences: readonly Difference[],
): Promise<BroughtLines> {
  const [pair] = repositoryPairs(span)
  if (pair?.presence !== 'both' || !canBePatched(differences)) return nothingBrought
  const [{ changed }, movement] = await Promise.all([
    patchesOf(place, differences),
    movementOf(place, pair, 'attempt'),
  ])
  const byPath = new Map(differences.map((one) => [one.path, one]))
  return findBrought(place, { changed, differences: byPath, movement, pair, during: 'attempt' })
}

interface ChangeFindings {
  readonly brought: BroughtLines
  readonly details: ChangeDetailIndex
  readonly origins: ChangeOrigins
  readonly reconciled: ReconciledChanges
}

function fileChanges(differences: readonly Difference[], findings: ChangeFindings): FileChange[] {
  const { byPath, renamedAway } = findings.details
  return differences.flatMap((difference): FileChange[] => {
    const { path, before, after } = difference
    if (after === null && renamedAway.has(path)) return []
    const detail = byPath.get(path)
    const from = before === null ? detail?.from : undefined
    const uncertain = uncertaintyOf(difference, findings.reconciled)
    return [
      {
        path: displayPath(path),
        ...(from === undefined ? {} : { from: displayPath(from) }),
        change:
          from !== undefined
            ? 'renamed'
            : before === null
              ? 'added'
              : after === null
                ? 'deleted'
                : 'modified',
        ...(isTypeChange(difference) ? { typeChanged: true } : {}),
        origin: joinOrigins(findings.origins.of(path), from === undefined ? [] : [findings.origins.of(from)]),
        addedLines: detail?.addedLines ?? null,
        deletedLines: detail?.deletedLines ?? null,
        ...broughtCount(findings.brought, path, detail?.addedLines ?? 0),
        ...(uncertain === undefined ? {} : { uncertain }),
      },
    ]
  })
}

function broughtCount(
  brought: BroughtLines,
  path: PathBytes,
  added: number,
): Pick<FileChange, 'broughtLines' | 'broughtBy'> {
  const lines = brought.isWhole(path) ? added : (brought.lines(path)?.brought.size ?? 0)
  const broughtBy = brought.by(path)
  return lines === 0 ? {} : { broughtLines: lines, ...(Object.keys(broughtBy).length > 0 && { broughtBy }) }
}

function joinOrigins(first: ChangeOrigin, others: readonly ChangeOrigin[]): ChangeOrigin {
  return others.every((other) => other === first) ? first : 'mixed'
}

function uncertaintyOf(
  { path, before, after, entryBefore, entryAfter }: Difference,
  reconciled: ReconciledChanges,
) {
  const reason = reconciled.uncertain.get(path)
  if (reason !== undefined) return reason
  const doubt = entryAfter?.uncertain ?? entryBefore?.uncertain
  if (doubt !== undefined) return doubt
  const byTimes = before !== null && after !== null && (before.oid === null || after.oid === null)
  return byTimes && !isSameState(before, after) ? 'Compared by size and times, not by content.' : undefined
}

const listedFiles = 200

export interface CollapsedChanges {
  readonly differences: readonly Difference[]
  /** One entry for each added or removed repository with many files. */
  readonly collapsed: readonly FileChange[]
}

/** A cloned repository with more than 200 files is one entry: its folder. */
function collapseAddedFolders(span: SnapshotPair, differences: readonly Difference[]): CollapsedChanges {
  const collapsed: FileChange[] = []
  let left = differences
  for (const { to, presence } of repositoryPairs(span)) {
    if (presence === 'both' || to.prefix === '') continue
    const whole = presence === 'appeared' ? 'added' : 'deleted'
    const inside = left.filter(({ path, before, after }) => {
      return path.startsWith(to.prefix) && (whole === 'added' ? before : after) === null
    })
    if (inside.length <= listedFiles) continue
    const gone = new Set(inside)
    left = left.filter((difference) => !gone.has(difference))
    collapsed.push({
      path: displayPath(to.prefix),
      change: whole,
      origin: 'task',
      addedLines: null,
      deletedLines: null,
    })
  }
  return { differences: left, collapsed }
}

const listed = 10

/** Notes that belong to the list of changes. */
function comparisonNotes(span: SnapshotPair, compared: Iterable<Difference>): string[] {
  const committed: PathBytes[] = []
  const untracked: PathBytes[] = []
  // A repository without commits tracks no files.
  const tracks = span.to.repositories[0]?.head !== null
  for (const difference of compared) {
    if (isCommitOfEarlierFile(difference)) committed.push(difference.path)
    if (tracks && isUntracking(difference)) untracked.push(difference.path)
  }
  return [
    ...pathListSentence(
      committed,
      'Committed although unchanged since the attempt began, a pre-existing file: ',
    ),
    ...pathListSentence(untracked, 'No longer tracked, but still on disk: '),
    ...repositoryNotes(span),
    ...span.from.notes.map((note) => `At the start: ${note}`),
    ...span.to.notes,
  ]
}

function repositoryNotes({ from, to }: SnapshotPair): string[] {
  const notes: string[] = []
  if (to.repositoryMissing) notes.push('The .git folder disappeared; the files were measured without it.')
  for (const path of to.linkedWorkTrees) {
    notes.push(
      `${displayPath(path)} is a linked work tree of the same repository and no part of this report.`,
    )
  }
  for (const { prefix, operation, conflicts, suspicious } of to.repositories) {
    const where = prefix === '' ? '' : ` in ${displayPath(prefix)}`
    if (operation !== null) notes.push(`A ${operation.name} is in progress${where}.`)
    notes.push(...pathListSentence(conflicts, `Unresolved conflicts${where}: `))
    if (suspicious.length > 0) {
      notes.push(
        `The repository's own configuration${where} names programs or redirects paths (nothing was run): ${suspicious.join(', ')}.`,
      )
    }
  }
  const gone = from.repositories.filter(
    ({ prefix }) => !to.repositories.some((state) => state.prefix === prefix),
  )
  for (const { prefix } of gone) {
    if (prefix !== '') notes.push(`${displayPath(prefix)} is no longer a repository.`)
  }
  return notes
}

// Changed at the start, and now equal to HEAD at the start.
function isRemovalOfEarlierWork({ before, after, headBefore, entryBefore }: Difference): boolean {
  if (entryBefore === undefined || !entryBefore.tracked || headBefore === null) return false
  return !isSameState(before, headBefore) && !isSameState(before, after) && isSameState(after, headBefore)
}

function isCommitOfEarlierFile({ before, after, headBefore, headAfter }: Difference): boolean {
  return before !== null && headBefore === null && headAfter !== null && isSameState(before, after)
}

function isUntracking({ before, after, headBefore, entryAfter, entryBefore }: Difference): boolean {
  if (before === null || after === null || headBefore === null || entryBefore?.tracked === false) return false
  return entryAfter?.tracked === false
}

function pathListSentence(paths: readonly PathBytes[], beginning: string): string[] {
  if (paths.length === 0) return []
  const names = paths.slice(0, listed).map(displayPath).join(', ')
  const more = paths.length > listed ? ` and ${paths.length - listed} more` : ''
  return [`${beginning}${names}${more}.`]
}

/** The report for two snapshots that cannot be compared: never "nothing changed". */
export function unknownReport(doubt: string): ChangeReport {
  return {
    status: 'unknown',
    changes: [],
    ignored: { added: [], modified: [], deleted: [] },
    headMoves: [],
    removedWork: [],
    notes: [],
    doubts: [doubt],
    unreadable: [],
  }
}
