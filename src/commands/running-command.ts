import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import type { CommandEnd, CommandLine } from '../ports/command-runner.ts'
import { OutputTail } from './output-tail.ts'
import { signalGroup, startGroup } from './process-group.ts'

const mostOutput = 20_000
// Beyond this a timer fires at once.
const longestTimer = 2 ** 31 - 1
/** Milliseconds between asking to end and ending. */
const grace = 2_000
/** Milliseconds that output may still come after the end, from children that outlive it. */
const drain = 300

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface Interruption {
  readonly status: 'timed_out' | 'stopped'
  readonly sentence: string
}

/** One command while it runs. */
export class RunningCommand {
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>
  readonly #child: ChildProcess
  readonly #output = new OutputTail(mostOutput)
  #interruption: Interruption | null = null

  constructor(command: CommandLine, environment: NodeJS.ProcessEnv) {
    this.#child = startGroup(command, environment)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) this.#output.follow(stream)
    }
    this.ended = this.#run(command)
  }

  async stop(): Promise<void> {
    this.#interrupt({ status: 'stopped', sentence: 'The command was stopped before it ended.' })
    await this.ended
  }

  async #run(command: CommandLine): Promise<CommandEnd> {
    const closed = once(this.#child, 'close').catch(() => undefined)
    const timeout = setTimeout(
      () => {
        const sentence = `The command was ended: it ran for more than ${command.timeout / 1000} s.`
        this.#interrupt({ status: 'timed_out', sentence })
      },
      Math.min(command.timeout, longestTimer),
    )
    const exit = await this.#exit()
    clearTimeout(timeout)
    if (exit instanceof Error) return { status: 'failed', exitCode: null, output: unstarted(command, exit) }
    await this.#drain(closed)
    return this.#end(exit)
  }

  #exit(): Promise<Exit | Error> {
    return new Promise((resolve) => {
      this.#child.once('error', resolve)
      this.#child.once('exit', (code, signal) => resolve({ code, signal }))
    })
  }

  // A child in the background may hold the output open for ever.
  async #drain(closed: Promise<unknown>): Promise<void> {
    // The shell ends at once when it is told to; what it started may still be tidying up.
    const patience = this.#interruption === null ? drain : grace
    await Promise.race([closed, wait(patience, undefined, { ref: false })])
    signalGroup(this.#child, 'SIGKILL')
    await Promise.race([closed, wait(drain, undefined, { ref: false })])
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  #interrupt(interruption: Interruption): void {
    const { exitCode, signalCode } = this.#child
    if (this.#interruption !== null || exitCode !== null || signalCode !== null) return
    this.#interruption = interruption
    signalGroup(this.#child, 'SIGTERM')
    const kill = setTimeout(() => signalGroup(this.#child, 'SIGKILL'), grace)
    void this.ended.then(() => clearTimeout(kill))
  }

  #end(exit: Exit): CommandEnd {
    const { code, signal } = told(exit)
    if (this.#interruption !== null) {
      const { status, sentence } = this.#interruption
      return { status, exitCode: null, output: this.#output.text(sentence) }
    }
    if (signal !== null) {
      const output = this.#output.text(`The command was ended by the signal ${signal}.`)
      return { status: 'failed', exitCode: null, output }
    }
    return { status: code === 0 ? 'passed' : 'failed', exitCode: code, output: this.#output.text() }
  }
}

/** The outer shell tells the signal that ended the command as 128 and its number. */
function told({ code, signal }: Exit): Exit {
  if (code === null || code <= 128) return { code, signal }
  const names = Object.entries(constants.signals) as [NodeJS.Signals, number][] // as Node types its names
  const name = names.find(([, number]) => number === code - 128)?.[0]
  return name === undefined ? { code, signal } : { code: null, signal: name }
}

function unstarted({ folder }: CommandLine, error: Error): string {
  const reason = existsSync(folder) ? error.message : 'there is no such folder'
  return `The command could not be started in ${folder}: ${reason}.`
}
