import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { idPrefixes } from '../../../kernel/id.ts'
import { instant, instantOrNull } from '../../../kernel/instant.ts'
import { findTask } from '../../../kernel/operations/find.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import { list } from '../../../kernel/operations/list-answer.ts'
import {
  type MeasurementValues,
  type PreparedOperation,
  requireMeasured,
} from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../../kernel/operations/operation.ts'
import { hasAccess } from '../../../people/domain/access.ts'
import { promisesOf } from '../../../plan/operations/done-when.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { Attempt, Task } from '../../../track/domain/task.ts'
import type { CheckRefusal } from '../../../track/domain/verdict.ts'
import { VerdictEntry, verdictEntry } from '../../../track/operations/attempt-answer.ts'
import { judgeAgain } from '../../../track/operations/change-verdict.ts'
import {
  checkFacts,
  checkMeasurements,
  isPending,
  type MeasuredCheck,
  prepareChecks,
} from '../../../track/operations/task-checks.ts'
import { commandsFor, expectedExits } from '../../domain/expression.ts'
import { hasExpectedExit } from '../../domain/guards/command.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { commandRuns, openQuestion, prepareCommandRuns, runOwner } from './commands.ts'
import { type ApprovableCommand, type ExternalState, prepareState } from './external-state.ts'
import { loadRun } from './find-run.ts'
import { MeasurementQuestions, runMeasurements } from './run-measurements.ts'

const CommandEntry = z.object({
  run: z.string(),
  status: z.enum([
    'passed',
    'failed',
    'timed_out',
    'running',
    'stopped',
    'unapproved',
    'refused',
    'not_run',
    'tree_changed',
  ]),
  items: z.boolean(),
  /** The required exit, if it must fail. */
  exit: z.literal('nonzero').optional(),
  exit_code: z.int().nullable().optional(),
  output: z.string().optional(),
  /** When the output was cut because it expired (setting retention_days). */
  output_removed_at: z.string().optional(),
  started_at: z.string().optional(),
  ended_at: z.string().nullable().optional(),
  item_id: z.string().nullable().optional(),
  /** The caller may not approve it. */
  for_maintainer: z.literal(true).optional(),
  refused_by: z.string().optional(),
  reason: z.string().optional(),
  /** Of a refused command: its hash, for command_revoke. */
  hash: z.string().optional(),
})
type CommandEntry = z.output<typeof CommandEntry>

const guardMeasurements = { ...runMeasurements, ran: commandRuns }
const verifyMeasurements = { ...guardMeasurements, ...checkMeasurements }

type VerifyPreparation = PreparedOperation<typeof verifyMeasurements, VerifiedRun | VerifiedTask | null>

