import type { Measured } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { AttemptId } from '../../domain/id.ts'
import { excerpt } from '../../domain/text.ts'
import { type AttributedChanges, attributeChanges, type Contender } from '../../domain/track/attribution.ts'
import type {
  ChangeReport,
  CommitDuring,
  ContestedFile,
  FileChange,
  HeadMove,
  ReportedChange,
  Rival,
} from '../../domain/track/changes.ts'
import { type ClaimedWork, claimedNotFound, namedIn } from '../../domain/track/claimed-paths.ts'
import { judgeScope, namesPackage, parseScope, type Scope } from '../../domain/track/scope/scope.ts'
import { type Attempt, type SnapshotPlace, treeOf } from '../../domain/track/task.ts'
import type { TaskReads } from '../../ports/reads.ts'
import type { WorkTreeWitness } from '../../ports/work-tree.ts'
import type { Context } from '../operation.ts'

/** What an agent says when it completes a task, as far as it bears on the measurement. */
export interface Claims {
  readonly outcome: ClaimedWork
  /** Areas beyond those declared at the start. */
  readonly areas: readonly string[]
}

const nothingSaid: Claims = { outcome: { summary: '', achievements: [] }, areas: [] }

/** Measures what an attempt changed, and judges it. What cannot be measured is reported as unknown, never as nothing. */
export async function measure(
  handling: Context,
  attempt: Attempt,
  claims: Claims = nothingSaid,
): Promise<Measured> {
  const { store, witness, clock, ids } = handling
  if (attempt.snapshot.edge !== handling.edge?.id) return unmeasured(handling, attempt, claims)
  const at = clock.now()
  const end = await endSnapshot(handling, attempt, ids.next('attempt'))
  // Read after the snapshot: whoever began while it was taken may have changed what it saw.
  const neighbours = await store.view(({ tasks }) => readNeighbours(tasks, attempt))
  if (end.place === null)
    return judge(
      attempt,
      end.report,
      { neighbours, stretches: [], packages: new Map() },
      { claims, endSnapshot: null },
    )
  const report = await witness.changes(attempt.snapshot, end.place)
  const [stretches, packages] = await Promise.all([
    report.changes.length + report.headMoves.length === 0
      ? []
      : neighbourhood(witness, attempt, neighbours, { at, place: end.place }),
    namesPackage([...claims.areas, ...[...neighbours.values()].flatMap(({ areas }) => areas)])
      ? witness.packages(end.place)
      : [],
  ])
  const found = { neighbours, stretches, packages: new Map(packages) }
  const noted = { ...report, notes: [...end.notes, ...report.notes] }
  return judge(attempt, noted, found, { claims, endSnapshot: end.place })
}

/** An attempt that began on another machine: only there it is known what it changed. */
async function unmeasured({ store }: Context, attempt: Attempt, claims: Claims): Promise<Measured> {
  const neighbours = await store.view(({ tasks }) => readNeighbours(tasks, attempt))
  const { edge, machine, top } = attempt.snapshot
  const where =
    edge === undefined ? `where the record is kept, in ${top}` : `on ${machine} (${edge}), in ${top}`
  const doubt = `The attempt began ${where}: what it changed can only be measured there, and was not.`
  const around = { neighbours, stretches: [], packages: new Map() }
  return judge(attempt, unknownReport(doubt), around, { claims, endSnapshot: null })
}

function unknownReport(doubt: string): ChangeReport {
  const nothing = { added: [], modified: [], deleted: [] }
  return { status: 'unknown', changes: [], ignored: nothing, headMoves: [], notes: [], doubts: [doubt] }
}

type End =
  | { readonly place: SnapshotPlace; readonly notes: readonly string[] }
  | { readonly place: null; readonly report: ChangeReport }

