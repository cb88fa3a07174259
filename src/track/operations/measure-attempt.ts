import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { maxAttempts } from '../../gate/ports/run-reads.ts'
import type { ContentAt } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import {
  list,
  names,
  oidOrNull,
  packages,
  path,
  place,
  report,
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
} from '../../kernel/operations/measurement.ts'
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
import { type ClaimedWork, pathsNamedIn, unmeasuredClaims } from '../domain/claimed-paths.ts'
import type { CandidateAuthor, EndContents, Interval } from '../domain/hook-evidence.ts'
import { coverage, hasPackageArea, judgeScope, parseScope, type Scope } from '../domain/scope/scope.ts'
import { sensitiveKinds } from '../domain/scope/sensitive.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../domain/task.ts'
import { type SensitiveChanges, sensitiveChanges } from './sensitive.ts'

/** What an agent says when it completes a task, as far as it bears on the measurement. */
export interface StatedOutcome {
  readonly outcome: ClaimedWork
  /** Areas beyond those declared at the start. */
  readonly areas: readonly string[]
}

const nothingStated: StatedOutcome = { outcome: { summary: '', achievements: [] }, areas: [] }

/** How the work tree of an attempt is now; `end` is null where only another machine could say it. */
export interface AttemptEndState {
  readonly attempt: Attempt
  readonly end: EndedTree | null
}

/** How an open attempt is now: where its work tree stands, and what it changed until then. */
export interface OpenAttemptState extends AttemptEndState {
  readonly evidence: AttemptMeasurement
}

type OpenAttemptStates = ReadonlyMap<string, OpenAttemptState>

/** What open attempts changed until now, by their ids; null until it is measured. */
export async function measuredOpenAttempts(
  reads: Reads,
  context: Pick<Context, 'machine' | 'clock'>,
  attempts: readonly Attempt[],
  measured: MeasurementValues<typeof openAttemptMeasurements>,
): Promise<PreparedOperation<typeof openAttemptMeasurements, OpenAttemptStates | null>> {
  const ends = isEndMeasuredBriefly(context, attempts)
  const states = attempts.map((attempt): AttemptEndState | null => {
    if (attempt.snapshot.machineId !== context.machine?.id) return { attempt, end: null }
    const end = measured.ends?.find(({ id }) => id === attempt.id)
    return end ? { attempt, end: endedTree(context, end) } : null
  })
  const known = states.filter((state) => state !== null)
  if (known.length < states.length) return { briefs: { ends }, found: null }
  const asked = await Promise.all(
    known.map(async (state) => {
      const around = await changesAround(reads, state)
      return { state, around, brief: changesBrief(state, around) }
    }),
  )
  const changes = asked.flatMap(({ brief }) => brief ?? [])
  const briefs = { ...(ends.length > 0 && { ends }), ...(changes.length > 0 && { changes }) }
  const made = new Map(measured.changes?.map((one) => [one.id, one]))
  if (changes.some(({ id }) => !made.has(id))) return { briefs, found: null }
  const found = asked.map(({ state, around }): readonly [string, OpenAttemptState] => {
    const { id } = state.attempt
    return [id, { ...state, evidence: measurementOf(state, around, made.get(id)) }]
  })
  return { briefs, found: new Map(found) }
}

/** The end of a work tree as it was recorded; or why it could not be. */
export interface EndedTree {
  readonly at: number
  /** When it was recorded: who began until then may have changed what it saw. */
  readonly until: number
  readonly place: SnapshotLocation | null
  readonly notes: readonly string[]
  readonly error: string | null
}

/** The states of the work trees of open attempts, as if they ended now. */
export const attemptEnds = measurement({
  brief: list(
    z.strictObject({
      id: z.string(),
      top: path,
      prefix: z.string().max(4_096),
      engine: z.enum(['git', 'checksum']),
    }),
    maxAttempts,
  ),
  measured: list(
    z.strictObject({
      id: z.string(),
      at: time,
      until: time,
      place: place.nullable(),
      notes: list(words),
      error: words.nullable(),
    }),
    maxAttempts,
  ),
  fits: (asked, ends) => isSameAttempts(ends, asked),
  drains: true,
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
          return { id, at: until, until: workTree.now(), place: ref, notes, error: null }
        } catch (error) {
          // A work tree that is gone stays gone; anything else may be mended, and the attempt stays open until then.
          if (!(error instanceof Failure && error.code === 'UNAVAILABLE')) throw error
          return { id, at: until, until, place: null, notes: [], error: error.message }
        }
      }),
    ),
})