export const verify = defineOperation({
  name: 'verify',
  command: 'verify',
  toolset: 'gate',
  audience: 'both',
  title: 'Run the checks of a task or a run',
  description:
    'Run the checks of a task, or the commands that a run now waits for, and show their results. Only approved commands run. Results on the content of a completion change its verdict.',
  kind: 'command',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: identifier('Task or run (t-…, run-…); default: the only active run').optional(),
  }),
  synonyms: { task_id: 'run_id', id: 'run_id' },
  output: z.object({
    run_id: z.string().optional(),
    task_id: z.string().optional(),
    current_state: z.string().optional(),
    passed: z.boolean(),
    commands: list(CommandEntry),
    /** The verdict on the task, if a result changed it. */
    verdict: VerdictEntry.optional(),
    note: z.string().optional(),
  }),
})
  .measure(verifyMeasurements)
  .prepare(async (reads, input, context, measured): Promise<VerifyPreparation> => {
    if (input.run_id?.startsWith(`${idPrefixes.task}-`))
      return prepareTask(reads, { id: input.run_id, context, measured })
    const loaded = await loadRun(reads, input.run_id)
    const { record, definition } = loaded
    if (commandsFor(definition, record.state).length === 0) {
      throw new Failure('REFUSED', `No guard of "${record.state}" in run ${record.id} needs a command.`, {
        reason: 'no_command_guard',
        hint: `waymark run events ${record.id} shows what its guards need. For the checks of a task: waymark verify <task>`,
      })
    }
    const questions = new MeasurementQuestions<typeof guardMeasurements>(measured)
    const external = await prepareState(reads, questions, { context, loaded, runs: true })
    const first =
      external &&
      (await prepareCommandRuns(reads, questions, {
        context,
        owner: runOwner(record),
        external,
        again: true,
      }))
    const prepared =
      external && first !== null ? { kind: 'run' as const, record, definition, external } : null
    return { briefs: questions.briefs, found: prepared, first: first ?? undefined }
  })
  .record(async ({ reads, found, setting, context: { machine, permissions } }) => {
    const isForMaintainer = permissions !== undefined && !hasAccess(permissions, 'maintainer')
    const verified = requireMeasured(found ?? undefined)
    if (verified.kind === 'task') {
      const { task, attempt, checks, content } = verified
      const measured = await Promise.all(checks.map((check) => checkEntry(reads, check, machine)))
      const entries = measured.map((entry) => withApprover(entry, isForMaintainer))
      const answer = { task_id: task.id, passed: entries.every(({ items }) => items), commands: entries }
      if (checks.some(isPending)) return { events: [], answer }
      const changed = await judgeAgain(reads, attempt, { content, checks: checkFacts(checks) }, setting)
      const note = attempt.closedAt === null ? null : await keptVerdictNote(reads, attempt, content)
      return {
        events: changed?.events ?? [],
        answer: {
          ...answer,
          ...(changed && { verdict: verdictEntry(changed.verdict, task.id) }),
          ...(note !== null && { note }),
        },
      }
    }
    const { record, definition, external } = verified
    const commands: CommandEntry[] = []
    for (const command of external.commands) {
      const ends = expectedExits(definition, record.state, command.guard.run)
      const result = await resultOf(reads, { external, machine }, command)
      commands.push(withApprover(commandResultEntry(ends, result), isForMaintainer))
    }
    return {
      events: [],
      answer: {
        run_id: record.id,
        current_state: record.state,
        passed: commands.every(({ items }) => items),
        commands,
      },
    }
  })

function withApprover(entry: CommandEntry, isForMaintainer: boolean): CommandEntry {
  return isForMaintainer && entry.status === 'unapproved' ? { ...entry, for_maintainer: true } : entry
}

interface VerifiedRun extends Pick<LoadedRun, 'record' | 'definition'> {
  readonly kind: 'run'
  readonly external: ExternalState
}

interface VerifiedTask {
  readonly kind: 'task'
  readonly task: Task
  readonly attempt: Attempt
  readonly checks: readonly MeasuredCheck[]
  readonly content: string | null
}

/** Why these checks do not change the verdict of a completion; null if it was judged on this content. */
async function keptVerdictNote(
  { tasks }: Reads,
  { id, taskId, snapshot }: Attempt,
  content: string | null,
): Promise<string | null> {
  const verdict = (await tasks.verdicts(id)).at(-1)?.verdict
  if (verdict == null || (content !== null && verdict.content === content)) return null
  if (verdict.content !== undefined && content === null) {
    return `The files of the task are on ${snapshot.machineName ?? 'the server'}, in ${snapshot.top}: run this there.`
  }
  const reason =
    verdict.content === undefined
      ? 'The task had no check when it was completed'
      : 'Files of the work tree changed since the task was completed, and a check is about all of them'
  const isSettled = verdict.is === 'proven' || (await tasks.acceptances([taskId])).has(taskId)
  const accept = isSettled ? '' : ` Accept it as it is: waymark review ${taskId}`
  return `${reason}: its verdict stays as it was.${accept}`
}

