import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { maxAttempts } from '../../gate/ports/run-reads.ts'
import type { ContentAt } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import {
  changeReport,
  measuredList,
  names,
  oidOrNull,
  packages,
  path,
  place,
  time,
  words,
} from '../../kernel/operations/fields.ts'
import {
  assertTime,
  type BriefOf,
  type MeasurementOf,
  type MeasurementValues,
  measurement,
  type PreparedOperation,
  type Readable,
  type WorkTree,
  withMachine,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { Turn } from '../../sessions/domain/session.ts'
import {
  agentOfTurn,
  type EvidenceQuery,
  readHookEvidence,
  type WorkTreeEvidence,
} from '../../sessions/operations/hook-evidence.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type AttributedChanges, attributeChanges } from '../domain/attribution.ts'
import type {
  AttemptCommit,
  CandidateAgent,
  ChangeReport,
  ContestedFile,
  FileChange,
  HeadMove,
  ReportedChange,
} from '../domain/changes.ts'
import {
  claimedChanges,
  claimsWithoutChange,
  missingPaths,
  unchangedPaths,
} from '../domain/claimed-changes/claimed-changes.ts'
import { type ClaimedWork, pathsNamedIn } from '../domain/claimed-paths.ts'
import type { CandidateAuthor, EndContents, Interval } from '../domain/hook-evidence.ts'
import {
  nameAuthors,
  nameSome,
  probablyOthersNotes,
  removedWorkNotes,
  unknownAuthorNotes,
} from '../domain/owner-notes.ts'
import { coverage, hasPackageArea, judgeScope, parseScope, type Scope } from '../domain/scope/scope.ts'
import { sensitiveKinds } from '../domain/scope/sensitive.ts'
import { type Settlement, settle } from '../domain/settlement.ts'
import { type Attempt, atWorkUntil, type SnapshotLocation, treeOf } from '../domain/task.ts'
import { isOfNobodyAtWork, type TreeWrite } from '../domain/tree-write.ts'
import type { AttemptStatement } from '../ports/attempt-reads.ts'
import { type SensitiveChanges, sensitiveChanges } from './sensitive.ts'

/** The claims of an agent at completion that affect the measurement. */
export interface StatedOutcome {
  readonly outcome: ClaimedWork
  /** Changed files that the agent says are not its own. */
  readonly notMine?: readonly string[] | undefined
  /** Areas beyond those declared at the start. */
  readonly areas: readonly string[]
}

const nothingStated: StatedOutcome = { outcome: { summary: '', achievements: [] }, areas: [] }

/** The current state of an attempt's work tree; `end` is null where only another machine could measure it. */
export interface AttemptEndState {
  readonly attempt: Attempt
  readonly end: EndedTree | null
}

/** The current state of an open attempt: its work tree, and what it changed so far. */
export interface OpenAttemptState extends AttemptEndState {
  readonly evidence: AttemptMeasurement
}

type OpenAttemptStates = ReadonlyMap<string, OpenAttemptState>

/** The changes of open attempts so far, by id; null until measured. */
export async function measuredOpenAttempts(
  reads: Reads,
  context: Pick<Context, 'machine' | 'clock'>,
  attempts: readonly Attempt[],
  measured: MeasurementValues<typeof openAttemptMeasurements>,
): Promise<PreparedOperation<typeof openAttemptMeasurements, OpenAttemptStates | null>> {
  const ends = attemptEndsBrief(context, attempts)
  const states = attempts.map((attempt): AttemptEndState | null => {
    if (attempt.snapshot.machineId !== context.machine?.id) return { attempt, end: null }
    const end = measured.ends?.find(({ id }) => id === attempt.id)
    return end ? { attempt, end: endedTree(context, end) } : null
  })
  const measuredStates = states.filter((state) => state !== null)
  if (measuredStates.length < states.length) return { briefs: { ends }, found: null }
  const requested = await Promise.all(
    measuredStates.map(async (state) => {
      const activity = await changesAround(reads, state)
      return { state, activity, brief: changesBrief(state, activity) }
    }),
  )
  const changes = requested.flatMap(({ brief }) => brief ?? [])
  const briefs = { ...(ends.length > 0 && { ends }), ...(changes.length > 0 && { changes }) }
  const changesById = new Map(measured.changes?.map((one) => [one.id, one]))
  if (changes.some(({ id }) => !changesById.has(id))) return { briefs, found: null }
  const entries = requested.map(({ state, activity }): readonly [string, OpenAttemptState] => {
    const { id } = state.attempt
    return [id, { ...state, evidence: measurementOf(state, activity, changesById.get(id)) }]
  })
  return { briefs, found: new Map(entries) }
}

/** The recorded end of a work tree, or why it could not be recorded. */
export interface EndedTree {
  readonly takenAt: number
  /** When recording finished: an attempt that began before then may have changed what it saw. */
  readonly until: number
  readonly place: SnapshotLocation | null
  readonly notes: readonly string[]
  readonly error: string | null
}

/** The states of the work trees of open attempts, as if they ended now. */
export const attemptEnds = measurement({
  brief: measuredList(
    z.strictObject({
      id: z.string(),
      top: path,
      prefix: z.string().max(4_096),
      engine: z.enum(['git', 'checksum']),
    }),
    maxAttempts,
  ),
  measured: measuredList(
    z.strictObject({
      id: z.string(),
      takenAt: time,
      until: time,
      place: place.nullable(),
      notes: measuredList(words),
      error: words.nullable(),
    }),
    maxAttempts,
  ),
  fits: (requested, ends) => isSameAttempts(ends, requested),
  ingests: true,
  measure: (workTree, attempts) =>
    Promise.all(
      attempts.map(async ({ id, top, prefix, engine }) => {
        const until = workTree.now()
        try {
          const name = workTree.snapshotName()
          const { ref, notes } = await workTree.witness.snapshot({
            folder: `${top}/${prefix}`,
            name,
            engine,
            top,
          })
          return { id, takenAt: until, until: workTree.now(), place: ref, notes, error: null }
        } catch (error) {
          // A missing work tree stays missing; other errors may be fixed, and the attempt stays open until then.
          if (!(error instanceof Failure && error.code === 'UNAVAILABLE')) throw error
          return { id, takenAt: until, until, place: null, notes: [], error: error.message }
        }
      }),
    ),
})

function isSameAttempts(
  measured: readonly { readonly id: string }[],
  requested: readonly { readonly id: string }[],
): boolean {
  return measured.length === requested.length && measured.every(({ id }, at) => id === requested[at]?.id)
}

/** Only attempts that began on the caller's machine: changes elsewhere are measured there. */
export function attemptEndsBrief(
  { machine }: Pick<Context, 'machine'>,
  attempts: readonly Attempt[],
): BriefOf<typeof attemptEnds> {
  return attempts
    .filter(({ snapshot }) => snapshot.machineId === machine?.id)
    .map(({ id, snapshot: { top, prefix, engine } }) => ({ id, top, prefix, engine }))
}

export function endedTree(
  context: Pick<Context, 'machine' | 'clock'>,
  { takenAt, until, place: snapshot, notes, error }: MeasurementOf<typeof attemptEnds>[number],
): EndedTree {
  assertTime(context, takenAt)
  return { takenAt, until, place: snapshot && withMachine(context, snapshot), notes, error }
}

/** Boundaries over this limit are thinned out: intervals get longer, never wrong. */
const maxBoundaries = 40
const bound = z.strictObject({ from: place, to: place })
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
  maxBoundaries + 2,
)