function isSameAttempts(
  measured: readonly { readonly id: string }[],
  asked: readonly { readonly id: string }[],
): boolean {
  return measured.length === asked.length && measured.every(({ id }, at) => id === asked[at]?.id)
}

/** Of attempts that began on the caller's machine; what others changed is only seen on theirs. */
export function isEndMeasuredBriefly(
  { machine }: Pick<Context, 'machine'>,
  attempts: readonly Attempt[],
): BriefOf<typeof attemptEnds> {
  return attempts
    .filter(({ snapshot }) => snapshot.machineId === machine?.id)
    .map(({ id, snapshot: { top, prefix, engine } }) => ({ id, top, prefix, engine }))
}

export function endedTree(
  context: Pick<Context, 'machine' | 'clock'>,
  { at, until, place: taken, notes, error }: MeasurementOf<typeof attemptEnds>[number],
): EndedTree {
  assertTime(context, at)
  return { at, until, place: taken && withMachine(context, taken), notes, error }
}

/** More boundaries than this are thinned out: the stretches get longer, never wrong. */
const maxBoundaries = 40
const bound = z.strictObject({ from: place, to: place })
const stood = list(
  z.tuple([
    z.string().max(4_096),
    z.strictObject({ id: oidOrNull.exactOptional(), changedAt: z.number().nullable() }),
  ]),
)

export const spansShape = list(
  z.strictObject({
    touched: names.nullable(),
    contents: z.strictObject({ before: stood, after: stood }).nullable(),
  }),
  maxBoundaries + 2,
)

/** What attempts changed until their ends, and what each of the times between others' snapshots touched. */
export const attemptChanges = measurement({
  brief: list(
    z.strictObject({
      id: z.string(),
      from: place,
      to: place,
      spans: list(bound, maxBoundaries + 2),
      /** The paths that hooks reported; null where nothing was captured. */
      reported: names.nullable(),
      packages: z.boolean(),
      sensitive: words.nullable(),
    }),
    maxAttempts,
  ),
  measured: list(
    z.strictObject({
      id: z.string(),
      report,
      spans: spansShape,
      packages,
      sensitive: list(z.tuple([z.string(), z.enum(sensitiveKinds)]), 10_000),
    }),
    maxAttempts,
  ),
  fits: (asked, changes) => isSameAttempts(changes, asked),
  measure: (workTree, attempts) =>
    Promise.all(
      attempts.map(async ({ id, from, to, spans, reported, packages: wantsPackages, sensitive }) => {
        const { witness } = workTree
        const found = await witness.changes(from, to)
        const paths = pathsOf(found)
        const isUnchanged = found.changes.length + found.headMoves.length === 0
        const [touched, known, asking] = await Promise.all([
          isUnchanged ? [] : measuredSpans(workTree, { spans, reported, paths }),
          wantsPackages ? witness.packages(to) : [],
          sensitiveChanges(workTree, from, { changes: found.changes, end: to, setting: sensitive }),
        ])
        return { id, report: found, spans: touched, packages: known, sensitive: [...asking] }
      }),
    ),
})

export const openAttemptMeasurements = { ends: attemptEnds, changes: attemptChanges }

/** What was read around an attempt whose changes are measured. */
export interface AttemptChangesContext extends WorkTreeActivity {
  readonly sensitive: string | null
}

export async function changesAround(
  reads: Reads,
  { attempt, end }: AttemptEndState,
): Promise<AttemptChangesContext> {
  const [surroundings, settings] = await Promise.all([
    readAttemptSurroundings(reads, attempt, end?.until),
    reads.runs.settings(),
  ])
  return { ...surroundings, sensitive: settings.get('sensitive') ?? null }
}

