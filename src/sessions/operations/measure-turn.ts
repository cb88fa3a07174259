import type { HistoryStep } from '../../git/ports/work-tree.ts'
import { messageOf } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { ChangeReport, FileChange } from '../../track/domain/changes.ts'
import type { CandidateAuthor } from '../../track/domain/hook-evidence.ts'
import { parseScope } from '../../track/domain/scope/scope.ts'
import { type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import {
  attribute,
  attributionIntervals,
  boundsOf,
  candidateAuthorsOf,
  measuredSpans,
  otherAgentNames,
  otherAuthors,
  pathsOf,
  readChangesAround,
  reportedPathsUntil,
  type WorkTreeActivity,
} from '../../track/operations/measure.ts'
import type { HookEdit, TurnChange, TurnEvidence } from '../domain/session.ts'
import { canWriteFiles, seenEdits, type TurnEnd } from '../domain/session-reducer.ts'
import type { TurnLink } from '../ports/capture-reads.ts'
import type { FreshTurn } from './hook-evidence.ts'

export interface EndedTurn extends FreshTurn {
  readonly ending: TurnEnd
  /** The state of its work tree when its end was recorded; a sentence where there is none. */
  readonly end: SnapshotLocation | string
  /** Others wrote in its work tree between its end and that state. */
  readonly isLate: boolean
}

interface TurnMeasureContext {
  /** Turns of which something is not recorded yet. */
  readonly fresh: readonly FreshTurn[]
  readonly links: readonly TurnLink[]
}

/** Measures what a turn changed, and says whose each change is. It judges nothing. */
export async function measureTurn(
  context: Context,
  ended: EndedTurn,
  { fresh, links }: TurnMeasureContext,
): Promise<TurnEvidence> {
  const { turn, moments, end, ending } = ended
  if (turn.snapshot === null) return unknownEvidence('Its work tree could not be recorded when it began.')
  if (typeof end === 'string') return unknownEvidence(end)
  const edits = seenEdits(moments, turn.top)
  const [from, to] = await Promise.all([
    snapshotAtStart(context, ended, turn.snapshot, edits),
    snapshotAtEnd(context, ended, end, edits),
  ])
  const report = await context.witness.changes(from, to)
  const since = turn.baseline === 'previous' ? Math.min(turn.baselineAt, turn.openedAt) : turn.openedAt
  const around = await context.store.view((reads) =>
    readChangesAround(reads, { tree: treeOf(end), since, fresh, links }),
  )
  const span = {
    of: turn,
    start: { at: since, place: from },
    end: { at: Math.max(ending.at, since), place: to },
  }
  const spans = boundsOf(around, span).map((bounds) => ({ from: bounds.from.place, to: bounds.to.place }))
  const { sightings } = around
  const told = sightings === null ? null : reportedPathsUntil(sightings, Number.MAX_SAFE_INTEGER)
  const paths = pathsOf(report)
  const touched = await measuredSpans(context, { spans, reported: told, paths })
  const stretches = attributionIntervals(around, span, touched, paths)
  const contenders = candidateAuthorsOf(around, ({ areas, snapshot }) =>
    parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }),
  )
  const attributed = attribute(turn.id, report, stretches, contenders)
  const reported = new Set(edits.filter((edit) => edit.ended).map(({ path }) => path))
  const own = report.changes.filter(({ path }) => attributed === null || attributed.own.has(path))
  const histories = await snapshotHistories(
    context,
    to,
    own.map(({ path }) => path).filter((path) => reported.has(path)),
    contenders,
  )
  const changes = await Promise.all(
    own.map(async (change): Promise<TurnChange> => {
      const claim = attributed?.own.get(change.path)
      const rivals = otherAuthors(claim?.rivals ?? [], around)
      const steps = histories.get(change.path) ?? null
      const isReformatted = steps?.some(({ reformats }) => reformats) === true
      const lines =
        rivals.length > 0 && steps !== null && (claim?.certainty === 'certain' || isReformatted)
          ? await ownLines(context, { turn: turn.id, to, contenders, steps })
          : null
      const via = around.neighbours.has(claim?.via ?? '') || around.sightings?.turns.has(claim?.via ?? '')
      return {
        ...change,
        ...lines,
        attribution: claim?.certainty ?? 'probable',
        ...(rivals.length > 0 && { with: rivals }),
        ...(via && { via: claim?.via as AttemptId }), // of an attempt, or of a subagent's turn
        ...(isReported(change, reported) && { reported: true }),
        ...(isReformatted && { reformatted: true }),
      }
    }),
  )
  const contested = report.changes.flatMap(({ path }) => {
    const perhaps = otherAgentNames(attributed?.perhaps.get(path) ?? [], around)
    return perhaps.length === 0 ? [] : [{ path, perhaps }]
  })
  const outside = [...(attributed?.outside ?? [])]
  const found = new Set(pathsOf(report))
  const unfound = report.status === 'unknown' ? [] : [...reported].filter((path) => !found.has(path))
  const baseline = baselineNotes(ended)
  const isSure = contested.length === 0 && changes.every(({ attribution }) => attribution === 'certain')
  const isWhole = report.status === 'exact' && isSure && baseline.length === 0
  return {
    measurement: report.status === 'exact' && !isWhole ? 'partial' : report.status,
    changes,
    ignored: report.ignored,
    contested,
    outside,
    unfound,
    commits: commitsIn(report, around, turn.id),
    notes: [...baseline, ...report.doubts, ...report.notes].slice(0, mostNotes),
    snapshot: from,
    endSnapshot: to,
  }
}

