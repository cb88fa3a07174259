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
  /** Reports a running command to the server. */
  readonly report: (operation: string, input: object) => Promise<void>
  /** The maximum of kept ids of started commands. */
  readonly maxStarted?: number
  /** The maximum of reports kept for retries. */
  readonly maxReports?: number
}

/** Leases end after a minute. */
const renewEveryMs = 20_000
const usualMaxReports = 100
const usualMaxStarted = 1_000
const reportRetryDelays = [1_000, 5_000, 15_000, 60_000]

/** Commands of guards that run on this machine for a server. Each holds a lease there until it ends. */
export class RemoteCommands {
  readonly #options: RemoteCommandsOptions
  readonly #reports = new Map<string, Promise<CommandReport>>()
  /** No command starts twice. */
  readonly #started = new Set<string>()
  /** The latest id that is no longer kept. Ids are ordered by time: none up to this one starts. */
  #lastDroppedId = ''
  readonly #reporting = new Set<string>()
  readonly #open = new Set<Promise<void>>()
  #isStopping = false

  constructor(options: RemoteCommandsOptions) {
    this.#options = options
  }

  /** Null for a command that still runs after `patience`: its end is reported later. A retry waits for the same command. */
  async run(
    command: RequestedCommand,
    { isWaitedFor }: { readonly isWaitedFor: boolean },
  ): Promise<CommandReport | null> {
    const { id } = command
    const pendingReport = this.#reports.get(id) ?? this.#start(command)
    setNewest(this.#reports, this.#options.maxReports ?? usualMaxReports, id, pendingReport)
    if (isWaitedFor) return pendingReport
    const inTime = await Promise.race([pendingReport, sleep(this.#options.patience, null, { ref: false })])
    if (inTime === null) this.#reportWhenOver(id, pendingReport)
    return inTime
  }

  async #start(command: RequestedCommand): Promise<CommandReport> {
    const { context, commands } = this.#options
    const { id, run, folder, pinned } = command
    try {
      return await reportCommand(context, { run, folder, pinned }, async () => {
        if (this.#started.has(id) || id <= this.#lastDroppedId) throw ranBeforeFailure(run)
        const { ended } = await commands.start(command)
        this.#keepStarted(id)
        const lease = setInterval(() => void this.#renew(id), renewEveryMs)
        lease.unref()
        return ended.finally(() => clearInterval(lease))
      })
    } catch (error) {
      // A command that did not start may be requested again, for example after an approval.
      if (!this.#started.has(id)) this.#reports.delete(id)
      throw error
    }
  }

  #keepStarted(id: string): void {
    this.#started.add(id)
    const [oldest = ''] = this.#started
    if (this.#started.size <= (this.#options.maxStarted ?? usualMaxStarted)) return
    this.#started.delete(oldest)
    if (oldest > this.#lastDroppedId) this.#lastDroppedId = oldest
  }

  #reportWhenOver(id: string, pendingReport: Promise<CommandReport>): void {
    if (this.#reporting.has(id)) return
    this.#reporting.add(id)
    const reported = pendingReport.then(async ({ exitCode, ...report }) => {
      await this.#reportEnd({ id, exit_code: exitCode, ...report })
    })
    const pending = reported
      .catch(() => undefined) // a command that did not start has no end, and its lease expires
      .finally(() => {
        this.#open.delete(pending)
        this.#reporting.delete(id)
      })
    this.#open.add(pending)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#options.context.commandRunner.stop()
    await Promise.all(this.#open)
  }

  async #renew(id: string): Promise<void> {
    // If the server is unreachable the lease expires, and the command may start again.
    await this.#options.report('command_renew', { id }).catch(() => undefined)
  }

  async #reportEnd(end: object): Promise<void> {
    for (const pause of [...reportRetryDelays, null]) {
      try {
        return await this.#options.report('command_end', end)
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
