import { z } from 'zod'
import type { AttemptMeasurement } from '../../../events/domain/project-event.ts'
import type { InboxItem } from '../../../inbox/domain/inbox-item.ts'
import type { Author } from '../../../kernel/actor.ts'
import { Failure } from '../../../kernel/failure.ts'
import { didYouMean } from '../../../kernel/nearest-word.ts'
import { measuredList, path, recordedFile, words } from '../../../kernel/operations/fields.ts'
import { type MeasurementOf, measurement } from '../../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { pathInsidePrefix } from '../../../kernel/path-pattern.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { namesOf } from '../../../track/domain/changes.ts'
import { sharedKind } from '../../../track/domain/scope/file-kind.ts'
import { isDeclared, judgePath, parseScope, type Scope } from '../../../track/domain/scope/scope.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../../track/domain/task.ts'
import {
  attemptEndsBrief,
  changesAround,
  changesBrief,
  endedTree,
  measurementOf,
} from '../../../track/operations/measure-attempt.ts'
import { isOfChanges } from '../../domain/approved-content.ts'
import { artifactType, isOfType } from '../../domain/artifacts.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { EvidenceNeed, ObservedChanges } from '../../domain/evidence.ts'
import { commandsFor, guardsOfState, needsOfState } from '../../domain/expression.ts'
import type { CommandGuard } from '../../domain/guards/command.ts'
import type { SchemaProblem } from '../../domain/json-schema.ts'
import type { RunRecord, StoredArtifact } from '../../domain/run.ts'
import { type LoadedRun, maxAttempts, type RunSubject, type ScopedPath } from '../../ports/run-reads.ts'
import { type AcceptableChanges, acceptedGuards, prepareAcceptable } from './accepted-changes.ts'
import { type GapChange, gapChangesOf, gapsOf, type WorkQuestion } from './changes-outside-attempts.ts'
import { subjectOf } from './find-run.ts'
import { peopleAmong } from './own-work.ts'
import type { CommandQuestion, MeasurementQuestions, RunMeasurements } from './run-measurements.ts'

/** The state measured outside the database for one decision. */
export interface ExternalState {
  readonly needs: readonly EvidenceNeed[]
  /** The status of submitted files now, by path. */
  readonly fileFreshness: ReadonlyMap<string, 'current' | 'changed' | 'deleted'>
  /** All changes for the run's subject; null if nothing needs them, or no attempt began. */
  readonly observedChanges: ObservedChanges | null
  /** The changes that fail guards and that a person may accept. */
  readonly acceptable: readonly AcceptableChanges[]
  /** The content of an approval of changes; null if none needs it, or it cannot be measured. */
  readonly changes: MeasuredChanges | null
  /** Hash of the tree's content; null if nothing needs it, or it cannot be measured. */
  readonly tree: string | null
  /** The same hash for approvals of the state; null also if the run has no tree of its own. */
  readonly approvedTree: string | null
  /** The commit of the work tree; null if nothing needs it, or there is none. */
  readonly commit: string | null
  readonly commands: readonly ApprovableCommand[]
  /** The files submitted with the event. */
  readonly submitted: readonly SubmittedArtifact[]
  /** Problems of submitted files that cannot be evidence. */
  readonly unusable: readonly SchemaProblem[]
  readonly folder: string
}

export interface ApprovableCommand {
  readonly guard: CommandGuard
  /** Hash of the line, the folder and the pinned files: a person approves exactly that. */
  readonly hash: string
  readonly approved: boolean
  /** A person approved it at the server; that counts only if the user of the machine trusts the server. */
  readonly approvedThere: boolean
  /** Null unless a person refused exactly this command. */
  readonly refusal: { readonly author: string; readonly reason: string; readonly hash: string } | null
  /** The key of its results: the tree, with the pinned files, since git may ignore those. */
  readonly tree: string | null
  /** The question for a person about it. */
  readonly question: CommandQuestion | null
}

type Questions = Pick<MeasurementQuestions<RunMeasurements>, 'ask'>
type StateContext = Pick<RecordContext, 'folder' | 'machine' | 'fingerprint' | 'clock'>

