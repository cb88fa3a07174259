import { z } from 'zod'
import type { ContentAt } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { measuredList, names, oidOrNull, place } from '../../kernel/operations/fields.ts'
import type { Readable, WorkTree } from '../../kernel/operations/measurement-protocol.ts'
import type { Turn } from '../../sessions/domain/session.ts'
import {
  agentOfTurn,
  type EvidenceQuery,
  readHookEvidence,
  type WorkTreeEvidence,
} from '../../sessions/operations/hook-evidence.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type AttributedChanges, attributeChanges } from '../domain/attribution.ts'
import type { CandidateAgent, ChangeReport, FileChange } from '../domain/changes.ts'
import type { CandidateAuthor, EndContents, Interval } from '../domain/hook-evidence.ts'
import { parseScope } from '../domain/scope/scope.ts'
import { type Attempt, atWorkUntil, type SnapshotLocation, treeOf } from '../domain/task.ts'
import { isOfNobodyAtWork, type TreeWrite, type WrittenWork } from '../domain/tree-write.ts'

/** An attempt that was open in the same work tree at the same time, with the attempts above it. */
export interface ConcurrentAttempt extends Attempt {
  readonly above: readonly string[]
  /** Until when it was at work there. */
  readonly until: number
}

/** More attempts than this are not compared: then nothing is certain. */
export const maxNeighbors = 200

export type ConcurrentAttempts = ReadonlyMap<string, ConcurrentAttempt>

/** A restore or an undo of a person. */
export interface WriteThere extends TreeWrite, WrittenWork {}

/** The other attempts in a work tree, and the hook evidence about all of them. */
export interface WorkTreeActivity {
  readonly neighbors: ConcurrentAttempts
  /** Null where nothing is captured. */
  readonly hookEvidence: WorkTreeEvidence | null
  /** What people had written into it, the newest first. */
  readonly writes: readonly WriteThere[]
}

/** Reads which attempts were open in the work tree since an attempt began, itself included. */
export async function readAttemptSurroundings(
  reads: Reads,
  { id, snapshot, openedAt }: Attempt,
  until = Number.MAX_SAFE_INTEGER,
): Promise<WorkTreeActivity> {
  const activity = await readChangesAround(reads, { tree: treeOf(snapshot), since: openedAt, ending: id })
  return {
    ...activity,
    neighbors: new Map([...activity.neighbors].filter(([, other]) => other.openedAt <= until)),
    hookEvidence: activity.hookEvidence && {
      ...activity.hookEvidence,
      turns: new Map([...activity.hookEvidence.turns].filter(([, turn]) => turn.openedAt <= until)),
    },
  }
}

export async function readChangesAround(
  reads: Reads,
  { ending = null, ...query }: Omit<EvidenceQuery, 'attempts'> & { readonly ending?: string | null },
): Promise<WorkTreeActivity> {
  const { tasks } = reads
  const untilOf = (attempt: Attempt) =>
    attempt.id === ending ? Number.MAX_SAFE_INTEGER : atWorkUntil(attempt)
  const found = await tasks.attemptsInTree(query.tree, query.since)
  // After a jump of the clock it may look stale.
  const own = ending === null || found.some(({ id }) => id === ending) ? null : await tasks.attempt(ending)
  const inTree = [...found, ...(own ? [own] : [])].filter((attempt) => untilOf(attempt) > query.since)
  const [hookEvidence, chains, written] = await Promise.all([
    readHookEvidence(reads, { ...query, attempts: inTree }),
    tasks.ancestors(inTree.map(({ taskId }) => taskId)),
    reads.treeWrites.since(query.since, query.tree),
  ])
  const writes = await withWork(reads, written)
  const neighbors = new Map(
    inTree.map((other) => {
      const lineage = new Set(chains.get(other.taskId))
      const above = inTree.filter(({ taskId }) => lineage.has(taskId)).map(({ id }) => id)
      return [other.id as string, { ...other, above, until: untilOf(other) }]
    }),
  )
  return { neighbors, hookEvidence, writes }
}

/** The writes, with what is known of their work. */
export async function withWork(
  { tasks, fileLosses }: Reads,
  writes: readonly TreeWrite[],
): Promise<readonly WriteThere[]> {
  const subjects = writes.flatMap(({ taskId }) => taskId ?? [])
  const above = subjects.length === 0 ? new Map() : await tasks.ancestors(subjects)
  return Promise.all(
    writes.map(async (write): Promise<WriteThere> => {
      const { taskId, subject } = write
      if (taskId !== null) return { ...write, tasks: [taskId, ...(above.get(taskId) ?? [])], keptAt: null }
      const loss = subject.startsWith('h-') ? await fileLosses.byItem(subject) : null
      return { ...write, tasks: [], keptAt: loss?.from.takenAt ?? null }
    }),
  )
}

