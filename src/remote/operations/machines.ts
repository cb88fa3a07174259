import { z } from 'zod'
import { commandReportShape, endOfCommand } from '../../gate/operations/run/commands.ts'
import { commandLeaseMs } from '../../gate/operations/run/lease.ts'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import {
  type CommandContext,
  defineOperation,
  type RemoteMachine,
} from '../../kernel/operations/operation.ts'
import { idOf, Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { excerpt } from '../../kernel/text.ts'

export const machineList = defineOperation({
  name: 'machine_list',
  command: 'machine list',
  toolset: 'track',
  audience: 'both',
  title: 'List the machines where agents work',
  description: 'List the machines connected to this project: token, last contact, and the work on each.',
  kind: 'query',
  input: z.strictObject(pageFields(500, 'How many; default 50')),
  output: z.object({
    machines: list(
      z.object({
        id: z.string(),
        name: z.string(),
        token: z.string(),
        version: z.string(),
        last_seen: z.string(),
        open: list(
          z.object({
            task_id: z.string(),
            attempt_id: z.string(),
            name: z.string(),
            agent_name: z.string(),
            work_tree: z.string(),
            started_at: z.string(),
          }),
        ),
      }),
    ),
    ...page,
  }),
}).handler(({ store, actor }, input) =>
  store.view(async ({ machines, tasks }) => {
    const { entries, ...rest } = new Paging('machine_list', input, actor, 50).slice(
      await machines.all(),
      idOf,
    )
    const attempts = await tasks.openAttempts()
    const names = await tasks.names(attempts.map(({ taskId }) => taskId))
    return {
      machines: entries.map((machine) => ({
        id: machine.id,
        name: machine.name,
        token: machine.token,
        version: machine.version,
        last_seen: instant(machine.seenAt),
        open: attempts
          .filter(({ snapshot }) => snapshot.machineId === machine.id)
          .map((attempt) => ({
            task_id: attempt.taskId,
            attempt_id: attempt.id,
            name: excerpt(names.get(attempt.taskId) ?? '', 120),
            agent_name: displayName(attempt),
            work_tree: attempt.snapshot.top,
            started_at: instant(attempt.openedAt),
          })),
      })),
      ...rest,
    }
  }),
)

/** Renews the lease of a command that runs on a remote machine. */
export const commandRenew = defineOperation({
  name: 'command_renew',
  command: 'command renew',
  screen: true,
  toolset: 'gate',
  audience: 'both',
  title: 'Keep the lease of a command',
  description: 'Report that a command of a guard still runs on a remote machine.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({ id: identifier('The command') }),
  output: z.object({ until: z.string() }),
}).handler((context, { id }) => {
  const { commandRunner } = assertRemoteMachine(context)
  return context.recordAside(async (reads, setting) => {
    const command = await ownCommand(reads, id, commandRunner.name)
    if (command.status !== 'running') throw noCommandFailure(id)
    const until = setting.at + commandLeaseMs
    return {
      events: [],
      sideWrites: [{ kind: 'command leased', commandId: id, until }],
      answer: { until: instant(until) },
    }
  })
})

/** The end of a command that outlived its call. */
export const commandEnd = defineOperation({
  name: 'command_end',
  command: 'command end',
  screen: true,
  toolset: 'gate',
  audience: 'both',
  title: 'Report the end of a command',
  description:
    'Report how a command of a guard ended on a remote machine, if it ran longer than its call waited.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({
    id: identifier('The command'),
    ...commandReportShape,
    exit_code: z.int().nullable(),
  }),
  output: z.object({ recorded: z.boolean() }),
}).handler((context, { id, exit_code: exitCode, ...report }) => {
  const { commandRunner, fingerprint } = assertRemoteMachine(context)
  return context.recordAside<{ recorded: boolean }>(async (reads) => {
    const command = await ownCommand(reads, id, commandRunner.name)
    if (command.status !== 'running') return { events: [], answer: { recorded: false } }
    const ended = await endOfCommand(fingerprint, command, { ...report, exitCode })
    return { ...ended, answer: { recorded: true } }
  })
})

/** Only the machine and token that started a command may report on it. */
async function ownCommand(
  { runs }: Parameters<Parameters<CommandContext['record']>[0]>[0],
  id: string,
  runner: string,
) {
  const command = await runs.command(id)
  if (command?.runner === runner) return command
  throw noCommandFailure(id)
}

function noCommandFailure(id: string): Failure {
  return new Failure('NOT_FOUND', `No command ${id} is running for this machine and token.`, {
    reason: 'command_not_found',
  })
}

export function assertRemoteMachine<Own extends Pick<CommandContext, 'machine'>>(
  context: Own,
): Own & { readonly machine: RemoteMachine } {
  const { machine } = context
  if (machine) return { ...context, machine }
  throw new Failure('FORBIDDEN', 'Only connected machines can call this: waymark connect <url>', {
    reason: 'connected_machine_needed',
  })
}
