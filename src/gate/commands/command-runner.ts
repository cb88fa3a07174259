import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '../../kernel/failure.ts'
import { processEnd } from '../../kernel/process-end.ts'
import { redactOutput } from '../../kernel/redaction.ts'
import type { CommandEnd, CommandLine, CommandRunner } from '../ports/command-runner.ts'
import { gateMark, gateVariable, isRunnerAlive, runnerName } from './os-processes.ts'

// A command's process group gets no signal of this process, so all running commands are stopped with it.
const runningHere = new Set<RunningCommand>()
processEnd.addEventListener('abort', () => {
  for (const command of runningHere) void command.stop()
})
process.on('exit', () => {
  for (const command of runningHere) command.kill()
})

// Milliseconds between asking to end and ending.
const usualGrace = 2_000
const graceAtEnd = 400

/** Runs commands on this machine. */
export function commandRunner(
  environment: NodeJS.ProcessEnv = process.env,
  graceMs = usualGrace,
): CommandRunner {
  const running = new Set<RunningCommand>()
  return {
    name: runnerName(),
    start: async (line): Promise<CommandEnd> => {
      processEnd.throwIfAborted()
      let command: RunningCommand
      try {
        command = new RunningCommand(line, commandEnvironment(environment), graceMs)
      } catch (error) {
        // Node refuses a NUL byte before it starts anything.
        const reason = messageOf(error)
        return { status: 'failed', exitCode: null, output: `The command could not be started: ${reason}` }
      }
      running.add(command)
      runningHere.add(command)
      const end = await command.ended
      running.delete(command)
      runningHere.delete(command)
      return end
    },
    isAlive: isRunnerAlive,
    stop: async () => {
      await Promise.all([...running].map((command) => command.stop()))
    },
  }
}

/** The end of a text that arrives in pieces of bytes. */
class OutputTail {
  readonly #most: number
  #text = ''

  constructor(most: number) {
    this.#most = most
  }