export function candidateAuthorsOf(
  { neighbors, hookEvidence }: WorkTreeActivity,
  scopeOf: (attempt: Attempt) => CandidateAuthor['scope'],
): ReadonlyMap<string, CandidateAuthor> {
  const evidenceFor = (id: string) => {
    const evidence = hookEvidence?.seen.get(id)
    return evidence === undefined ? {} : { seen: evidence }
  }
  const above = (id: string) => hookEvidence?.above.get(id) ?? []
  const attempts = [...neighbors.values()].map((neighbor): CandidateAuthor => {
    const { id } = neighbor
    return {
      id,
      ancestors: [...neighbor.above, ...above(id)],
      scope: scopeOf(neighbor),
      ...evidenceFor(id),
    }
  })
  const turns = [...(hookEvidence?.turns.keys() ?? [])].map((id): CandidateAuthor => {
    return { id, ancestors: above(id), scope: nowhere, ...evidenceFor(id) }
  })
  return new Map([...attempts, ...turns].map((candidate) => [candidate.id, candidate]))
}

const nowhere = parseScope([], { prefix: '', packages: new Map() })

/** Null when no one else was there: every change is then the attempt's. */
export function attribute(
  viewer: string,
  report: ChangeReport,
  intervals: readonly MeasuredInterval[],
  candidates: ReadonlyMap<string, CandidateAuthor>,
): AttributedChanges | null {
  if (intervals.length === 0) return null
  const openIntervals = intervals.map(
    ({ open, ...interval }): Interval => ({
      ...interval,
      open: open.map((id) => candidates.get(id)).filter((candidate) => candidate !== undefined),
    }),
  )
  return attributeChanges(viewer, openIntervals, report.changes)
}

export function otherAuthors(
  ids: readonly string[],
  { neighbors, hookEvidence }: WorkTreeActivity,
): readonly CandidateAgent[] {
  return ids.flatMap((id): readonly CandidateAgent[] => {
    const attempt = neighbors.get(id)
    if (attempt) return [{ agent: agentOf(attempt), taskId: attempt.taskId }]
    const turn = hookEvidence?.turns.get(id)
    return turn ? [{ agent: agentOfTurn(turn), taskId: turn.id }] : []
  })
}

export function otherAgentNames(ids: readonly string[], activity: WorkTreeActivity): readonly string[] {
  return [...new Set(otherAuthors(ids, activity).map(({ agent }) => agent))]
}

function agentOf({ agentName, actor }: ConcurrentAttempt): string {
  return displayName({ actor, agentName })
}

/** The time between two consecutive snapshots of a work tree: the paths touched, and the attempts open then. */
export interface MeasuredInterval extends Omit<Interval, 'open'> {
  readonly open: readonly string[]
}

export interface Boundary {
  /** Milliseconds since the epoch; for a current snapshot, when it was started. */
  readonly at: number
  readonly place: SnapshotLocation
}

export interface MeasuredSpan {
  readonly owner: { readonly id: string }
  readonly start: Boundary
  readonly end: Boundary
}

interface BoundaryPair {
  readonly from: Boundary
  readonly to: Boundary
  /** The restore or undo of a person between them. */
  readonly write?: WriteThere
}

/**
 * A span, split at every start and end of others in its work tree, and at the files that people had written. Empty if
 * no one else and no hook was active.
 */
export function boundsOf(
  { neighbors, hookEvidence, writes }: WorkTreeActivity,
  { owner: of, start, end }: MeasuredSpan,
): readonly BoundaryPair[] {
  const isRelated = (id: string): boolean =>
    id === of.id ||
    hookEvidence?.above.get(of.id)?.includes(id) === true ||
    hookEvidence?.above.get(id)?.includes(of.id) === true
  const others = [...neighbors.values()].filter(({ id }) => id !== of.id)
  const turns = [...(hookEvidence?.turns.values() ?? [])].filter(({ id }) => !isRelated(id))
  const hasEvidence = hookEvidence?.seen.has(of.id) === true
  if (others.length + turns.length + writes.length === 0 && !hasEvidence) return []
  const isInside = ({ at }: Boundary): boolean => at > start.at && at < end.at
  const inside = [...others.flatMap(boundariesOf), ...turns.flatMap(boundariesOfTurn)].filter(isInside)
  inside.sort((a, b) => a.at - b.at)
  const step = Math.ceil(inside.length / maxBoundaries) || 1
  const thinned = inside.filter((_, index) => index % step === 0)
  const written = writes.map(boundariesOfWrite).filter((pair) => pair.length > 0 && pair.every(isInside))
  const last = { at: Number.MAX_SAFE_INTEGER, place: end.place }
  const bounds = written.slice(0, maxWrites).reduce<readonly Boundary[]>(withPair, [start, ...thinned, last])
  return bounds.slice(1).map((to, index) => {
    const from = bounds[index] ?? to
    const write = writes.find(({ before, after }) => before === from.place && after === to.place)
    return { from, to, ...(write && { write }) }
  })
}