/** What attempts changed until their ends, and what each interval between others' snapshots touched. */
export const attemptChanges = measurement({
  brief: measuredList(
    z.strictObject({
      id: z.string(),
      from: place,
      to: place,
      spans: measuredList(bound, maxBoundaries + 2),
      /** The paths that hooks reported; null where nothing was captured. */
      reported: names.nullable(),
      packages: z.boolean(),
      sensitive: words.nullable(),
      /** The files that the agent says it changed. */
      claimed: names,
    }),
    maxAttempts,
  ),
  measured: measuredList(
    z.strictObject({
      id: z.string(),
      report: changeReport,
      spans: spansShape,
      packages,
      sensitive: measuredList(z.tuple([z.string(), z.enum(sensitiveKinds)]), 10_000),
      /** The claimed files that did not change and exist. */
      existing: names,
      /** Those that certainly do not exist. */
      absent: names,
    }),
    maxAttempts,
  ),
  fits: (requested, changes) => isSameAttempts(changes, requested),
  measure: (workTree, attempts) =>
    Promise.all(
      attempts.map(async ({ id, from, to, spans, reported, packages: wantsPackages, sensitive, claimed }) => {
        const { witness } = workTree
        const found = await witness.changes(from, to)
        const paths = reportedPathsOf(found)
        const isUnchanged = found.changes.length + found.headMoves.length === 0
        const unchanged = claimsWithoutChange(
          claimed.map((one) => ({ path: one, isCreated: false })),
          [...paths, ...ignoredPaths(found)],
        )
        const [touched, packagesAtEnd, sensitivePaths, { existing, absent }] = await Promise.all([
          isUnchanged ? [] : measuredSpans(workTree, { spans, reported, paths }),
          wantsPackages ? witness.packages(to) : [],
          sensitiveChanges(workTree, from, { changes: found.changes, end: to, setting: sensitive }),
          namedFiles(
            workTree,
            to,
            unchanged.map(({ path: name }) => name),
          ),
        ])
        return {
          id,
          report: found,
          spans: touched,
          packages: packagesAtEnd,
          sensitive: [...sensitivePaths],
          existing,
          absent,
        }
      }),
    ),
})