interface StateRequest {
  readonly context: StateContext
  readonly loaded: LoadedRun
  /** Default: all events of the state. */
  readonly event?: string | undefined
  readonly approvals?: readonly { readonly role: string; readonly artifact: string | null }[] | undefined
  /** Its commands will run: a person is asked about those without an answer. */
  readonly runs?: boolean
}

export const nothingMeasured = {
  needs: [],
  fileFreshness: new Map<string, never>(),
  observedChanges: null,
  acceptable: [],
  changes: null,
  tree: null,
  approvedTree: null,
  commit: null,
  commands: [],
  submitted: [],
  unusable: [],
} as const satisfies Omit<ExternalState, 'folder'>

/** The external state that an event's guards and approvals need. Null until everything was measured. */
export async function prepareState(
  reads: Reads,
  questions: Questions,
  { context, loaded, event, approvals = [], runs = false }: StateRequest,
): Promise<ExternalState | null> {
  const { record, definition, artifacts } = loaded
  const { folder } = context
  const observe = (work: SubjectWork, measured: SubjectMeasurements) =>
    wantsChanges ? observedChanges(reads, work, measured) : null
  const needs = [
    ...needsOfState(definition, record.state, event),
    ...approvals.map(({ role, artifact }): EvidenceNeed => ({ kind: 'approvals', role, artifact })),
  ]
  const wantsChanges = needs.some(({ kind }) => kind === 'changes')
  const wantsApproval = needs.some(
    (need) => need.kind === 'approvals' && isOfChanges(definition, need.artifact),
  )
  const files = artifacts.filter((file) => needs.some((need) => isNeedForFile(definition, need, file)))
  const fileFreshness = await prepareFreshness(reads, questions, { context, record, files })
  const work = needs.some((need) => isFileNeed(need) || need.kind === 'changes')
    ? await workOf(reads, record)
    : nothingBegun
  const isElsewhere = needs.some(isFileNeed) && remoteLocation(work, context) !== null
  const openChanges =
    wantsChanges || (wantsApproval && !isElsewhere)
      ? await prepareOpenChanges(reads, questions, { context, work })
      : new Map<string, never>()
  const state = { ...nothingMeasured, needs, folder }
  if (isElsewhere) {
    if (!fileFreshness || !openChanges) return null
    const seen = await observe(work, { openChanges, netChanges: new Map(), between: [] })
    return { ...state, fileFreshness, observedChanges: seen?.observed ?? null }
  }
  const hasOwnTree = needs.some(isStateApproval) && (await hasTree(reads, work))
  const wantsTree =
    hasOwnTree ||
    needs.some((need) => need.kind === 'command' || (need.kind === 'ci' && need.target === 'tree'))
  const tree = wantsTree ? questions.ask('tree', 'content') : null
  const wantsCommit = needs.some((need) => need.kind === 'ci' && need.target === 'commit')
  const commit = wantsCommit ? questions.ask('tree', 'commit') : null
  const commands = await prepareCommands(reads, questions, {
    context,
    guards: commandsFor(definition, record.state, event),
    tree: tree ?? null,
    runs,
  })
  const trees = treesOf(work, context, {
    gaps: wantsChanges || wantsApproval,
    ended: wantsApproval,
    isCompared: needs.some((need) => need.kind === 'changes' && need.net),
  })
  const outside = await prepareWork(reads, questions, trees)
  if (!fileFreshness || !openChanges || tree === undefined || commit === undefined || !commands || !outside) {
    return null
  }
  const net = prepareNetChanges(questions, { work, openChanges, outside })
  const changes = wantsApproval
    ? await prepareChanges(reads, questions, { context, work, openChanges, outside })
    : null
  if (net === undefined || changes === undefined) return null
  const between = wantsChanges ? await gapChangesOf(reads, outside) : []
  const seen = await observe(work, { openChanges, netChanges: net, between })
  const acceptable = seen
    ? prepareAcceptable(questions, {
        context,
        attempts: work.attempts,
        guards: guardsOfState(definition, record.state, event),
        ...seen,
      })
    : []
  if (acceptable === null) return null
  return {
    ...state,
    fileFreshness,
    observedChanges: seen && {
      ...seen.observed,
      accepted: acceptable.length === 0 ? [] : await acceptedGuards(reads, loaded, acceptable),
    },
    acceptable,
    changes,
    tree,
    approvedTree: hasOwnTree ? tree : null,
    commit,
    commands,
  }
}

