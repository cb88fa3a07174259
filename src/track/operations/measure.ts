import type { Measured } from '../../events/domain/fact.ts'
import type { FileCopies } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import type { Context, QueryContext } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Turn } from '../../sessions/domain/session.ts'
import {
  agentOfTurn,
  readSightings,
  type Sightings,
  type SightingsWish,
} from '../../sessions/operations/sightings.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type AttributedChanges, attributeChanges } from '../domain/attribution.ts'
import type {
  ChangeReport,
  CommitDuring,
  ContestedFile,
  FileChange,
  HeadMove,
  ReportedChange,
  Rival,
} from '../domain/changes.ts'
import { type ClaimedWork, claimedNotFound, namedIn } from '../domain/claimed-paths.ts'
import { coverage, judgeScope, namesPackage, parseScope, type Scope } from '../domain/scope/scope.ts'
import type { Contender, EndContents, Stretch } from '../domain/sight.ts'
import { type Attempt, type SnapshotPlace, treeOf } from '../domain/task.ts'
import { type SensitiveChanges, sensitiveChanges } from './sensitive.ts'

/** What an agent says when it completes a task, as far as it bears on the measurement. */
export interface Claims {
  readonly outcome: ClaimedWork
  /** Areas beyond those declared at the start. */
  readonly areas: readonly string[]
}

const nothingSaid: Claims = { outcome: { summary: '', achievements: [] }, areas: [] }

/** Measures what an attempt changed, and judges it. What cannot be measured is reported as unknown, never as nothing. */
export async function measure(handling: QueryContext, attempt: Attempt, claims?: Claims): Promise<Measured> {
  return measureUntil(handling, await endOf(handling, attempt), claims)
}

/** How the work tree of an attempt is now; `end` is null where only another machine could say it. */
export interface AttemptEnd {
  readonly attempt: Attempt
  readonly at: number
  readonly end: End | null
}

/** Looks at the work tree of an attempt as if it ended now. */
export async function endOf(handling: QueryContext, attempt: Attempt): Promise<AttemptEnd> {
  const at = handling.clock.now()
  const isElsewhere = attempt.snapshot.edge !== handling.edge?.id
  if (isElsewhere) return { attempt, at, end: null }
  const end = await endSnapshot(handling, attempt, handling.ids.next('attempt'))
  // What a hook has not handed over yet would look as if nobody had told of it.
  await handling.drain?.()
  return { attempt, at, end }
}

/** Measures what an attempt changed until it was looked at. */
export async function measureUntil(
  handling: QueryContext,
  { attempt, at, end }: AttemptEnd,
  claims: Claims = nothingSaid,
): Promise<Measured> {
  const { store, witness } = handling
  if (end === null) return unmeasured(handling, attempt, claims)
  // Read after the snapshot: whoever began while it was taken may have changed what it saw.
  const around = await store.view((reads) => readSurroundings(reads, attempt))
  const { neighbours } = around
  if (end.place === null)
    return judge(
      attempt,
      end.report,
      { ...around, stretches: [], packages: new Map() },
      { claims, endSnapshot: null },
    )
  const report = await witness.changes(attempt.snapshot, end.place)
  const [stretches, packages] = await Promise.all([
    report.changes.length + report.headMoves.length === 0
      ? []
      : neighbourhood(handling, around, {
          of: attempt,
          start: { at: attempt.openedAt, place: attempt.snapshot },
          end: { at, place: end.place },
          paths: pathsOf(report),
        }),
    namesPackage([...claims.areas, ...[...neighbours.values()].flatMap(({ areas }) => areas)])
      ? witness.packages(end.place)
      : [],
  ])
  const sensitive = await sensitiveChanges(handling, attempt, { changes: report.changes, end: end.place })
  const found = { ...around, stretches, packages: new Map(packages), sensitive }
  const noted = { ...report, notes: [...end.notes, ...report.notes] }
  return judge(attempt, noted, found, { claims, endSnapshot: end.place })
}