/** Null where nothing can be measured. */
export function changesBrief(
  { attempt, end }: AttemptEndState,
  around: AttemptChangesContext,
  claims: StatedOutcome = nothingStated,
): BriefOf<typeof attemptChanges>[number] | null {
  if (end === null || end.place === null) return null
  const { neighbours, hookEvidence } = around
  const bounds = boundsOf(around, spanOf(attempt, end.place, end.at))
  return {
    id: attempt.id,
    from: attempt.snapshot,
    to: end.place,
    spans: bounds.map(({ from, to }) => ({ from: from.place, to: to.place })),
    reported: hookEvidence === null ? null : reportedPathsUntil(hookEvidence, end.until),
    packages: hasPackageArea([...claims.areas, ...[...neighbours.values()].flatMap(({ areas }) => areas)]),
    sensitive: around.sensitive,
  }
}

/** What an attempt changed, judged by what was measured. */
export function measurementOf(
  { attempt, end }: AttemptEndState,
  around: AttemptChangesContext,
  changes: MeasurementOf<typeof attemptChanges>[number] | undefined,
  claims: StatedOutcome = nothingStated,
): AttemptMeasurement {
  const nothing = { ...around, intervals: [], packages: new Map<string, string>(), sensitive: new Map() }
  if (end === null) return judge(attempt, unmeasuredEvidence(attempt), nothing, { claims, endSnapshot: null })
  if (end.place === null || changes === undefined) {
    const doubt = `The end state could not be recorded: ${end.error}`
    return judge(attempt, unknownReport(doubt), nothing, { claims, endSnapshot: null })
  }
  const { report: found, spans, packages: known, sensitive } = changes
  const span = spanOf(attempt, end.place, end.at)
  const intervals =
    found.changes.length + found.headMoves.length === 0
      ? []
      : attributionIntervals(around, span, spans, pathsOf(found))
  const noted = { ...found, notes: [...end.notes, ...found.notes] }
  return judge(
    attempt,
    noted,
    { ...around, intervals, packages: new Map(known), sensitive: new Map(sensitive) },
    { claims, endSnapshot: end.place },
  )
}

function spanOf(attempt: Attempt, end: SnapshotLocation, at: number): MeasuredSpan {
  return { of: attempt, start: { at: attempt.openedAt, place: attempt.snapshot }, end: { at, place: end } }
}

/** An attempt that began on another machine: only there it is known what it changed. */
function unmeasuredEvidence({ snapshot: { machineId, machineName, top } }: Attempt): ChangeReport {
  const where =
    machineId === undefined
      ? `where the record is kept, in ${top}`
      : `on ${machineName} (${machineId}), in ${top}`
  return unknownReport(`The attempt started ${where}: its changes can only be measured there, and were not.`)
}

function unknownReport(doubt: string): ChangeReport {
  const nothing = { added: [], modified: [], deleted: [] }
  return {
    status: 'unknown',
    changes: [],
    ignored: nothing,
    headMoves: [],
    notes: [],
    doubts: [doubt],
    unreadable: [],
  }
}

interface MeasureContext extends WorkTreeActivity {
  readonly intervals: readonly MeasuredInterval[]
  readonly packages: ReadonlyMap<string, string>
  readonly sensitive?: SensitiveChanges
}

