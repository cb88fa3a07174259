import { randomUUID } from 'node:crypto'
import { Failure } from '../../kernel/failure.ts'
import type { Answer, Context } from '../../kernel/operations/operation.ts'
import { contractVersion } from '../operations/protocol-limits.ts'
import type { SentMeasurement } from '../operations/remote-measurement.ts'
import { RemoteCallAnswer, type RemoteCallRequest } from '../operations/remote-request.ts'
import type { OwnMachine } from './known-servers.ts'
import { type MeasuringContext, measureLocally } from './measure.ts'
import { RemoteCommands } from './remote-commands.ts'
import { ServerAnswerLost, type ServerClient } from './server-client.ts'
import type { TrustedCommands } from './trusted-commands.ts'

/** A call of a client; the remote machine adds the rest of the request. */
export type RemoteCallInput = Omit<
  RemoteCallRequest,
  'contract' | 'version' | 'machine' | 'call' | 'folder' | 'measured'
>

export interface RemoteProjectParts {
  readonly client: ServerClient
  readonly machine: OwnMachine
  /** This machine's own ports; its store is never read. */
  readonly context: Context
  readonly commands: TrustedCommands
  readonly snapshots: (workTrees: readonly string[]) => readonly string[]
  readonly version: string
  /** The time that a call waits for its commands, in milliseconds; they continue afterwards. */
  readonly patience?: number
}

/** A call with its key. */
export interface PreparedCall {
  readonly call: string
}

type FinalCallAnswer = Exclude<RemoteCallAnswer, { measure: unknown }>

const usualPatience = 20_000

/** A project at a server, on the machine with its files. */
export class RemoteProject {
  readonly parts: RemoteProjectParts
  readonly #commands: RemoteCommands

  constructor(parts: RemoteProjectParts) {
    this.parts = parts
    this.#commands = new RemoteCommands({
      context: parts.context,
      commands: parts.commands,
      patience: parts.patience ?? usualPatience,
      report: (operation, input) => this.#report(operation, input),
    })
  }

  /** Gives a call its key, so that retries are recorded once. */
  prepare(call: string = randomUUID()): PreparedCall {
    return { call }
  }

  /** Sends a call, and measures what the server requests, until it answers. */
  async send(callInput: RemoteCallInput, prepared: PreparedCall): Promise<FinalCallAnswer> {
    // All measurements of a call use the server's clock, from its first answer.
    let clockAheadMs: number | null = null
    const measuring = this.#measuringContext(callInput, () => Date.now() + (clockAheadMs ?? 0))
    const measured: SentMeasurement[] = []
    let timeLeftMs = this.parts.client.timeout + waitTimeMs(callInput)
    for (let round = 0; round < maxRounds; round += 1) {
      const startedAt = performance.now()
      const answer = await this.#post(this.#request(callInput, prepared, measured), timeLeftMs)
      if (!('measure' in answer)) return answer
      timeLeftMs -= performance.now() - startedAt
      if (timeLeftMs <= 0)
        throw new ServerAnswerLost(this.parts.client.server.origin, 'It sent too many requests.')
      clockAheadMs ??= answer.now - Date.now()
      measured.push(...(await measureLocally(answer.measure, measuring)))
    }
    throw new Failure('UNAVAILABLE', 'The server asked this machine for too much in one call.', {
      reason: 'server_asks_too_much',
    })
  }

  #request(
    callInput: RemoteCallInput,
    { call }: PreparedCall,
    measured: readonly SentMeasurement[],
  ): RemoteCallRequest {
    const { machine, context, commands, version } = this.parts
    return {
      ...callInput,
      contract: contractVersion,
      version,
      machine: { key: machine.key, name: machine.name, trusts_commands: commands.trustsServer },
      call,
      folder: context.folder,
      measured: [...measured],
    }
  }

  /** Waits for running commands, or ends them. */
  async close(): Promise<void> {
    await this.#commands.stop()
    this.parts.client.close()
  }

  #measuringContext(callInput: RemoteCallInput, now: () => number): MeasuringContext {
    const { context, commands, machine, snapshots } = this.parts
    return {
      context,
      machine: machine.id,
      snapshots,
      commands,
      now,
      called: callInput.operation ?? callInput.tool,
      input: inputOf(callInput),
      named: new Set(),
      written: { done: false },
      runCommand: (command) =>
        // The command line ends with its answer and would end its commands, so it waits for them.
        this.#commands.run(command, { isWaitedFor: callInput.channel === 'cli' }),
    }
  }

  async #post(request: RemoteCallRequest, within: number): Promise<RemoteCallAnswer> {
    const read = RemoteCallAnswer.safeParse(
      await this.parts.client.post('/api/machines/call', request, { within }),
    )
    if (read.success) return read.data
    throw new Failure('UNAVAILABLE', `${this.parts.client.server.origin} is not a Waymark server.`, {
      reason: 'server_answer_invalid',
    })
  }

  async #report(operation: string, input: object): Promise<void> {
    const callInput = { operation, input, channel: 'stdio', caller: 'agent' } as const
    await this.send(callInput, this.prepare())
  }
}

/** A server requests measurements a few times; a server that never stops is defective. */
const maxRounds = 40

/** The input of a call in either form. */
export function inputOf({ input, arguments: given }: RemoteCallInput): Answer {
  const fields = given ?? input
  return typeof fields === 'object' && fields !== null ? { ...fields } : {}
}

/** The additional time of a call that waits for a change. */
function waitTimeMs(callInput: RemoteCallInput): number {
  const seconds = Number(inputOf(callInput)['wait_seconds'])
  return seconds > 0 ? Math.min(seconds, 60) * 1_000 : 0
}