/** Of names that may be cut at their start, those of files; without a folder, only names of exactly one. */
async function namedFiles(
  { witness }: Pick<WorkTree, 'witness'>,
  place: SnapshotLocation,
  named: readonly string[],
): Promise<{ readonly existing: readonly string[]; readonly absent: readonly string[] }> {
  if (named.length === 0) return { existing: [], absent: [] }
  const anywhere = { ...place, prefix: '' }
  const counts = await witness
    .matching(
      anywhere,
      named.map((one) => `**/${one}`),
    )
    .catch(() => [])
  const filesAt = (index: number) => counts[index]?.files ?? 0
  const existing = named.filter((one, index) =>
    one.includes('/') ? filesAt(index) > 0 : filesAt(index) === 1,
  )
  const others = named.filter((_, index) => counts.length > 0 && filesAt(index) === 0)
  return { existing, absent: await absentFiles({ witness }, place, others) }
}

/** The names that are no file at the work tree's top or the project's folder; a file that git ignores exists. */
export async function absentFiles(
  { witness }: Pick<WorkTree, 'witness'>,
  place: SnapshotLocation,
  named: readonly string[],
): Promise<readonly string[]> {
  if (named.length === 0) return []
  const namesOf = (one: string) => [one, `${place.prefix}${one}`]
  const states = await witness.contents.states(place, named.flatMap(namesOf))
  return named.filter((one) => namesOf(one).every((path) => states?.get(path) === null))
}

export const openAttemptMeasurements = { ends: attemptEnds, changes: attemptChanges }

/** The records read for measuring an attempt. */
export interface AttemptChangesContext extends WorkTreeActivity {
  readonly sensitive: string | null
  /** What the agents of the other attempts say that have ended. */
  readonly statements: ReadonlyMap<string, AttemptStatement>
}

export async function changesAround(
  reads: Reads,
  { attempt, end }: AttemptEndState,
): Promise<AttemptChangesContext> {
  const [surroundings, settings] = await Promise.all([
    readAttemptSurroundings(reads, attempt, end?.until),
    reads.runs.settings(),
  ])
  const ended = [...surroundings.neighbors.values()].filter(
    ({ id, status }) => id !== attempt.id && status !== 'open' && status !== 'abandoned',
  )
  const statements = await reads.tasks.statements(ended.map(({ id }) => id))
  return { ...surroundings, sensitive: settings.get('sensitive') ?? null, statements }
}

/** Null where nothing can be measured. */
export function changesBrief(
  { attempt, end }: AttemptEndState,
  activity: AttemptChangesContext,
  claims: StatedOutcome = nothingStated,
): BriefOf<typeof attemptChanges>[number] | null {
  if (end === null || end.place === null) return null
  const { neighbors, hookEvidence } = activity
  const bounds = boundsOf(activity, spanOf(attempt, end.place, end.takenAt))
  return {
    id: attempt.id,
    from: attempt.snapshot,
    to: end.place,
    spans: bounds.map(({ from, to }) => ({ from: from.place, to: to.place })),
    reported: hookEvidence === null ? null : reportedPathsUntil(hookEvidence, end.until),
    packages: hasPackageArea([...claims.areas, ...[...neighbors.values()].flatMap(({ areas }) => areas)]),
    sensitive: activity.sensitive,
    claimed: claimedChanges(claims.outcome).map(({ path: name }) => name),
  }
}