/** Whether a need depends on the current files of the work tree. */
function isFileNeed({ kind }: EvidenceNeed): boolean {
  return kind === 'artifacts' || kind === 'approvals' || kind === 'command' || kind === 'ci'
}

/** The attempts at a run's subject, and the changes of those that ended. */
interface SubjectWork {
  readonly subject: RunSubject | null
  readonly attempts: readonly Attempt[]
  readonly stored: ReadonlyMap<string, StoredChanges>
}

type StoredChanges = Awaited<ReturnType<Reads['runs']['changesOf']>>[number]

const nothingBegun: SubjectWork = { subject: null, attempts: [], stored: new Map() }

async function workOf({ runs }: Reads, record: RunRecord): Promise<SubjectWork> {
  const subject = subjectOf(record)
  if (subject === null) return nothingBegun
  const attempts = await runs.attemptsOf(subject)
  const ended = attempts.filter(({ status }) => status !== 'open').map(({ id }) => id)
  const stored = ended.length === 0 ? [] : await runs.changesOf(ended)
  return { subject, attempts, stored: new Map(stored.map((one) => [one.attemptId as string, one])) }
}

/** The location of a run's work, if it is on another machine than the caller's. */
function remoteLocation(
  { attempts }: SubjectWork,
  { machine }: Pick<RecordContext, 'machine'>,
): SnapshotLocation | null {
  const last = attempts.findLast(({ status }) => status !== 'abandoned')
  return last && last.snapshot.machineId !== machine?.id ? last.snapshot : null
}

/** Fails if an event or an approval needs files of another machine: the caller's folder is another work tree. */
export async function assertFilesAreHere(
  reads: Reads,
  context: Pick<RecordContext, 'machine'>,
  {
    loaded: { record, definition },
    event,
    approvals,
    command,
  }: {
    readonly loaded: Pick<LoadedRun, 'record' | 'definition'>
    readonly event: string | undefined
    readonly approvals: readonly unknown[]
    readonly command: string
  },
): Promise<void> {
  const needs = event === undefined ? [] : needsOfState(definition, record.state, event)
  if (approvals.length === 0 && !needs.some(isFileNeed)) return
  const location = remoteLocation(await workOf(reads, record), context)
  if (location === null) return
  const { machineName: machine = 'the machine that keeps the record', top } = location
  throw new Failure(
    'REFUSED',
    `Run ${record.id} is about files on ${machine}, in ${top}. They can be checked only there.`,
    {
      reason: 'run_on_other_machine',
      hint: `On ${machine}, in ${top}, run ${command}. If that machine has an agent’s token: WAYMARK_SERVER=<this server> WAYMARK_TOKEN=<your own token> ${command}`,
    },
  )
}

/**
 * Whether a run has a tree of its own: that of its attempts, or the project's only one. Without one, an approval of the
 * state is bound to the state and the submitted files.
 */
async function hasTree({ machines }: Reads, { attempts }: SubjectWork): Promise<boolean> {
  if (attempts.some(({ status }) => status !== 'abandoned')) return true
  return (await machines.all()).length === 0
}

/** The current status of files submitted from this machine; other machines know about theirs. */
export async function prepareFreshness(
  { runs }: Reads,
  questions: Questions,
  {
    context,
    record,
    files,
  }: {
    readonly context: Pick<RecordContext, 'machine'>
    readonly record: Pick<RunRecord, 'id'>
    readonly files: readonly StoredArtifact[]
  },
): Promise<ExternalState['fileFreshness'] | null> {
  if (files.length === 0) return new Map()
  const machineOf = await runs.machinesOfRun(record.id)
  const here = files.filter(({ revision }) => machineOf.get(revision) === context.machine?.id)
  const fileFreshness = here.map(({ path: file, bytes, sha256, stamp }) => {
    return [file, questions.ask('files', { path: file, bytes, sha256, stamp })] as const
  })
  const measured = fileFreshness.flatMap(([file, freshness]) =>
    freshness === undefined ? [] : [[file, freshness] as const],
  )
  return measured.length === fileFreshness.length ? new Map(measured) : null
}

