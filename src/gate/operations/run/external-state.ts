import type { AttemptMeasurement } from '../../../events/domain/project-event.ts'
import type { TreeContent } from '../../../git/ports/work-tree.ts'
import { type Author, identityOf } from '../../../kernel/actor.ts'
import { Failure } from '../../../kernel/failure.ts'
import { didYouMean } from '../../../kernel/nearest-word.ts'
import type { CommandContext, Context, QueryContext } from '../../../kernel/operations/operation.ts'
import { pathInsidePrefix } from '../../../kernel/path-pattern.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { sharedKind } from '../../../track/domain/scope/file-kind.ts'
import { isDeclared, judgePath, parseScope, type Scope } from '../../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../../track/domain/task.ts'
import { measure } from '../../../track/operations/measure.ts'
import { isOfChanges } from '../../domain/approved-content.ts'
import { artifactType, isOfType } from '../../domain/artifacts.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { EvidenceNeed, ObservedChanges } from '../../domain/evidence.ts'
import { commandsFor, needsOfState } from '../../domain/expression.ts'
import type { CommandGuard } from '../../domain/guards/command.ts'
import type { SchemaProblem } from '../../domain/json-schema.ts'
import type { RunRecord, StoredArtifact } from '../../domain/run.ts'
import type { EvidenceFile } from '../../ports/evidence-files.ts'
import { type LoadedRun, maxAttempts, type RunSubject, type ScopedPath } from '../../ports/run-reads.ts'
import { changesBetween, type GapChange } from './between-attempts.ts'
import { subjectOf } from './find-run.ts'
import { type NetChanges, netChanges } from './net-changes.ts'

/** What is slow and outside the database, gathered before a decision with no transaction open. */
export interface ExternalState {
  /** The revision it was gathered for. */
  readonly revision: number
  readonly needs: readonly EvidenceNeed[]
  /** How the files that were handed in stand now, by path. */
  readonly standings: ReadonlyMap<string, 'current' | 'changed' | 'deleted'>
  readonly openChanges: OpenChanges
  /** How the changed files stand to their state at the first attempt; empty where nothing asks for it. */
  readonly netChanges: NetChanges
  /** What changed while no attempt ran; empty where nothing asks for it, null where it cannot be measured. */
  readonly between: readonly GapChange[] | null
  /** What an approval of the measured changes is bound to; null where none asks for it, or they cannot be measured. */
  readonly changes: MeasuredChanges | null
  /** Hash of the tree's content; null where nothing asks for it, or it cannot be measured. */
  readonly tree: string | null
  /** The same as approvals of the state are bound to it; null too where no tree is the run's own. */
  readonly approvedTree: string | null
  /** The commit that the work tree is at; null where nothing asks for it, or there is none. */
  readonly commit: string | null
  /** Of each file of that tree, what changes when it is written; empty where no command is asked for. */
  readonly stamps: TreeContent['stamps']
  readonly commands: readonly ApprovableCommand[]
  /** The files that come with the event. */
  readonly handedIn: readonly SubmittedArtifact[]
  /** What is wrong with files that came with it and cannot be evidence. */
  readonly unusable: readonly SchemaProblem[]
  readonly folder: string
}

export interface ApprovableCommand {
  readonly guard: CommandGuard
  /** Of the line, the folder and the pinned files: what a person approves. */
  readonly hash: string
  readonly approved: boolean
  /** Of a command that a person said no to as it is. */
  readonly refusal: { readonly by: string; readonly reason: string; readonly hash: string } | null
  /** What a result of it is for: the tree, and of a command that pins files their content too, which git may ignore. */
  readonly tree: string | null
}