const mostNotes = 20

function unknownEvidence(why: string): TurnEvidence {
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

function isReported({ path, from }: FileChange, reported: ReadonlySet<string>): boolean {
  return reported.has(path) || (from !== undefined && reported.has(from))
}

/** Where the first state was recorded too late, the copies made before the edits say what stood there. */
async function snapshotAtStart(
  { copies, ids }: Context,
  { turn, moments }: EndedTurn,
  place: SnapshotLocation,
  edits: readonly HookEdit[],
): Promise<SnapshotLocation> {
  const began = turn.baseline === 'previous' ? Number.MAX_SAFE_INTEGER : turn.baselineAt
  if (!moments.some((moment) => canWriteFiles(moment) && moment.at <= began)) return place
  const first = new Map<string, string | null>()
  const seen = new Set<string>()
  for (const { path, from, at, before } of edits) {
    if (seen.has(path)) continue
    seen.add(path)
    if (before !== undefined && (from ?? at) <= began) first.set(path, before)
  }
  if (first.size === 0 || copies === undefined) return place
  return (await copies.amended(place, ids.next('turn'), first)) ?? place
}

/** Where others wrote before the last state was recorded, the copies made after the edits say what it left. */
async function snapshotAtEnd(
  { copies, ids }: Context,
  { isLate }: EndedTurn,
  place: SnapshotLocation,
  edits: readonly HookEdit[],
): Promise<SnapshotLocation> {
  if (!isLate || copies === undefined) return place
  const last = new Map<string, string | null>()
  for (const { path, after, ended } of edits) {
    if (ended && after !== undefined) last.set(path, after)
    else last.delete(path)
  }
  if (last.size === 0) return place
  return (await copies.amended(place, ids.next('turn'), last)) ?? place
}

function baselineNotes({ turn, moments, isLate }: EndedTurn): readonly string[] {
  const began = moments.find(canWriteFiles)
  const notes: string[] = []
  if (turn.baseline === 'previous')
    notes.push(
      'Its first state was recorded before it began: what else changed between is not told apart, but for files that its tools reported.',
    )
  else if (began !== undefined && began.at <= turn.baselineAt)
    notes.push(
      'Its first state was recorded after its first call that may write: only what its tools reported is known from before that.',
    )
  if (isLate)
    notes.push(
      'Its last state was recorded after others had written: what they changed is not told apart, but for files that its tools reported.',
    )
  return notes
}

const mostCompared = 8_000_000

/**
 * What tools made of files one after the other, with what only changed white space between. A file where something else
 * was written between is not among them.
 */
async function snapshotHistories(
  { copies, witness }: Context,
  to: SnapshotLocation,
  paths: readonly string[],
  contenders: ReadonlyMap<string, CandidateAuthor>,
): Promise<ReadonlyMap<string, readonly HistoryStep[]>> {
  if (paths.length === 0 || copies === undefined) return new Map()
  const wanted = new Set(paths)
  const all = [...contenders.values()]
    .flatMap(({ id, seen }) => (seen?.edits ?? []).map((edit): TurnEdit => ({ id, edit })))
    .filter(({ edit }) => edit.ended && wanted.has(edit.path))
    .toSorted((a, b) => a.edit.at - b.edit.at)
  const byPath = Map.groupBy(all, ({ edit }) => edit.path)
  const ends = await copies.contents(to, paths)
  const doubts = [...byPath].flatMap(([path, written]) => uncertaintyNotes(written, ends.get(path)?.id))
  const bare = new Map<string, string>()
  // Asked once for all files: each question is a process of git.
  const found =
    doubts.length === 0 ? [] : await witness.contents.read([to], [...new Set(doubts)], mostCompared)
  for (const [id, { bytes }] of found)
    if (bytes !== null) bare.set(id, new TextDecoder().decode(bytes).replace(/\s+/g, ''))
  const isSpaceOnly: SpaceOnly = (one, other) => {
    const text = one === null ? undefined : bare.get(one)
    return text !== undefined && other !== null && text === bare.get(other)
  }
  return new Map(
    [...byPath].flatMap(([path, written]) => {
      const steps = stepsOf(written, ends.get(path)?.id, isSpaceOnly)
      return steps === null ? [] : [[path, steps] as const]
    }),
  )
}

interface TurnEdit {
  readonly id: string
  readonly edit: HookEdit
}

type SpaceOnly = (one: string | null, other: string | null) => boolean

/** The contents of which it is asked whether only white space lies between them. */
function uncertaintyNotes(written: readonly TurnEdit[], end: string | null | undefined): readonly string[] {
  const last = written.at(-1)?.edit.after
  const pairs = [
    ...written.map(({ edit }, at) => [written[at - 1]?.edit.after, edit.before]),
    ...written.map(({ edit }) => [edit.meant, edit.after]),
    [last, end],
  ]
  return pairs
    .filter(([one, other]) => one !== other)
    .flatMap((pair) => (pair.every((id) => typeof id === 'string') ? (pair as string[]) : []))
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
    steps.push({ by: last.by, before: last.after, after: before, reformats: true })
    return true
  }
  for (const { id, edit } of written) {
    const { before, after, meant } = edit
    if (before === undefined || after === undefined || !isReached(before)) return null
    const isFormatted = meant !== undefined && isSpaceOnly(meant, after)
    steps.push({ by: id, before, after: isFormatted ? meant : after })
    if (isFormatted) steps.push({ by: id, before: meant, after, reformats: true })
  }
  if (end !== undefined) isReached(end)
  return steps
}