/** The checks of a task, in the work tree of its last attempt. */
async function prepareTask(
  reads: Reads,
  {
    id,
    context,
    measured,
  }: {
    readonly id: string
    readonly context: RecordContext
    readonly measured: MeasurementValues<typeof verifyMeasurements>
  },
) {
  const task = await findTask(reads, id)
  const promises = await promisesOf(reads, task)
  const attempt = await reads.tasks.lastAttempt(task.id)
  const { check: promised } = promises
  if (attempt === null || promised.length === 0) {
    const problem = attempt === null ? 'was never started' : 'has no check'
    throw new Failure('REFUSED', `Task ${task.id} "${task.name}" ${problem}.`, {
      reason: 'no_check',
      hint: `Add one with waymark task edit ${task.id} --check "npm test".`,
    })
  }
  const { briefs, first, checks, content } = await prepareChecks(reads, {
    context,
    task,
    promises,
    attempt,
    measured,
    again: true,
  })
  const found: VerifiedTask | null = checks && { kind: 'task', task, attempt, checks, content }
  return { briefs, first, found }
}

const statusOfCheck = {
  not_approved: 'unapproved',
  not_run: 'not_run',
  disturbed: 'tree_changed',
  running: 'running',
  waiting: 'not_run',
} as const

async function checkEntry(
  reads: Reads,
  { command, state, exitCode, result, hash, refusal }: MeasuredCheck,
  machine: RecordContext['machine'] | undefined,
): Promise<CommandEntry> {
  if (refusal !== undefined) return { run: command, ...refusedCommand(refusal), items: false }
  const printed = result && (await reads.runs.commandOutput(result.id))
  const item = state === 'not_approved' && hash !== null ? await openQuestion(reads, hash, machine) : null
  return {
    run: command,
    status:
      state === 'ended' || result?.status === 'timed_out'
        ? (result?.status ?? 'not_run')
        : statusOfCheck[state],
    items: state === 'ended' && exitCode === 0,
    exit_code: exitCode,
    ...(item && { item_id: item.id }),
    ...(result && {
      output: printed?.text ?? result.output,
      started_at: instant(result.startedAt),
      ended_at: instantOrNull(result.endedAt),
    }),
  }
}

function refusedCommand({ author, reason, hash }: CheckRefusal) {
  return { status: 'refused' as const, refused_by: author, reason, hash }
}

type VerifyResult = Omit<CommandEntry, 'items' | 'exit'>

/** Whether it ended as the state's guards require: a command that must fail passes when it failed. */
function commandResultEntry(ends: ReadonlySet<'zero' | 'nonzero'>, result: VerifyResult): CommandEntry {
  const { status, exit_code = null } = result
  const items = [...ends].some((exit) => hasExpectedExit({ exit }, { status, exitCode: exit_code }))
  return { ...result, ...(ends.has('nonzero') && !ends.has('zero') && { exit: 'nonzero' }), items }
}

async function resultOf(
  reads: Reads,
  {
    external,
    machine,
  }: { readonly external: ExternalState; readonly machine: RecordContext['machine'] | undefined },
  { guard, approved, hash, refusal, tree }: ApprovableCommand,
): Promise<VerifyResult> {
  const { runs } = reads
  const { run } = guard
  const elsewhere = guard.reportedBy === 'runner'
  if (refusal && !elsewhere) return { run, ...refusedCommand(refusal) }
  if (!approved && !elsewhere) {
    const item = await openQuestion(reads, hash, machine)
    return { run, status: 'unapproved', item_id: item?.id ?? null }
  }
  const command = { run, folder: external.folder, ...(guard.reportedBy && { reportedBy: guard.reportedBy }) }
  const result = await runs.commandResult(command, tree ?? undefined)
  const printed = result && (await runs.commandOutput(result.id))
  if (result === null) return { run, status: 'not_run' }
  const removed = printed?.removedAt ?? null
  return {
    run,
    status: result.treeHeld ? result.status : 'tree_changed',
    exit_code: result.exitCode,
    output:
      removed === null
        ? (printed?.text ?? result.output)
        : `Its output (${printed?.bytes} bytes) was removed on ${instant(removed).slice(0, 10)}. The last lines:\n${result.output}`,
    ...(removed !== null && { output_removed_at: instant(removed) }),
    started_at: instant(result.startedAt),
    ended_at: instantOrNull(result.endedAt),
  }
}