/** Gathers what the guards of an event look at in the run's state, of all its events without one; and what is approved. */
export async function gatherState(
  handling: QueryContext,
  { record, definition, artifacts }: LoadedRun,
  event: string | undefined,
  approvals: readonly { readonly role: string; readonly of: string | null }[] = [],
): Promise<ExternalState> {
  const { folder, witness } = handling
  const needs = [
    ...needsOfState(definition, record.state, event),
    ...approvals.map(({ role, of }): EvidenceNeed => ({ kind: 'approvals', role, of })),
  ]
  const looked = artifacts.filter((file) => needs.some((need) => isNeedForFile(definition, need, file)))
  const standings = await localFreshness(handling, record, looked)
  if (needs.some(isFileNeed) && (await remoteWorkPlace(handling, record))) {
    const openChanges = needs.some(({ kind }) => kind === 'changes')
      ? await measureOpenAttempts(handling, subjectOf(record))
      : new Map()
    const unlooked = { ...nothingLookedAt, stamps: [], commands: [], handedIn: [], unusable: [] }
    const netChanges: NetChanges = new Map()
    const between: readonly GapChange[] = []
    return {
      ...unlooked,
      revision: record.revision,
      needs,
      standings,
      openChanges,
      netChanges,
      between,
      folder,
    }
  }
  const hasOwnTree = needs.some(isStateApproval) && (await hasTree(handling, record))
  const tree = await treeFor(needs, { witness, folder, hasOwnTree })
  const wantsChanges = needs.some((need) => need.kind === 'approvals' && isOfChanges(definition, need.of))
  const subject = subjectOf(record)
  const openChanges =
    wantsChanges || needs.some(({ kind }) => kind === 'changes')
      ? await measureOpenAttempts(handling, subject)
      : new Map()
  return {
    revision: record.revision,
    needs,
    standings,
    openChanges,
    netChanges: needs.some((need) => need.kind === 'changes' && need.net)
      ? await netChanges(handling, subject, openChanges)
      : new Map(),
    between: needs.some(({ kind }) => kind === 'changes') ? await changesBetweenOf(handling, subject) : [],
    changes: wantsChanges ? await measuredChanges(handling, subject, openChanges) : null,
    ...tree,
    commit: needs.some((need) => need.kind === 'ci' && need.at === 'commit')
      ? await commitHere(witness, folder)
      : null,
    approvedTree: hasOwnTree ? tree.tree : null,
    commands: await approvableCommands(handling, commandsFor(definition, record.state, event), tree.tree),
    handedIn: [],
    unusable: [],
    folder,
  }
}

/** Files that were handed in stand as they were then; the rest is not known. */
const nothingLookedAt = {
  standings: new Map<string, never>(),
  tree: null,
  commit: null,
  approvedTree: null,
  changes: null,
} as const

/** Whether a need is answered by the files of the work tree as they are now. */
function isFileNeed({ kind }: EvidenceNeed): boolean {
  return kind === 'artifacts' || kind === 'approvals' || kind === 'command' || kind === 'ci'
}

/** Where the work behind a run lies, if that is another machine than the caller's: from here its files are not seen. */
async function remoteWorkPlace(
  { store, edge }: Pick<QueryContext, 'store' | 'edge'>,
  record: RunRecord,
): Promise<SnapshotLocation | null> {
  const subject = subjectOf(record)
  if (subject === null) return null
  const attempts = await store.view(({ runs }) => runs.attemptsOf(subject))
  const last = attempts.findLast(({ status }) => status !== 'abandoned')
  return last && last.snapshot.edge !== edge?.id ? last.snapshot : null
}

/**
 * Fails where what an event or an approval asks of the files can only be answered on the machine that they lie on: the
 * caller's own folder is another work tree.
 */
export async function assertFilesAreHere(
  context: Context,
  { record, definition }: Pick<LoadedRun, 'record' | 'definition'>,
  asked: {
    readonly event: string | undefined
    readonly approvals: readonly unknown[]
    readonly command: string
  },
): Promise<void> {
  const { event, approvals, command } = asked
  const needs = event === undefined ? [] : needsOfState(definition, record.state, event)
  if (approvals.length === 0 && !needs.some(isFileNeed)) return
  const place = await remoteWorkPlace(context, record)
  if (place === null) return
  const { machine = 'the machine that keeps the record', top } = place
  throw new Failure(
    'REFUSED',
    `Run ${record.id} is about files on ${machine}, in ${top}: they can only be looked at there.`,
    {
      reason: 'run_on_other_machine',
      hint: `On ${machine}, in ${top}: ${command}. Where that machine has an agent’s token: WAYMARK_SERVER=<this server> WAYMARK_TOKEN=<your own token> ${command}.`,
    },
  )
}

