import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { CommandResult } from '../../gate/domain/run.ts'
import { ciLine } from '../../gate/operations/run/ci-results.ts'
import {
  commandRuns,
  prepareCommandRuns,
  questionsAbout,
  taskOwner,
} from '../../gate/operations/run/commands.ts'
import {
  type ApprovableCommand,
  type ExternalState,
  prepareCommands,
} from '../../gate/operations/run/external-state.ts'
import { MeasurementQuestions, runMeasurements } from '../../gate/operations/run/run-measurements.ts'
import { Failure } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { instantOrNull } from '../../kernel/instant.ts'
import { path } from '../../kernel/operations/fields.ts'
import {
  type Briefs,
  type MeasurementValues,
  measurement,
  type PreparationStep,
} from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import type { DoneWhen, TaskCheck } from '../../plan/domain/done-when.ts'
import type { Reads } from '../../store/ports/store.ts'
import { verdictQuestion } from '../domain/completion.ts'
import {
  type Attempt,
  isOfOtherSession,
  isStale,
  type SnapshotLocation,
  staleAfter,
  type Task,
  type TaskOutcome,
  treeOf,
} from '../domain/task.ts'
import type { CheckFact, Verdict } from '../domain/verdict.ts'
import { sessionsOf } from './session-work.ts'

/** What the checks of a task need: the content that they run on, their approvals, and their runs on another machine. */
export const checkMeasurements = {
  checkedTree: measurement({
    brief: z.strictObject({ folder: path }),
    measured: z.strictObject({ tree: z.string().max(200).nullable() }),
    measure: async ({ witness }, { folder }) => {
      try {
        return { tree: await witness.treeHash(folder) }
      } catch (error) {
        if (error instanceof Failure && error.code === 'UNAVAILABLE') return { tree: null }
        throw error
      }
    },
  }),
  commands: runMeasurements.commands,
  ran: commandRuns,
}
type CheckMeasurements = typeof checkMeasurements

/** A check of a task with its last result. */
export interface MeasuredCheck extends Omit<CheckFact, 'state'> {
  /** `waiting`: it is approved and will run, after another command in the same folder. */
  readonly state: CheckFact['state'] | 'running' | 'waiting'
  readonly result: CommandResult | null
  /** What a person approves: the hash of the command with its files; null where they were not read. */
  readonly hash: string | null
}

export interface PreparedChecks {
  readonly briefs: Briefs<CheckMeasurements>
  /** Starts the approved checks, and waits for them for a while. */
  readonly first: PreparationStep | undefined
  /** Null until everything was measured. */
  readonly checks: readonly MeasuredCheck[] | null
  /** The hash of the content that they are about; null without checks, and where it is on another machine. */
  readonly content: string | null
}

interface ChecksRequest {
  readonly context: RecordContext
  readonly task: Task
  readonly promises: DoneWhen
  /** The attempt whose work tree they run in. */
  readonly attempt: Attempt
  readonly measured: MeasurementValues<CheckMeasurements>
  /** A failed attempt claims nothing, so that nothing is run for it. */
  readonly status?: TaskOutcome
  /** Also run those that have a result. */
  readonly again?: boolean
}

