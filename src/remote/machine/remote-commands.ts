import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandEnd } from '../../gate/ports/command-runner.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { StartArgs } from './port-runner.ts'
import type { TrustedCommands } from './trusted-commands.ts'

export interface RemoteCommandsOptions {
  readonly context: Context
  readonly commands: TrustedCommands
  /** How long a call waits for a command, in milliseconds. */
  readonly patience: number
  /** Tells the server of a command that goes on. */
  readonly tell: (operation: string, input: object) => Promise<void>
}

/** Leases end after a minute. */
const renewedEvery = 20_000
const tellAgainAfter = [1_000, 5_000, 15_000, 60_000]

/** Commands of guards that run on this machine for a server: each keeps its lease there until it has ended. */
export class RemoteCommands {
  readonly #running: RemoteCommandsOptions
  readonly #open = new Set<Promise<void>>()
  #isStopping = false

  constructor(running: RemoteCommandsOptions) {
    this.#running = running
  }

  /** Null where it goes on when the patience is over: its end is told then. */
  async run(
    command: StartArgs,
    { isWaitedFor }: { readonly isWaitedFor: boolean },
  ): Promise<CommandEnd | null> {
    const { context, commands, patience } = this.#running
    const { id, folder } = command
    const before = await context.witness.content(folder).catch(() => null)
    const { ended: end } = await commands.start(command)
    const lease = setInterval(() => void this.#renew(id), renewedEvery)
    lease.unref()
    const over = end.finally(() => clearInterval(lease))
    if (isWaitedFor) return over
    const inTime = await Promise.race([over, sleep(patience, null, { ref: false })])
    if (inTime !== null) return inTime
    const told = over.then(async ({ status, exitCode, output }) => {
      const after = await context.witness.content(folder).catch(() => null)
      await this.#tellEnd({
        id,
        status,
        exit_code: exitCode,
        output,
        tree: after?.hash ?? null,
        touched: before && after ? stampsChangedBetween(before.stamps, after.stamps) : null,
      })
    })
    const kept = told.finally(() => this.#open.delete(kept))
    this.#open.add(kept)
    return null
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running.context.commandRunner.stop()
    await Promise.all(this.#open)
  }

  async #renew(id: string): Promise<void> {
    // A server that is away lets the lease end: the command may then be started again.
    await this.#running.tell('command_renew', { id }).catch(() => undefined)
  }

  async #tellEnd(end: object): Promise<void> {
    for (const pause of [...tellAgainAfter, null]) {
      try {
        return await this.#running.tell('command_end', end)
      } catch {
        if (pause === null || this.#isStopping) return
        await sleep(pause, undefined, { ref: false })
      }
    }
  }
}

type FileStamps = readonly (readonly [path: string, stamp: string])[]

/** The first of the files that were written meanwhile. */
function stampsChangedBetween(before: FileStamps, after: FileStamps): readonly string[] {
  const [was, is] = [new Map(before), new Map(after)]
  const gone = [...was.keys()].filter((path) => !is.has(path))
  const written = [...is.keys()].filter((path) => is.get(path) !== was.get(path))
  return [...gone, ...written].sort().slice(0, 20)
}