/** An attempt that began on another machine: only there it is known what it changed. */
async function unmeasured({ store }: QueryContext, attempt: Attempt, claims: Claims): Promise<Measured> {
  const surroundings = await store.view((reads) => readSurroundings(reads, attempt))
  const { edge, machine, top } = attempt.snapshot
  const where =
    edge === undefined ? `where the record is kept, in ${top}` : `on ${machine} (${edge}), in ${top}`
  const doubt = `The attempt began ${where}: what it changed can only be measured there, and was not.`
  const around = { ...surroundings, stretches: [], packages: new Map() }
  return judge(attempt, unknownReport(doubt), around, { claims, endSnapshot: null })
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

type End =
  | { readonly place: SnapshotPlace; readonly notes: readonly string[] }
  | { readonly place: null; readonly report: ChangeReport }

async function endSnapshot({ witness }: QueryContext, attempt: Attempt, name: string): Promise<End> {
  const { top, prefix, engine } = attempt.snapshot
  try {
    const { ref, notes } = await witness.snapshot({ folder: `${top}/${prefix}`, name, engine, top })
    return { place: ref, notes }
  } catch (error) {
    // A work tree that is gone stays gone; anything else may be mended, and the attempt stays open until then.
    if (!(error instanceof Failure && error.code === 'UNAVAILABLE')) throw error
    return { place: null, report: unknownReport(`The end state could not be recorded: ${error.message}`) }
  }
}

interface Measuring extends Surroundings {
  readonly stretches: readonly MeasuredStretch[]
  readonly packages: ReadonlyMap<string, string>
  readonly sensitive?: SensitiveChanges
}

/** Judges a measured report: whose each change is, whether it lies in the scope, and how sure all of it is. */
export function judge(
  attempt: Attempt,
  report: ChangeReport,
  around: Measuring,
  { claims, endSnapshot }: { readonly claims: Claims; readonly endSnapshot: SnapshotPlace | null },
): Measured {
  const scopeOf = ({ areas, snapshot }: Attempt): Scope =>
    parseScope(areas, { prefix: snapshot.prefix, packages: around.packages })
  const widened = { ...attempt, areas: [...attempt.areas, ...claims.areas] }
  const attributed = attribute(attempt.id, report, around.stretches, contendersOf(around, scopeOf))
  const whose = settled(attributed, claimedAmong(report.changes, attempt, claims))
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
    const rivals = rivalsOf(claim?.rivals ?? [], around)
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
    .map(({ path }): ContestedFile => ({ path, perhaps: agents(whose.perhaps(path), around) }))
    .filter(({ perhaps }) => perhaps.length > 0)
  const isCertain = contested.length === 0 && changes.every(({ attribution }) => attribution === 'certain')
  const crowded = around.neighbours.size >= mostNeighbours
  const commits = commitsDuring(report.headMoves, attempt, { around, whose, scopeOf })
  const measuredPaths = report.changes.flatMap(({ path, from }) =>
    from === undefined ? [path] : [path, from],
  )
  const absent =
    report.status === 'unknown' ? [] : claimedNotFound(claims.outcome, [...measuredPaths, ...ignored(report)])
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
      ...contestedNotes(changes),
      ...unseenNotes(changes),
      ...perhapsNote(contested),
      ...sweptNotes(commits, around, whose),
      ...foreignNote(attributed, around),
      ...(absent.length > 0
        ? [`Named in the outcome, but unchanged during the task: ${named(absent)}.`]
        : []),
      ...(crowded
        ? [`${mostNeighbours} or more attempts were open in this work tree: not all of them were compared.`]
        : []),
    ],
    endSnapshot,
  }
}

function ignored({ ignored: { added, modified, deleted } }: ChangeReport): readonly string[] {
  return [...added, ...modified, ...deleted]
}

export function contendersOf(
  { neighbours, sightings }: Surroundings,
  scopeOf: (attempt: Attempt) => Contender['scope'],
): ReadonlyMap<string, Contender> {
  const told = (id: string) => {
    const seen = sightings?.seen.get(id)
    return seen === undefined ? {} : { seen }
  }
  const above = (id: string) => sightings?.above.get(id) ?? []
  const attempts = [...neighbours.values()].map((neighbour): Contender => {
    const { id } = neighbour
    return { id, ancestors: [...neighbour.above, ...above(id)], scope: scopeOf(neighbour), ...told(id) }
  })
  const turns = [...(sightings?.turns.keys() ?? [])].map((id): Contender => {
    return { id, ancestors: above(id), scope: nowhere, ...told(id) }
  })
  return new Map([...attempts, ...turns].map((contender) => [contender.id, contender]))
}

const nowhere = parseScope([], { prefix: '', packages: new Map() })

