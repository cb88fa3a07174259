import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { displayName } from '../../kernel/actor.ts'
import type { AttemptId } from '../../kernel/id.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { AttributedChanges } from '../domain/attribution.ts'
import type {
  AttemptCommit,
  ChangeReport,
  ContestedFile,
  FileChange,
  HeadMove,
  ReportedChange,
} from '../domain/changes.ts'
import { claimedChanges, missingPaths, unchangedPaths } from '../domain/claimed-changes/claimed-changes.ts'
import { type ClaimedWork, pathsNamedIn, withoutDenials } from '../domain/claimed-paths.ts'
import {
  deniedNotes,
  nameAuthors,
  nameSome,
  probablyOthersNotes,
  removedWorkNotes,
  unknownAuthorNotes,
} from '../domain/owner-notes.ts'
import { coverage, judgeScope, parseScope, type Scope } from '../domain/scope/scope.ts'
import { type Settlement, settle } from '../domain/settlement.ts'
import type { Attempt, SnapshotLocation } from '../domain/task.ts'
import type { AttemptStatement } from '../ports/attempt-reads.ts'
import type { SensitiveChanges } from './sensitive.ts'
import {
  attemptsOpenAt,
  attribute,
  candidateAuthorsOf,
  type MeasuredInterval,
  maxNeighbors,
  otherAgentNames,
  otherAuthors,
  type WorkTreeActivity,
  writtenPaths,
} from './work-tree-activity.ts'

/** The claims of an agent at completion that affect the measurement. */
export interface StatedOutcome {
  readonly outcome: ClaimedWork
  /** Changed files that the agent says are not its own. */
  readonly notMine?: readonly string[] | undefined
  /** Areas beyond those declared at the start. */
  readonly areas: readonly string[]
}

export const nothingStated: StatedOutcome = { outcome: { summary: '', achievements: [] }, areas: [] }

interface MeasureContext extends WorkTreeActivity {
  readonly intervals: readonly MeasuredInterval[]
  readonly packages: ReadonlyMap<string, string>
  readonly sensitive?: SensitiveChanges
  /** The claimed files that did not change and exist. */
  readonly existing?: ReadonlySet<string>
  /** Those that do not exist. */
  readonly absent?: ReadonlySet<string>
  /** Those that lead through a link, and to what. */
  readonly links?: ReadonlyMap<string, string | null>
  readonly statements?: ReadonlyMap<string, AttemptStatement>
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
  const { released } = ownership
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
  const { existing = new Set(), absent = new Set(), links = new Map() } = activity
  const { alsoChanged } = writtenPaths(activity.intervals)
  const overwritten = [...alsoChanged].filter((path) => !measuredPaths.includes(path))
  const isOutside = (path: string) => attributed?.outside.has(path) === true
  const removedWork = report.removedWork.filter((path) => !isOutside(path))
  const named = withoutDenials(claims.outcome)
  const claimed = report.status === 'unknown' ? [] : claimedChanges(claims.outcome)
  const changedAtAll = [...measuredPaths, ...ignoredPaths(report), ...overwritten]
  const unchanged = unchangedPaths(claimed, { changed: changedAtAll, existing, links })
  const missing = missingPaths(claimed, { changed: changedAtAll, absent, links })
  return {
    measurement: report.status === 'exact' && !(isCertain && crowd.length === 0) ? 'partial' : report.status,
    changes,
    ignored: report.ignored,
    scope: { matches: scopeResult.scopeMatch, unexpected: scopeResult.unexpectedFiles },
    ...(contested.length > 0 && { contested }),
    ...(commits.length > 0 && { commits: commits.map(({ commit }) => commit) }),
    ...(ownership.claimed.length + unchanged.length + missing.length > 0 && {
      claimedPaths: [
        ...ownership.claimed.map((path) => ({ path, found: 'uncontested' as const })),
        ...unchanged.map((path) => ({ path, found: 'unchanged' as const })),
        ...missing.map((path) => ({ path, found: 'missing' as const })),
      ],
    }),
    ...(ownership.deniedByAll.length > 0 && { deniedByAll: ownership.deniedByAll }),
    ...(released.length > 0 && { released }),
    ...(uncertain.length > 0 && { uncertain }),
    ...(removedWork.length > 0 && { removedWork }),
    ...(overwritten.length > 0 && { overwritten }),
    ...(doubts.length > 0 && { doubts: doubts.slice(0, maxDoubts) }),
    ...(claims.areas.length > 0 && { widened: claims.areas }),
    ...(report.unreadable.length > 0 && { unreadable: report.unreadable }),
    warnings: [
      ...scopeResult.warnings,
      ...report.doubts,
      ...removedWorkNotes(removedWork),
      ...report.notes,
      ...widenedNote(claims.areas),
      ...unknownAuthorNotes(changes, displayName(attempt), (paths) => pathsNamedIn(named, paths)),
      ...deniedNotes(keptDenials(attempt, changes, claims.notMine)),
      ...unseenNotes(changes),
      ...broughtNotes(changes),
      ...probablyOthersNotes(unsettled),
      ...otherCommitNotes(commits, activity, ownership),
      ...foreignNote(attributed, activity),
      ...writtenNotes(attributed, alsoChanged),
      ...crowd,
    ],
    endSnapshot,
  }
}

/** Denied changes that are the attempt's all the same, because no other one can have made them. */
function keptDenials(
  attempt: Attempt,
  changes: readonly ReportedChange[],
  denied: readonly string[] = [],
): readonly string[] {
  const certain = changes.filter(({ attribution }) => attribution === 'certain')
  return [...deniedPaths(certain, attempt, denied)]
}

export function ignoredPaths({ ignored: { added, modified, deleted } }: ChangeReport): readonly string[] {
  return [...added, ...modified, ...deleted]
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
    withoutDenials(outcome),
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
      `Commit ${id.slice(0, 8)} "${shortSubject(subject)}" also holds changes that are probably not yours: ${nameSome(swept)} (${nameAuthors(authors)}). They stay theirs in the record. Leave the commit as it is; next time, commit only your own files.`,
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

/** What a person's command wrote into the work tree meanwhile. */
function writtenNotes(
  attributed: AttributedChanges | null,
  alsoChanged: ReadonlySet<string>,
): readonly string[] {
  const only = [...(attributed?.outside ?? [])]
  const both = [...alsoChanged].filter((path) => !attributed?.outside.has(path))
  return [
    ...(only.length > 0
      ? [`Written by a person's waymark restore or undo, not by you: ${nameSome(only)}.`]
      : []),
    ...(both.length > 0
      ? [
          `A person's waymark restore or undo also wrote into files that changed meanwhile: ${nameSome(both)}.`,
        ]
      : []),
  ]
}

function shortSubject(subject: string): string {
  return excerpt(subject, 60)
}
