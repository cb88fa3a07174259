import type { AttemptMeasurement } from '../../../events/domain/project-event.ts'
import type { AnsweredCommand } from '../../../inbox/ports/item-reads.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { MeasurementOf } from '../../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { SnapshotLocation } from '../../../track/domain/task.ts'
import {
  attemptEndsBrief,
  changesAround,
  changesBrief,
  endedTree,
  measurementOf,
} from '../../../track/operations/measure-attempt.ts'
import { withMergedWork } from '../../../track/operations/merged-work.ts'
import { isOfChanges } from '../../domain/approved-content.ts'
import { isOfType } from '../../domain/artifacts.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { EvidenceNeed, ObservedChanges } from '../../domain/evidence.ts'
import { commandsFor, guardsOfState, needsOfState } from '../../domain/expression.ts'
import type { CommandGuard } from '../../domain/guards/command.ts'
import type { RunRecord, StoredArtifact } from '../../domain/run.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { earlierApprovals } from '../command-approvals.ts'
import { type AcceptableChanges, acceptedGuards, prepareAcceptable } from './accepted-changes.ts'
import { gapChangesOf } from './changes-outside-attempts.ts'
import { entryEvent } from './find-run.ts'
import {
  changedHereFailure,
  isWithMachines,
  prepareRecorded,
  prepareStandingRecord,
  reading,
  recordNotNeeded,
  unrecordedTree,
} from './recorded-approvals.ts'
import { recordedWork, type WorkRecord } from './recorded-work.ts'
import type { CommandQuestion, RunMeasurements } from './run-measurements.ts'
import {
  type MeasuredChanges,
  nothingBegun,
  type OpenChanges,
  observedChanges,
  prepareChanges,
  prepareNetChanges,
  prepareWork,
  type Questions,
  type SubjectMeasurements,
  type SubjectWork,
  treesOf,
  workOf,
} from './subject-changes.ts'
import type { SubmittedArtifact, SubmittedFiles } from './submitted-files.ts'

/** The state measured outside the database for one decision. */
export interface ExternalState extends SubmittedFiles {
  readonly needs: readonly EvidenceNeed[]
  /** The status of submitted files now, by path. */
  readonly fileFreshness: ReadonlyMap<string, 'current' | 'changed' | 'deleted'>
  /** All changes for the run's subject; null if nothing needs them, or no attempt began. */
  readonly observedChanges: ObservedChanges | null
  /** The changes that fail guards and that a person may accept. */
  readonly acceptable: readonly AcceptableChanges[]
  /** The content of an approval of changes; null if none needs it, or it is neither measured nor recorded. */
  readonly changes: MeasuredChanges | null
  /** Hash of the tree's content; null if nothing needs it, or it cannot be measured. */
  readonly tree: string | null
  /** The same hash for approvals of the state; null also if the run has no tree of its own. */
  readonly approvedTree: string | null
  /** The work as its attempts recorded it, if a person's event is decided by it. */
  readonly recorded: WorkRecord | null
  /** The commit of the work tree; null if nothing needs it, or there is none. */
  readonly commit: string | null
  readonly commands: readonly ApprovableCommand[]
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
  /** A person revoked the last answer to it. */
  readonly isRevoked?: true
  /** The key of its results: the tree, with the pinned files, since git may ignore those. */
  readonly tree: string | null
  /** The question for a person about it. */
  readonly question: CommandQuestion | null
}

type StateContext = Pick<RecordContext, 'folder' | 'machine' | 'team' | 'fingerprint' | 'clock' | 'actor'>

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
  recorded: null,
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
  const work = needs.some(isMeasuredNeed) ? await workOf(reads, record) : nothingBegun
  const isElsewhere = needs.some(isFileNeed) && remoteLocation(work, context) !== null
  const openChanges =
    wantsChanges || (wantsApproval && !isElsewhere)
      ? await prepareOpenChanges(reads, questions, { context, work })
      : new Map<string, never>()
  const state = { ...nothingMeasured, needs, folder }
  if (isElsewhere) {
    if (!fileFreshness || !openChanges) return null
    const seen = await observe(work, { openChanges, netChanges: new Map(), between: [] })
    const isApproved = wantsApproval || needs.some(isStateApproval)
    const standing = isApproved
      ? await prepareRecorded(reads, questions, { context, work, approves: { event, approvals } })
      : recordNotNeeded
    if (standing === null) return null
    if (isApproved && standing.recorded === null && approvals.length > 0) throw changedHereFailure(record)
    return {
      ...state,
      fileFreshness,
      observedChanges: seen?.observed ?? null,
      changes: standing.recorded?.changes ?? null,
      approvedTree: standing.recorded?.tree ?? unrecordedTree,
      recorded: standing.recorded,
    }
  }
  const hasOwnTree = needs.some(isStateApproval) && (await hasTree(reads, work))
  const isShared = isWithMachines(work, context)
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
    gaps: wantsChanges || wantsApproval || (hasOwnTree && isShared),
    ended: wantsApproval || (hasOwnTree && isShared),
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
  const standing =
    (wantsApproval && (isShared || changes === null)) || (hasOwnTree && isShared)
      ? await prepareStandingRecord(reads, questions, {
          context,
          work,
          outside,
          approves: { event, approvals },
        })
      : recordNotNeeded
  if (standing === null) return null
  const { recorded } = standing
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
    changes: changes ?? recorded?.changes ?? null,
    tree,
    approvedTree: hasOwnTree ? tree : null,
    recorded,
    commit,
    commands,
  }
}