/** Null when no one else was there: then everything is the attempt's. */
export function attribute(
  viewer: string,
  report: ChangeReport,
  stretches: readonly MeasuredStretch[],
  contenders: ReadonlyMap<string, Contender>,
): AttributedChanges | null {
  if (stretches.length === 0) return null
  const known = stretches.map(
    ({ open, ...stretch }): Stretch => ({
      ...stretch,
      open: open.map((id) => contenders.get(id)).filter((contender) => contender !== undefined),
    }),
  )
  return attributeChanges(viewer, known, report.changes)
}

type Own = NonNullable<ReturnType<AttributedChanges['own']['get']>>

/** Whose each path is, once the agent's own words have settled what was between several. */
interface Whose {
  readonly own: (path: string) => Own | null
  readonly perhaps: (path: string) => readonly string[]
  /** The paths that the words settled. */
  readonly claimed: readonly string[]
}

const alone: Own = { certainty: 'certain', rivals: [] }

function settled(attributed: AttributedChanges | null, claimed: ReadonlySet<string>): Whose {
  if (attributed === null) return { own: () => alone, perhaps: () => [], claimed: [] }
  const { own, perhaps } = attributed
  const isSettled = (path: string): boolean =>
    claimed.has(path) && (perhaps.has(path) || own.get(path)?.certainty === 'contested')
  return {
    own: (path) => {
      if (!isSettled(path)) return own.get(path) ?? null
      return {
        ...own.get(path),
        certainty: 'probable',
        rivals: own.get(path)?.rivals ?? perhaps.get(path) ?? [],
      }
    },
    perhaps: (path) => (isSettled(path) ? [] : (perhaps.get(path) ?? [])),
    claimed: [...new Set([...own.keys(), ...perhaps.keys()])].filter(isSettled),
  }
}

/** Changes that the agent names. */
function claimedAmong(
  changes: readonly FileChange[],
  attempt: Attempt,
  { outcome }: Claims,
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
    namedIn(
      outcome,
      names.map(({ name }) => name),
    ),
  )
  return new Set(names.filter(({ name }) => said.has(name)).map(({ path }) => path))
}

export function rivalsOf(ids: readonly string[], { neighbours, sightings }: Surroundings): readonly Rival[] {
  return ids.flatMap((id): readonly Rival[] => {
    const rival = neighbours.get(id)
    if (rival) return [{ agent: agentOf(rival), taskId: rival.taskId }]
    const turn = sightings?.turns.get(id)
    return turn ? [{ agent: agentOfTurn(turn), taskId: turn.id }] : []
  })
}

export function agents(ids: readonly string[], around: Surroundings): readonly string[] {
  return [...new Set(rivalsOf(ids, around).map(({ agent }) => agent))]
}

function agentOf({ agentName, actor }: Neighbour): string {
  return displayName({ actor, agentName })
}