/** What an attempt changed, judged by its measured changes. */
export function measurementOf(
  { attempt, end }: AttemptEndState,
  activity: AttemptChangesContext,
  changes: MeasurementOf<typeof attemptChanges>[number] | undefined,
  claims: StatedOutcome = nothingStated,
): AttemptMeasurement {
  const nothing = { ...activity, intervals: [], packages: new Map<string, string>(), sensitive: new Map() }
  if (end === null)
    return judgeReport(attempt, unmeasuredEvidence(attempt), nothing, { claims, endSnapshot: null })
  if (end.place === null || changes === undefined) {
    const doubt = `The end state could not be recorded: ${end.error}`
    return judgeReport(attempt, unknownReport(doubt), nothing, { claims, endSnapshot: null })
  }
  const { report: measuredReport, spans, packages: packageEntries, sensitive, existing, absent } = changes
  const span = spanOf(attempt, end.place, end.takenAt)
  const intervals =
    measuredReport.changes.length + measuredReport.headMoves.length === 0
      ? []
      : attributionIntervals(activity, span, spans, reportedPathsOf(measuredReport))
  const noted = { ...measuredReport, notes: [...end.notes, ...measuredReport.notes] }
  return judgeReport(
    attempt,
    noted,
    {
      ...activity,
      intervals,
      packages: new Map(packageEntries),
      sensitive: new Map(sensitive),
      existing: new Set(existing),
      absent: new Set(absent),
    },
    { claims, endSnapshot: end.place },
  )
}

function spanOf(attempt: Attempt, end: SnapshotLocation, at: number): MeasuredSpan {
  return { owner: attempt, start: { at: attempt.openedAt, place: attempt.snapshot }, end: { at, place: end } }
}

/** An attempt that began on another machine: its changes can only be measured there. */
function unmeasuredEvidence({ snapshot: { machineId, machineName, top } }: Attempt): ChangeReport {
  const location =
    machineId === undefined
      ? `where the record is kept, in ${top}`
      : `on ${machineName} (${machineId}), in ${top}`
  return unknownReport(
    `The attempt started ${location}: its changes can only be measured there, and were not.`,
  )
}

function unknownReport(doubt: string): ChangeReport {
  const nothing = { added: [], modified: [], deleted: [] }
  return {
    status: 'unknown',
    changes: [],
    ignored: nothing,
    headMoves: [],
    removedWork: [],
    notes: [],
    doubts: [doubt],
    unreadable: [],
  }
}

interface MeasureContext extends WorkTreeActivity {
  readonly intervals: readonly MeasuredInterval[]
  readonly packages: ReadonlyMap<string, string>
  readonly sensitive?: SensitiveChanges
  /** The claimed files that did not change and exist. */
  readonly existing?: ReadonlySet<string>
  /** Those that do not exist. */
  readonly absent?: ReadonlySet<string>
  readonly statements?: AttemptChangesContext['statements']
}

const maxDoubts = 5