/** Judges a measured report: whose each change is, whether it lies in the scope, and how sure all of it is. */
export function judge(
  attempt: Attempt,
  report: ChangeReport,
  around: MeasureContext,
  { claims, endSnapshot }: { readonly claims: StatedOutcome; readonly endSnapshot: SnapshotLocation | null },
): AttemptMeasurement {
  const scopeOf = ({ areas, snapshot }: Attempt): Scope =>
    parseScope(areas, { prefix: snapshot.prefix, packages: around.packages })
  const widened = { ...attempt, areas: [...attempt.areas, ...claims.areas] }
  const attributed = attribute(attempt.id, report, around.intervals, candidateAuthorsOf(around, scopeOf))
  const whose = settleOwners(attributed, claimedPaths(report.changes, attempt, claims))
  const own = report.changes.filter(({ path }) => whose.own(path) !== null)
  const isJudged = ({ path }: FileChange): boolean => whose.own(path)?.certainty !== 'contested'
  const alsoAllowed = (path: string) => {
    const via = around.neighbours.get(whose.own(path)?.via ?? '')
    return via ? [scopeOf(via)] : []
  }
  // What a subtask changed was asked about when the subtask ended.
  const askedBelow = report.changes.flatMap(({ path, from = path }) => {
    const via = around.neighbours.get(whose.own(path)?.via ?? '')
    return via === undefined || via.status === 'open' || via.status === 'abandoned' ? [] : [path, from]
  })
  const sensitive = new Map([...(around.sensitive ?? [])].filter(([path]) => !askedBelow.includes(path)))
  // A sensitive file asks also where it is not known which agent wrote it.
  const asks = ({ path, from = path }: FileChange): boolean => sensitive.has(path) || sensitive.has(from)
  const judged = {
    status: report.status,
    changes: own.filter((change) => isJudged(change) || asks(change)),
  }
  const inWords = pathsNamed([...sensitive.keys()], attempt, claims.outcome)
  const verdict = judgeScope(scopeOf(widened), judged, alsoAllowed, { sensitive, named: inWords })
  const scopes = new Map(verdict.files.map(({ change, scope }) => [change.path, scope]))
  const changes = own.map((change): ReportedChange => {
    const claim = whose.own(change.path)
    const rivals = otherAuthors(claim?.rivals ?? [], around)
    const via = around.neighbours.has(claim?.via ?? '') ? claim?.via : undefined
    return {
      ...change,
      scope: scopes.get(change.path) ?? null,
      attribution: claim?.certainty ?? 'certain',
      ...(rivals.length > 0 && { with: rivals }),
      ...(via !== undefined && { via: via as AttemptId }), // it came in as an attempt's id
      ...(claim?.unseen && { unseen: true }),
    }
  })
  const contested = report.changes
    .map(({ path }): ContestedFile => ({ path, candidates: otherAgentNames(whose.candidates(path), around) }))
    .filter(({ candidates }) => candidates.length > 0)
  const isCertain = contested.length === 0 && changes.every(({ attribution }) => attribution === 'certain')
  const crowded = around.neighbours.size >= maxNeighbours
  const commits = commitsDuring(report.headMoves, attempt, { around, whose, scopeOf })
  const measuredPaths = report.changes.flatMap(({ path, from }) =>
    from === undefined ? [path] : [path, from],
  )
  const absent =
    report.status === 'unknown'
      ? []
      : unmeasuredClaims(claims.outcome, [...measuredPaths, ...ignoredPaths(report)])
  return {
    measurement: report.status === 'exact' && !(isCertain && !crowded) ? 'partial' : report.status,
    changes,
    ignored: report.ignored,
    scope: { matches: verdict.scopeMatch, unexpected: verdict.unexpectedFiles },
    ...(contested.length > 0 && { contested }),
    ...(commits.length > 0 && { commits: commits.map(({ commit }) => commit) }),
    ...(whose.claimed.length + absent.length > 0 && {
      claimedPaths: [
        ...whose.claimed.map((path) => ({ path, found: 'settled' as const })),
        ...absent.map((path) => ({ path, found: 'unchanged' as const })),
      ],
    }),
    ...(claims.areas.length > 0 && { widened: claims.areas }),
    ...(report.unreadable.length > 0 && { unreadable: report.unreadable }),
    warnings: [
      ...verdict.warnings,
      ...report.doubts,
      ...report.notes,
      ...widenedNote(claims.areas),
      ...contestedNotes(changes, displayName(attempt)),
      ...unseenNotes(changes),
      ...contestedNote(contested),
      ...otherCommitNotes(commits, around, whose),
      ...foreignNote(attributed, around),
      ...(absent.length > 0
        ? [`Named in the outcome, but not changed during the task: ${nameSome(absent)}.`]
        : []),
      ...(crowded
        ? [`${maxNeighbours} or more attempts were open in this work tree: not all of them were compared.`]
        : []),
    ],
    endSnapshot,
  }
}

function ignoredPaths({ ignored: { added, modified, deleted } }: ChangeReport): readonly string[] {
  return [...added, ...modified, ...deleted]
}