/** With nothing between the two: what a command wrote is nobody else's. */
function withPair(bounds: readonly Boundary[], pair: readonly Boundary[]): readonly Boundary[] {
  const [before] = pair
  const index = bounds.findIndex(({ at }) => before !== undefined && at > before.at)
  return [...bounds.slice(0, index), ...pair, ...bounds.slice(index)]
}

/** Boundaries over this limit are thinned out: intervals get longer, never wrong. */
const maxBoundaries = 40
const maxWrites = 20
/** How many intervals there are at most. */
export const maxSpans = maxBoundaries + 2 * maxWrites + 2
export const bound = z.strictObject({ from: place, to: place })
const pathContents = measuredList(
  z.tuple([
    z.string().max(4_096),
    z.strictObject({ id: oidOrNull.exactOptional(), changedAt: z.number().nullable() }),
  ]),
)

export const spansShape = measuredList(
  z.strictObject({
    touched: names.nullable(),
    contents: z.strictObject({ before: pathContents, after: pathContents }).nullable(),
  }),
  maxSpans,
)

type MeasuredSpans = Readable<z.output<typeof spansShape>>

/** What each part of a span touched, and the contents before and after at the changed paths. */
export async function measuredSpans(
  { witness, copies }: Pick<WorkTree, 'witness' | 'copies'>,
  {
    spans,
    reported,
    paths,
  }: {
    readonly spans: readonly { readonly from: SnapshotLocation; readonly to: SnapshotLocation }[]
    readonly reported: readonly string[] | null
    readonly paths: readonly string[]
  },
): Promise<MeasuredSpans> {
  const isTimed = reported !== null && copies !== undefined && paths.length <= maxTimed
  const reportedPaths = new Set(reported)
  const reportedChanges = paths.filter((one) => reportedPaths.has(one))
  const contentsAt = async (at: SnapshotLocation, some: readonly string[]) =>
    some.length === 0 || copies === undefined ? [] : [...(await copies.contents(at, some))].map(plainContent)
  return Promise.all(
    spans.map(async ({ from, to }) => {
      const [touched, before, after] = await Promise.all([
        spans.length === 1 ? paths : witness.touchedPaths(from, to),
        isTimed ? contentsAt(from, reportedChanges) : [],
        isTimed ? contentsAt(to, paths) : [],
      ])
      return { touched, contents: isTimed ? { before, after } : null }
    }),
  )
}

export function plainContent([name, { id, changedAt }]: readonly [string, ContentAt]) {
  return [name, { ...(id !== undefined && { id }), changedAt }] as const
}

/** The intervals between others' snapshots as measured, with the attempts open in each. */
export function attributionIntervals(
  activity: WorkTreeActivity,
  span: MeasuredSpan,
  measured: MeasuredSpans,
  paths: readonly string[],
): readonly MeasuredInterval[] {
  const bounds = boundsOf(activity, span)
  return bounds.map(({ from, to, write }, index) => {
    const { touched = null, contents = null } = measured[index] ?? {}
    const isLast = index === bounds.length - 1
    const open = attemptsOpenDuring(activity, from, to)
    const atWork = attemptsWithTurns(activity, open)
    return {
      touched: touched === null ? null : new Set(touched),
      open,
      ...(write && isOfNobodyAtWork(write, atWork) && { written: new Set(write.files) }),
      ...(activity.hookEvidence !== null && { time: { from: from.at, to: isLast ? span.end.at : to.at } }),
      ...(contents !== null && { contents: endContents(contents, paths) }),
    }
  })
}