async function endSnapshot({ witness }: Context, attempt: Attempt, name: string): Promise<End> {
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

interface Measuring {
  readonly neighbours: Neighbours
  readonly stretches: readonly MeasuredStretch[]
  readonly packages: ReadonlyMap<string, string>
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
  const attributed = attribute(attempt, report, around.stretches, contendersOf(around, scopeOf))
  const whose = settled(attributed, claimedAmong(report.changes, attempt, claims))
  const own = report.changes.filter(({ path }) => whose.own(path) !== null)
  const isJudged = ({ path }: FileChange): boolean => whose.own(path)?.certainty !== 'contested'
  const alsoAllowed = (path: string) => {
    const via = around.neighbours.get(whose.own(path)?.via ?? '')
    return via ? [scopeOf(via)] : []
  }
  const judged = { status: report.status, changes: own.filter(isJudged) }
  const verdict = judgeScope(scopeOf(widened), judged, alsoAllowed)
  const scopes = new Map(verdict.files.map(({ change, scope }) => [change.path, scope]))
  const changes = own.map((change): ReportedChange => {
    const claim = whose.own(change.path)
    const rivals = rivalsOf(claim?.rivals ?? [], around.neighbours)
    return {
      ...change,
      scope: scopes.get(change.path) ?? null,
      attribution: claim?.certainty ?? 'certain',
      ...(rivals.length > 0 && { with: rivals }),
      ...(claim?.via !== undefined && { via: claim.via as AttemptId }), // it came in as an attempt's id
    }
  })
  const contested = report.changes
    .map(({ path }): ContestedFile => ({ path, perhaps: agents(whose.perhaps(path), around.neighbours) }))
    .filter(({ perhaps }) => perhaps.length > 0)
  const isCertain = contested.length === 0 && changes.every(({ attribution }) => attribution === 'certain')
  const crowded = around.neighbours.size >= mostNeighbours
  const commits = commitsDuring(report.headMoves, attempt, around, whose)
  const measuredPaths = report.changes.flatMap(({ path, from }) =>
    from === undefined ? [path] : [path, from],
  )
  const absent =
    report.status === 'unknown' ? [] : claimedNotFound(claims.outcome, [...measuredPaths, ...ignored(report)])
  return {
    verification: report.status === 'verified' && !(isCertain && !crowded) ? 'partial' : report.status,
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
    warnings: [
      ...verdict.warnings,
      ...report.doubts,
      ...report.notes,
      ...widenedNote(claims.areas),
      ...contestedNotes(changes),
      ...perhapsNote(contested),
      ...sweptNotes(commits, around.neighbours, whose),
      ...foreignNote(attributed, around.neighbours),
      ...(absent.length > 0 ? [`Named in your words, but unchanged during the task: ${named(absent)}.`] : []),
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

function contendersOf(
  { neighbours }: Measuring,
  scopeOf: (attempt: Attempt) => Contender['scope'],
): ReadonlyMap<string, Contender> {
  return new Map(
    [...neighbours.values()].map((neighbour) => [
      neighbour.id,
      {
        id: neighbour.id,
        ancestors: neighbour.above,
        scope: scopeOf(neighbour),
        reported: new Set<string>(),
      },
    ]),
  )
}

/** Null when no one else was there: then everything is the attempt's. */
function attribute(
  attempt: Attempt,
  report: ChangeReport,
  stretches: readonly MeasuredStretch[],
  contenders: ReadonlyMap<string, Contender>,
): AttributedChanges | null {
  if (stretches.length === 0) return null
  const known = stretches.map(({ touched, open }) => ({
    touched,
    open: open.map((id) => contenders.get(id)).filter((contender) => contender !== undefined),
  }))
  return attributeChanges(attempt.id, known, report.changes)
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

/** Changes that the agent names, from the work tree's top or from the project's folder. */
function claimedAmong(
  changes: readonly FileChange[],
  { snapshot: { prefix } }: Attempt,
  { outcome }: Claims,
): ReadonlySet<string> {
  const below = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : path)
  const names = changes.flatMap(({ path, from }) =>
    (from === undefined ? [path] : [path, from]).flatMap((name) => [
      { path, name },
      { path, name: below(name) },
    ]),
  )
  const said = new Set(
    namedIn(
      outcome,
      names.map(({ name }) => name),
    ),
  )
  return new Set(names.filter(({ name }) => said.has(name)).map(({ path }) => path))
}

function rivalsOf(ids: readonly string[], neighbours: Neighbours): readonly Rival[] {
  return ids.flatMap((id) => {
    const rival = neighbours.get(id)
    return rival === undefined ? [] : [{ agent: agentOf(rival), taskId: rival.taskId }]
  })
}

function agents(ids: readonly string[], neighbours: Neighbours): readonly string[] {
  return [...new Set(rivalsOf(ids, neighbours).map(({ agent }) => agent))]
}

function agentOf({ agentName, actor }: Neighbour): string {
  return agentName ?? actor.name
}

interface CommitFound {
  readonly commit: CommitDuring
  readonly paths: readonly string[]
}

/** The commits made here meanwhile. Git does not tell which agent made one: the time and its files may. */
function commitsDuring(
  moves: readonly HeadMove[],
  attempt: Attempt,
  { neighbours }: Measuring,
  whose: Whose,
): readonly CommitFound[] {
  return moves
    .filter(({ origin }) => origin === 'task')
    .map(({ commit, message, at, paths }) => {
      const others = openAt(neighbours, at).filter((id) => {
        const other = neighbours.get(id)
        return id !== attempt.id && other !== undefined && !other.above.includes(attempt.id)
      })
      const isOwn = (path: string): boolean =>
        ['certain', 'probable'].includes(whose.own(path)?.certainty ?? '')
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
function sweptNotes(
  commits: readonly CommitFound[],
  neighbours: Neighbours,
  whose: Whose,
): readonly string[] {
  return commits.flatMap(({ commit: { id, subject, by }, paths }) => {
    if (by === 'other') return []
    const swept = paths.filter((path) => whose.perhaps(path).length > 0)
    if (swept.length === 0) return []
    const whom = [...new Set(swept.flatMap((path) => agents(whose.perhaps(path), neighbours)))]
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

function perhapsNote(contested: readonly ContestedFile[]): readonly string[] {
  if (contested.length === 0) return []
  const shown = contested.slice(0, mostNamed).map(({ path, perhaps }) => `${path} (${perhaps.join(', ')})`)
  return [
    `${files(contested.length)} changed in other agents' areas and ${contested.length === 1 ? 'is' : 'are'} probably theirs: ${counted(shown, contested.length)}. If you edited one, name it in your summary.`,
  ]
}

function foreignNote(attributed: AttributedChanges | null, neighbours: Neighbours): readonly string[] {
  if (attributed === null || attributed.foreign.size === 0) return []
  const shown = [...attributed.foreign]
    .slice(0, mostNamed)
    .map(([path, ids]) => `${path} (${agents(ids, neighbours).join(', ')})`)
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
export interface MeasuredStretch {
  readonly touched: ReadonlySet<string> | null
  readonly open: readonly string[]
}

export interface Boundary {
  /** Milliseconds since the epoch; for a snapshot of now, when it was begun. */
  readonly at: number
  readonly place: SnapshotPlace
}

/** More boundaries than this are thinned out: the stretches get longer, never wrong. */
const mostBoundaries = 40

/** Splits an attempt's time at every start and completion of others in its work tree. Empty when it was alone. */
export async function neighbourhood(
  witness: WorkTreeWitness,
  attempt: Attempt,
  neighbours: Neighbours,
  end: Boundary,
): Promise<readonly MeasuredStretch[]> {
  const others = [...neighbours.values()].filter(({ id }) => id !== attempt.id)
  if (others.length === 0) return []
  const inside = others.flatMap(boundariesOf).filter(({ at }) => at > attempt.openedAt && at < end.at)
  inside.sort((a, b) => a.at - b.at)
  const step = Math.ceil(inside.length / mostBoundaries) || 1
  const bounds: readonly Boundary[] = [
    { at: attempt.openedAt, place: attempt.snapshot },
    ...inside.filter((_, index) => index % step === 0),
    { at: Number.MAX_SAFE_INTEGER, place: end.place },
  ]
  const pairs = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? to, to }))
  return Promise.all(
    pairs.map(async ({ from, to }) => {
      const touched = await witness.touched(from.place, to.place)
      return { touched: touched === null ? null : new Set(touched), open: openDuring(neighbours, from, to) }
    }),
  )
}

function boundariesOf(attempt: Attempt): readonly Boundary[] {
  const start = { at: attempt.openedAt, place: attempt.snapshot }
  if (attempt.closedAt === null || attempt.endSnapshot === null) return [start]
  return [start, { at: attempt.closedAt, place: attempt.endSnapshot }]
}

/** Open at any time of the stretch: with thinned boundaries an attempt may have begun inside it. */
function openDuring(neighbours: Neighbours, from: Boundary, to: Boundary): readonly string[] {
  return [...neighbours.values()]
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

/** Reads who else was open in the work tree since an attempt began, itself included. */
async function readNeighbours(tasks: TaskReads, attempt: Attempt): Promise<Neighbours> {
  const inTree = await tasks.attemptsInTree(treeOf(attempt.snapshot), attempt.openedAt)
  const lineages = await Promise.all(inTree.map(({ taskId }) => tasks.ancestors(taskId)))
  return new Map(
    inTree.map((other, index) => {
      const lineage = new Set<string>(lineages[index])
      const above = inTree.filter(({ taskId }) => lineage.has(taskId)).map(({ id }) => id)
      return [other.id, { ...other, above }]
    }),
  )
}
