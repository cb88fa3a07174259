import type { AttemptMeasurement } from '../../../events/domain/project-event.ts'
import type { Author } from '../../../kernel/actor.ts'
import type { MeasurementOf } from '../../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { pathInsidePrefix } from '../../../kernel/path-pattern.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { namesOf } from '../../../track/domain/changes.ts'
import { sharedKind } from '../../../track/domain/scope/file-kind.ts'
import { isDeclared, judgePath, parseScope, type Scope } from '../../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../../track/domain/task.ts'
import type { ObservedChanges } from '../../domain/evidence.ts'
import type { RunRecord } from '../../domain/run.ts'
import { maxAttempts, type RunSubject, type ScopedPath } from '../../ports/run-reads.ts'
import { type GapChange, gapChangesOf, gapsOf, type WorkQuestion } from './changes-outside-attempts.ts'
import { subjectOf } from './find-run.ts'
import { peopleAmong } from './own-work.ts'
import type { MeasurementQuestions, RunMeasurements } from './run-measurements.ts'

export type Questions = Pick<MeasurementQuestions<RunMeasurements>, 'ask'>

/** The attempts at a run's subject, and the changes of those that ended. */
export interface SubjectWork {
  readonly subject: RunSubject | null
  readonly attempts: readonly Attempt[]
  readonly stored: ReadonlyMap<string, StoredChanges>
}

export type StoredChanges = Awaited<ReturnType<Reads['runs']['changesOf']>>[number]

/** The measured changes of a mission or task on disk now: the content of an approval `of: changes`. */
export interface MeasuredChanges {
  readonly files: readonly { readonly path: string; readonly sha256: string | null }[]
  /** Changes that the files do not show: content that only git holds, or the whole work tree. */
  readonly unseen: readonly string[]
  /** People who made some of the changes themselves. */
  readonly authors: readonly Author[]
}

export const nothingBegun: SubjectWork = { subject: null, attempts: [], stored: new Map() }

export async function workOf({ runs }: Reads, record: RunRecord): Promise<SubjectWork> {
  const subject = subjectOf(record)
  if (subject === null) return nothingBegun
  const attempts = await runs.attemptsOf(subject)
  const ended = attempts.filter(({ status }) => status !== 'open').map(({ id }) => id)
  const stored = ended.length === 0 ? [] : await runs.changesOf(ended)
  return { subject, attempts, stored: new Map(stored.map((one) => [one.attemptId as string, one])) }
}

/** The work trees of a subject, with the measurements that each needs outside its attempts. */
export function treesOf(
  { attempts }: SubjectWork,
  { machine }: Pick<RecordContext, 'machine'>,
  wanted: { readonly gaps: boolean; readonly ended: boolean; readonly isCompared: boolean },
): readonly WorkQuestion[] {
  const here = attempts.filter(({ snapshot }) => snapshot.machineId === machine?.id)
  return [...Map.groupBy(here, ({ snapshot }) => treeOf(snapshot)).values()].flatMap((inTree) => {
    const own = inTree.toSorted((a, b) => a.openedAt - b.openedAt)
    const [first] = own
    if (first === undefined) return []
    const last = wanted.ended ? lastEndedAttempt(own) : null
    const gaps = wanted.gaps ? gapsOf(own) : []
    if (gaps.length === 0 && !last && !wanted.isCompared) return []
    return [{ own, first, last, gaps, isCompared: wanted.isCompared }]
  })
}

/** The last attempt of a work tree in which none is open. */
function lastEndedAttempt(attempts: readonly Attempt[]): Attempt | null {
  const counted = attempts.filter(({ status }) => status !== 'abandoned')
  if (counted.some(({ status }) => status === 'open')) return null
  return counted.toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0))[0] ?? null
}

type MeasuredWork = MeasurementOf<RunMeasurements['work']>[number]

/** A work tree of a subject with its measurement. */
export interface MeasuredWorkTree extends WorkQuestion {
  readonly measured: MeasuredWork
}

export async function prepareWork(
  { runs }: Reads,
  questions: Questions,
  trees: readonly WorkQuestion[],
): Promise<readonly MeasuredWorkTree[] | null> {
  if (trees.length === 0) return []
  const settings = trees.some(({ gaps }) => gaps.length > 0) ? await runs.settings() : null
  const outside = trees.map((tree) => {
    const measured = questions.ask('work', {
      first: tree.first.snapshot,
      gaps: tree.gaps.map(({ from, to }) => ({ from, to })),
      ended: tree.last?.endSnapshot ?? null,
      isCompared: tree.isCompared,
      sensitive: settings?.get('sensitive') ?? null,
    })
    return measured && { ...tree, measured }
  })
  const complete = outside.flatMap((one) => one ?? [])
  return complete.length === trees.length ? complete : null
}