/** Whether a need takes more than the record's rows about tasks. */
export function isMeasuredNeed(need: EvidenceNeed): boolean {
  return isFileNeed(need) || need.kind === 'changes'
}

/** Whether a need depends on the current files of the work tree. */
function isFileNeed({ kind }: EvidenceNeed): boolean {
  return kind === 'artifacts' || kind === 'approvals' || kind === 'command' || kind === 'ci'
}

/** The location of a run's work, if it is on another machine than the caller's. */
function remoteLocation(
  { attempts }: SubjectWork,
  { machine }: Pick<RecordContext, 'machine'>,
): SnapshotLocation | null {
  const last = attempts.findLast(({ status }) => status !== 'abandoned')
  return last && last.snapshot.machineId !== machine?.id ? last.snapshot : null
}

/**
 * Fails if a person's event or approval needs what only another machine can tell: the result of a command on its files, or
 * changes that no attempt has recorded yet. Submitted files and ended attempts count as they were recorded.
 */
export async function assertFilesAreHere(
  reads: Reads,
  context: Pick<RecordContext, 'machine' | 'fingerprint'>,
  {
    loaded: { record, definition, visits },
    event,
    approvals,
    command,
  }: {
    readonly loaded: Pick<LoadedRun, 'record' | 'definition' | 'visits'>
    readonly event: string | undefined
    readonly approvals: readonly { readonly artifact: string | null }[]
    readonly command: string
  },
): Promise<void> {
  const needs = event === undefined ? [] : needsOfState(definition, record.state, event)
  const asks = (kind: EvidenceNeed['kind']) => needs.some((need) => need.kind === kind)
  // An approval with a guard about changes: those outside of the tasks are not recorded.
  const asksFiles = asks('command') || asks('ci') || (asks('changes') && asks('approvals'))
  const asksWork = [...approvals, ...needs.flatMap((need) => (need.kind === 'approvals' ? [need] : []))].some(
    ({ artifact }) => artifact === null || isOfChanges(definition, artifact),
  )
  if (!asksFiles && !asksWork) return
  const work = await workOf(reads, record)
  const location = remoteLocation(work, context)
  if (location === null) return
  const isDecided = event !== undefined && !asksFiles
  const after = isDecided ? await openAtEntry(reads, { record, visits }, work) : undefined
  if (isDecided && after === undefined && (await recordedWork(reads, context, work)) !== null) return
  const { machineName: machine = 'the machine that keeps the record', top } = location
  const open = isDecided ? work.attempts.find(({ status }) => status === 'open') : undefined
  const there = `On ${machine}, in ${top}, run ${command}. If that machine has an agent’s token: WAYMARK_SERVER=<this server> WAYMARK_TOKEN=<your own token> ${command}`
  const refuse = (message: string, hint: string) =>
    new Failure('REFUSED', message, { reason: 'run_on_other_machine', hint })
  if (open) {
    throw refuse(
      `Task ${open.taskId} is still open on ${machine}, in ${top}, so what run ${record.id} is about is not recorded yet.`,
      `Wait until the task is completed: then answer anywhere. ${there}`,
    )
  }
  if (after) {
    throw refuse(
      `Task ${after.taskId} was open when run ${record.id} came to "${record.state}", so its files were not compared with the record.`,
      `Send it back, so that the agent submits it again. Or approve it there. ${there}`,
    )
  }
  throw refuse(
    `Run ${record.id} is about files on ${machine}, in ${top}. They can be checked only there.`,
    event === undefined
      ? `${there}\nTo approve anywhere, let an event of a person have the guard, as in the process release.`
      : there,
  )
}