/**
 * Whether a tree is a run's own: that of its attempts, or the project's only one. Where agents work on other machines,
 * what nobody has begun has none, and an approval of its state is bound to the state and the files that were handed in.
 */
async function hasTree({ store }: Pick<QueryContext, 'store'>, record: RunRecord): Promise<boolean> {
  const subject = subjectOf(record)
  return store.view(async ({ runs, edges }) => {
    const attempts = subject === null ? [] : await runs.attemptsOf(subject)
    if (attempts.some(({ status }) => status !== 'abandoned')) return true
    return (await edges.all()).length === 0
  })
}

type SubmittedFile = Pick<StoredArtifact, 'path' | 'revision'>

/** The edge that each file was handed in from; undefined for the machine of the record. */
async function remoteMachinesOfFiles<File extends SubmittedFile>(
  { store }: Pick<QueryContext, 'store'>,
  { id }: Pick<RunRecord, 'id'>,
  files: readonly File[],
): Promise<readonly { readonly file: File; readonly edge: string | undefined }[]> {
  if (files.length === 0) return []
  const edges = await store.view(({ runs }) => runs.edgesOf(id))
  return files.map((file) => ({ file, edge: edges.get(file.revision) }))
}

/** How files that were handed in from this machine stand now. Of others only their own machines know. */
export async function localFreshness(
  context: Pick<QueryContext, 'store' | 'evidenceFiles' | 'folder' | 'edge'>,
  record: Pick<RunRecord, 'id'>,
  files: readonly StoredArtifact[],
): Promise<ExternalState['standings']> {
  const { evidenceFiles, folder, edge: own } = context
  const placed = await remoteMachinesOfFiles(context, record, files)
  const here = placed.filter(({ edge }) => edge === own?.id).map(({ file }) => file)
  const standing = here.length === 0 ? [] : await evidenceFiles.freshness(folder, here)
  return new Map(here.map(({ path }, at) => [path, standing[at] ?? 'deleted']))
}

/**
 * Fails where an event rests on files that were handed in from another machine: from here it is not known whether they
 * are as they were. Those that come with it again are read here.
 */
export async function assertSubmittedLocally(
  context: Context,
  { record, definition, artifacts }: LoadedRun,
  asked: { readonly event: string; readonly handedIn: readonly SubmittedArtifact[] },
): Promise<void> {
  const needs = needsOfState(definition, record.state, asked.event)
  const again = new Set(asked.handedIn.map(({ path }) => path))
  const rested = artifacts.filter(
    (file) => !again.has(file.path) && needs.some((need) => isNeedForFile(definition, need, file)),
  )
  const placed = await remoteMachinesOfFiles(context, record, rested)
  const away = placed.find(({ edge }) => edge !== context.edge?.id)
  if (away === undefined) return
  const known = await context.store.view(({ edges }) => edges.all())
  const machine = known.find(({ id }) => id === away.edge)?.name ?? 'the machine that keeps the record'
  throw new Failure(
    'REFUSED',
    `${asked.event} of run ${record.id} rests on ${away.file.path}, which was handed in on ${machine}: only there it is seen whether it is as it was.`,
    {
      reason: 'file_on_other_machine',
      hint: `Send ${asked.event} on ${machine}; or hand ${away.file.path} in again with it, as it is here.`,
    },
  )
}

export interface ApprovedState extends Pick<ExternalState, 'standings' | 'approvedTree' | 'changes'> {
  /** Where the files lie, if they cannot be seen from here. */
  readonly elsewhere: SnapshotLocation | null
}

