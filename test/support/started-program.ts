import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { bin, needsOwnProcess, type Ran, type Running } from './program.ts'
import { roomForYoung } from './room-for-young.ts'

/** A program that is spoken to while it runs. Emits `exit` with its code, which is null where it was killed. */
export interface StartedProgram extends EventEmitter<{ exit: [number | null] }> {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly write: (bytes: string | Buffer) => void
  /** Closes its standard input. */
  readonly end: () => void
  readonly kill: (signal?: NodeJS.Signals) => void
  readonly pid: number | undefined
  readonly gone: Promise<number | null>
}

/** Starts `waymark` with these words in a process of which it is the only program meanwhile. */
export function startProgram(words: readonly string[], running: Running): StartedProgram {
  return process.platform === 'win32' || needsOwnProcess(running.environment)
    ? startAlone([bin, ...words], running)
    : new HostedProgram(words, running)
}

/** Starts Node with these words, in a process that has done nothing before. */
export function startAlone(words: readonly string[], { folder, environment }: Running): StartedProgram {
  return new LoneProgram(spawn(process.execPath, words, { cwd: folder, env: { ...environment } }))
}

/** Runs `waymark` with these words to its end, beside this process, which may be what it asks. */
export async function runBeside(words: readonly string[], running: Running): Promise<Ran> {
  // A hook reads file descriptor 0, of which a host has one for all its runs.
  const program =
    running.input === undefined ? startProgram(words, running) : startAlone([bin, ...words], running)
  const said = Promise.all([text(program.stdout), text(program.stderr)])
  if (running.input !== undefined) program.write(running.input)
  program.end()
  const code = await program.gone
  const [out, error] = await said
  return { code, out, error }
}

/** Ends a program as its client's end does, and makes sure that it is gone. */
export async function dismiss(program: StartedProgram): Promise<void> {
  program.end()
  const late = setTimeout(() => program.kill(), 3_000)
  await program.gone
  clearTimeout(late)
}

class LoneProgram extends EventEmitter<{ exit: [number | null] }> implements StartedProgram {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly gone: Promise<number | null>
  readonly #child: ReturnType<typeof spawn>

  constructor(child: ReturnType<typeof spawn> & { readonly stdout: Readable; readonly stderr: Readable }) {
    super()
    this.#child = child
    this.stdout = child.stdout
    this.stderr = child.stderr
    child.stdin?.on('error', () => undefined) // a program that has gone is seen by its exit
    this.gone = new Promise((resolve) => child.once('exit', resolve))
    child.once('exit', (code) => this.emit('exit', code))
  }

  write(bytes: string | Buffer): void {
    this.#child.stdin?.write(bytes)
  }

  end(): void {
    this.#child.stdin?.end()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal)
  }
}

/** Processes that have loaded the program, and those of them that run none now. */
const hosts = new Set<ChildProcess>()
const idle: ChildProcess[] = []
const maxIdle = 8

process.once('exit', () => {
  for (const host of hosts) host.kill('SIGKILL')
})

interface Said {
  readonly out?: Uint8Array
  readonly error?: Uint8Array
  readonly code?: number
  /** Something of the run is left in the process, which runs no other program. */
  readonly isSpent?: boolean
}

class HostedProgram extends EventEmitter<{ exit: [number | null] }> implements StartedProgram {
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  readonly gone: Promise<number | null>
  readonly #host = idle.pop() ?? startHost()
  #isGone = false

  constructor(words: readonly string[], { folder, environment }: Running) {
    super()
    this.gone = new Promise((resolve) => {
      const leave = (code: number | null, isSpent = true) => {
        this.#host.off('message', hear)
        this.#host.off('exit', died)
        this.#isGone = true
        if (!isSpent && idle.length < maxIdle) idle.push(this.#host)
        else this.#host.kill('SIGKILL')
        this.stdout.end()
        this.stderr.end()
        resolve(code)
        this.emit('exit', code)
      }
      const died = () => leave(null)
      const hear = ({ out, error, code, isSpent }: Said) => {
        if (out) this.stdout.write(out)
        if (error) this.stderr.write(error)
        if (code !== undefined) leave(code, isSpent)
      }
      this.#host.on('message', hear)
      this.#host.once('exit', died)
    })
    this.#tell({ words, folder, environment })
  }

  write(bytes: string | Buffer): void {
    this.#tell({ input: Buffer.from(bytes) })
  }

  end(): void {
    this.#tell({ end: true })
  }

  get pid(): number | undefined {
    return this.#host.pid
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    // Its process may run another one by now.
    if (!this.#isGone) this.#host.kill(signal)
  }

  #tell(message: object): void {
    if (this.#host.connected) this.#host.send(message)
  }
}

function startHost(): ChildProcess {
  const host = spawn(
    process.execPath,
    [...roomForYoung, join(import.meta.dirname, 'program-host.mjs'), bin],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    },
  )
  host.on('error', () => undefined) // one that was killed is seen by its exit
  host.unref()
  host.channel?.unref()
  hosts.add(host)
  host.once('exit', () => {
    hosts.delete(host)
    // What an ended run left behind may have ended it since: who was given it would wait for an answer forever.
    const at = idle.indexOf(host)
    if (at !== -1) idle.splice(at, 1)
  })
  return host
}

/** MCP over the standard input and output of a program. */
export class ProgramTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #words: readonly string[]
  readonly #running: Running
  #program: StartedProgram | null = null

  constructor(words: readonly string[], running: Running) {
    this.#words = words
    this.#running = running
  }

  async start(): Promise<void> {
    const program = startProgram(this.#words, this.#running)
    this.#program = program
    // A pipe would add four listeners to our own stderr for each program that runs.
    program.stderr.on('data', (data: Buffer) => void process.stderr.write(data))
    createInterface({ input: program.stdout }).on('line', (line) => this.onmessage?.(JSON.parse(line)))
    program.once('exit', () => this.onclose?.())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#program?.write(`${JSON.stringify(message)}\n`)
  }

  /** Ends the program at once, as `kill -9` does. */
  kill(): void {
    this.#program?.kill()
  }

  async close(): Promise<void> {
    if (this.#program) await dismiss(this.#program)
  }
}