/** Prepares the checks that a task and its mission and project promise, on the content of the attempt's work tree. */
export async function prepareChecks(reads: Reads, request: ChecksRequest): Promise<PreparedChecks> {
  const { context, task, promises, attempt, measured, status, again = false } = request
  const { check: promised } = promises
  const check = status === 'failed' ? [] : promised
  if (check.length === 0) return { briefs: {}, first: undefined, checks: [], content: null }
  const { snapshot } = attempt
  // Only the machine that has the files can run them.
  if (snapshot.machineId !== context.machine?.id)
    return { briefs: {}, first: undefined, checks: check.map(notRun), content: null }
  const folder = folderIn(snapshot)
  const briefs = { checkedTree: { folder } }
  if (measured.checkedTree === undefined) return { briefs, first: undefined, checks: null, content: null }
  const { tree } = measured.checkedTree
  const questions = new MeasurementQuestions<Pick<CheckMeasurements, 'commands' | 'ran'>>({
    ...(measured.commands && { commands: measured.commands }),
    ...(measured.ran && { ran: measured.ran }),
  })
  const commands = await prepareCommands(reads, questions, {
    context: { ...context, folder },
    guards: check.map((one) => ({ type: 'command', ...one })),
    tree,
    runs: true,
  })
  if (commands === null)
    return { briefs: { ...briefs, ...questions.briefs }, first: undefined, checks: null, content: tree }
  const external = { tree, folder, commands: await withoutResultElsewhere(reads, commands, tree) }
  const running = { context, owner: taskOwner(task), external, again, isSerial: true }
  const first = await prepareCommandRuns(reads, questions, running)
  return {
    briefs: { ...briefs, ...questions.briefs },
    first: first ?? undefined,
    checks: first === null ? null : await measuredChecks(reads, { attempt, commands, external }),
    content: tree,
  }
}

/** The checks that nobody answered, to ask about at the start of a task, so that they can run at its end. */
export async function unansweredChecks(
  reads: Reads,
  {
    context,
    promises,
    place,
    measured,
  }: Pick<ChecksRequest, 'context' | 'promises'> & {
    readonly place: SnapshotLocation
    readonly measured: MeasurementValues<Pick<CheckMeasurements, 'commands'>>
  },
): Promise<{
  readonly briefs: Briefs<Pick<CheckMeasurements, 'commands'>>
  readonly unanswered: ReturnType<typeof questionsAbout>
}> {
  const { check } = promises
  if (check.length === 0 || place.machineId !== context.machine?.id) return { briefs: {}, unanswered: [] }
  const folder = folderIn(place)
  const questions = new MeasurementQuestions<Pick<CheckMeasurements, 'commands'>>(measured)
  const commands = await prepareCommands(reads, questions, {
    context: { ...context, folder },
    guards: check.map((one) => ({ type: 'command', ...one })),
    tree: null,
    runs: true,
  })
  const unanswered = questionsAbout(commands ?? [], folder).filter(({ isAnswered }) => !isAnswered)
  return { briefs: questions.briefs, unanswered }
}

/** The checks as a verdict judges them. */
export function checkFacts(checks: readonly MeasuredCheck[]): readonly CheckFact[] {
  return checks.map(({ result: _, hash: __, state, ...fact }) => ({
    ...fact,
    state: state === 'running' || state === 'waiting' ? 'not_run' : state,
  }))
}

/** Whether a check still runs or waits for its turn: then nothing is decided yet. */
export function isPending({ state }: MeasuredCheck): boolean {
  return state === 'running' || state === 'waiting'
}

/** The answer while checks run: nothing ended, and the caller repeats the call. */
export function withRunningChecks<Answered extends object>(
  { events, answer }: { readonly events: readonly never[]; readonly answer: Answered },
  checks: readonly MeasuredCheck[],
  isPreview: boolean,
) {
  const { preview: _, ...shown } = { preview: null, ...answer }
  return {
    events,
    isProvisional: true as const,
    answer: {
      ...shown,
      ...(isPreview && { preview: true as const }),
      completed: false as const,
      running_checks: checks.filter(isPending).map(({ command, ranAt }) => ({
        command,
        since: instantOrNull(ranAt),
      })),
      note: 'Nothing ended: checks of the task still run. Make the same call again to wait for them.',
    },
  }
}

/** The project's folder in a work tree. */
function folderIn({ top, prefix }: Pick<SnapshotLocation, 'top' | 'prefix'>): string {
  return prefix === '' ? top : `${top}/${prefix.replace(/\/$/, '')}`
}

function notRun({ run }: TaskCheck): MeasuredCheck {
  const nothing = { exitCode: null, ranAt: null, sameContent: false, result: null, hash: null }
  return { command: run, state: 'not_run', ...nothing }
}