  /** Decodes the output. Each stream has its own decoder, since a character may arrive in two pieces. */
  follow(stream: NodeJS.ReadableStream): void {
    const decoder = new StringDecoder('utf8')
    stream.on('data', (piece: Buffer) => this.#append(decoder.write(piece)))
    // Keep the output so far; the command's end reports the rest.
    stream.on('error', () => undefined)
    stream.on('end', () => this.#append(decoder.end()))
  }

  /** The output so far without recognizable secrets, with a last line of ours. */
  text(lastLine?: string): string {
    const text = redactOutput(this.#text)
    if (lastLine === undefined) return lastOutput(text, this.#most)
    const room = this.#most - lastLine.length - 1
    const before = lastOutput(text, room)
    return before === '' || before.endsWith('\n') ? before + lastLine : `${before}\n${lastLine}`
  }

  #append(text: string): void {
    this.#text += text
    // Keep more than is shown: a secret that is cut here could not be recognized.
    if (this.#text.length > 4 * this.#most) this.#text = lastOutput(this.#text, 2 * this.#most)
  }
}

function lastOutput(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.length - most
  // Not between the two halves of a character.
  return text.slice(/[\uDC00-\uDFFF]/.test(text[cut] ?? '') ? cut + 1 : cut)
}

const windows = process.platform === 'win32'

// The outer shell stays until the command has ended, and by its name what runs below it is known; it says nothing of its
// own. One pipe for both outputs of the command keeps their order.
const wrapper = 'trap : TERM INT HUP; (exec /bin/sh -c "$1" 2>&1); exit $?'

/** Starts a command in the system's shell, in its own process group, so that its children end with it. */
function startGroup({ run, folder }: CommandLine, environment: NodeJS.ProcessEnv): ChildProcess {
  const options = { cwd: folder, env: environment, windowsHide: true }
  if (windows) return spawn(run, { ...options, stdio: ['ignore', 'pipe', 'pipe'], shell: true })
  return spawn('/bin/sh', ['-c', wrapper, gateMark, run], {
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
}

/** Signals a command and its children. Those that are gone already are no matter. */
function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  if (windows) {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {}
}

const maxOutput = 20_000
// Beyond this a timer fires at once.
const maxTimerMs = 2 ** 31 - 1
/** How long output may still arrive after the end, from children that outlive the command. */
const drainMs = 300

interface CommandExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface Interruption {
  readonly status: 'timed_out' | 'stopped'
  readonly sentence: string
}

/** One command while it runs. */
class RunningCommand {
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>
  readonly #child: ChildProcess
  readonly #output = new OutputTail(maxOutput)
  readonly #graceMs: number
  #interruption: Interruption | null = null

  constructor(command: CommandLine, environment: NodeJS.ProcessEnv, graceMs: number) {
    this.#graceMs = graceMs
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

  kill(): void {
    signalGroup(this.#child, 'SIGKILL')
  }

  async #run(command: CommandLine): Promise<CommandEnd> {
    const closed = once(this.#child, 'close').catch(() => undefined)
    const timeout = setTimeout(
      () => {
        const sentence = `The command timed out after ${command.timeout / 1000} s.`
        this.#interrupt({ status: 'timed_out', sentence })
      },
      Math.min(command.timeout, maxTimerMs),
    )
    const exit = await this.#exit()
    clearTimeout(timeout)
    if (exit instanceof Error)
      return { status: 'failed', exitCode: null, output: startFailureMessage(command, exit) }
    await this.#drain(closed)
    return this.#end(exit)
  }

  #exit(): Promise<CommandExit | Error> {
    return new Promise((resolve) => {
      this.#child.once('error', resolve)
      this.#child.once('exit', (code, signal) => resolve({ code, signal }))
    })
  }

  // A background child may keep the output open forever.
  async #drain(closed: Promise<unknown>): Promise<void> {
    // The shell ends at once when it is signaled; its children may still be cleaning up.
    const patience = this.#interruption === null ? drainMs : this.#grace()
    await Promise.race([closed, wait(patience, undefined, { ref: false })])
    signalGroup(this.#child, 'SIGKILL')
    await Promise.race([closed, wait(drainMs, undefined, { ref: false })])
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  #interrupt(interruption: Interruption): void {
    const { exitCode, signalCode } = this.#child
    if (this.#interruption !== null || exitCode !== null || signalCode !== null) return
    this.#interruption = interruption
    signalGroup(this.#child, 'SIGTERM')
    const kill = setTimeout(() => signalGroup(this.#child, 'SIGKILL'), this.#grace())
    void this.ended.then(() => clearTimeout(kill))
  }

  #grace(): number {
    return processEnd.aborted ? graceAtEnd : this.#graceMs
  }

  #end(exit: CommandExit): CommandEnd {
    const { code, signal } = signalOfExit(exit)
    if (this.#interruption !== null) {
      const { status, sentence } = this.#interruption
      return { status, exitCode: null, output: this.#output.text(sentence) }
    }
    if (signal !== null) {
      const output = this.#output.text(`The command was ended by signal ${signal}.`)
      return { status: 'failed', exitCode: null, output }
    }
    return { status: code === 0 ? 'passed' : 'failed', exitCode: code, output: this.#output.text() }
  }
}

/** The outer shell reports the signal that ended the command as 128 plus its number. */
function signalOfExit({ code, signal }: CommandExit): CommandExit {
  if (code === null || code <= 128) return { code, signal }
  const names = Object.entries(constants.signals) as [NodeJS.Signals, number][] // as Node types its names
  const name = names.find(([, number]) => number === code - 128)?.[0]
  return name === undefined ? { code, signal } : { code: null, signal: name }
}

function startFailureMessage({ folder }: CommandLine, error: Error): string {
  const reason = existsSync(folder) ? error.message : 'there is no such folder'
  return `The command could not be started in ${folder}: ${reason}.`
}

// A hook sets these, and git would work on another repository than the command's.
const gitPlaces = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
]

// The command's author may be the agent under review, so it must not act in the caller's role.
const roles = ['WAYMARK_ROLE', 'STATE_GATE_ROLE', 'WAYMARK_ACTOR']

/** The environment of a command: this process' variables, marked as not interactive. */
function commandEnvironment(inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const dropped = new Set([...gitPlaces, ...roles, 'FORCE_COLOR'])
  const entries = Object.entries(inherited).filter(([name]) => !dropped.has(name))
  return { ...Object.fromEntries(entries), CI: 'true', NO_COLOR: '1', [gateVariable]: '1' }
}
