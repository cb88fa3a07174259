import { randomUUID } from 'node:crypto'
import { Failure } from '../../kernel/failure.ts'
import type { Answer, Context } from '../../kernel/operations/operation.ts'
import type { SnapshotPlace } from '../../track/domain/task.ts'
import { contractVersion } from '../operations/contract.ts'
import { idInCall } from '../operations/edge-context.ts'
import { EdgeAnswer, type EdgeRequest } from '../operations/edge-request.ts'
import type { GatheredCall } from '../operations/port-calls.ts'
import { AwayCommands } from './away-commands.ts'
import type { OwnMachine } from './origins.ts'
import { type PortRunning, runCalls } from './port-runner.ts'
import { NoAnswer, type ServerClient } from './server-client.ts'
import type { TrustedCommands } from './trusted-commands.ts'

/** A call as its caller makes it; the rest of the request is the edge's own. */
export type EdgeCalling = Omit<
  EdgeRequest,
  'contract' | 'version' | 'edge' | 'call' | 'folder' | 'age' | 'gathered'
>

/** What an edge is made of. */
export interface EdgeParts {
  readonly client: ServerClient
  readonly edge: OwnMachine
  /** This machine's own ports; its store is never asked. */
  readonly context: Context
  readonly commands: TrustedCommands
  readonly snapshots: () => string
  readonly version: string
  /** How long a call waits for its commands, in milliseconds; they go on when it is over. */
  readonly patience?: number
}

/** A call with its name and what was looked at for it. */
export interface Prepared {
  readonly call: string
  readonly gathered: readonly GatheredCall[]
  /** Milliseconds since it was begun to look. */
  readonly age: () => number
}

const usualPatience = 20_000

/** A project that is kept at a server, seen from the machine where its files are. */
export class EdgeProject {
  readonly parts: EdgeParts
  readonly #commands: AwayCommands

  constructor(parts: EdgeParts) {
    this.parts = parts
    this.#commands = new AwayCommands({
      context: parts.context,
      commands: parts.commands,
      patience: parts.patience ?? usualPatience,
      tell: (operation, input) => this.#tell(operation, input),
    })
  }

  /** Measures what the server will ask for, before it does: most calls are then answered at once. */
  async prepare(calling: EdgeCalling, call: string = randomUUID()): Promise<Prepared> {
    const began = performance.now()
    const gathered =
      (calling.operation ?? calling.tool) === 'start_task'
        ? await this.#atStart(inputOf(calling), { call, running: this.#running(calling) })
        : []
    return { call, gathered, age: () => Math.round(performance.now() - began) }
  }

  /** Asks the server, and measures here what it asks for, until it answers. */
  async send(calling: EdgeCalling, prepared: Prepared): Promise<Exclude<EdgeAnswer, { gather: unknown }>> {
    const running = this.#running(calling)
    let gathered = prepared.gathered
    let left = this.parts.client.timeout + waitingFor(calling)
    // The first request may lack everything; each later one brings what was asked for.
    for (let round = 0; round < mostAsked; round += 1) {
      const asked = performance.now()
      const answer = await this.#post(this.#request(calling, { ...prepared, gathered }), left)
      if (!('gather' in answer)) return answer
      left -= performance.now() - asked
      if (left <= 0)
        throw new NoAnswer(this.parts.client.server.origin, 'It asked for more and more, slowly.')
      gathered = [...gathered, ...(await runCalls(answer.gather, running))]
      if (gathered.length > maxGathered) break
    }
    throw new Failure('UNAVAILABLE', 'The server asked this machine for too much in one call.', {
      reason: 'server_asks_too_much',
    })
  }

  #request(calling: EdgeCalling, { call, age, gathered }: Prepared): EdgeRequest {
    const { edge, context, version } = this.parts
    return {
      ...calling,
      contract: contractVersion,
      version,
      edge: { key: edge.key, name: edge.name },
      call,
      folder: context.folder,
      age: age(),
      gathered: [...gathered],
    }
  }

  /** Waits for commands that go on, or ends them. */
  async close(): Promise<void> {
    await this.#commands.stop()
    this.parts.client.close()
  }

  #running(calling: EdgeCalling): PortRunning {
    const { context, commands, edge, snapshots } = this.parts
    return {
      context,
      edge: edge.id,
      snapshots,
      commands,
      asked: calling.operation ?? calling.tool,
      input: inputOf(calling),
      named: new Set(),
      runCommand: (command) =>
        // The command line ends with its answer, and its commands with it: there they are waited for.
        this.#commands.run(command, { isWaitedFor: calling.channel === 'cli' }),
    }
  }

  async #post(request: EdgeRequest, within: number): Promise<EdgeAnswer> {
    const read = EdgeAnswer.safeParse(await this.parts.client.post('/api/edge/call', request, { within }))
    if (read.success) return read.data
    throw new Failure('UNAVAILABLE', `${this.parts.client.server.origin} does not answer as Waymark does.`, {
      reason: 'server_answer_invalid',
    })
  }

  async #tell(operation: string, input: object): Promise<void> {
    const calling = { operation, input, channel: 'stdio', as: 'agent' } as const
    await this.send(calling, await this.prepare(calling))
  }

  async #atStart(
    input: Answer,
    { call, running }: { readonly call: string; readonly running: PortRunning },
  ): Promise<readonly GatheredCall[]> {
    const { context } = this.parts
    if (input['work_tree'] !== undefined) return []
    const planned = input['planned_task_id']
    const bound =
      typeof planned === 'string'
        ? await runCalls([{ call: 'linkedTrees.bound', args: [context.folder] }], running)
        : []
    // A task with a work tree of its own is begun there, which the server looks into.
    if (bound.some(({ answer }) => JSON.stringify(answer).includes(String(planned)))) return bound
    const request = { folder: context.folder, name: this.#snapshotName(call) }
    const snapshot = await runCalls([{ call: 'witness.snapshot', args: [request] }], running)
    const place = this.#placeIn(snapshot[0])
    const taken = [...bound, ...snapshot]
    const areas = input['areas']
    if (place === null || !isTexts(areas) || areas.length === 0) return taken
    return [...taken, ...(await runCalls([{ call: 'witness.matching', args: [place, areas] }], running))]
  }

  #snapshotName(call: string): string {
    return idInCall(this.parts.context.fingerprint, call, { kind: 'attempt', number: 0 })
  }

  /** Where a snapshot lies, as the server names it. */
  #placeIn(taken: GatheredCall | undefined): SnapshotPlace | null {
    if (taken === undefined || !('answer' in taken)) return null
    const { ref } = taken.answer as { readonly ref: SnapshotPlace } // as the witness made it
    const { edge } = this.parts
    return { ...ref, edge: edge.id, machine: edge.name }
  }
}

/** Handlers ask a few times; one that asks for ever is a defect. */
const mostAsked = 40
const maxGathered = 500

/** What a call's input says, however it is sent. */
export function inputOf({ input, arguments: given }: EdgeCalling): Answer {
  const said = given ?? input
  return typeof said === 'object' && said !== null ? { ...said } : {}
}

/** A call that asks to wait for a change waits that many milliseconds longer. */
function waitingFor(calling: EdgeCalling): number {
  const seconds = Number(inputOf(calling)['wait_seconds'])
  return seconds > 0 ? Math.min(seconds, 60) * 1_000 : 0
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