/** Judges a measured report: the owner of each change, whether it is in scope, and how certain that is. */
export function judgeReport(
  attempt: Attempt,
  report: ChangeReport,
  activity: MeasureContext,
  { claims, endSnapshot }: { readonly claims: StatedOutcome; readonly endSnapshot: SnapshotLocation | null },
): AttemptMeasurement {
  const scopeOf = ({ areas, snapshot }: Attempt): Scope =>
    parseScope(areas, { prefix: snapshot.prefix, packages: activity.packages })
  const widened = { ...attempt, areas: [...attempt.areas, ...claims.areas] }
  const attributed = attribute(attempt.id, report, activity.intervals, candidateAuthorsOf(activity, scopeOf))
  const ownership = settleOwners(attempt, report.changes, attributed, { claims, activity })
  const own = report.changes.filter(({ path }) => ownership.ownChangeAt(path) !== null)
  const isJudged = ({ path }: FileChange): boolean => ownership.ownChangeAt(path)?.certainty !== 'contested'
  const subtaskScopes = (path: string) => {
    const via = activity.neighbors.get(ownership.ownChangeAt(path)?.via ?? '')
    return via ? [scopeOf(via)] : []
  }
  // Changes of a subtask were reviewed when the subtask ended.
  const reviewedInSubtasks = report.changes.flatMap(({ path, from = path }) => {
    const via = activity.neighbors.get(ownership.ownChangeAt(path)?.via ?? '')
    return via === undefined || via.status === 'open' || via.status === 'abandoned' ? [] : [path, from]
  })
  const sensitive = new Map(
    [...(activity.sensitive ?? [])].filter(([path]) => !reviewedInSubtasks.includes(path)),
  )
  // A sensitive file needs a review even if its author is unknown.
  const isSensitive = ({ path, from = path }: FileChange): boolean =>
    sensitive.has(path) || sensitive.has(from)
  const judged = {
    status: report.status,
    changes: own.filter((change) => isJudged(change) || isSensitive(change)),
  }
  const namedInOutcome = pathsNamed([...sensitive.keys()], attempt, claims.outcome)
  const scopeResult = judgeScope(scopeOf(widened), judged, subtaskScopes, {
    sensitive,
    named: namedInOutcome,
  })
  const scopes = new Map(scopeResult.files.map(({ change, scope }) => [change.path, scope]))
  const changes = own.map((change): ReportedChange => {
    const claim = ownership.ownChangeAt(change.path)
    const candidates = otherAuthors(claim?.others ?? [], activity)
    const via = activity.neighbors.has(claim?.via ?? '') ? claim?.via : undefined
    return {
      ...change,
      scope: scopes.get(change.path) ?? null,
      attribution: claim?.certainty ?? 'certain',
      ...(candidates.length > 0 && { with: candidates }),
      ...(via !== undefined && { via: via as AttemptId }), // every via is an attempt's id
      ...(claim?.unseen && { unseen: true }),
    }
  })
  const contested = report.changes
    .map(
      ({ path }): ContestedFile => ({
        path,
        candidates: otherAgentNames(ownership.candidates(path), activity),
      }),
    )
    .filter(({ candidates }) => candidates.length > 0)
  // What the words name at all stays possible for its lines.
  const named = pathsNamed(ownership.released, attempt, claims.outcome)
  const denied = new Set(claims.notMine)
  const released = ownership.released.filter((path) => denied.has(path) || !named.has(path))
  const unsettled = contested.filter(({ path }) => !released.includes(path))
  const uncertain = [
    ...changes.flatMap(({ path, attribution }) =>
      attribution === 'certain' || ownership.settled.includes(path) ? [] : [path],
    ),
    ...unsettled.map(({ path }) => path),
  ]
  const isCertain = contested.length === 0 && changes.every(({ attribution }) => attribution === 'certain')
  const crowd =
    activity.neighbors.size >= maxNeighbors
      ? [`${maxNeighbors} or more attempts were open in this work tree: not all of them were compared.`]
      : []
  const doubts = [...report.doubts, ...crowd]
  const commits = commitsDuring(report.headMoves, attempt, { activity, ownership, scopeOf })
  const measuredPaths = report.changes.flatMap(({ path, from }) =>
    from === undefined ? [path] : [path, from],
  )
  const { existing = new Set(), absent = new Set() } = activity
  const claimed = report.status === 'unknown' ? [] : claimedChanges(claims.outcome)
  const changedAtAll = [...measuredPaths, ...ignoredPaths(report)]
  const unchanged = unchangedPaths(claimed, { changed: changedAtAll, existing })
  const missing = missingPaths(claimed, { changed: changedAtAll, absent })
  return {
    measurement: report.status === 'exact' && !(isCertain && crowd.length === 0) ? 'partial' : report.status,
    changes,
    ignored: report.ignored,
    scope: { matches: scopeResult.scopeMatch, unexpected: scopeResult.unexpectedFiles },
    ...(contested.length > 0 && { contested }),
    ...(commits.length > 0 && { commits: commits.map(({ commit }) => commit) }),
    ...(ownership.claimed.length + unchanged.length + missing.length > 0 && {
      claimedPaths: [
        ...ownership.claimed.map((path) => ({ path, found: 'settled' as const })),
        ...unchanged.map((path) => ({ path, found: 'unchanged' as const })),
        ...missing.map((path) => ({ path, found: 'missing' as const })),
      ],
    }),
    ...(ownership.deniedByAll.length > 0 && { deniedByAll: ownership.deniedByAll }),
    ...(released.length > 0 && { released }),
    ...(uncertain.length > 0 && { uncertain }),
    ...(report.removedWork.length > 0 && { removedWork: report.removedWork }),
    ...(doubts.length > 0 && { doubts: doubts.slice(0, maxDoubts) }),
    ...(claims.areas.length > 0 && { widened: claims.areas }),
    ...(report.unreadable.length > 0 && { unreadable: report.unreadable }),
    warnings: [
      ...scopeResult.warnings,
      ...report.doubts,
      ...removedWorkNotes(report.removedWork),
      ...report.notes,
      ...widenedNote(claims.areas),
      ...unknownAuthorNotes(changes, displayName(attempt)),
      ...unseenNotes(changes),
      ...broughtNotes(changes),
      ...probablyOthersNotes(unsettled),
      ...otherCommitNotes(commits, activity, ownership),
      ...foreignNote(attributed, activity),
      ...writtenNote(attributed),
      ...crowd,
    ],
    endSnapshot,
  }
}