/** Gathers only what approvals are bound to. */
export async function gatherApprovedContent(
  context: QueryContext,
  { artifacts, definition, record }: LoadedRun,
  approvals: readonly { readonly of: string | null }[],
): Promise<ApprovedState> {
  const { folder, witness } = context
  const elsewhere = approvals.length === 0 ? null : await remoteWorkPlace(context, record)
  if (elsewhere) return { ...nothingLookedAt, elsewhere }
  const subject = subjectOf(record)
  const isState = approvals.some(({ of }) => of === null)
  const looked = artifacts.filter(
    (file) => isState || approvals.some(({ of }) => of !== null && isOfType(definition.artifacts, file, of)),
  )
  const hasOwnTree = isState && (await hasTree(context, record))
  return {
    elsewhere: null,
    standings: await localFreshness(context, record, looked),
    approvedTree: hasOwnTree ? await measuredTree(() => witness.treeHash(folder)) : null,
    changes: approvals.some(({ of }) => isOfChanges(definition, of))
      ? await measuredChanges(context, subject, await measureOpenAttempts(context, subject))
      : null,
  }
}

/** Whether a need asks for files of a type: an approval of the state is about all of them. */
function isNeedForFile({ artifacts }: ProcessDefinition, need: EvidenceNeed, file: StoredArtifact): boolean {
  if (need.kind === 'artifacts') return isOfType(artifacts, file, need.type)
  return need.kind === 'approvals' && (need.of === null || isOfType(artifacts, file, need.of))
}

function isStateApproval(need: EvidenceNeed): boolean {
  return need.kind === 'approvals' && need.of === null
}

async function measureOpenAttempts(
  handling: QueryContext,
  subject: ReturnType<typeof subjectOf>,
): Promise<OpenChanges> {
  if (subject === null) return new Map()
  const attempts = await handling.store.view(({ runs }) => runs.attemptsOf(subject))
  const open = attempts.filter(({ status }) => status === 'open')
  const measured = await Promise.all(
    open.map(async (attempt) => [attempt.id, await measure(handling, attempt)] as const),
  )
  return new Map(measured)
}

async function treeFor(
  needs: readonly EvidenceNeed[],
  {
    witness,
    folder,
    hasOwnTree,
  }: Pick<CommandContext, 'witness' | 'folder'> & { readonly hasOwnTree: boolean },
): Promise<Pick<ExternalState, 'tree' | 'stamps'>> {
  if (needs.some(({ kind }) => kind === 'command')) {
    const standing = await measuredTree(() => witness.content(folder))
    return { tree: standing?.hash ?? null, stamps: standing?.stamps ?? [] }
  }
  const isAsked = hasOwnTree || needs.some((need) => need.kind === 'ci' && need.at === 'tree')
  const tree = isAsked ? await measuredTree(() => witness.treeHash(folder)) : null
  return { tree, stamps: [] }
}

async function commitHere(witness: CommandContext['witness'], folder: string): Promise<string | null> {
  try {
    return (await witness.branch({ folder, base: 'HEAD' })).head.id
  } catch (error) {
    // No commit yet, or no git.
    if (error instanceof Failure && (error.code === 'INVALID_INPUT' || error.code === 'UNAVAILABLE'))
      return null
    throw error
  }
}

async function changesBetweenOf(
  context: QueryContext,
  subject: RunSubject | null,
): Promise<readonly GapChange[] | null> {
  if (subject === null) return []
  return changesBetween(context, await context.store.view(({ runs }) => runs.attemptsOf(subject)))
}

/** A tree that cannot be measured is no tree: no result and no approval counts for it. */
async function measuredTree<Measured>(measureTree: () => Promise<Measured>): Promise<Measured | null> {
  try {
    return await measureTree()
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return null
    throw error
  }
}

async function approvableCommands(
  context: QueryContext,
  guards: readonly CommandGuard[],
  tree: string | null,
): Promise<readonly ApprovableCommand[]> {
  const { commandApprovals, fingerprint, folder } = context
  return Promise.all(
    guards.map(async (guard) => {
      const hash = await commandApprovals.hashOf({ run: guard.run, folder, pinned: guard.pinned })
      return {
        guard,
        hash,
        ...(await commandAnswer(context, hash)),
        // What is pinned lies elsewhere on the machine of a runner.
        tree:
          tree === null || guard.pinned.length === 0 || guard.by === 'runner'
            ? tree
            : fingerprint([tree, hash]),
      }
    }),
  )
}

