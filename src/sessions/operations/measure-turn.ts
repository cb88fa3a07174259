import { z } from 'zod'
import type { HistoryStep } from '../../git/ports/work-tree.ts'
import { messageOf } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import {
  changeReport,
  count,
  measuredList,
  names,
  oid,
  oidOrNull,
  path,
  place,
} from '../../kernel/operations/fields.ts'
import {
  type BriefOf,
  isAmong,
  type MeasurementOf,
  measurement,
  type Readable,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ChangeReport, FileChange } from '../../track/domain/changes.ts'
import type { CandidateAuthor } from '../../track/domain/hook-evidence.ts'
import { removedWorkNotes } from '../../track/domain/owner-notes.ts'
import { parseScope } from '../../track/domain/scope/scope.ts'
import { type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import {
  attribute,
  attributionIntervals,
  boundsOf,
  candidateAuthorsOf,
  type MeasuredSpan,
  measuredSpans,
  otherAgentNames,
  otherAuthors,
  readChangesAround,
  reportedPathsOf,
  reportedPathsUntil,
  spansShape,
  type WorkTreeActivity,
  withoutWrittenRenames,
  writtenPaths,
} from '../../track/operations/work-tree-activity.ts'
import type { HookEdit, TurnChange, TurnEvidence } from '../domain/session.ts'
import { canWriteFiles, seenEdits, type TurnEnd } from '../domain/turns-from-hook-events.ts'
import type { TurnLink } from '../ports/capture-reads.ts'
import type { FreshTurn } from './hook-evidence.ts'

export interface EndedTurn extends FreshTurn {
  readonly ending: TurnEnd
  /** The state of its work tree when its end was recorded; else a sentence why there is none. */
  readonly end: SnapshotLocation | string
  /** Others wrote in its work tree between its end and that state. */
  readonly isLate: boolean
}

interface TurnMeasureContext {
  /** Turns with events that are not recorded yet. */
  readonly fresh: readonly FreshTurn[]
  readonly links: readonly TurnLink[]
}

const maxTurns = 2_000
const contents = measuredList(z.tuple([z.string().max(4_096), oidOrNull]), 20_000)
const amendedPlace = z.strictObject({ place, contents })
const historySteps = measuredList(
  z.strictObject({
    author: z.string().max(100),
    before: oidOrNull,
    after: oidOrNull,
    reformats: z.literal(true).exactOptional(),
  }),
  20_000,
)

export const turnMeasurements = {
  /** The changes of turns, between states in which copies replace what others wrote. */
  changes: measurement({
    brief: measuredList(z.strictObject({ from: amendedPlace, to: amendedPlace }), maxTurns),
    measured: measuredList(z.strictObject({ from: place, to: place, report: changeReport }), maxTurns),
    fits: (turns, results) => turns.length === results.length,
    measure: (workTree, turns) =>
      inOrder(turns, async (turn) => {
        const [from, to] = await Promise.all([amend(workTree, turn.from), amend(workTree, turn.to)])
        return { from, to, report: await workTree.witness.changes(from, to) }
      }),
  }),
  /** The paths that each interval touched, and the contents that tools left in the files they reported. */
  details: measurement({
    brief: measuredList(
      z.strictObject({
        to: place,
        spans: measuredList(z.strictObject({ from: place, to: place }), 2_000),
        reported: names.nullable(),
        paths: names,
        edited: measuredList(
          z.strictObject({ path, doubts: measuredList(oid, 20_000), last: oidOrNull.exactOptional() }),
          20_000,
        ),
      }),
      maxTurns,
    ),
    measured: measuredList(
      z.strictObject({
        spans: spansShape,
        ends: measuredList(z.tuple([z.string().max(4_096), oidOrNull]), 20_000),
        /** The hashes of contents without their white space; null if no copies are kept. */
        bare: measuredList(z.tuple([oid, z.string().max(100)]), 20_000).nullable(),
      }),
      maxTurns,
    ),
    fits: (turns, results) => turns.length === results.length,
    measure: (workTree, turns) =>
      inOrder(turns, async ({ to, edited, ...brief }) => ({
        spans: [...(await measuredSpans(workTree, brief))].map(({ touched, contents: sides }) => ({
          touched: touched && [...touched],
          contents: sides && { before: [...sides.before], after: [...sides.after] },
        })),
        ...(await bareContents(workTree, to, edited)),
      })),
  }),
  /** Each author's lines of files with several authors. */
  own: measurement({
    brief: measuredList(z.strictObject({ to: place, steps: historySteps }), 20_000),
    measured: measuredList(
      measuredList(
        z.tuple([z.string().max(100), z.strictObject({ added: count, deleted: count })]),
        20_000,
      ).nullable(),
      20_000,
    ),
    fits: (files, results) =>
      files.length === results.length &&
      files.every(({ steps }, at) =>
        isAmong(
          (results[at] ?? []).map(([author]) => author),
          steps.map(({ author }) => author),
        ),
      ),
    measure: ({ copies }, files) =>
      inOrder(files, async ({ to, steps }) => {
        const lines = await copies?.linesOf(to, steps).catch(() => null)
        return lines
          ? [...lines].map(([author, { added, deleted }]) => [author, { added, deleted }] as const)
          : null
      }),
  }),
}

async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}