export function candidateAuthorsOf(
  { neighbours, hookEvidence }: WorkTreeActivity,
  scopeOf: (attempt: Attempt) => CandidateAuthor['scope'],
): ReadonlyMap<string, CandidateAuthor> {
  const told = (id: string) => {
    const seen = hookEvidence?.seen.get(id)
    return seen === undefined ? {} : { seen }
  }
  const above = (id: string) => hookEvidence?.above.get(id) ?? []
  const attempts = [...neighbours.values()].map((neighbour): CandidateAuthor => {
    const { id } = neighbour
    return { id, ancestors: [...neighbour.above, ...above(id)], scope: scopeOf(neighbour), ...told(id) }
  })
  const turns = [...(hookEvidence?.turns.keys() ?? [])].map((id): CandidateAuthor => {
    return { id, ancestors: above(id), scope: nowhere, ...told(id) }
  })
  return new Map([...attempts, ...turns].map((contender) => [contender.id, contender]))
}

const nowhere = parseScope([], { prefix: '', packages: new Map() })

/** Null when no one else was there: then everything is the attempt's. */
export function attribute(
  viewer: string,
  report: ChangeReport,
  intervals: readonly MeasuredInterval[],
  contenders: ReadonlyMap<string, CandidateAuthor>,
): AttributedChanges | null {
  if (intervals.length === 0) return null
  const known = intervals.map(
    ({ open, ...interval }): Interval => ({
      ...interval,
      open: open.map((id) => contenders.get(id)).filter((contender) => contender !== undefined),
    }),
  )
  return attributeChanges(viewer, known, report.changes)
}

type OwnAttribution = NonNullable<ReturnType<AttributedChanges['own']['get']>>

/** Whose each path is, once the agent's own words have settled what was between several. */
interface PathOwnership {
  readonly own: (path: string) => OwnAttribution | null
  readonly candidates: (path: string) => readonly string[]
  /** The paths that the words settled. */
  readonly claimed: readonly string[]
}

const alone: OwnAttribution = { certainty: 'certain', rivals: [] }

function settleOwners(attributed: AttributedChanges | null, claimed: ReadonlySet<string>): PathOwnership {
  if (attributed === null) return { own: () => alone, candidates: () => [], claimed: [] }
  const { own, candidates } = attributed
  const isSettled = (path: string): boolean =>
    claimed.has(path) && (candidates.has(path) || own.get(path)?.certainty === 'contested')
  return {
    own: (path) => {
      if (!isSettled(path)) return own.get(path) ?? null
      return {
        ...own.get(path),
        certainty: 'probable',
        rivals: own.get(path)?.rivals ?? candidates.get(path) ?? [],
      }
    },
    candidates: (path) => (isSettled(path) ? [] : (candidates.get(path) ?? [])),
    claimed: [...new Set([...own.keys(), ...candidates.keys()])].filter(isSettled),
  }
}

/** Changes that the agent names. */
function claimedPaths(
  changes: readonly FileChange[],
  attempt: Attempt,
  { outcome }: StatedOutcome,
): ReadonlySet<string> {
  const said = pathsNamed(
    changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])),
    attempt,
    outcome,
  )
  const isNamed = ({ path, from }: FileChange) => said.has(path) || (from !== undefined && said.has(from))
  return new Set(changes.filter(isNamed).map(({ path }) => path))
}

/** Which of some paths an agent names, from the work tree's top or from the project's folder. */
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
  const said = new Set(
    pathsNamedIn(
      outcome,
      names.map(({ name }) => name),
    ),
  )
  return new Set(names.filter(({ name }) => said.has(name)).map(({ path }) => path))
}

export function otherAuthors(
  ids: readonly string[],
  { neighbours, hookEvidence }: WorkTreeActivity,
): readonly CandidateAgent[] {
  return ids.flatMap((id): readonly CandidateAgent[] => {
    const rival = neighbours.get(id)
    if (rival) return [{ agent: agentOf(rival), taskId: rival.taskId }]
    const turn = hookEvidence?.turns.get(id)
    return turn ? [{ agent: agentOfTurn(turn), taskId: turn.id }] : []
  })
}

export function otherAgentNames(ids: readonly string[], around: WorkTreeActivity): readonly string[] {
  return [...new Set(otherAuthors(ids, around).map(({ agent }) => agent))]
}