/** What a person said to a command. A no counts on every machine of the record; a yes where its port lets it count. */
export async function commandAnswer(
  { commandApprovals, store }: Pick<QueryContext, 'commandApprovals' | 'store'>,
  hash: string,
): Promise<Pick<ApprovableCommand, 'approved' | 'refusal'>> {
  const [answered] = await store.view(({ holds }) => holds.answeredCommands([hash]))
  if (answered?.status === 'dismissed') {
    const { closedBy, answer } = answered
    return { approved: false, refusal: { by: closedBy ?? 'a person', reason: answer ?? '', hash } }
  }
  const approved = await commandApprovals.isApproved(hash)
  const refused = approved ? null : await commandApprovals.refusalOf(hash)
  return { approved, refusal: refused && { by: refused.by, reason: refused.reason, hash } }
}

/** A file as a caller names it, with the type that it is of where its path does not tell. */
export type EvidenceFileInput = string | { readonly path: string; readonly type: string }

export type SubmittedArtifact = Omit<StoredArtifact, 'revision' | 'by' | 'author'>

/** The files of an event, and what is wrong with those that cannot be evidence, a sentence each. */
interface ReadFiles {
  readonly handedIn: readonly SubmittedArtifact[]
  readonly unusable: readonly SchemaProblem[]
}

/** Reads the files of an event. */
export async function readSubmittedFiles(
  { evidenceFiles, folder }: CommandContext,
  definition: ProcessDefinition,
  named: readonly EvidenceFileInput[],
): Promise<ReadFiles> {
  const declared = definition.artifacts.map(({ type }) => type)
  const byPath = new Map<string, SubmittedArtifact>()
  const unusable: SchemaProblem[] = []
  for (const [at, file] of named.entries()) {
    const refuse = (message: string) => unusable.push({ path: `/artifact_paths/${at}`, message })
    const { path, type } = typeof file === 'string' ? { path: file, type: null } : file
    if (type !== null && !declared.includes(type)) {
      refuse(`${path}: process ${definition.id} has no artifact "${type}".${didYouMean(type, declared)}`)
      continue
    }
    const read = await readOne(() => evidenceFiles.read(folder, [path]))
    if (typeof read === 'string') refuse(read)
    else byPath.set(read.path, withArtifactType(definition, read, type))
  }
  return { handedIn: [...byPath.values()], unusable }
}

// By declared globs, else as the caller says, else by the file's name; without a type it is kept and counts for nothing.
function withArtifactType(
  definition: ProcessDefinition,
  file: EvidenceFile,
  said: string | null,
): SubmittedArtifact {
  return { ...file, type: artifactType(definition, file.path, said) ?? '' }
}

async function readOne(read: () => Promise<readonly EvidenceFile[]>): Promise<EvidenceFile | string> {
  try {
    const [file] = await read()
    return file ?? 'No evidence: nothing was read.'
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_INPUT') return error.message
    throw error
  }
}

/** The measured changes of a mission or task, as they are on disk now: what an approval `of: changes` is bound to. */
interface MeasuredChanges {
  readonly files: readonly { readonly path: string; readonly sha256: string | null }[]
  /** People who did some of it themselves. */
  readonly authors: readonly Author[]
}

/**
 * Every file that an attempt of the subject changed, with the hash of what is there now; and what was touched since the
 * last of them ended, except by the work of others. Null where nothing was begun, or a part cannot be measured.
 */
