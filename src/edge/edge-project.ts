import { randomUUID } from 'node:crypto'
import { Failure } from '../domain/failure.ts'
import type { SnapshotPlace } from '../domain/track/task.ts'
import { contractVersion } from '../operations/edge/contract.ts'
import { idInCall } from '../operations/edge/edge-context.ts'
import { EdgeAnswer, type EdgeRequest } from '../operations/edge/edge-request.ts'
import type { GatheredCall, PortRequest } from '../operations/edge/port-calls.ts'
import type { Answer, Context, Edge } from '../operations/operation.ts'
import { longestKeptDiff } from '../operations/task/complete-task.ts'
import { AwayCommands } from './away-commands.ts'
import type { Queue } from './edge-database.ts'
import type { OwnMachine } from './origins.ts'
import { type PortRunning, runCalls } from './port-runner.ts'
import type { ServerClient } from './server-client.ts'
import type { TrustedCommands } from './trusted-commands.ts'

/** A call as its caller makes it; the rest of the request is the edge's own. */
export type EdgeCalling = Omit<
  EdgeRequest,
  'contract' | 'version' | 'edge' | 'call' | 'folder' | 'age' | 'gathered' | 'queue'
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
  /** What waits here for the server, of which it is told with every call. */
  readonly queue: () => Queue
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

/** What came of a call, with what was looked at for it. */
export interface Performed {
  readonly answer: Exclude<EdgeAnswer, { gather: unknown }>
  readonly gathered: readonly GatheredCall[]
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

  /** Looks at what the server will ask for, before it does: most calls are then answered at once. */
  async prepare(calling: EdgeCalling, attempts?: KnownAttempts): Promise<Prepared> {
    const call = randomUUID()
    const began = performance.now()
    const running = this.#running(calling)
    const gathered = await this.#anticipated(calling, { call, attempts, running })
    return { call, gathered, age: () => Math.round(performance.now() - began) }
  }

  /** Asks the server, and looks here at what it asks for, until it answers. */
  async send(calling: EdgeCalling, prepared: Prepared): Promise<Performed> {
    const running = this.#running(calling)
    let gathered = prepared.gathered
    // The first request may lack everything; each later one brings what was asked for.
    for (let round = 0; round < mostAsked; round += 1) {
      const answer = await this.#post(this.#request(calling, { ...prepared, gathered }))
      if (!('gather' in answer)) return { answer, gathered }
      gathered = [...gathered, ...(await runCalls(answer.gather, running))]
      if (gathered.length > maxGathered) break
    }
    throw new Failure('UNAVAILABLE', 'The server asked this machine for too much in one call.')
  }

  #request(calling: EdgeCalling, { call, age, gathered }: Prepared): EdgeRequest {
    const { edge, context, version, queue } = this.parts
    return {
      ...calling,
      contract: contractVersion,
      version,
      edge: { key: edge.key, name: edge.name },
      queue: { ...queue() },
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
      runCommand: (command) =>
        // The command line ends with its answer, and its commands with it: there they are waited for.
        this.#commands.run(command, { isWaitedFor: calling.channel === 'cli' }),
    }
  }

  async #post(request: EdgeRequest): Promise<EdgeAnswer> {
    const read = EdgeAnswer.safeParse(await this.parts.client.post('/api/edge/call', request))
    if (read.success) return read.data
    throw new Failure('UNAVAILABLE', `${this.parts.client.server.origin} does not answer as Waymark does.`)
  }

  async #tell(operation: string, input: object): Promise<void> {
    const calling = { operation, input, channel: 'stdio', as: 'agent' } as const
    await this.send(calling, await this.prepare(calling))
  }

  async #anticipated(
    calling: EdgeCalling,
    around: {
      readonly call: string
      readonly attempts: KnownAttempts | undefined
      readonly running: PortRunning
    },
  ): Promise<readonly GatheredCall[]> {
    const name = calling.operation ?? calling.tool
    const input = inputOf(calling)
    if (name === 'start_task') return this.#atStart(input, around)
    if (name === 'complete_task') return this.#atCompletion(input, around)
    return []
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

  async #atCompletion(
    input: Answer,
    {
      call,
      attempts,
      running,
    }: {
      readonly call: string
      readonly attempts: KnownAttempts | undefined
      readonly running: PortRunning
    },
  ): Promise<readonly GatheredCall[]> {
    const task = input['task_id']
    const begun = typeof task === 'string' ? (attempts?.placeOf(task) ?? null) : null
    if (begun === null || input['correction'] !== undefined) return []
    const { top, prefix, engine } = begun
    const request = { folder: `${top}/${prefix}`, name: this.#snapshotName(call), engine, top }
    const taken = await runCalls([{ call: 'witness.snapshot', args: [request] }], running)
    const place = this.#placeIn(taken[0])
    if (place === null) return taken
    const measured = [
      { call: 'witness.changes', args: [begun, place] },
      { call: 'witness.wholeDiff', args: [begun, place, longestKeptDiff] },
    ]
    return [...taken, ...(await runCalls(measured, running))]
  }

  #snapshotName(call: string): string {
    return idInCall(this.parts.context.fingerprint, call, { kind: 'attempt', number: 0 })
  }

  /** Where a snapshot lies, as the server names it. */
  #placeIn(taken: GatheredCall | undefined): SnapshotPlace | null {
    return snapshotIn(taken, this.parts.edge)
  }
}

/** Handlers ask a few times; one that asks for ever is a defect. */
const mostAsked = 40
const maxGathered = 500

/** The attempts that began on this machine. */
export interface KnownAttempts {
  /** Where the open attempt at a task, or an attempt, began; null where that is not known. */
  placeOf(task: string): SnapshotPlace | null
}

/** What a call's input says, however it is sent. */
export function inputOf({ input, arguments: given }: EdgeCalling): Answer {
  const said = given ?? input
  return typeof said === 'object' && said !== null ? { ...said } : {}
}

/** The place of a snapshot that was taken for a call. */
export function snapshotIn(taken: GatheredCall | PortRequest | undefined, edge: Edge): SnapshotPlace | null {
  if (taken === undefined || !('answer' in taken) || taken.call !== 'witness.snapshot') return null
  const { ref } = taken.answer as { readonly ref: SnapshotPlace } // as the witness made it
  return { ...ref, edge: edge.id, machine: edge.name }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