/** A check that CI or a runner reported for this content is not run here. */
async function withoutResultElsewhere(
  reads: Reads,
  commands: readonly ApprovableCommand[],
  tree: string | null,
): Promise<readonly ApprovableCommand[]> {
  const known = await Promise.all(commands.map(({ guard }) => resultOfRunner(reads, guard.run, tree)))
  return commands.filter((_, index) => known[index] === null)
}

/** The result of a runner for this content: of the command itself, or of a CI check of that name. */
async function resultOfRunner(
  { runs }: Reads,
  run: string,
  tree: string | null,
): Promise<CommandResult | null> {
  if (tree === null) return null
  const [own, ci] = await Promise.all(
    [run, ciLine(run)].map((line) =>
      runs.commandResult({ run: line, folder: '', reportedBy: 'runner' }, tree),
    ),
  )
  return [own, ci].find((result) => result?.treeHeld && isEnded(result)) ?? null
}

function isEnded({ status }: CommandResult): boolean {
  return status === 'passed' || status === 'failed'
}

async function measuredChecks(
  reads: Reads,
  {
    attempt,
    commands,
    external,
  }: {
    readonly attempt: Attempt
    readonly commands: readonly ApprovableCommand[]
    readonly external: Pick<ExternalState, 'tree' | 'folder'>
  },
): Promise<readonly MeasuredCheck[]> {
  const checks = await Promise.all(commands.map((one) => measuredCheck(reads, one, external)))
  const failed = checks.filter(({ state, exitCode }) => state === 'ended' && exitCode !== 0)
  if (failed.length === 0 || (await attemptsBeside(reads, attempt)).length === 0) return checks
  return checks.map((check) => (failed.includes(check) ? { ...check, isShared: true } : check))
}

/** The attempts of other sessions that were open in the work tree since this one began, but none at tasks above it. */
async function attemptsBeside({ tasks, capture }: Reads, attempt: Attempt): Promise<readonly Attempt[]> {
  const { taskId, snapshot, openedAt } = attempt
  const [inTree, ancestors] = await Promise.all([
    tasks.attemptsInTree(treeOf(snapshot), openedAt),
    tasks.ancestors([taskId]),
  ])
  const own = new Set<string>([taskId, ...(ancestors.get(taskId) ?? [])])
  const beside = inTree.filter(
    (other) =>
      !own.has(other.taskId) && (other.status !== 'open' || openedAt - other.lastCallAt < staleAfter),
  )
  if (beside.length === 0) return []
  const sessionOf = await sessionsOf(capture, [attempt, ...beside])
  // Else an agent could open a task beside its own, and no failed check would count.
  return beside.filter((other) => isOfOtherSession(attempt, other, sessionOf))
}

/** Whether a check failed beside others, and all of them who were at work when the attempt ended have ended, too. */
export async function isLastAtWork(
  reads: Reads,
  attempt: Attempt,
  {
    verdict,
    now,
    ending = [],
  }: { readonly verdict: Verdict | null; readonly now: number; readonly ending?: readonly Attempt[] },
): Promise<boolean> {
  if (verdict === null || !hasSharedFailure(verdict)) return false
  const beside = await attemptsBeside(reads, attempt)
  const isLater = ({ openedAt }: Attempt) => attempt.closedAt !== null && openedAt > attempt.closedAt
  return beside.every(
    (other) =>
      ending.some(({ id }) => id === other.id) ||
      other.status !== 'open' ||
      isStale(other, now) ||
      isLater(other),
  )
}

/** Of more attempts that ended beside another, only the last are looked at. */
const maxAsked = 50

/**
 * Asks about checks that failed beside attempts which end as the last ones: each once, about the last success that it
 * failed for. Nobody is asked again about checks that the attempt's own question is about.
 */