async function measuredChanges(
  context: QueryContext,
  subject: RunSubject | null,
  measured: OpenChanges,
): Promise<MeasuredChanges | null> {
  if (subject === null) return null
  const { begun, attempts, stored } = await context.store.view(async ({ runs }) => {
    const all = await runs.attemptsOf(subject)
    const counted = all.filter(({ status }) => status !== 'abandoned')
    const ended = counted.filter(({ status }) => status !== 'open').map(({ id }) => id)
    return { begun: all, attempts: counted, stored: await runs.changesOf(ended) }
  })
  if (attempts.length === 0) return null
  // What lies on another machine cannot be looked at from here.
  if (attempts.some(({ snapshot }) => snapshot.edge !== context.edge?.id)) return null
  const byAttempt = new Map(stored.map((one) => [one.attemptId as string, one]))
  const paths = new Map<string, Set<string>>()
  for (const attempt of attempts) {
    const changed = measured.get(attempt.id) ?? byAttempt.get(attempt.id)
    if (!changed || !isMeasured(changed)) return null
    const own = pathsIn(paths, attempt.snapshot.top)
    for (const { path, from, scope } of changed.changes) {
      if (scope === 'imported') continue
      own.add(path)
      if (from !== undefined) own.add(from)
    }
  }
  for (const last of lastEndedAttempts(attempts)) {
    const later = await pathsTouchedLater(context, last, attempts)
    if (later === null) return null
    for (const path of later) pathsIn(paths, last.snapshot.top).add(path)
  }
  const between = await changesBetween(context, begun)
  if (between === null) return null
  for (const { top, path } of between) pathsIn(paths, top).add(path)
  return { files: await hashFiles(context, paths), authors: authorsOf(begun) }
}

function pathsIn(paths: Map<string, Set<string>>, top: string): Set<string> {
  const known = paths.get(top) ?? new Set()
  paths.set(top, known)
  return known
}

/** The last attempt of each work tree in which none is open. */
function lastEndedAttempts(attempts: readonly Attempt[]): readonly Attempt[] {
  const tops = [...new Set(attempts.map(({ snapshot }) => snapshot.top))]
  return tops.flatMap((top) => {
    const here = attempts.filter(({ snapshot }) => snapshot.top === top)
    if (here.some(({ status }) => status === 'open')) return []
    return here.toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0)).slice(0, 1)
  })
}

/** What was touched after an attempt, without what lies in the areas or the changes of others. Null: not known. */
async function pathsTouchedLater(
  { witness, ids, store }: QueryContext,
  last: Attempt,
  own: readonly Attempt[],
): Promise<readonly string[] | null> {
  const { top, prefix, engine } = last.snapshot
  if (last.endSnapshot === null) return null
  const name = ids.next('attempt')
  const now = await witness.snapshot({ folder: `${top}/${prefix}`, name, engine, top }).catch(() => null)
  const touched = now && (await witness.touched(last.endSnapshot, now.ref))
  if (touched === null || touched.length === 0) return touched
  const ownIds = new Set<string>(own.map(({ id }) => id))
  const { others, changed } = await store.view(async ({ tasks, runs }) => {
    const since = await tasks.attemptsInTree(treeOf(last.snapshot), last.closedAt ?? 0)
    const foreign = since.filter(({ id }) => !ownIds.has(id))
    const ended = foreign.filter(({ status }) => status !== 'open').map(({ id }) => id)
    return { others: foreign, changed: await runs.changesOf(ended) }
  })
  const scopes = others
    .map(({ areas, snapshot }) => parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }))
    .filter(isDeclared)
  const theirs = new Set(changed.flatMap(({ changes }) => changes.map(({ path }) => path)))
  return touched.filter(
    (path) => !theirs.has(path) && !scopes.some((scope) => judgePath(scope, path) !== 'out'),
  )
}