function ignoredPaths({ ignored: { added, modified, deleted } }: ChangeReport): readonly string[] {
  return [...added, ...modified, ...deleted]
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

type OwnAttribution = NonNullable<ReturnType<AttributedChanges['own']['get']>>

/** The owner of each path, after the agent's claims decided contested ones. */
interface PathOwnership {
  readonly ownChangeAt: (path: string) => OwnAttribution | null
  readonly candidates: (path: string) => readonly string[]
  /** The paths that a claim decided. */
  readonly claimed: readonly string[]
  /** The changed paths that everyone denies who may have changed them. */
  readonly deniedByAll: readonly string[]
  /** The changed paths that are others' by what the agents say. */
  readonly released: readonly string[]
  /** Its own paths that no other agent claims, and all that may have changed them have ended. */
  readonly settled: readonly string[]
}

const alone: OwnAttribution = { certainty: 'certain', others: [] }

function settleOwners(
  attempt: Attempt,
  changes: readonly FileChange[],
  attributed: AttributedChanges | null,
  { claims, activity }: { readonly claims: StatedOutcome; readonly activity: MeasureContext },
): PathOwnership {
  if (attributed === null)
    return {
      ownChangeAt: () => alone,
      candidates: () => [],
      claimed: [],
      deniedByAll: [],
      released: [],
      settled: [],
    }
  const { own, candidates } = attributed
  const settlements = settledPaths(attempt, changes, attributed, { claims, activity })
  const pathsOfKind = (kind: Settlement['is']) =>
    [...settlements].flatMap(([path, { is }]) => (is === kind ? [path] : []))
  return {
    ownChangeAt: (path) => {
      const settlement = settlements.get(path)
      if (settlement?.is === 'others') return null
      if (settlement?.is !== 'own') return own.get(path) ?? null
      if (settlement.isCertain) return { ...own.get(path), certainty: 'certain', others: [] }
      return {
        ...own.get(path),
        certainty: 'probable',
        others: own.get(path)?.others ?? candidates.get(path) ?? [],
      }
    },
    candidates: (path) => {
      const settlement = settlements.get(path)
      if (settlement?.is === 'others') return settlement.authors
      return settlement?.is === 'own' ? [] : (candidates.get(path) ?? [])
    },
    claimed: pathsOfKind('own').filter((path) => own.get(path)?.certainty !== 'probable'),
    deniedByAll: pathsOfKind('denied_by_all'),
    released: pathsOfKind('others'),
    settled: pathsOfKind('own').filter((path) => {
      const others = own.get(path)?.others ?? candidates.get(path) ?? []
      return others.every((id) => activity.statements?.has(id))
    }),
  }
}

/** The uncertain changes that the words of the agents decide. */
function settledPaths(
  attempt: Attempt,
  changes: readonly FileChange[],
  { own, candidates }: AttributedChanges,
  { claims, activity }: { readonly claims: StatedOutcome; readonly activity: MeasureContext },
): ReadonlyMap<string, Settlement> {
  const uncertain = changes.flatMap((change) => {
    const claim = own.get(change.path)
    const others = claim?.others ?? candidates.get(change.path) ?? []
    const certainty = claim?.certainty ?? ('perhaps' as const)
    return others.length === 0 || certainty === 'certain' ? [] : [{ change, certainty, others }]
  })
  if (uncertain.length === 0) return new Map()
  const files = uncertain.map(({ change }) => change)
  const statements = [
    { by: attempt, claimed: claims.outcome, denied: claims.notMine ?? [] },
    ...[...(activity.statements ?? [])].flatMap(([id, statement]) => {
      const by = activity.neighbors.get(id)
      return by === undefined ? [] : [{ by, ...statement }]
    }),
  ].map(({ by, claimed, denied }) => ({
    id: by.id as string,
    claims: claimedPaths(files, by, claimed),
    denies: deniedPaths(files, by, denied),
  }))
  return new Map(
    uncertain.map(({ change: { path }, certainty, others }) => {
      const idsOf = (some: typeof statements) => new Set(some.map(({ id }) => id))
      const denies = idsOf(statements.filter((one) => one.denies.has(path)))
      const claiming = idsOf(statements.filter((one) => one.claims.has(path) && !one.denies.has(path)))
      return [path, settle(attempt.id, { certainty, others }, { claims: claiming, denies })] as const
    }),
  )
}

/** Changes that an agent says are not its own, by their paths in the work tree or in the project's folder. */
export function deniedPaths(
  changes: readonly Pick<FileChange, 'path' | 'from'>[],
  { snapshot: { prefix } }: Attempt,
  denied: readonly string[],
): ReadonlySet<string> {
  if (denied.length === 0) return new Set()
  const paths = new Set(denied.map((path) => path.trim().replace(/^\.\//, '')))
  const isDenied = (path: string) =>
    paths.has(path) || (path.startsWith(prefix) && paths.has(path.slice(prefix.length)))
  return new Set(
    changes.flatMap(({ path, from }) =>
      isDenied(path) || (from !== undefined && isDenied(from)) ? [path] : [],
    ),
  )
}

/** Changes that the agent names. */
export function claimedPaths(
  changes: readonly Pick<FileChange, 'path' | 'from'>[],
  attempt: Attempt,
  outcome: ClaimedWork,
): ReadonlySet<string> {
  const named = pathsNamed(
    changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])),
    attempt,
    outcome,
  )
  const isNamed = ({ path, from }: Pick<FileChange, 'path' | 'from'>) =>
    named.has(path) || (from !== undefined && named.has(from))
  return new Set(changes.filter(isNamed).map(({ path }) => path))
}

/** The paths that an agent names, relative to the work tree or to the project's folder. */
export function pathsNamed(
  paths: readonly string[],
  { snapshot: { prefix } }: Attempt,
  outcome: ClaimedWork,
): ReadonlySet<string> {
  const below = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : path)
  const names = paths.flatMap((path) => [
    { path, name: path },
    { path, name: below(path) },
  ])
  const named = new Set(
    pathsNamedIn(
      outcome,
      names.map(({ name }) => name),
    ),
  )
  return new Set(names.filter(({ name }) => named.has(name)).map(({ path }) => path))
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

interface CommitPaths {
  readonly commit: AttemptCommit
  readonly paths: readonly string[]
}

/** The commits made during an attempt. Git does not record the agent: times and files suggest it. */
function commitsDuring(
  moves: readonly HeadMove[],
  attempt: Attempt,
  {
    activity: { neighbors },
    ownership,
    scopeOf,
  }: {
    readonly activity: MeasureContext
    readonly ownership: PathOwnership
    readonly scopeOf: (attempt: Attempt) => Scope
  },
): readonly CommitPaths[] {
  return moves
    .filter(({ origin }) => origin === 'task')
    .map(({ commit, message, movedAt, paths }) => {
      const others = attemptsOpenAt(neighbors, movedAt).filter((id) => {
        const other = neighbors.get(id)
        return id !== attempt.id && other !== undefined && !other.above.includes(attempt.id)
      })
      const isInOtherScope = (path: string): boolean =>
        others.some((id) => {
          const other = neighbors.get(id)
          return other !== undefined && coverage(scopeOf(other), path) === 'covered'
        })
      const isOwn = (path: string): boolean => {
        const certainty = ownership.ownChangeAt(path)?.certainty
        // The other agent may have changed and committed it later.
        return (
          certainty === 'certain' ||
          (certainty === 'probable' && (ownership.claimed.includes(path) || !isInOtherScope(path)))
        )
      }
      const author =
        others.length === 0 || (paths.length > 0 && paths.every(isOwn))
          ? 'own'
          : paths.length > 0 &&
              paths.every(
                (path) => ownership.ownChangeAt(path) === null && ownership.candidates(path).length > 0,
              )
            ? 'other'
            : 'unknown'
      return { commit: { id: commit, subject: message.replace(/^[^:]*: /, ''), author }, paths }
    })
}

/** Commits of an agent that include changes others were still working on. */
function otherCommitNotes(
  commits: readonly CommitPaths[],
  activity: WorkTreeActivity,
  ownership: PathOwnership,
): readonly string[] {
  return commits.flatMap(({ commit: { id, subject, author }, paths }) => {
    if (author === 'other') return []
    const swept = paths.filter((path) => ownership.candidates(path).length > 0)
    if (swept.length === 0) return []
    const authors = [
      ...new Set(swept.flatMap((path) => otherAgentNames(ownership.candidates(path), activity))),
    ]
    return [
      `Commit ${id.slice(0, 8)} "${shortSubject(subject)}" also holds changes that are probably not yours: ${nameSome(swept)} (${nameAuthors(authors)}).`,
    ]
  })
}

function widenedNote(areas: readonly string[]): readonly string[] {
  return areas.length === 0 ? [] : [`The scope was widened at the end: ${nameSome(areas)}.`]
}

function unseenNotes(changes: readonly ReportedChange[]): readonly string[] {
  const unseen = changes.filter(({ unseen }) => unseen).map(({ path }) => path)
  if (unseen.length === 0) return []
  return [
    `${formatCount(unseen.length, 'file')} changed without a tool call of yours: ${nameSome(unseen)}. A person or another program may have written ${unseen.length === 1 ? 'it' : 'them'}.`,
  ]
}

/** The files with lines that git brought. */
export function broughtNotes(changes: readonly ReportedChange[]): readonly string[] {
  const brought = changes.flatMap(({ path, origin, addedLines, broughtLines, broughtBy }) => {
    if (broughtLines === undefined || origin === 'imported') return []
    const share = broughtLines === addedLines ? 'all' : broughtLines
    const how = [broughtBy?.command, broughtBy?.commit?.slice(0, 8)].filter((word) => word !== undefined)
    const parts = [`${share} of ${formatCount(addedLines ?? broughtLines, 'added line')}`, ...how]
    return [{ isByCommand: broughtBy?.command !== undefined, text: `${path} (${parts.join(', ')})` }]
  })
  // Without a command the agent may have typed them again.
  return [...Map.groupBy(brought, ({ isByCommand }) => isByCommand)].map(([isByCommand, files]) => {
    const what = isByCommand ? 'Brought by git, not written here' : 'Not new, git already had these lines'
    return `${what}: ${nameSome(files.map(({ text }) => text))}.`
  })
}

function foreignNote(attributed: AttributedChanges | null, activity: WorkTreeActivity): readonly string[] {
  if (attributed === null || attributed.foreign.size === 0) return []
  const listed = [...attributed.foreign].map(
    ([path, ids]) => `${path} (${nameAuthors(otherAgentNames(ids, activity))})`,
  )
  return [`Other agents changed ${formatCount(attributed.foreign.size, 'file')}: ${nameSome(listed)}.`]
}

function writtenNote(attributed: AttributedChanges | null): readonly string[] {
  if (attributed === null || attributed.outside.size === 0) return []
  const written = [...attributed.outside]
  return [`Written by a person's waymark restore or undo, not by you: ${nameSome(written)}.`]
}

function shortSubject(subject: string): string {
  return excerpt(subject, 60)
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
  readonly write?: TreeWrite
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
  const inside = [
    ...others.flatMap(boundariesOf),
    ...turns.flatMap(boundariesOfTurn),
    ...writes.flatMap(boundariesOfWrite),
  ].filter(({ at }) => at > start.at && at < end.at)
  inside.sort((a, b) => a.at - b.at)
  const step = Math.ceil(inside.length / maxBoundaries) || 1
  const last = { at: Number.MAX_SAFE_INTEGER, place: end.place }
  const bounds: readonly Boundary[] = [start, ...inside.filter((_, index) => index % step === 0), last]
  return bounds.slice(1).map((to, index) => {
    const from = bounds[index] ?? to
    const write = writes.find(({ before, after }) => before === from.place && after === to.place)
    return { from, to, ...(write && { write }) }
  })
}

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
    const attempts = open.flatMap((id) => activity.neighbors.get(id) ?? [])
    return {
      touched: touched === null ? null : new Set(touched),
      open,
      ...(write && isOfNobodyAtWork(write, attempts) && { written: new Set(write.files) }),
      ...(activity.hookEvidence !== null && { time: { from: from.at, to: isLast ? span.end.at : to.at } }),
      ...(contents !== null && { contents: endContents(contents, paths) }),
    }
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
function attemptsOpenAt(neighbors: ConcurrentAttempts, at: number): readonly string[] {
  return [...neighbors.values()]
    .filter(({ openedAt, until }) => openedAt < at + 1000 && until >= at)
    .map(({ id }) => id)
}

/** An attempt that was open in the same work tree at the same time, with the attempts above it. */
export interface ConcurrentAttempt extends Attempt {
  readonly above: readonly string[]
  /** Until when it was at work there. */
  readonly until: number
}

/** More attempts than this are not compared: then nothing is certain. */
const maxNeighbors = 200

export type ConcurrentAttempts = ReadonlyMap<string, ConcurrentAttempt>

/** The other attempts in a work tree, and the hook evidence about all of them. */
export interface WorkTreeActivity {
  readonly neighbors: ConcurrentAttempts
  /** Null where nothing is captured. */
  readonly hookEvidence: WorkTreeEvidence | null
  /** What people had written into it: a restore or an undo. */
  readonly writes: readonly TreeWrite[]
}

/** Reads which attempts were open in the work tree since an attempt began, itself included. */
async function readAttemptSurroundings(
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
  const [hookEvidence, chains, writes] = await Promise.all([
    readHookEvidence(reads, { ...query, attempts: inTree }),
    tasks.ancestors(inTree.map(({ taskId }) => taskId)),
    reads.treeWrites.since(query.since, query.tree),
  ])
  const neighbors = new Map(
    inTree.map((other) => {
      const lineage = new Set(chains.get(other.taskId))
      const above = inTree.filter(({ taskId }) => lineage.has(taskId)).map(({ id }) => id)
      return [other.id as string, { ...other, above, until: untilOf(other) }]
    }),
  )
  return { neighbors, hookEvidence, writes }
}
