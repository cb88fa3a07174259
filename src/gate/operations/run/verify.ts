import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { instant, instantOrNull } from '../../../kernel/instant.ts'
import { list } from '../../../kernel/operations/list-answer.ts'
import { type CommandContext, defineOperation } from '../../../kernel/operations/operation.ts'
import { commandsFor, expectedExits } from '../../domain/expression.ts'
import { hasExpectedExit } from '../../domain/guards/command.ts'
import { runCommands } from './commands.ts'
import { type ApprovableCommand, type ExternalState, gatherState } from './external-state.ts'
import { loadRun, runField } from './find-run.ts'

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
  holds: z.boolean(),
  /** How it must end, where it must fail. */
  exit: z.literal('nonzero').optional(),
  exit_code: z.int().nullable().optional(),
  output: z.string().optional(),
  /** When all but the end of it was removed, because its time was over (setting retention_days). */
  output_removed_at: z.string().optional(),
  started_at: z.string().optional(),
  ended_at: z.string().nullable().optional(),
  hold_id: z.string().nullable().optional(),
  refused_by: z.string().optional(),
  reason: z.string().optional(),
})
type CommandEntry = z.output<typeof CommandEntry>

export const verify = defineOperation({
  name: 'verify',
  command: 'verify',
  toolset: 'gate',
  audience: 'both',
  title: 'Run the commands of a run’s guards',
  description:
    'Runs the approved commands that the guards of the present state ask for, again, and tells their results.',
  kind: 'command',
  positional: ['run_id'],
  input: z.strictObject({ run_id: runField }),
  output: z.object({
    run_id: z.string(),
    current_state: z.string(),
    passed: z.boolean(),
    commands: list(CommandEntry),
  }),
}).handler(async (handling, input) => {
  const loaded = await handling.store.view((reads) => loadRun(reads, input.run_id))
  const { record, definition } = loaded
  if (commandsFor(definition, record.state).length === 0) {
    throw new Failure('REFUSED', `No guard of "${record.state}" in run ${record.id} asks for a command.`, {
      reason: 'no_command_guard',
      hint: `waymark list-events ${record.id} shows what its guards ask for.`,
    })
  }
  const external = await gatherState(handling, loaded, undefined)
  await runCommands(handling, record, external, { again: true })
  const commands = await Promise.all(
    external.commands.map(async (command) => {
      const ends = expectedExits(definition, record.state, command.guard.run)
      return commandResultEntry(ends, await resultOf(handling, external, command))
    }),
  )
  return {
    run_id: record.id,
    current_state: record.state,
    passed: commands.every(({ holds }) => holds),
    commands,
  }
})

type VerifyResult = Omit<CommandEntry, 'holds' | 'exit'>

/** Whether it ended as the guards of the state ask for: a command that must fail holds when it did. */
function commandResultEntry(ends: ReadonlySet<'zero' | 'nonzero'>, result: VerifyResult): CommandEntry {
  const { status, exit_code = null } = result
  const holds = [...ends].some((exit) => hasExpectedExit({ exit }, { status, exitCode: exit_code }))
  return { ...result, ...(ends.has('nonzero') && !ends.has('zero') && { exit: 'nonzero' }), holds }
}

async function resultOf(
  { store }: CommandContext,
  external: ExternalState,
  { guard, approved, hash, refusal, tree }: ApprovableCommand,
): Promise<VerifyResult> {
  const { run } = guard
  const elsewhere = guard.by === 'runner'
  if (refusal && !elsewhere) return { run, status: 'refused', refused_by: refusal.by, reason: refusal.reason }
  if (!approved && !elsewhere) {
    const hold = await store.view(({ holds }) => holds.openCommand(hash))
    return { run, status: 'unapproved', hold_id: hold?.id ?? null }
  }
  const command = { run, folder: external.folder, ...(guard.by && { by: guard.by }) }
  const { found, printed } = await store.view(async ({ runs }) => {
    const result = await runs.commandResult(command, tree ?? undefined)
    return { found: result, printed: result && (await runs.commandOutput(result.id)) }
  })
  if (found === null) return { run, status: 'not_run' }
  const removed = printed?.removedAt ?? null
  return {
    run,
    status: found.treeHeld ? found.status : 'tree_changed',
    exit_code: found.exitCode,
    output:
      removed === null
        ? (printed?.text ?? found.output)
        : `What it printed, ${printed?.bytes} bytes, was removed on ${instant(removed).slice(0, 10)}. Its end:\n${found.output}`,
    ...(removed !== null && { output_removed_at: instant(removed) }),
    started_at: instant(found.startedAt),
    ended_at: instantOrNull(found.endedAt),
  }
}