async function hashFiles(
  { evidenceFiles }: QueryContext,
  paths: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<MeasuredChanges['files']> {
  const files: { path: string; sha256: string | null }[] = []
  for (const [top, inTree] of paths) {
    const prefix = paths.size > 1 ? `${top}/` : ''
    for (const { path, sha256 } of await evidenceFiles.contents(top, [...inTree].sort())) {
      files.push({ path: `${prefix}${path}`, sha256 })
    }
  }
  return files
}

function authorsOf(attempts: readonly Attempt[]): readonly Author[] {
  return attempts
    .filter(({ actor }) => actor.kind === 'person')
    .map(({ actor }) => ({
      name: actor.name,
      identity: actor.identity === undefined ? null : identityOf(actor),
    }))
}

/** What the open attempts of a run's subject changed up to now. */
export type OpenChanges = ReadonlyMap<string, AttemptMeasurement>

/** A change of an attempt at a run's subject. */
interface SubjectChange extends ScopedPath {
  readonly attempt: Attempt
}

/**
 * All that the attempts at a run's subject changed: as it was stored when they were completed, as it was just measured
 * for open ones. Files that a person accepted by resolving a scope hold count as in scope.
 */
export async function observedChanges(
  reads: Reads,
  subject: RunSubject | null,
  { openChanges, netChanges, between }: Pick<ExternalState, 'openChanges' | 'netChanges' | 'between'>,
): Promise<ObservedChanges | null> {
  if (subject === null) return null
  const all = await reads.runs.attemptsOf(subject)
  const attempts = all.filter(({ status }) => status !== 'abandoned')
  if (attempts.length === 0) return null
  const closed = attempts.filter(({ status }) => status !== 'open')
  const stored = new Map(
    (await reads.runs.changesOf(closed.map(({ id }) => id))).map((one) => [one.attemptId as string, one]),
  )
  const found = attempts.map((attempt) => {
    const changes = attempt.status === 'open' ? openChanges.get(attempt.id) : stored.get(attempt.id)
    return { attempt, changes: changes ?? null }
  })
  const files = found
    .flatMap(({ attempt, changes }) => (changes?.changes ?? []).map((change) => ({ ...change, attempt })))
    .filter(({ scope }) => scope !== 'imported')
  const complete =
    between !== null &&
    all.length < maxAttempts &&
    found.every(({ changes }) => changes !== null && isMeasured(changes))
  const accepted = await acceptedOutOfScopePaths(reads, attempts)
  return {
    complete,
    ...judgeSubjectChanges(files, { attempts, accepted, netChanges, between: between ?? [] }),
  }
}

function isMeasured({
  measurement,
  unreadable = [],
}: {
  readonly measurement: AttemptMeasurement['measurement'] | null
  readonly unreadable?: readonly string[]
}): boolean {
  return measurement !== null && measurement !== 'unknown' && unreadable.length === 0
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
    readonly accepted: ReadonlySet<string>
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
    inAreas.has(path) || accepted.has(path) || scopes.some((scope) => judgePath(scope, path) === 'in')
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
    // What no attempt's areas judged may be covered by those of another attempt; what was judged out stays out.
    const covered = scope === null ? isInAnyScope(scopes, path) : scope !== 'out'
    const inScope = covered || accepted.has(path)
    if (scope === null && !inScope) undeclared.push(path)
    // Of a rename, both ends were touched.
    const unnamed = [path, from].find((end) => end != null && !isNamed(end) && sharedKind(end) !== null)
    add(path, file, { inScope, shared: unnamed == null ? null : sharedKind(unnamed) })
    if (from !== undefined) add(from, file, { inScope: true, shared: null })
  }
  const unclaimed: string[] = []
  for (const { path, own, isSensitive } of between) {
    if (byPath.has(path)) continue
    const inScope = isNamed(path) || (!isSensitive && isInAnyScope(scopes, path))
    if (!inScope && !isSensitive) unclaimed.push(path)
    const shared = isNamed(path) ? null : sharedKind(path)
    byPath.set(path, { path, inScope, shared, own, differs: true, isBetween: true })
  }
  return { undeclared: [...new Set(undeclared)], between: unclaimed, files: [...byPath.values()] }
}

type ScopeFlags = Required<Pick<ObservedChanges['files'][number], 'inScope' | 'shared'>>

/** Of two work trees: what differs in one of them differs; what cannot be seen in one may differ. */
function combineDifference(one: boolean | null, other: boolean | null): boolean | null {
  if (one === true || other === true) return true
  return one === null || other === null ? null : false
}

function isInAnyScope(scopes: readonly Scope[], path: string): boolean {
  return scopes.some((scope) => judgePath(scope, path) !== 'out')
}

async function acceptedOutOfScopePaths(
  reads: Reads,
  attempts: readonly Attempt[],
): Promise<ReadonlySet<string>> {
  const accepted = new Set<string>()
  for (const { id, status } of attempts) {
    // An open attempt has no scope hold yet.
    if (status === 'open') continue
    for (const hold of await reads.holds.ofAttempt(id)) {
      if (hold.kind === 'scope' && hold.status === 'resolved')
        for (const path of hold.paths) accepted.add(path)
    }
  }
  return accepted
}