/**
 * Fails if an event needs files submitted from another machine: only that machine can check them. Files submitted again
 * with the event are read here.
 */
export async function assertSubmittedLocally(
  { runs, machines }: Reads,
  { machine }: Pick<RecordContext, 'machine'>,
  {
    loaded: { record, definition, artifacts },
    event,
    submitted,
  }: {
    readonly loaded: LoadedRun
    readonly event: string
    readonly submitted: readonly SubmittedArtifact[]
  },
): Promise<void> {
  const needs = needsOfState(definition, record.state, event)
  const again = new Set(submitted.map((file) => file.path))
  const requiredFiles = artifacts.filter(
    (file) => !again.has(file.path) && needs.some((need) => isNeedForFile(definition, need, file)),
  )
  if (requiredFiles.length === 0) return
  const machineOf = await runs.machinesOfRun(record.id)
  const remoteFile = requiredFiles.find(({ revision }) => machineOf.get(revision) !== machine?.id)
  if (remoteFile === undefined) return
  const name =
    (await machines.all()).find(({ id }) => id === machineOf.get(remoteFile.revision))?.name ??
    'the machine that keeps the record'
  throw new Failure(
    'REFUSED',
    `${event} of run ${record.id} needs ${remoteFile.path}, which was submitted on ${name}. Only that machine can check it.`,
    {
      reason: 'file_on_other_machine',
      hint: `Send ${event} on ${name}, or submit ${remoteFile.path} again from here.`,
    },
  )
}

export interface ApprovedState extends Pick<ExternalState, 'fileFreshness' | 'approvedTree' | 'changes'> {
  /** The location of the files, if they are on another machine. */
  readonly elsewhere: SnapshotLocation | null
}

/** Only the state that approvals are bound to. Null until measured. */
export async function prepareApprovedContent(
  reads: Reads,
  questions: Questions,
  {
    context,
    loaded: { artifacts, definition, record },
    approvals,
  }: {
    readonly context: StateContext
    readonly loaded: LoadedRun
    readonly approvals: readonly { readonly artifact: string | null }[]
  },
): Promise<ApprovedState | null> {
  const work = approvals.length === 0 ? nothingBegun : await workOf(reads, record)
  const elsewhere = remoteLocation(work, context)
  if (elsewhere) {
    const { fileFreshness, approvedTree, changes } = nothingMeasured
    return { fileFreshness, approvedTree, changes, elsewhere }
  }
  const isState = approvals.some(({ artifact }) => artifact === null)
  const isChanges = approvals.some(({ artifact }) => isOfChanges(definition, artifact))
  const files = artifacts.filter(
    (file) =>
      isState ||
      approvals.some(({ artifact }) => artifact !== null && isOfType(definition.artifacts, file, artifact)),
  )
  const fileFreshness = await prepareFreshness(reads, questions, { context, record, files })
  const hasOwnTree = isState && (await hasTree(reads, work))
  const approvedTree = hasOwnTree ? questions.ask('tree', 'content') : null
  const wanted = { gaps: isChanges, ended: isChanges, isCompared: false }
  const outside = await prepareWork(reads, questions, treesOf(work, context, wanted))
  const openChanges = isChanges ? await prepareOpenChanges(reads, questions, { context, work }) : new Map()
  if (!fileFreshness || approvedTree === undefined || !outside || !openChanges) return null
  const changes = isChanges
    ? await prepareChanges(reads, questions, { context, work, openChanges, outside })
    : null
  return changes === undefined ? null : { elsewhere: null, fileFreshness, approvedTree, changes }
}