/** By work tree and path, whether a file differs from the start of the work. Null or missing: unknown. */
type NetChanges = ReadonlyMap<string, ReadonlyMap<string, boolean | null>>

/** Undefined until measured. */
export function prepareNetChanges(
  questions: Questions,
  {
    work,
    openChanges,
    outside,
  }: {
    readonly work: SubjectWork
    readonly openChanges: OpenChanges
    readonly outside: readonly MeasuredWorkTree[]
  },
): NetChanges | undefined {
  const compared = outside.flatMap(({ own, first, isCompared, measured: { now } }) => {
    const changes = own.flatMap(
      ({ id }) => openChanges.get(id)?.changes ?? work.stored.get(id)?.changes ?? [],
    )
    const paths = [...new Set(changes.flatMap(namesOf))]
    if (!isCompared || now === null || paths.length === 0) return []
    return [
      { tree: treeOf(first.snapshot), found: questions.ask('net', { first: first.snapshot, now, paths }) },
    ]
  })
  const found = compared.flatMap(({ tree, found: files }) => (files ? [[tree, new Map(files)] as const] : []))
  return found.length === compared.length ? new Map(found) : undefined
}

/**
 * Every file that attempts at the subject changed, with its current hash; and files touched since the last attempt ended,
 * except by other tasks. Null if no attempt began, or a part cannot be measured; undefined until measured.
 */
export async function prepareChanges(
  reads: Reads,
  questions: Questions,
  {
    context,
    work,
    openChanges,
    outside,
  }: {
    readonly context: Pick<RecordContext, 'machine'>
    readonly work: SubjectWork
    readonly openChanges: OpenChanges
    readonly outside: readonly MeasuredWorkTree[]
  },
): Promise<MeasuredChanges | null | undefined> {
  const attempts = work.attempts.filter(({ status }) => status !== 'abandoned')
  if (work.subject === null || attempts.length === 0) return null
  // Files on another machine cannot be measured here.
  if (attempts.some(({ snapshot }) => snapshot.machineId !== context.machine?.id)) return null
  const paths = new Map<string, Set<string>>()
  const unseen = new Map<
    string,
    { readonly first: SnapshotLocation; readonly paths: Set<string>; isWholeTree: boolean }
  >()
  for (const attempt of attempts) {
    const changed = openChanges.get(attempt.id) ?? work.stored.get(attempt.id)
    if (!changed) return null
    const { unreadable = [] } = changed
    const own = pathsIn(paths, attempt.snapshot.top)
    if (!isKnown(changed) || unreadable.length > 0) {
      const tree = treeOf(attempt.snapshot)
      const part = unseen.get(tree) ?? { first: attempt.snapshot, paths: new Set(), isWholeTree: false }
      for (const file of unreadable) part.paths.add(file)
      part.isWholeTree ||= !isKnown(changed) || unreadable.some((file) => file.endsWith('/'))
      unseen.set(tree, part)
      for (const file of unreadable.filter((one) => !one.endsWith('/'))) own.add(file)
    }
    for (const { path: file, from, scope } of changed.changes) {
      if (scope === 'imported') continue
      own.add(file)
      if (from !== undefined) own.add(from)
    }
  }
  for (const tree of outside) {
    if (tree.last === null) continue
    const later = await pathsTouchedLater(reads, tree, tree.last)
    if (later === null) return null
    for (const file of later) pathsIn(paths, tree.last.snapshot.top).add(file)
  }
  const between = await gapChangesOf(reads, outside)
  if (between === null) return null
  for (const { top, path: file } of between) pathsIn(paths, top).add(file)
  const hashed = [...paths].map(([top, inTree]) => {
    const prefix = paths.size > 1 ? `${top}/` : ''
    const files = questions.ask('hashes', { top, paths: [...inTree].sort() })
    return files?.map((file) => ({ ...file, path: `${prefix}${file.path}` }))
  })
  const states = [...unseen.values()].map(({ first, paths: some, isWholeTree }) =>
    questions.ask('fileStates', { first, paths: [...some].sort(), isWholeTree }),
  )
  const files = hashed.flatMap((one) => (one ? [one] : []))
  const measuredStates = states.flatMap((one) => one ?? [])
  if (files.length < hashed.length || measuredStates.length < states.length) return undefined
  // Changes that are not known exactly cannot be approved.
  if (measuredStates.some(({ isExact }) => !isExact)) return null
  const lines = measuredStates.flatMap(({ files: some, tree }) => [
    ...some.flatMap(({ path: file, git }) => (git === null ? [] : [`${file}: git holds ${git}`])),
    ...(tree === null ? [] : [`the whole work tree: ${tree}`]),
  ])
  return {
    files: files.flat(),
    unseen: lines.sort(),
    authors: peopleAmong(work.attempts.map(({ actor }) => actor)),
  }
}