async function amend(
  { copies, snapshotName }: WorkTree,
  { place: location, contents }: Readable<z.output<typeof amendedPlace>>,
): Promise<SnapshotLocation> {
  if (contents.length === 0 || copies === undefined) return location
  return (await copies.amend(location, snapshotName(), new Map(contents))) ?? location
}

const maxCompared = 8_000_000

interface EditedFile {
  readonly path: string
  /** Contents that may differ in white space only. */
  readonly doubts: readonly string[]
  /** The content that the last tool left, to compare with the end. */
  readonly last?: string | null
}

async function bareContents(
  { copies, witness, fingerprint }: WorkTree,
  to: SnapshotLocation,
  edited: readonly EditedFile[],
): Promise<{ readonly ends: [string, string | null][]; readonly bare: [string, string][] | null }> {
  if (copies === undefined || edited.length === 0) return { ends: [], bare: copies ? [] : null }
  const entries = await copies.contents(
    to,
    edited.map((one) => one.path),
  )
  const ends = edited.flatMap((one): [string, string | null][] => {
    const id = entries.get(one.path)?.id
    return id === undefined ? [] : [[one.path, id]]
  })
  const endOf = new Map(ends)
  const doubts = edited.flatMap((one) => {
    const end = endOf.get(one.path)
    const isDoubtful = typeof one.last === 'string' && typeof end === 'string' && one.last !== end
    return isDoubtful ? [...one.doubts, one.last, end] : one.doubts
  })
  // One read for all files: each read starts a git process.
  const read = doubts.length === 0 ? [] : await witness.contents.read([to], [...new Set(doubts)], maxCompared)
  const bare: [string, string][] = []
  for (const [id, { bytes }] of read)
    if (bytes !== null) bare.push([id, fingerprint(new TextDecoder().decode(bytes).replace(/\s+/g, ''))])
  return { ends, bare }
}

/** The first measurement of a turn that ended; a sentence if it cannot be measured. */
export function turnChangesBrief(
  ended: EndedTurn,
): BriefOf<typeof turnMeasurements.changes>[number] | string {
  const { turn, hookEvents, end } = ended
  if (turn.snapshot === null) return 'Its work tree could not be recorded when it began.'
  if (typeof end === 'string') return end
  const edits = seenEdits(hookEvents, turn.top)
  return {
    from: { place: turn.snapshot, contents: contentsAtStart(ended, edits) },
    to: { place: end, contents: contentsAtEnd(ended, edits) },
  }
}

/** The measured changes of a turn, with the others that were at work. */
export interface TurnWithChanges {
  readonly ended: EndedTurn
  readonly from: SnapshotLocation
  readonly to: SnapshotLocation
  readonly report: ChangeReport
  readonly around: WorkTreeActivity
  readonly span: MeasuredSpan
  readonly contenders: ReadonlyMap<string, CandidateAuthor>
}

/** Reads who else was at work while a turn was open. */
export async function readTurnChanges(
  reads: Reads,
  ended: EndedTurn,
  { from, to, report }: Pick<TurnWithChanges, 'from' | 'to' | 'report'>,
  { fresh, links }: TurnMeasureContext,
): Promise<TurnWithChanges> {
  const { turn, end, ending } = ended
  const since = turn.baseline === 'previous' ? Math.min(turn.baselineAt, turn.openedAt) : turn.openedAt
  const tree = typeof end === 'string' ? turn.top : treeOf(end)
  const around = await readChangesAround(reads, { tree, since, fresh, links })
  const span = {
    owner: turn,
    start: { at: since, place: from },
    end: { at: Math.max(ending.at, since), place: to },
  }
  const contenders = candidateAuthorsOf(around, ({ areas, snapshot }) =>
    parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }),
  )
  return { ended, from, to, report, around, span, contenders }
}