/** Whether a need is about a file; an approval of the state is about all files. */
function isNeedForFile({ artifacts }: ProcessDefinition, need: EvidenceNeed, file: StoredArtifact): boolean {
  if (need.kind === 'artifacts') return isOfType(artifacts, file, need.type)
  return need.kind === 'approvals' && (need.artifact === null || isOfType(artifacts, file, need.artifact))
}

function isStateApproval(need: EvidenceNeed): boolean {
  return need.kind === 'approvals' && need.artifact === null
}

// In sequence, so that the questions keep their order.
async function prepareOpenChanges(
  reads: Reads,
  questions: Questions,
  { context, work }: { readonly context: StateContext; readonly work: SubjectWork },
): Promise<OpenChanges | null> {
  const measured = new Map<string, AttemptMeasurement>()
  let isWhole = true
  for (const attempt of work.attempts.filter(({ status }) => status === 'open')) {
    const [endBrief] = attemptEndsBrief(context, [attempt])
    const end = endBrief && questions.ask('ends', endBrief)
    if (endBrief && end === undefined) {
      isWhole = false
      continue
    }
    const ended = { attempt, end: end ? endedTree(context, end) : null }
    const around = await changesAround(reads, ended)
    const brief = changesBrief(ended, around)
    const changes = brief === null ? undefined : questions.ask('changes', brief)
    if (brief !== null && changes === undefined) isWhole = false
    else measured.set(attempt.id, measurementOf(ended, around, changes))
  }
  return isWhole ? measured : null
}

/** The commands of guards with the answers of people. Null until measured. */
export async function prepareCommands(
  { inboxItems }: Reads,
  questions: Questions,
  {
    context: { folder, fingerprint },
    guards,
    tree,
    runs,
  }: {
    readonly context: Pick<RecordContext, 'folder' | 'fingerprint'>
    readonly guards: readonly CommandGuard[]
    readonly tree: string | null
    readonly runs: boolean
  },
): Promise<readonly ApprovableCommand[] | null> {
  const measuredGuards = guards.map((guard) => {
    const { run, pinned } = guard
    return { guard, measured: questions.ask('commands', { run, folder, pinned: [...pinned], asks: runs }) }
  })
  const hashes = measuredGuards.flatMap(({ measured }) => measured?.hash ?? [])
  if (hashes.length < measuredGuards.length) return null
  const answered = hashes.length === 0 ? [] : await inboxItems.answeredCommands([...new Set(hashes)])
  return measuredGuards.flatMap(({ guard, measured }) => {
    if (measured === undefined) return []
    const { hash, question } = measured
    // A runner has its pinned files elsewhere.
    const isOfTree = tree === null || guard.pinned.length === 0 || guard.reportedBy === 'runner'
    return [
      {
        guard,
        hash,
        ...commandAnswer(measured, answered),
        tree: isOfTree ? tree : fingerprint([tree, hash]),
        question,
      },
    ]
  })
}

type MeasuredCommand = MeasurementOf<RunMeasurements['commands']>[number]

/** A person's answer to a command. A refusal counts on every machine; an approval only where the server is trusted. */
export function commandAnswer(
  { hash, isApproved, trustsServer, refusal }: MeasuredCommand,
  answeredCommands: readonly InboxItem[],
): Pick<ApprovableCommand, 'approved' | 'approvedThere' | 'refusal'> {
  const answered = answeredCommands.find(
    ({ request }) => request?.kind === 'command' && request.hash === hash,
  )
  const approvedThere = answered?.status === 'resolved'
  if (answered?.status === 'dismissed') {
    const { closedBy, answer } = answered
    const dismissal = { author: closedBy ?? 'a person', reason: answer ?? '', hash }
    return { approved: false, approvedThere, refusal: dismissal }
  }
  return {
    approved: isApproved || (trustsServer && approvedThere),
    approvedThere,
    refusal: refusal && { ...refusal, hash },
  }
}

/** A file as a caller names it; with its type where the path does not determine it. */
export type EvidenceFileInput = string | { readonly path: string; readonly type: string }

export type SubmittedArtifact = Omit<StoredArtifact, 'revision' | 'by' | 'author'>

