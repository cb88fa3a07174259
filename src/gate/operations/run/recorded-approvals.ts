import { callTo, Failure, hintOf } from '../../../kernel/failure.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { isOfChanges } from '../../domain/approved-content.ts'
import { awaitedDecision } from '../../domain/decisions.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import { needsOfState } from '../../domain/expression.ts'
import type { RunRecord } from '../../domain/run.ts'
import { transitionsFor } from '../../domain/transitions.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { gapChangesOf } from './changes-outside-attempts.ts'
import { prepareDifferent, recordedWork, type WorkRecord } from './recorded-work.ts'
import {
  type MeasuredWorkTree,
  prepareWork,
  type Questions,
  type SubjectWork,
  treesOf,
  workOf,
} from './subject-changes.ts'

type StandingContext = Pick<RecordContext, 'machine' | 'fingerprint' | 'actor'>

/** Whether approvals may have been given on another machine than that of the files. */
export function isWithMachines(
  { attempts }: SubjectWork,
  { machine, team }: Pick<RecordContext, 'machine' | 'team'>,
): boolean {
  return (
    machine !== undefined ||
    team !== undefined ||
    attempts.some(({ snapshot }) => snapshot.machineId !== undefined)
  )
}

export const recordNotNeeded = { recorded: null }
export const reading: Approving = { event: undefined, approvals: [] }

/** No approval is given for it, so that none counts for it. */
export const unrecordedTree = 'not recorded'

/** A person's event and approvals, if these are what is measured for. */
interface Approving {
  readonly event: string | undefined
  readonly approvals: readonly unknown[]
}

interface StandingRequest {
  readonly context: StandingContext
  readonly work: SubjectWork
  readonly approves: Approving
}

/** The recorded work of a run whose last files are elsewhere. Null until the files of it that are here were measured. */
export async function prepareRecorded(
  reads: Reads,
  questions: Questions,
  request: StandingRequest,
): Promise<{ readonly recorded: WorkRecord | null } | null> {
  const wanted = { gaps: true, ended: true, isCompared: false }
  const outside = await prepareWork(reads, questions, treesOf(request.work, request.context, wanted))
  return outside && prepareStandingRecord(reads, questions, { ...request, outside })
}

/**
 * The recorded work, for a person whose event is decided by it. An agent must send its event where all files are, with an
 * approval of those: the record does not show what was written since.
 */
export async function prepareStandingRecord(
  reads: Reads,
  questions: Questions,
  {
    context,
    work,
    outside,
    approves: { event, approvals },
  }: StandingRequest & { readonly outside: readonly MeasuredWorkTree[] },
): Promise<{ readonly recorded: WorkRecord | null } | null> {
  const isForAgent = event === undefined && approvals.length > 0
  if (context.actor.kind !== 'person' || isForAgent) return recordNotNeeded
  const recorded = await recordedWork(reads, context, work)
  if (recorded === null) return recordNotNeeded
  // Of a tree that is gone nothing can be told but the record.
  const there = outside.filter(({ measured }) => measured.now !== null || measured.gaps === null)
  const different = await prepareDifferent(reads, questions, work, there)
  if (different === null) return null
  const isKept = different.length === 0 && (await gapChangesOf(reads, there))?.length === 0
  return isKept ? { recorded } : recordNotNeeded
}

/**
 * Fails if an event brings a run to people who approve its work, and files of its tasks on the sender's machine are not as
 * these recorded them: elsewhere, only the record is seen. False until measured.
 */
export async function prepareRecordedForApproval(
  reads: Reads,
  questions: Questions,
  {
    context,
    loaded: { record, definition },
    event,
  }: { readonly context: StandingContext; readonly loaded: LoadedRun; readonly event: string },
): Promise<boolean> {
  if (context.machine === undefined) return true
  const states = transitionsFor(definition, record.state, event).map(({ to }) => to)
  if (!states.some((state) => state !== record.state && isApprovedByPeople(definition, state))) return true
  const work = await workOf(reads, record)
  // The files of a tree that is gone are looked for in the sender's.
  const trees = treesOf(work, context, { gaps: false, ended: true, isCompared: true })
  const outside = await prepareWork(
    reads,
    questions,
    trees.filter(({ last }) => last !== null),
  )
  const different = outside && (await prepareDifferent(reads, questions, work, outside))
  if (different === null) return false
  if (different.length === 0) return true
  const more = different.length > 5 ? ` and ${different.length - 5} more` : ''
  throw new Failure(
    'REFUSED',
    `${different.slice(0, 5).join(', ')}${more} changed since the tasks of run ${record.id} recorded it, so whoever approves it would not see that.`,
    {
      reason: 'work_not_recorded',
      hint: hintOf`Take the change back, or do it in a task, also if it is a merge: take it back, ${callTo('start_task')}, do it again, ${callTo('complete_task')}. Then send ${event} again.`,
    },
  )
}

/** Whether a person's event in a state needs an approval of the work. */
function isApprovedByPeople(definition: ProcessDefinition, state: string): boolean {
  const { events = [] } = awaitedDecision(definition, state) ?? {}
  return events.some((event) =>
    needsOfState(definition, state, event).some(
      (need) =>
        need.kind === 'approvals' && (need.artifact === null || isOfChanges(definition, need.artifact)),
    ),
  )
}

export function changedHereFailure({ id }: RunRecord): Failure {
  return new Failure(
    'CONFLICT',
    `Files of run ${id} in this folder differ from what its tasks recorded, and others are on another machine.`,
    {
      reason: 'work_not_measured',
      hint: 'Take the change back, or do it in a task, then approve again.',
    },
  )
}