/** The second measurement of a turn. */
export function turnDetailsBrief({
  ended: { turn, hookEvents },
  to,
  report,
  around,
  span,
  contenders,
}: TurnWithChanges): BriefOf<typeof turnMeasurements.details>[number] {
  const paths = reportedPathsOf(report)
  const reported = reportedBy(seenEdits(hookEvents, turn.top))
  const written = writtenFiles(
    contenders,
    report.changes.map((change) => change.path).filter((name) => reported.has(name)),
  )
  return {
    to,
    spans: boundsOf(around, span).map((bounds) => ({ from: bounds.from.place, to: bounds.to.place })),
    reported: around.hookEvidence && [...reportedPathsUntil(around.hookEvidence, Number.MAX_SAFE_INTEGER)],
    paths: [...paths],
    edited: [...written].map(([name, edits]) => {
      const last = edits.at(-1)?.edit.after
      return { path: name, doubts: [...doubtfulContents(edits)], ...(last !== undefined && { last }) }
    }),
  }
}

function reportedBy(edits: readonly HookEdit[]): ReadonlySet<string> {
  return new Set(edits.filter((edit) => edit.ended).map((edit) => edit.path))
}

/** A turn with the author of each change. */
export interface AttributedTurn extends TurnWithChanges {
  readonly attributed: ReturnType<typeof attribute>
  readonly histories: ReadonlyMap<string, readonly HistoryStep[]>
}

export function attributedTurn(
  changed: TurnWithChanges,
  details: MeasurementOf<typeof turnMeasurements.details>[number] | undefined,
): AttributedTurn {
  const { ended, around, span, contenders } = changed
  const paths = reportedPathsOf(changed.report)
  const intervals = attributionIntervals(around, span, details?.spans ?? [], paths)
  const changes = withoutWrittenRenames(changed.report.changes, writtenPaths(intervals).written)
  const report = { ...changed.report, changes }
  const attributed = attribute(ended.turn.id, report, intervals, contenders)
  return { ...changed, report, attributed, histories: historiesOf(changed, details) }
}

/** The files with several authors, whose lines are counted last. */
export function sharedFiles({
  to,
  report,
  around,
  attributed,
  histories,
}: AttributedTurn): ReadonlyMap<string, BriefOf<typeof turnMeasurements.own>[number]> {
  return new Map(
    report.changes.flatMap(({ path: name }) => {
      const claim = attributed?.own.get(name)
      const steps = histories.get(name)
      if (steps === undefined || (attributed !== null && claim === undefined)) return []
      const isReformatted = steps.some(({ reformats }) => reformats)
      const isShared = otherAuthors(claim?.others ?? [], around).length > 0
      if (!isShared || !(claim?.certainty === 'certain' || isReformatted)) return []
      return [[name, { to, steps: steps.map((step) => ({ ...step })) }] as const]
    }),
  )
}