export async function askOfShared(
  reads: Reads,
  ending: readonly Attempt[],
  asked: Verdict | null,
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const beside = await Promise.all(
    ending.map(({ snapshot, openedAt }) => reads.tasks.attemptsInTree(treeOf(snapshot), openedAt)),
  )
  const inTrees = new Map(beside.flat().map((attempt) => [attempt.id, attempt]))
  const own = new Set(ending.map(({ taskId }) => taskId))
  const ended = [...inTrees.values()]
    .filter(({ taskId, status }) => status === 'success' && !own.has(taskId))
    .toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0))
    .slice(0, maxAsked)
  const verdicts = await reads.tasks.lastVerdicts(ended.map(({ id }) => id))
  const known = new Set(asked === null ? [] : sharedFailures(asked))
  const events: NewProjectEvent[] = []
  for (const attempt of ended) {
    const verdict = verdicts.get(attempt.id)
    if (verdict === undefined || !hasSharedFailure(verdict)) continue
    const [task, last, items] = await Promise.all([
      reads.tasks.find(attempt.taskId),
      reads.tasks.lastAttempt(attempt.taskId),
      reads.inboxItems.ofAttempt(attempt.id),
    ])
    if (task?.status !== 'done' || last?.id !== attempt.id) continue
    const commands = sharedFailures(verdict)
    const isAsked = items.some(({ kind }) => kind === 'verdict') || commands.every((one) => known.has(one))
    if (isAsked || !(await isLastAtWork(reads, attempt, { verdict, now: setting.at, ending }))) continue
    for (const command of commands) known.add(command)
    events.push({ kind: 'inbox.opened', item: verdictQuestion(verdict, attempt, setting) })
  }
  return events
}

/** The same after attempts that were abandoned: these end, too. */
export async function askAfterAbandoned(
  reads: Reads,
  events: readonly NewProjectEvent[],
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const ids = events.flatMap((event) => (event.kind === 'attempt.abandoned' ? [event.attemptId] : []))
  const abandoned = await Promise.all(ids.map((id) => reads.tasks.attempt(id)))
  return askOfShared(
    reads,
    abandoned.filter((attempt) => attempt !== null),
    null,
    setting,
  )
}

function hasSharedFailure({ reasons }: Verdict): boolean {
  return reasons.some(({ rule }) => rule === 'check_failed_shared')
}

/** The checks that failed beside others. */
function sharedFailures(verdict: Verdict): readonly string[] {
  if (!hasSharedFailure(verdict)) return []
  return verdict.checks.flatMap(({ command, isShared }) => (isShared === true ? [command] : []))
}

async function measuredCheck(
  reads: Reads,
  { guard: { run }, approved, hash, tree: key, refusal, isRevoked }: ApprovableCommand,
  { tree, folder }: Pick<ExternalState, 'tree' | 'folder'>,
): Promise<MeasuredCheck> {
  const elsewhere = await resultOfRunner(reads, run, tree)
  if (elsewhere !== null) return endedCheck(run, elsewhere)
  const result = key === null ? null : await reads.runs.commandResult({ run, folder }, key)
  const nothing = { ...notRun({ run, pinned: [], timeout: 0 }), result, hash }
  if (!approved) {
    return {
      ...nothing,
      state: 'not_approved',
      ...(refusal && { refusal }),
      ...(isRevoked && { isRevoked }),
    }
  }
  if (tree === null) return nothing
  if (result === null || result.status === 'stopped') return { ...nothing, state: 'waiting' }
  if (result.status === 'running') return { ...nothing, state: 'running', ranAt: result.startedAt }
  // After its time limit it says nothing about the content.
  if (result.status === 'timed_out') return { ...nothing, ranAt: result.endedAt }
  return endedCheck(run, result)
}

export function endedCheck(command: string, result: CommandResult): MeasuredCheck {
  const { status, exitCode, endedAt, treeHeld } = result
  return {
    command,
    state: treeHeld ? 'ended' : 'disturbed',
    exitCode: exitCode ?? (status === 'passed' ? 0 : null),
    ranAt: endedAt,
    sameContent: treeHeld,
    result,
    hash: null,
  }
}