/** An attempt that was open when an event brought a run to its state, and ended since; undefined for none. */
async function openAtEntry(
  reads: Reads,
  loaded: Pick<LoadedRun, 'record' | 'visits'>,
  { attempts }: SubjectWork,
) {
  const entry = await entryEvent(reads, loaded)
  return entry === null
    ? undefined
    : attempts.find(
        ({ status, openedAt, closedAt }) =>
          status !== 'abandoned' && openedAt <= entry.createdAt && (closedAt ?? 0) > entry.createdAt,
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
    const standing = await prepareRecorded(reads, questions, { context, work, approves: reading })
    if (standing === null) return null
    const { fileFreshness } = nothingMeasured
    const { changes = null, tree: approvedTree = unrecordedTree } = standing.recorded ?? {}
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
  if (changes === undefined) return null
  const standing =
    isChanges && changes === null
      ? await prepareStandingRecord(reads, questions, { context, work, outside, approves: reading })
      : recordNotNeeded
  return (
    standing && {
      elsewhere: null,
      fileFreshness,
      approvedTree,
      changes: changes ?? standing.recorded?.changes ?? null,
    }
  )
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
    else {
      const found = await withMergedWork(reads, attempt, changes)
      measured.set(attempt.id, measurementOf(ended, around, found))
    }
  }
  return isWhole ? measured : null
}

/** The commands of guards with the answers of people. Null until measured. */
export async function prepareCommands(
  reads: Reads,
  questions: Questions,
  {
    context: { folder, fingerprint, machine },
    guards,
    tree,
    runs,
  }: {
    readonly context: Pick<RecordContext, 'folder' | 'fingerprint' | 'machine'>
    readonly guards: readonly CommandGuard[]
    readonly tree: string | null
    readonly runs: boolean
  },
): Promise<readonly ApprovableCommand[] | null> {
  const measuredGuards = guards.map((guard) => {
    const command = { run: guard.run, folder, pinned: [...guard.pinned], asks: runs }
    return { guard, command, measured: questions.ask('commands', command) }
  })
  const hashes = measuredGuards.flatMap(({ measured }) => measured?.hash ?? [])
  if (hashes.length < measuredGuards.length) return null
  const answered = await reads.inboxItems.answeredCommands([...new Set(hashes)], machine?.id ?? null)
  const answers = measuredGuards.flatMap(({ guard, command, measured }) => {
    if (measured === undefined) return []
    const { isRevoked, ...answer } = commandAnswer(measured, answered)
    const isAsked = runs && !answer.approved && answer.refusal === null
    return [{ guard, command, measured, answer, isAsked, ...(isRevoked && { revoked: { isRevoked } }) }]
  })
  // What was approved before is read only for a command that is asked about.
  const earlier = answers.some(({ isAsked }) => isAsked) ? await earlierApprovals(reads, machine) : null
  const commands = answers.map(({ guard, command, measured, answer, isAsked, revoked }) => {
    const more = isAsked ? { ...earlier?.(command), ...revoked } : {}
    const asked =
      Object.keys(more).length === 0 ? measured : questions.ask('commands', { ...command, ...more })
    if (asked === undefined) return null
    const { hash } = measured
    // A runner has its pinned files elsewhere.
    const isOfTree = tree === null || guard.pinned.length === 0 || guard.reportedBy === 'runner'
    return {
      guard,
      hash,
      ...answer,
      ...revoked,
      tree: isOfTree ? tree : fingerprint([tree, hash]),
      question: asked.question,
    }
  })
  const known = commands.filter((command) => command !== null)
  return known.length < commands.length ? null : known
}

type MeasuredCommand = MeasurementOf<RunMeasurements['commands']>[number]

/**
 * A person's answer to a command. In the record a refusal or a revocation counts on every machine, an approval only on the
 * machine that asked, if it trusts the server: another could ask with a hash that is not of what it shows. Any of them is
 * newer than a refusal in the list of the machine.
 */
function commandAnswer(
  { hash, isApproved, trustsServer, refusal }: MeasuredCommand,
  answered: readonly AnsweredCommand[],
): Pick<ApprovableCommand, 'approved' | 'approvedThere' | 'refusal'> & { readonly isRevoked?: true } {
  const last = answered.find((answer) => answer.hash === hash)
  if (!last) return { approved: isApproved, approvedThere: false, refusal: refusal && { ...refusal, hash } }
  const { item } = last
  if (item === null) return { approved: false, approvedThere: false, refusal: null, isRevoked: true }
  if (item.status === 'dismissed') {
    const dismissal = { author: item.closedBy ?? 'a person', reason: item.answer ?? '', hash }
    return { approved: false, approvedThere: false, refusal: dismissal }
  }
  return { approved: isApproved || trustsServer, approvedThere: true, refusal: null }
}