function pathsIn(paths: Map<string, Set<string>>, top: string): Set<string> {
  const inTree = paths.get(top) ?? new Set()
  paths.set(top, inTree)
  return inTree
}

/** Files touched after an attempt, without those in the scope or the changes of other attempts. Null: unknown. */
async function pathsTouchedLater(
  { tasks, runs }: Reads,
  { own, measured: { touched } }: MeasuredWorkTree,
  last: Attempt,
): Promise<readonly string[] | null> {
  if (touched === null || touched.length === 0) return touched
  const ownIds = new Set<string>(own.map(({ id }) => id))
  const since = await tasks.attemptsInTree(treeOf(last.snapshot), last.closedAt ?? 0)
  const others = since.filter(({ id }) => !ownIds.has(id))
  const changed = await runs.changesOf(others.filter(({ status }) => status !== 'open').map(({ id }) => id))
  const scopes = others
    .map(({ areas, snapshot }) => parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }))
    .filter(isDeclared)
  const theirs = new Set(changed.flatMap(({ changes }) => changes.map((file) => file.path)))
  return touched.filter(
    (file) => !theirs.has(file) && !scopes.some((scope) => judgePath(scope, file) !== 'out'),
  )
}

/** The changes of open attempts at a run's subject up to now. */
export type OpenChanges = ReadonlyMap<string, AttemptMeasurement>

/** A change of an attempt at a run's subject. */
interface SubjectChange extends ScopedPath {
  readonly attempt: Attempt
}

export interface SubjectMeasurements {
  readonly openChanges: OpenChanges
  readonly netChanges: NetChanges
  /** Changes made while no attempt ran; null if they cannot be measured. */
  readonly between: readonly GapChange[] | null
}

/**
 * All changes of the attempts at a run's subject: stored for closed attempts, measured for open ones. Changes that a
 * person accepted count as in scope. `askedPaths`: paths with an open item, or with one at the end of an open attempt.
 */
export async function observedChanges(
  reads: Reads,
  { attempts: all, stored }: SubjectWork,
  { openChanges, netChanges, between }: SubjectMeasurements,
): Promise<{ readonly observed: ObservedChanges; readonly askedPaths: ReadonlySet<string> } | null> {
  const attempts = all.filter(({ status }) => status !== 'abandoned')
  if (attempts.length === 0) return null
  const measured = attempts.map((attempt) => {
    const changes = attempt.status === 'open' ? openChanges.get(attempt.id) : stored.get(attempt.id)
    return { attempt, changes: changes ?? null }
  })
  const files = measured
    .flatMap(({ attempt, changes }) => (changes?.changes ?? []).map((change) => ({ ...change, attempt })))
    .filter(({ scope }) => scope !== 'imported')
  const unreadable = [...new Set(measured.flatMap(({ changes }) => changes?.unreadable ?? []))]
  const isOpaque =
    between === null ||
    all.length >= maxAttempts ||
    unreadable.some((path) => path.endsWith('/')) ||
    measured.some(({ changes }) => changes === null || !isKnown(changes))
  const { accepted, askedPaths } = await scopeAnswers(reads, attempts)
  const open = files.filter(({ attempt }) => attempt.status === 'open').map(({ path }) => path)
  return {
    askedPaths: new Set([...askedPaths, ...open]),
    observed: {
      complete: !isOpaque && unreadable.length === 0,
      unreadable,
      isOpaque,
      ...judgeSubjectChanges(files, { attempts, accepted, netChanges, between: between ?? [] }),
    },
  }
}

export function isKnown({ measurement }: Pick<StoredChanges, 'measurement'>): boolean {
  return measurement !== null && measurement !== 'unknown'
}