/** The changes of a turn and their authors. Judges nothing. */
export function turnEvidence(
  { ended, from, to, report, around, contenders, attributed, histories }: AttributedTurn,
  linesOf: ReadonlyMap<string, MeasurementOf<typeof turnMeasurements.own>[number]>,
): TurnEvidence {
  const { turn, hookEvents } = ended
  const reported = reportedBy(seenEdits(hookEvents, turn.top))
  const own = report.changes.filter((change) => attributed === null || attributed.own.has(change.path))
  const changes = own.map(({ broughtLines, broughtBy, ...change }): TurnChange => {
    const claim = attributed?.own.get(change.path)
    const rivals = otherAuthors(claim?.others ?? [], around)
    const isReformatted = histories.get(change.path)?.some(({ reformats }) => reformats) === true
    const lines = ownLines(turn.id, contenders, linesOf.get(change.path) ?? null)
    const via = around.neighbors.has(claim?.via ?? '') || around.hookEvidence?.turns.has(claim?.via ?? '')
    return {
      ...change,
      ...(lines ?? {
        ...(broughtLines !== undefined && { broughtLines }),
        ...(broughtBy && { broughtBy }),
      }),
      attribution: claim?.certainty ?? 'probable',
      ...(rivals.length > 0 && { with: rivals }),
      ...(via && { via: claim?.via as AttemptId }), // of an attempt, or of a subagent's turn
      ...(isReported(change, reported) && { reported: true }),
      ...(isReformatted && { reformatted: true }),
    }
  })
  const contested = report.changes.flatMap((change) => {
    const candidates = otherAgentNames(attributed?.candidates.get(change.path) ?? [], around)
    return candidates.length === 0 ? [] : [{ path: change.path, candidates }]
  })
  const outside = [...(attributed?.outside ?? [])]
  const named = new Set(reportedPathsOf(report))
  const unfound = report.status === 'unknown' ? [] : [...reported].filter((name) => !named.has(name))
  const baseline = baselineNotes(ended)
  const isSure = contested.length === 0 && changes.every(({ attribution }) => attribution === 'certain')
  const removedWork = report.removedWork.filter((path) => !outside.includes(path))
  const isWhole = report.status === 'exact' && isSure && baseline.length === 0
  return {
    measurement: report.status === 'exact' && !isWhole ? 'partial' : report.status,
    changes,
    ignored: report.ignored,
    contested,
    outside,
    unfound,
    commits: commitsIn(report, around, turn.id),
    notes: [...baseline, ...report.doubts, ...removedWorkNotes(removedWork), ...report.notes].slice(
      0,
      maxNotes,
    ),
    snapshot: from,
    endSnapshot: to,
  }
}

const maxNotes = 20

export function unknownEvidence(why: string): TurnEvidence {
  return {
    measurement: 'unknown',
    changes: [],
    ignored: { added: [], modified: [], deleted: [] },
    contested: [],
    outside: [],
    unfound: [],
    commits: [],
    notes: [why],
    snapshot: null,
    endSnapshot: null,
  }
}

function isReported({ path: name, from }: FileChange, reported: ReadonlySet<string>): boolean {
  return reported.has(name) || (from !== undefined && reported.has(from))
}

/** If the first state was recorded too late, copies from before the edits give the contents. */
function contentsAtStart(
  { turn, hookEvents }: EndedTurn,
  edits: readonly HookEdit[],
): [string, string | null][] {
  const began = turn.baseline === 'previous' ? Number.MAX_SAFE_INTEGER : turn.baselineAt
  if (!hookEvents.some((hookEvent) => canWriteFiles(hookEvent) && hookEvent.reportedAt <= began)) return []
  const first = new Map<string, string | null>()
  const seen = new Set<string>()
  for (const { path: name, from, reportedAt, before } of edits) {
    if (seen.has(name)) continue
    seen.add(name)
    if (before !== undefined && (from ?? reportedAt) <= began) first.set(name, before)
  }
  return [...first]
}

/** If others wrote before the last state was recorded, copies from after the edits give the contents. */
function contentsAtEnd({ isLate }: EndedTurn, edits: readonly HookEdit[]): [string, string | null][] {
  if (!isLate) return []
  const last = new Map<string, string | null>()
  for (const { path: name, after, ended } of edits) {
    if (ended && after !== undefined) last.set(name, after)
    else last.delete(name)
  }
  return [...last]
}

function baselineNotes({ turn, hookEvents, isLate }: EndedTurn): readonly string[] {
  const began = hookEvents.find(canWriteFiles)
  const notes: string[] = []
  if (turn.baseline === 'previous')
    notes.push(
      'Its first state was recorded before it began. Changes in between may be by others, except in files that its tools reported.',
    )
  else if (began !== undefined && began.reportedAt <= turn.baselineAt)
    notes.push(
      'Its first state was recorded after its first call that may write. Before that, only the edits that its tools reported are known.',
    )
  if (isLate)
    notes.push(
      'Its last state was recorded after others had written. Their changes may be counted too, except in files that its tools reported.',
    )
  return notes
}

/** The completed edits of files by all authors, in order. */
function writtenFiles(
  contenders: ReadonlyMap<string, CandidateAuthor>,
  paths: readonly string[],
): ReadonlyMap<string, readonly TurnEdit[]> {
  const wanted = new Set(paths)
  const all = [...contenders.values()]
    .flatMap(({ id, seen }) => (seen?.edits ?? []).map((edit): TurnEdit => ({ id, edit })))
    .filter(({ edit }) => edit.ended && wanted.has(edit.path))
    .toSorted((a, b) => a.edit.reportedAt - b.edit.reportedAt)
  return Map.groupBy(all, ({ edit }) => edit.path)
}