/** The turn's own lines of a file that several wrote, one after the other. */
async function ownLines(
  { copies }: Context,
  {
    turn,
    to,
    contenders,
    steps,
  }: {
    readonly turn: string
    readonly to: SnapshotLocation
    readonly contenders: ReadonlyMap<string, CandidateAuthor>
    readonly steps: readonly HistoryStep[]
  },
): Promise<{ readonly addedLines: number; readonly deletedLines: number; readonly ownLines: true } | null> {
  if (copies === undefined) return null
  const lines = await copies.linesOf(to, steps).catch(() => null)
  const isOwn = ({ id, ancestors }: CandidateAuthor): boolean => id === turn || ancestors.includes(turn)
  if (lines === null) return null
  let [addedLines, deletedLines] = [0, 0]
  for (const [by, { added, deleted }] of lines) {
    const contender = contenders.get(by)
    if (contender === undefined || !isOwn(contender)) continue
    addedLines += added
    deletedLines += deleted
  }
  return { addedLines, deletedLines, ownLines: true }
}

/** The commits made meanwhile; its own where nobody else was at work. */
function commitsIn(
  { headMoves }: ChangeReport,
  { neighbours, sightings }: WorkTreeActivity,
  turn: string,
): TurnEvidence['commits'] {
  const above = (id: string) => sightings?.above.get(id) ?? []
  const others = [...neighbours.keys(), ...(sightings?.turns.keys() ?? [])].filter(
    (id) => id !== turn && !above(id).includes(turn) && !above(turn).includes(id),
  )
  return headMoves
    .filter(({ origin }) => origin === 'task')
    .map(({ commit, message }) => ({
      id: commit,
      subject: message.replace(/^[^:]*: /, ''),
      by: others.length === 0 ? ('own' as const) : ('unknown' as const),
    }))
}

/** Why a state could not be recorded, in a sentence. */
export function unrecordedEndNote(error: unknown): string {
  return `Its end could not be recorded: ${messageOf(error)}`
}