/** Those of some attempts and turns that are attempts, each with its turns. */
export function attemptsWithTurns({ neighbors, hookEvidence }: WorkTreeActivity, ids: readonly string[]) {
  return ids.flatMap((id) => {
    const attempt = neighbors.get(id)
    if (attempt === undefined) return []
    const { taskId, openedAt } = attempt
    return [{ id, taskId, openedAt, turns: hookEvidence?.above.get(id) ?? [] }]
  })
}

/** What people's commands wrote, of nobody at work: a file is in both sets if it was changed beside that, too. */
export function writtenPaths(intervals: readonly MeasuredInterval[]): {
  readonly written: ReadonlySet<string>
  readonly alsoChanged: ReadonlySet<string>
} {
  const written = new Set(intervals.flatMap((interval) => [...(interval.written ?? [])]))
  const others = intervals.filter((interval) => interval.written === undefined)
  const touched = others.flatMap((interval) => [...(interval.touched ?? [])])
  return { written, alsoChanged: new Set(touched.filter((path) => written.has(path))) }
}

/** The changes, with each rename that a person's command had a part in as two: a file that went, and one that came. */
export function withoutWrittenRenames(
  changes: readonly FileChange[],
  written: ReadonlySet<string>,
): readonly FileChange[] {
  return changes.flatMap((change): readonly FileChange[] => {
    const { from, path, origin } = change
    if (from === undefined || !(written.has(path) || written.has(from))) return [change]
    const uncounted = { origin, addedLines: null, deletedLines: null }
    return [
      { ...uncounted, path: from, change: 'deleted' },
      { ...uncounted, path, change: 'added' },
    ]
  })
}

export function reportedPathsOf({ changes }: ChangeReport): readonly string[] {
  return changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
}

/** The paths of edits that hooks reported until a time. */
export function reportedPathsUntil({ seen }: WorkTreeEvidence, until: number): readonly string[] {
  const edits = [...seen.values()].flatMap((one) => one.edits)
  const includedEdits = edits.filter(({ reportedAt, from }) => (from ?? reportedAt) <= until)
  return [...new Set(includedEdits.map((edit) => edit.path))].sort().slice(0, maxReported)
}

const maxReported = 20_000

/** Modification times are not read for more changed files than this. */
const maxTimed = 2000

/** The contents of reported paths before and after; of all others only the time of the last write. */
function endContents(
  { before, after }: NonNullable<MeasuredSpans[number]['contents']>,
  paths: readonly string[],
): ReadonlyMap<string, EndContents> {
  const [first, last] = [new Map(before), new Map(after)]
  return new Map(
    paths.map((name) => {
      const end = last.get(name)
      return [name, { before: first.get(name)?.id, after: end?.id, changedAt: end?.changedAt ?? null }]
    }),
  )
}

function boundariesOfTurn({
  snapshot,
  baseline,
  openedAt,
  endSnapshot,
  closedAt,
}: Turn): readonly Boundary[] {
  const start = snapshot !== null && baseline === 'at_start' ? [{ at: openedAt, place: snapshot }] : []
  if (closedAt === null || endSnapshot === null) return start
  return [...start, { at: closedAt, place: endSnapshot }]
}

function boundariesOf(attempt: Attempt): readonly Boundary[] {
  const start = { at: attempt.openedAt, place: attempt.snapshot }
  if (attempt.closedAt === null || attempt.endSnapshot === null) return [start]
  return [start, { at: attempt.closedAt, place: attempt.endSnapshot }]
}

/** It wrote shortly before its transaction. */
function boundariesOfWrite({ writtenAt, before, after }: TreeWrite): readonly Boundary[] {
  if (after === null) return []
  return [
    { at: writtenAt - 1, place: before },
    { at: writtenAt, place: after },
  ]
}

/** Open at any time of the interval: with thinned boundaries an attempt may have begun inside it. */
function attemptsOpenDuring(
  { neighbors, hookEvidence }: WorkTreeActivity,
  from: Boundary,
  to: Boundary,
): readonly string[] {
  const turns = [...(hookEvidence?.turns.values() ?? [])].map(({ id, openedAt, closedAt }) => {
    return { id, openedAt, until: closedAt ?? Number.MAX_SAFE_INTEGER }
  })
  return [...neighbors.values(), ...turns]
    .filter(({ openedAt, until }) => openedAt < to.at && until > from.at)
    .map(({ id }) => id)
}

/** The attempts open at a time that is known to the second, in milliseconds since the epoch. */
export function attemptsOpenAt(neighbors: ConcurrentAttempts, at: number): readonly string[] {
  return [...neighbors.values()]
    .filter(({ openedAt, until }) => openedAt < at + 1000 && until >= at)
    .map(({ id }) => id)
}
