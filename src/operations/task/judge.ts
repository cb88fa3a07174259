import type { Evidence } from '../../domain/fact.ts'
import type { AttemptId } from '../../domain/id.ts'
import { type AttributedChanges, attributeChanges, type Contender } from '../../domain/track/attribution.ts'
import type { ChangeReport, FileChange, HeadMove } from '../../domain/track/changes.ts'
import { claimedNotFound, namedIn } from '../../domain/track/claimed-paths.ts'
import type { CommitDuring, ContestedFile, ReportedChange, Rival } from '../../domain/track/evidence.ts'
import { parseScope, type Scope } from '../../domain/track/scope/scope.ts'
import { judgeScope } from '../../domain/track/scope/verdict.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Claims } from './measure.ts'
import { mostNeighbours, type Neighbour, type Neighbours } from './neighbours.ts'
import { type MeasuredStretch, openAt } from './stretches.ts'

interface Surroundings {
  readonly neighbours: Neighbours
  readonly stretches: readonly MeasuredStretch[]
  readonly packages: ReadonlyMap<string, string>
}

/** Judges a measured report: whose each change is, whether it lies in the scope, and how sure all of it is. */
export function judge(
  attempt: Attempt,
  report: ChangeReport,
  around: Surroundings,
  { claims, endSnapshot }: { readonly claims: Claims; readonly endSnapshot: SnapshotPlace | null },
): Evidence {
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
  { neighbours }: Surroundings,
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
  { neighbours }: Surroundings,
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
  return subject.length > 60 ? `${subject.slice(0, 59)}…` : subject
}