function agentOf({ agentName, actor }: ConcurrentAttempt): string {
  return displayName({ actor, agentName })
}

interface CommitPaths {
  readonly commit: AttemptCommit
  readonly paths: readonly string[]
}

/** The commits made here meanwhile. Git does not tell which agent made one: the time and its files may. */
function commitsDuring(
  moves: readonly HeadMove[],
  attempt: Attempt,
  {
    around: { neighbours },
    whose,
    scopeOf,
  }: {
    readonly around: MeasureContext
    readonly whose: PathOwnership
    readonly scopeOf: (attempt: Attempt) => Scope
  },
): readonly CommitPaths[] {
  return moves
    .filter(({ origin }) => origin === 'task')
    .map(({ commit, message, at, paths }) => {
      const others = attemptsOpenAt(neighbours, at).filter((id) => {
        const other = neighbours.get(id)
        return id !== attempt.id && other !== undefined && !other.above.includes(attempt.id)
      })
      const areTheirs = (path: string): boolean =>
        others.some((id) => {
          const other = neighbours.get(id)
          return other !== undefined && coverage(scopeOf(other), path) === 'covered'
        })
      const isOwn = (path: string): boolean => {
        const certainty = whose.own(path)?.certainty
        // It may be that the other one changed it later, and committed it.
        return (
          certainty === 'certain' ||
          (certainty === 'probable' && (whose.claimed.includes(path) || !areTheirs(path)))
        )
      }
      const author =
        others.length === 0 || (paths.length > 0 && paths.every(isOwn))
          ? 'own'
          : paths.length > 0 &&
              paths.every((path) => whose.own(path) === null && whose.candidates(path).length > 0)
            ? 'other'
            : 'unknown'
      return { commit: { id: commit, subject: message.replace(/^[^:]*: /, ''), author }, paths }
    })
}

/** Commits with which an agent took in what others were still at work on. */
function otherCommitNotes(
  commits: readonly CommitPaths[],
  around: WorkTreeActivity,
  whose: PathOwnership,
): readonly string[] {
  return commits.flatMap(({ commit: { id, subject, author }, paths }) => {
    if (author === 'other') return []
    const swept = paths.filter((path) => whose.candidates(path).length > 0)
    if (swept.length === 0) return []
    const whom = [...new Set(swept.flatMap((path) => otherAgentNames(whose.candidates(path), around)))]
    return [
      `Commit ${id.slice(0, 8)} "${shortSubject(subject)}" also holds changes that are probably not yours: ${nameSome(swept)} (${whom.join(', ')}).`,
    ]
  })
}

function widenedNote(areas: readonly string[]): readonly string[] {
  return areas.length === 0 ? [] : [`The scope was widened at the end: ${nameSome(areas)}.`]
}

function contestedNotes(changes: readonly ReportedChange[], own: string): readonly string[] {
  const contested = changes.filter(({ attribution }) => attribution === 'contested')
  if (contested.length === 0) return []
  const rivals = contested.flatMap((change) => change.with ?? [])
  const others = [
    ...new Set(rivals.map(({ agent, taskId }) => (agent === own ? `your work on ${taskId}` : agent))),
  ]
  const paths = contested.map(({ path }) => path)
  const who = others.length === 0 ? 'another agent' : nameSome(others)
  return [
    `The author of ${formatCount(paths.length, 'changed file')} is unknown, because ${who} also worked here: ${nameSome(paths)}. If you edited ${paths.length === 1 ? 'it' : 'one'}, name it in your summary.`,
  ]
}

function unseenNotes(changes: readonly ReportedChange[]): readonly string[] {
  const unseen = changes.filter(({ unseen }) => unseen).map(({ path }) => path)
  if (unseen.length === 0) return []
  return [
    `${formatCount(unseen.length, 'file')} changed without a tool call of yours: ${nameSome(unseen)}. A person or another program may have written ${unseen.length === 1 ? 'it' : 'them'}.`,
  ]
}

function contestedNote(contested: readonly ContestedFile[]): readonly string[] {
  if (contested.length === 0) return []
  const shown = contested
    .slice(0, maxNamed)
    .map(({ path, candidates }) => `${path} (${candidates.join(', ')})`)
  return [
    `${formatCount(contested.length, 'file')} changed in other agents' scope and ${contested.length === 1 ? 'is' : 'are'} probably theirs: ${withMoreCount(shown, contested.length)}. If you edited one, name it in your summary.`,
  ]
}