interface CommitFound {
  readonly commit: CommitDuring
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
  }: { readonly around: Measuring; readonly whose: Whose; readonly scopeOf: (attempt: Attempt) => Scope },
): readonly CommitFound[] {
  return moves
    .filter(({ origin }) => origin === 'task')
    .map(({ commit, message, at, paths }) => {
      const others = openAt(neighbours, at).filter((id) => {
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
      const by =
        others.length === 0 || (paths.length > 0 && paths.every(isOwn))
          ? 'own'
          : paths.length > 0 &&
              paths.every((path) => whose.own(path) === null && whose.perhaps(path).length > 0)
            ? 'other'
            : 'unknown'
      return { commit: { id: commit, subject: message.replace(/^[^:]*: /, ''), by }, paths }
    })
}

/** Commits with which an agent took in what others were still at work on. */
function sweptNotes(commits: readonly CommitFound[], around: Surroundings, whose: Whose): readonly string[] {
  return commits.flatMap(({ commit: { id, subject, by }, paths }) => {
    if (by === 'other') return []
    const swept = paths.filter((path) => whose.perhaps(path).length > 0)
    if (swept.length === 0) return []
    const whom = [...new Set(swept.flatMap((path) => agents(whose.perhaps(path), around)))]
    return [
      `Commit ${id.slice(0, 8)} "${short(subject)}" also holds changes that are probably not yours: ${named(swept)} (${whom.join(', ')}).`,
    ]
  })
}

function widenedNote(areas: readonly string[]): readonly string[] {
  return areas.length === 0 ? [] : [`The areas were widened at the end: ${named(areas)}.`]
}

function contestedNotes(changes: readonly ReportedChange[]): readonly string[] {
  const contested = changes.filter(({ attribution }) => attribution === 'contested')
  if (contested.length === 0) return []
  const others = [...new Set(contested.flatMap((change) => (change.with ?? []).map(({ agent }) => agent)))]
  const paths = contested.map(({ path }) => path)
  const who = others.length === 0 ? 'another agent' : named(others)
  return [
    `${files(paths.length)} changed while ${who} also worked here, and it is not known by whom: ${named(paths)}. If you edited ${paths.length === 1 ? 'it' : 'one'}, name it in your summary.`,
  ]
}

function unseenNotes(changes: readonly ReportedChange[]): readonly string[] {
  const unseen = changes.filter(({ unseen }) => unseen).map(({ path }) => path)
  if (unseen.length === 0) return []
  return [
    `${files(unseen.length)} changed, and no tool of yours told of it: ${named(unseen)}. A person or another program may have written there.`,
  ]
}

function perhapsNote(contested: readonly ContestedFile[]): readonly string[] {
  if (contested.length === 0) return []
  const shown = contested.slice(0, mostNamed).map(({ path, perhaps }) => `${path} (${perhaps.join(', ')})`)
  return [
    `${files(contested.length)} changed in other agents' areas and ${contested.length === 1 ? 'is' : 'are'} probably theirs: ${counted(shown, contested.length)}. If you edited one, name it in your summary.`,
  ]
}

function foreignNote(attributed: AttributedChanges | null, around: Surroundings): readonly string[] {
  if (attributed === null || attributed.foreign.size === 0) return []
  const shown = [...attributed.foreign]
    .slice(0, mostNamed)
    .map(([path, ids]) => `${path} (${agents(ids, around).join(', ')})`)
  return [
    `Other agents changed ${files(attributed.foreign.size)}: ${counted(shown, attributed.foreign.size)}.`,
  ]
}

const mostNamed = 5

function named(texts: readonly string[]): string {
  return counted(texts.slice(0, mostNamed), texts.length)
}

function counted(shown: readonly string[], total: number): string {
  return `${shown.join(', ')}${total > shown.length ? ` and ${total - shown.length} more` : ''}`
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`
}

function short(subject: string): string {
  return excerpt(subject, 60)
}

/** The time between two neighbouring snapshots of a work tree: what it touched, and whose attempts were open. */
export interface MeasuredStretch extends Omit<Stretch, 'open'> {
  readonly open: readonly string[]
}

export interface Boundary {
  /** Milliseconds since the epoch; for a snapshot of now, when it was begun. */
  readonly at: number
  readonly place: SnapshotPlace
}

export interface MeasuredSpan {
  readonly of: { readonly id: string }
  readonly start: Boundary
  readonly end: Boundary
  /** What differs between the two. */
  readonly paths: readonly string[]
}

/** More boundaries than this are thinned out: the stretches get longer, never wrong. */
const mostBoundaries = 40

/** Splits a span at every start and end of others in its work tree. Empty when nobody was there, and no hook told of it. */
export async function neighbourhood(
  { witness, copies }: Pick<Context, 'witness' | 'copies'>,
  { neighbours, sightings }: Surroundings,
  { of, start, end, paths }: MeasuredSpan,
): Promise<readonly MeasuredStretch[]> {
  const isKin = (id: string): boolean =>
    id === of.id ||
    sightings?.above.get(of.id)?.includes(id) === true ||
    sightings?.above.get(id)?.includes(of.id) === true
  const others = [...neighbours.values()].filter(({ id }) => id !== of.id)
  const turns = [...(sightings?.turns.values() ?? [])].filter(({ id }) => !isKin(id))
  const isTold = sightings?.seen.has(of.id) === true
  if (others.length + turns.length === 0 && !isTold) return []
  const inside = [...others.flatMap(boundariesOf), ...turns.flatMap(boundariesOfTurn)].filter(
    ({ at }) => at > start.at && at < end.at,
  )
  inside.sort((a, b) => a.at - b.at)
  const step = Math.ceil(inside.length / mostBoundaries) || 1
  const last = { at: Number.MAX_SAFE_INTEGER, place: end.place }
  const bounds: readonly Boundary[] = [start, ...inside.filter((_, index) => index % step === 0), last]
  const pairs = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? to, to }))
  const isTimed = sightings !== null && copies !== undefined && paths.length <= mostTimed
  return Promise.all(
    pairs.map(async ({ from, to }) => {
      const isWhole = pairs.length === 1
      const [touched, contents] = await Promise.all([
        isWhole ? paths : witness.touched(from.place, to.place),
        isTimed
          ? endContents(copies, { paths, reported: reportedAmong(sightings, paths) }, [from, to])
          : null,
      ])
      return {
        touched: touched === null ? null : new Set(touched),
        open: openDuring({ neighbours, sightings }, from, to),
        ...(sightings !== null && { time: { from: from.at, to: to === last ? end.at : to.at } }),
        ...(contents !== null && { contents }),
      }
    }),
  )
}

export function pathsOf({ changes }: ChangeReport): readonly string[] {
  return changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
}

function reportedAmong({ seen }: Sightings, paths: readonly string[]): readonly string[] {
  const reported = new Set([...seen.values()].flatMap(({ edits }) => edits.map(({ path }) => path)))
  return paths.filter((path) => reported.has(path))
}

/** More changed files than this are not asked when they were written. */
const mostTimed = 2000

/** What stood at paths that were reported, before and after; of all others when they were written last. */
async function endContents(
  copies: FileCopies,
  { paths, reported }: { readonly paths: readonly string[]; readonly reported: readonly string[] },
  [from, to]: readonly [Boundary, Boundary],
): Promise<ReadonlyMap<string, EndContents>> {
  const [before, after] = await Promise.all([
    reported.length === 0 ? new Map<string, never>() : copies.contents(from.place, reported),
    paths.length === 0 ? new Map<string, never>() : copies.contents(to.place, paths),
  ])
  return new Map(
    paths.map((path) => {
      const end = after.get(path)
      return [path, { before: before.get(path)?.id, after: end?.id, changedAt: end?.changedAt ?? null }]
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
function openDuring(
  { neighbours, sightings }: Surroundings,
  from: Boundary,
  to: Boundary,
): readonly string[] {
  return [...neighbours.values(), ...(sightings?.turns.values() ?? [])]
    .filter(({ openedAt, closedAt }) => openedAt < to.at && (closedAt === null || closedAt > from.at))
    .map(({ id }) => id)
}

/** Who was open at a moment that is known to the second, in milliseconds since the epoch. */
function openAt(neighbours: Neighbours, at: number): readonly string[] {
  return [...neighbours.values()]
    .filter(({ openedAt, closedAt }) => openedAt < at + 1000 && (closedAt === null || closedAt >= at))
    .map(({ id }) => id)
}

/** An attempt that was open in the same work tree at the same time, with the attempts above it. */
export interface Neighbour extends Attempt {
  readonly above: readonly string[]
}

/** More attempts than this are not compared: then nothing is certain. */
const mostNeighbours = 200

export type Neighbours = ReadonlyMap<string, Neighbour>

/** Who else was at work in a work tree, and what hooks told of all of them. */
export interface Surroundings {
  readonly neighbours: Neighbours
  /** Null where nothing is captured. */
  readonly sightings: Sightings | null
}

/** Reads who else was open in the work tree since an attempt began, itself included. */
function readSurroundings(reads: Reads, { snapshot, openedAt }: Attempt): Promise<Surroundings> {
  return readAround(reads, { tree: treeOf(snapshot), since: openedAt })
}

export async function readAround(
  reads: Reads,
  where: Omit<SightingsWish, 'attempts'>,
): Promise<Surroundings> {
  const { tasks } = reads
  const inTree = await tasks.attemptsInTree(where.tree, where.since)
  const [sightings, ...lineages] = await Promise.all([
    readSightings(reads, { ...where, attempts: inTree }),
    ...inTree.map(({ taskId }) => tasks.ancestors(taskId)),
  ])
  const neighbours = new Map(
    inTree.map((other, index) => {
      const lineage = new Set<string>(lineages[index])
      const above = inTree.filter(({ taskId }) => lineage.has(taskId)).map(({ id }) => id)
      return [other.id as string, { ...other, above }]
    }),
  )
  return { neighbours, sightings }
}