/**
 * The edits of each file one after the other, with changes of white space only between them. Leaves out files that
 * something else also changed.
 */
function historiesOf(
  { ended: { turn, hookEvents }, report, contenders }: TurnWithChanges,
  details: MeasurementOf<typeof turnMeasurements.details>[number] | undefined,
): ReadonlyMap<string, readonly HistoryStep[]> {
  if (details === undefined || details.bare === null) return new Map()
  const reported = reportedBy(seenEdits(hookEvents, turn.top))
  const paths = report.changes.map((change) => change.path).filter((name) => reported.has(name))
  const ends = new Map(details.ends)
  const bare = new Map(details.bare)
  const isSpaceOnly: SpaceOnly = (one, other) => {
    const text = one === null ? undefined : bare.get(one)
    return text !== undefined && other !== null && text === bare.get(other)
  }
  return new Map(
    [...writtenFiles(contenders, paths)].flatMap(([name, written]) => {
      const steps = stepsOf(written, ends.get(name), isSpaceOnly)
      return steps === null ? [] : [[name, steps] as const]
    }),
  )
}

interface TurnEdit {
  readonly id: string
  readonly edit: HookEdit
}

type SpaceOnly = (one: string | null, other: string | null) => boolean

/** Contents that may differ in white space only. */
function doubtfulContents(written: readonly TurnEdit[]): ReadonlySet<string> {
  const pairs = [
    ...written.map(({ edit }, at) => [written[at - 1]?.edit.after, edit.before]),
    ...written.map(({ edit }) => [edit.meant, edit.after]),
  ]
  return new Set(
    pairs
      .filter(([one, other]) => one !== other)
      .flatMap((pair) => (pair.every((id) => typeof id === 'string') ? (pair as string[]) : [])),
  )
}

function stepsOf(
  written: readonly TurnEdit[],
  end: string | null | undefined,
  isSpaceOnly: SpaceOnly,
): readonly HistoryStep[] | null {
  const steps: HistoryStep[] = []
  const isReached = (before: string | null): boolean => {
    const last = steps.at(-1)
    if (last === undefined || last.after === before) return true
    if (!isSpaceOnly(last.after, before)) return false
    steps.push({ author: last.author, before: last.after, after: before, reformats: true })
    return true
  }
  for (const { id, edit } of written) {
    const { before, after, meant } = edit
    if (before === undefined || after === undefined || !isReached(before)) return null
    const isFormatted = meant !== undefined && isSpaceOnly(meant, after)
    steps.push({ author: id, before, after: isFormatted ? meant : after })
    if (isFormatted) steps.push({ author: id, before: meant, after, reformats: true })
  }
  if (end !== undefined) isReached(end)
  return steps
}

/** The turn's own lines of a file with several authors. */
function ownLines(
  turn: string,
  contenders: ReadonlyMap<string, CandidateAuthor>,
  lines: MeasurementOf<typeof turnMeasurements.own>[number],
): { readonly addedLines: number; readonly deletedLines: number; readonly ownLines: true } | null {
  const isOwn = ({ id, ancestors }: CandidateAuthor): boolean => id === turn || ancestors.includes(turn)
  if (lines === null) return null
  let [addedLines, deletedLines] = [0, 0]
  for (const [author, { added, deleted }] of lines) {
    const contender = contenders.get(author)
    if (contender === undefined || !isOwn(contender)) continue
    addedLines += added
    deletedLines += deleted
  }
  return { addedLines, deletedLines, ownLines: true }
}

/** The commits made meanwhile; its own if nobody else was at work. */
function commitsIn(
  { headMoves }: ChangeReport,
  { neighbors, hookEvidence }: WorkTreeActivity,
  turn: string,
): TurnEvidence['commits'] {
  const above = (id: string) => hookEvidence?.above.get(id) ?? []
  const others = [...neighbors.keys(), ...(hookEvidence?.turns.keys() ?? [])].filter(
    (id) => id !== turn && !above(id).includes(turn) && !above(turn).includes(id),
  )
  return headMoves
    .filter(({ origin }) => origin === 'task')
    .map(({ commit, message }) => ({
      id: commit,
      subject: message.replace(/^[^:]*: /, ''),
      author: others.length === 0 ? ('own' as const) : ('unknown' as const),
    }))
}

export function unrecordedEndNote(error: unknown): string {
  return `Its end could not be recorded: ${messageOf(error)}`
}