function judgeSubjectChanges(
  files: readonly SubjectChange[],
  {
    attempts,
    accepted,
    netChanges,
    between,
  }: {
    readonly attempts: readonly Attempt[]
    readonly accepted: AcceptedPaths
    readonly netChanges: NetChanges
    readonly between: readonly GapChange[]
  },
): Pick<ObservedChanges, 'files' | 'undeclared' | 'between'> {
  const scopes = attempts
    .map(({ areas, snapshot }) => parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }))
    .filter(isDeclared)
  const byPath = new Map<string, ObservedChanges['files'][number]>()
  const inAreas = new Set(files.flatMap(({ path, scope }) => (scope === 'in' ? [path] : [])))
  const isNamed = (path: string) =>
    inAreas.has(path) || scopes.some((scope) => judgePath(scope, path) === 'in')
  const undeclared: string[] = []
  const add = (path: string, { attempt }: SubjectChange, judgement: ScopeFlags) => {
    const { snapshot } = attempt
    const before = byPath.get(path)
    const differs = netChanges.get(treeOf(snapshot))?.get(path) ?? null
    byPath.set(path, {
      path,
      inScope: (before?.inScope ?? true) && judgement.inScope,
      shared: before?.shared ?? judgement.shared,
      own: before?.own ?? pathInsidePrefix(path, snapshot.prefix),
      differs: before === undefined ? differs : combineDifference(before.differs, differs),
    })
  }
  for (const file of files) {
    const { path, from, scope } = file
    // A path without a scope result may be in the scope of another attempt; one that was out of scope stays so.
    const covered = scope === null ? isInAnyScope(scopes, path) : scope !== 'out'
    const isAccepted = (one: string) => accepted.get(file.attempt.id)?.has(one) === true
    const inScope = covered || isAccepted(path)
    if (scope === null && !inScope) undeclared.push(path)
    // A rename touches both paths.
    const unnamed = [path, from].find(
      (end) => end != null && !isNamed(end) && !isAccepted(end) && sharedKind(end) !== null,
    )
    add(path, file, { inScope, shared: unnamed == null ? null : sharedKind(unnamed) })
    if (from !== undefined) add(from, file, { inScope: true, shared: null })
  }
  const isEverAccepted = (path: string) => [...accepted.values()].some((paths) => paths.has(path))
  const unclaimed: string[] = []
  for (const { path, own, isSensitive } of between) {
    // A person accepted the state at the end of the attempt; a later change needs its own answer.
    if (byPath.has(path) && !(isEverAccepted(path) && !isNamed(path))) continue
    const inScope = isNamed(path) || (!isSensitive && isInAnyScope(scopes, path))
    if (!inScope && !isSensitive) unclaimed.push(path)
    const shared = isNamed(path) ? null : sharedKind(path)
    byPath.set(path, { path, inScope, shared, own, differs: true, isBetween: true })
  }
  return { undeclared: [...new Set(undeclared)], between: unclaimed, files: [...byPath.values()] }
}

type ScopeFlags = Required<Pick<ObservedChanges['files'][number], 'inScope' | 'shared'>>

/** Combines two work trees: a difference in either counts; unknown in either is unknown. */
function combineDifference(one: boolean | null, other: boolean | null): boolean | null {
  if (one === true || other === true) return true
  return one === null || other === null ? null : false
}

function isInAnyScope(scopes: readonly Scope[], path: string): boolean {
  return scopes.some((scope) => judgePath(scope, path) !== 'out')
}

/** Accepted paths out of scope, by the attempt that changed them. */
type AcceptedPaths = ReadonlyMap<string, ReadonlySet<string>>

async function scopeAnswers(
  reads: Reads,
  attempts: readonly Attempt[],
): Promise<{ readonly accepted: AcceptedPaths; readonly askedPaths: readonly string[] }> {
  const accepted = new Map<string, Set<string>>()
  const askedPaths: string[] = []
  // An open attempt has no scope item yet.
  const closed = attempts.flatMap(({ id, status }) => (status === 'open' ? [] : id))
  for (const { kind, attemptId, status, paths } of await reads.inboxItems.ofAttempts(closed)) {
    if (kind !== 'scope') continue
    if (status === 'open') askedPaths.push(...paths)
    if (status !== 'resolved' || attemptId === null) continue
    const own = accepted.get(attemptId) ?? new Set()
    accepted.set(attemptId, own)
    for (const path of paths) own.add(path)
  }
  return { accepted, askedPaths }
}
