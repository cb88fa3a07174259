import { setTimeout as sleep } from 'node:timers/promises'
import { reportCommand } from '../../gate/operations/run/commands.ts'
import type { CommandReport, RequestedCommand } from '../../gate/ports/command-runner.ts'
import { Failure } from '../../kernel/failure.ts'
import { setNewest } from '../../kernel/limited-map.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { TrustedCommands } from './trusted-commands.ts'

export interface RemoteCommandsOptions {
  readonly context: Context
  readonly commands: TrustedCommands
  /** How long a call waits for a command, in milliseconds. */
  readonly patience: number
  /** Tells the server of a command that goes on. */
  readonly tell: (operation: string, input: object) => Promise<void>
  /** How many ids of commands that started are kept. */
  readonly maxStarted?: number
  /** How many reports are kept for calls that are sent again. */
  readonly maxReports?: number
}

/** Leases end after a minute. */
const renewedEvery = 20_000
const usualMaxReports = 100
const usualMaxStarted = 1_000
const tellAgainAfter = [1_000, 5_000, 15_000, 60_000]

/** Commands of guards that run on this machine for a server: each keeps its lease there until it has ended. */
export class RemoteCommands {
  readonly #running: RemoteCommandsOptions
  readonly #reports = new Map<string, Promise<CommandReport>>()
  /** No command starts twice. */
  readonly #started = new Set<string>()
  /** The latest id that is kept no more. Ids are in the order of time: none up to this one starts. */
  #forgotten = ''
  readonly #told = new Set<string>()
  readonly #open = new Set<Promise<void>>()
  #isStopping = false

  constructor(running: RemoteCommandsOptions) {
    this.#running = running
  }

  /** Null where it goes on when the patience is over: its end is told then. A call that is sent again waits for the same. */
  async run(
    command: RequestedCommand,
    { isWaitedFor }: { readonly isWaitedFor: boolean },
  ): Promise<CommandReport | null> {
    const { id } = command
    const running = this.#reports.get(id) ?? this.#start(command)
    setNewest(this.#reports, this.#running.maxReports ?? usualMaxReports, id, running)
    if (isWaitedFor) return running
    const inTime = await Promise.race([running, sleep(this.#running.patience, null, { ref: false })])
    if (inTime === null) this.#tellWhenOver(id, running)
    return inTime
  }

  async #start(command: RequestedCommand): Promise<CommandReport> {
    const { context, commands } = this.#running
    const { id, run, folder, pinned } = command
    try {
      return await reportCommand(context, { run, folder, pinned }, async () => {
        if (this.#started.has(id) || id <= this.#forgotten) throw ranBeforeFailure(run)
        const { ended } = await commands.start(command)
        this.#keepStarted(id)
        const lease = setInterval(() => void this.#renew(id), renewedEvery)
        lease.unref()
        return ended.finally(() => clearInterval(lease))
      })
    } catch (error) {
      // What was not started may be named again, say when a person approved it.
      if (!this.#started.has(id)) this.#reports.delete(id)
      throw error
    }
  }

  #keepStarted(id: string): void {
    this.#started.add(id)
    const [oldest = ''] = this.#started
    if (this.#started.size <= (this.#running.maxStarted ?? usualMaxStarted)) return
    this.#started.delete(oldest)
    if (oldest > this.#forgotten) this.#forgotten = oldest
  }

  #tellWhenOver(id: string, running: Promise<CommandReport>): void {
    if (this.#told.has(id)) return
    this.#told.add(id)
    const told = running.then(async ({ exitCode, ...report }) => {
      await this.#tellEnd({ id, exit_code: exitCode, ...report })
    })
    const kept = told
      .catch(() => undefined) // what was not started has no end, and its lease ends
      .finally(() => {
        this.#open.delete(kept)
        this.#told.delete(id)
      })
    this.#open.add(kept)
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

function ranBeforeFailure(run: string): Failure {
  return new Failure(
    'CONFLICT',
    `"${run}" may have run on this machine for this call, so it is not run again. Its result is no longer kept.`,
    { reason: 'command_ran_before', hint: 'Call again in a minute to start the command again.' },
  )
}