const readFile = recordedFile.extend({ content: z.unknown().optional() })

/** The files of an event, each with its hash; with its content if the process has a schema for it. */
export const submittedFiles = measurement({
  brief: measuredList(z.strictObject({ path, hasSchema: z.boolean() }), 1_000),
  measured: measuredList(
    z.union([z.strictObject({ file: readFile }), z.strictObject({ problem: words })]),
    1_000,
  ),
  fits: (briefs, results) => briefs.length === results.length,
  measure: ({ evidenceFiles, folder }, files) =>
    Promise.all(
      files.map(async ({ path: named, hasSchema }) => {
        try {
          const [file] = await evidenceFiles.read(folder, [named])
          if (file === undefined) return { problem: 'No evidence: nothing was read.' }
          const { content, ...fields } = file
          return { file: { ...fields, ...(hasSchema && content !== undefined && { content }) } }
        } catch (error) {
          if (error instanceof Failure && error.code === 'INVALID_INPUT') return { problem: error.message }
          throw error
        }
      }),
    ),
})

/** Null until the files were read. */
export function prepareSubmittedFiles(
  questions: Pick<MeasurementQuestions<{ submitted: typeof submittedFiles }>, 'ask'>,
  definition: ProcessDefinition,
  named: readonly EvidenceFileInput[],
): Pick<ExternalState, 'submitted' | 'unusable'> | null {
  const declared = definition.artifacts.map(({ type }) => type)
  const byPath = new Map<string, SubmittedArtifact>()
  const unusable: SchemaProblem[] = []
  let isWhole = true
  for (const [index, input] of named.entries()) {
    const refuse = (message: string) => unusable.push({ path: `/artifact_paths/${index}`, message })
    const { path: file, type } = typeof input === 'string' ? { path: input, type: null } : input
    if (type !== null && !declared.includes(type)) {
      refuse(
        `${file}: process ${definition.id} has no artifact "${type}": it has ${declared.join(', ') || 'none'}.${didYouMean(type, declared)}`,
      )
      continue
    }
    const hasSchema = definition.artifacts.some(
      (artifact) => artifact.schema !== null && (type === null || artifact.type === type),
    )
    const read = questions.ask('submitted', { path: file, hasSchema })
    if (read === undefined) isWhole = false
    else if ('problem' in read) refuse(read.problem)
    else byPath.set(read.file.path, withArtifactType(definition, read.file, type))
  }
  return isWhole ? { submitted: [...byPath.values()], unusable } : null
}

// By declared globs, then the caller's type, then the file's name. A file without a type is stored, but no evidence.
function withArtifactType(
  definition: ProcessDefinition,
  { content, ...file }: z.output<typeof readFile>,
  declaredType: string | null,
): SubmittedArtifact {
  return {
    ...file,
    ...(content !== undefined && { content }),
    type: artifactType(definition, file.path, declaredType) ?? '',
  }
}

/** The measured changes of a mission or task on disk now: the content of an approval `of: changes`. */
interface MeasuredChanges {
  readonly files: readonly { readonly path: string; readonly sha256: string | null }[]
  /** Changes that the files do not show: content that only git holds, or the whole work tree. */
  readonly unseen: readonly string[]
  /** People who made some of the changes themselves. */
  readonly authors: readonly Author[]
}

/** The work trees of a subject, with the measurements that each needs outside its attempts. */
function treesOf(
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

async function prepareWork(
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
function prepareNetChanges(
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
async function prepareChanges(
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

interface SubjectMeasurements {
  readonly openChanges: OpenChanges
  readonly netChanges: NetChanges
  /** Changes made while no attempt ran; null if they cannot be measured. */
  readonly between: readonly GapChange[] | null
}

/**
 * All changes of the attempts at a run's subject: stored for closed attempts, measured for open ones. Changes that a
 * person accepted count as in scope. `askedPaths`: paths with an open item, or with one at the end of an open attempt.
 */
async function observedChanges(
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

function isKnown({ measurement }: Pick<StoredChanges, 'measurement'>): boolean {
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
