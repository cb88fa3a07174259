import { randomUUID } from 'node:crypto'
import { Failure } from '../../kernel/failure.ts'
import type { Answer, Context } from '../../kernel/operations/operation.ts'
import { contractVersion } from '../operations/contract.ts'
import type { SentMeasurement } from '../operations/remote-measurement.ts'
import { RemoteCallAnswer, type RemoteCallRequest } from '../operations/remote-request.ts'
import type { OwnMachine } from './known-servers.ts'
import { type MeasuringContext, measureLocally } from './measure.ts'
import { RemoteCommands } from './remote-commands.ts'
import { ServerAnswerLost, type ServerClient } from './server-client.ts'
import type { TrustedCommands } from './trusted-commands.ts'

/** A call as its caller makes it; the rest of the request is the remote machine's own. */
export type RemoteCallInput = Omit<
  RemoteCallRequest,
  'contract' | 'version' | 'machine' | 'call' | 'folder' | 'measured'
>

/** What a remote machine is made of. */
export interface RemoteProjectParts {
  readonly client: ServerClient
  readonly machine: OwnMachine
  /** This machine's own ports; its store is never asked. */
  readonly context: Context
  readonly commands: TrustedCommands
  readonly snapshots: () => string
  readonly version: string
  /** How long a call waits for its commands, in milliseconds; they go on when it is over. */
  readonly patience?: number
}

/** A call with its name. */
export interface PreparedCall {
  readonly call: string
}

type FinalCallAnswer = Exclude<RemoteCallAnswer, { measure: unknown }>

const usualPatience = 20_000

/** A project that is kept at a server, seen from the machine where its files are. */
export class RemoteProject {
  readonly parts: RemoteProjectParts
  readonly #commands: RemoteCommands

  constructor(parts: RemoteProjectParts) {
    this.parts = parts
    this.#commands = new RemoteCommands({
      context: parts.context,
      commands: parts.commands,
      patience: parts.patience ?? usualPatience,
      tell: (operation, input) => this.#tell(operation, input),
    })
  }

  /** Names a call, so that it is recorded once however often it is sent. */
  prepare(call: string = randomUUID()): PreparedCall {
    return { call }
  }

  /** Asks the server, and measures here what it asks for, until it answers. */
  async send(calling: RemoteCallInput, prepared: PreparedCall): Promise<FinalCallAnswer> {
    // The server's clock as its first answer tells it: all that is measured for a call goes by that.
    let ahead: number | null = null
    const running = this.#running(calling, () => Date.now() + (ahead ?? 0))
    const measured: SentMeasurement[] = []
    let left = this.parts.client.timeout + waitTimeMs(calling)
    for (let round = 0; round < maxAsked; round += 1) {
      const asked = performance.now()
      const answer = await this.#post(this.#request(calling, prepared, measured), left)
      if (!('measure' in answer)) return answer
      left -= performance.now() - asked
      if (left <= 0) throw new ServerAnswerLost(this.parts.client.server.origin, 'It sent too many requests.')
      ahead ??= answer.now - Date.now()
      measured.push(...(await measureLocally(answer.measure, running)))
    }
    throw new Failure('UNAVAILABLE', 'The server asked this machine for too much in one call.', {
      reason: 'server_asks_too_much',
    })
  }

  #request(
    calling: RemoteCallInput,
    { call }: PreparedCall,
    measured: readonly SentMeasurement[],
  ): RemoteCallRequest {
    const { machine, context, version } = this.parts
    return {
      ...calling,
      contract: contractVersion,
      version,
      machine: { key: machine.key, name: machine.name },
      call,
      folder: context.folder,
      measured: [...measured],
    }
  }

  /** Waits for commands that go on, or ends them. */
  async close(): Promise<void> {
    await this.#commands.stop()
    this.parts.client.close()
  }

  #running(calling: RemoteCallInput, now: () => number): MeasuringContext {
    const { context, commands, machine, snapshots } = this.parts
    return {
      context,
      machine: machine.id,
      snapshots,
      commands,
      now,
      asked: calling.operation ?? calling.tool,
      input: inputOf(calling),
      named: new Set(),
      written: { done: false },
      runCommand: (command) =>
        // The command line ends with its answer, and its commands with it: there they are waited for.
        this.#commands.run(command, { isWaitedFor: calling.channel === 'cli' }),
    }
  }

  async #post(request: RemoteCallRequest, within: number): Promise<RemoteCallAnswer> {
    const read = RemoteCallAnswer.safeParse(
      await this.parts.client.post('/api/machines/call', request, { within }),
    )
    if (read.success) return read.data
    throw new Failure('UNAVAILABLE', `${this.parts.client.server.origin} does not answer as Waymark does.`, {
      reason: 'server_answer_invalid',
    })
  }

  async #tell(operation: string, input: object): Promise<void> {
    const calling = { operation, input, channel: 'stdio', as: 'agent' } as const
    await this.send(calling, this.prepare())
  }
}

/** A server asks a few times; one that asks for ever is a defect. */
const maxAsked = 40

/** What a call's input says, however it is sent. */
export function inputOf({ input, arguments: given }: RemoteCallInput): Answer {
  const said = given ?? input
  return typeof said === 'object' && said !== null ? { ...said } : {}
}

/** A call that asks to wait for a change waits that many milliseconds longer. */
function waitTimeMs(calling: RemoteCallInput): number {
  const seconds = Number(inputOf(calling)['wait_seconds'])
  return seconds > 0 ? Math.min(seconds, 60) * 1_000 : 0
}
