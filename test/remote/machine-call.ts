import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { type MeasuringContext, measureLocally } from '../../src/remote/machine/measure.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { contractVersion } from '../../src/remote/operations/protocol-limits.ts'
import type { TeamServer } from '../people/team-server.ts'
import type { Answer } from '../support/project.ts'

/** Calls of one machine with one token, over HTTP; what the server asks for is measured in a project of this machine. */
export function callerAt(
  team: Pick<TeamServer, 'ask'>,
  context: Context,
  {
    secret,
    key,
    call: given,
    runCommand = async () => null,
    ...named
  }: {
    readonly secret: string
    readonly key: string
    readonly connection?: string
    /** Of every call, as if the answers before were lost. */
    readonly call?: string
    readonly runCommand?: MeasuringContext['runCommand']
  },
) {
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: context.commandRunner,
    actor: context.actor,
    askPerson: null,
    trustsServer: () => true,
    now: () => 0,
  })
  return async (operation: string, input: object): Promise<Answer> => {
    const running: MeasuringContext = {
      context,
      machine: 'e-of-the-test',
      snapshots: () => [join(context.program.stateFolder, 'snapshots')],
      commands,
      called: operation,
      input,
      named: new Set(),
      written: { done: false },
      now: () => Date.now(),
      runCommand,
    }
    const call = given ?? randomUUID()
    const measured: object[] = []
    for (;;) {
      const response = await team.ask(secret, '/api/machines/call', {
        contract: contractVersion,
        version: '0.1.0',
        machine: { key, name: 'laptop', trusts_commands: commands.trustsServer },
        call,
        folder: context.folder,
        channel: 'stdio',
        caller: 'agent',
        ...named,
        operation,
        input,
        measured,
      })
      const answer: Answer = await response.json()
      if (!answer.measure) return answer.answer ?? answer
      const { operation: of, asked } = answer.measure
      const wanted = asked.map((one: Answer) => ({ ...one, brief: withoutMachines(one.brief) }))
      measured.push(...(await measureLocally({ operation: of, asked: wanted }, running)))
    }
  }
}

function withoutMachines(value: Answer): Answer {
  if (Array.isArray(value)) return value.map(withoutMachines)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(withoutMachine(value)).map(([name, one]) => [name, withoutMachines(one)]),
  )
}

/** The server names the machine by its id, which this one does not need. */
function withoutMachine(value: Answer): Answer {
  if (typeof value !== 'object' || value === null || !('machineId' in value)) return value
  const { machineId: _, machineName: __, ...rest } = value
  return rest
}