function foreignNote(attributed: AttributedChanges | null, around: WorkTreeActivity): readonly string[] {
  if (attributed === null || attributed.foreign.size === 0) return []
  const shown = [...attributed.foreign]
    .slice(0, maxNamed)
    .map(([path, ids]) => `${path} (${otherAgentNames(ids, around).join(', ')})`)
  return [
    `Other agents changed ${formatCount(attributed.foreign.size, 'file')}: ${withMoreCount(shown, attributed.foreign.size)}.`,
  ]
}

const maxNamed = 5

function nameSome(texts: readonly string[]): string {
  return withMoreCount(texts.slice(0, maxNamed), texts.length)
}

function withMoreCount(shown: readonly string[], total: number): string {
  return `${shown.join(', ')}${total > shown.length ? ` and ${total - shown.length} more` : ''}`
}

function shortSubject(subject: string): string {
  return excerpt(subject, 60)
}

/** The time between two neighbouring snapshots of a work tree: what it touched, and whose attempts were open. */
export interface MeasuredInterval extends Omit<Interval, 'open'> {
  readonly open: readonly string[]
}

export interface Boundary {
  /** Milliseconds since the epoch; for a snapshot of now, when it was begun. */
  readonly at: number
  readonly place: SnapshotLocation
}

export interface MeasuredSpan {
  readonly of: { readonly id: string }
  readonly start: Boundary
  readonly end: Boundary
}

interface BoundaryPair {
  readonly from: Boundary
  readonly to: Boundary
}

/** A span, split at every start and end of others in its work tree. Empty when nobody was there, and no hook told of it. */
export function boundsOf(
  { neighbours, hookEvidence }: WorkTreeActivity,
  { of, start, end }: MeasuredSpan,
): readonly BoundaryPair[] {
  const isKin = (id: string): boolean =>
    id === of.id ||
    hookEvidence?.above.get(of.id)?.includes(id) === true ||
    hookEvidence?.above.get(id)?.includes(of.id) === true
  const others = [...neighbours.values()].filter(({ id }) => id !== of.id)
  const turns = [...(hookEvidence?.turns.values() ?? [])].filter(({ id }) => !isKin(id))
  const isTold = hookEvidence?.seen.has(of.id) === true
  if (others.length + turns.length === 0 && !isTold) return []
  const inside = [...others.flatMap(boundariesOf), ...turns.flatMap(boundariesOfTurn)].filter(
    ({ at }) => at > start.at && at < end.at,
  )
  inside.sort((a, b) => a.at - b.at)
  const step = Math.ceil(inside.length / maxBoundaries) || 1
  const last = { at: Number.MAX_SAFE_INTEGER, place: end.place }
  const bounds: readonly Boundary[] = [start, ...inside.filter((_, index) => index % step === 0), last]
  return bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? to, to }))
}

type MeasuredSpans = Readable<z.output<typeof spansShape>>

/** What the parts of a span touched, and what stood then at the paths that changed in it. */
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
  const among = new Set(reported)
  const told = paths.filter((one) => among.has(one))
  const stoodAt = async (at: SnapshotLocation, some: readonly string[]) =>
    some.length === 0 || copies === undefined ? [] : [...(await copies.contents(at, some))].map(plainContent)
  return Promise.all(
    spans.map(async ({ from, to }) => {
      const [touched, before, after] = await Promise.all([
        spans.length === 1 ? paths : witness.touched(from, to),
        isTimed ? stoodAt(from, told) : [],
        isTimed ? stoodAt(to, paths) : [],
      ])
      return { touched, contents: isTimed ? { before, after } : null }
    }),
  )
}

export function plainContent([name, { id, changedAt }]: readonly [string, ContentAt]) {
  return [name, { ...(id !== undefined && { id }), changedAt }] as const
}

/** The times between the snapshots of others as they were measured, with who was there. */
export function attributionIntervals(
  around: WorkTreeActivity,
  span: MeasuredSpan,
  measured: MeasuredSpans,
  paths: readonly string[],
): readonly MeasuredInterval[] {
  const bounds = boundsOf(around, span)
  return bounds.map(({ from, to }, index) => {
    const { touched = null, contents = null } = measured[index] ?? {}
    const isLast = index === bounds.length - 1
    return {
      touched: touched === null ? null : new Set(touched),
      open: attemptsOpenDuring(around, from, to),
      ...(around.hookEvidence !== null && { time: { from: from.at, to: isLast ? span.end.at : to.at } }),
      ...(contents !== null && { contents: endContents(contents, paths) }),
    }
  })
}

export function pathsOf({ changes }: ChangeReport): readonly string[] {
  return changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
}

/** The paths of edits that hooks reported until then. */
export function reportedPathsUntil({ seen }: WorkTreeEvidence, until: number): readonly string[] {
  const edits = [...seen.values()].flatMap((one) => one.edits)
  const known = edits.filter(({ at, from }) => (from ?? at) <= until)
  return [...new Set(known.map((edit) => edit.path))].sort().slice(0, maxReported)
}

const maxReported = 20_000

/** More changed files than this are not asked when they were written. */
const maxTimed = 2000

/** What stood at paths that were reported, before and after; of all others when they were written last. */
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

/** Open at any time of the stretch: with thinned boundaries an attempt may have begun inside it. */
function attemptsOpenDuring(
  { neighbours, hookEvidence }: WorkTreeActivity,
  from: Boundary,
  to: Boundary,
): readonly string[] {
  return [...neighbours.values(), ...(hookEvidence?.turns.values() ?? [])]
    .filter(({ openedAt, closedAt }) => openedAt < to.at && (closedAt === null || closedAt > from.at))
    .map(({ id }) => id)
}

/** Who was open at a moment that is known to the second, in milliseconds since the epoch. */
function attemptsOpenAt(neighbours: ConcurrentAttempts, at: number): readonly string[] {
  return [...neighbours.values()]
    .filter(({ openedAt, closedAt }) => openedAt < at + 1000 && (closedAt === null || closedAt >= at))
    .map(({ id }) => id)
}

/** An attempt that was open in the same work tree at the same time, with the attempts above it. */
export interface ConcurrentAttempt extends Attempt {
  readonly above: readonly string[]
}

/** More attempts than this are not compared: then nothing is certain. */
const maxNeighbours = 200

export type ConcurrentAttempts = ReadonlyMap<string, ConcurrentAttempt>

/** Who else was at work in a work tree, and what hooks told of all of them. */
export interface WorkTreeActivity {
  readonly neighbours: ConcurrentAttempts
  /** Null where nothing is captured. */
  readonly hookEvidence: WorkTreeEvidence | null
}

/** Reads who else was open in the work tree since an attempt began, itself included. */
async function readAttemptSurroundings(
  reads: Reads,
  { snapshot, openedAt }: Attempt,
  until = Number.MAX_SAFE_INTEGER,
): Promise<WorkTreeActivity> {
  const found = await readChangesAround(reads, { tree: treeOf(snapshot), since: openedAt })
  return {
    neighbours: new Map([...found.neighbours].filter(([, other]) => other.openedAt <= until)),
    hookEvidence: found.hookEvidence && {
      ...found.hookEvidence,
      turns: new Map([...found.hookEvidence.turns].filter(([, turn]) => turn.openedAt <= until)),
    },
  }
}

export async function readChangesAround(
  reads: Reads,
  where: Omit<EvidenceQuery, 'attempts'>,
): Promise<WorkTreeActivity> {
  const { tasks } = reads
  const inTree = await tasks.attemptsInTree(where.tree, where.since)
  const [hookEvidence, chains] = await Promise.all([
    readHookEvidence(reads, { ...where, attempts: inTree }),
    tasks.ancestors(inTree.map(({ taskId }) => taskId)),
  ])
  const neighbours = new Map(
    inTree.map((other) => {
      const lineage = new Set(chains.get(other.taskId))
      const above = inTree.filter(({ taskId }) => lineage.has(taskId)).map(({ id }) => id)
      return [other.id as string, { ...other, above }]
    }),
  )
  return { neighbours, hookEvidence }
}
