import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { GitCall, GitResult } from './process.ts'

/**
 * Starts git from a small shell that stays. To start a program, the system copies the page tables of its parent: from a
 * large server this blocks longer than git itself takes. Null if the shell cannot be used.
 */
export function launch(args: readonly string[], call: GitCall): LaunchedProcess | null {
  if (process.platform === 'win32' || call.limit !== undefined || call.maxOutput !== undefined) return null
  // Not for calls that write to a user's repository: a call whose shell was ended runs again.
  if (call.environment['GIT_DIR'] === undefined && !call.onlyReads) return null
  for (const [at, launcher] of launchers.entries()) {
    const current = launcher === null || launcher.isGone ? new Launcher(call.environment) : launcher
    launchers[at] = current
    const launched = current.launch(args, call)
    if (launched !== null) return launched
  }
  return null
}

export interface LaunchedProcess {
  /** Null if the shell was ended before git: then the result is unknown. */
  readonly result: Promise<GitResult | null>
  /** Ends it and everything it started. */
  readonly end: () => void
}

// Each has lanes for a few calls. Two measurements at once need more than one.
const launchers: (Launcher | null)[] = [null, null]

/** Two streams of the shell that one call at a time writes to. */
interface Lane {
  readonly output: Duplex
  readonly stderr: Duplex
  busy: boolean
}

// Shells support only streams up to 9.
const lanes = 3

class Launcher {
  isGone = false
  readonly #shell: ChildProcess
  readonly #environment: GitCall['environment']
  readonly #lanes: readonly Lane[]
  readonly #pending = new Set<() => void>()

  constructor(environment: GitCall['environment']) {
    this.#environment = environment
    const streams = Array.from({ length: lanes * 2 }, () => 'pipe' as const)
    this.#shell = spawn('/bin/sh', [], {
      cwd: '/',
      env: environment,
      stdio: ['pipe', 'ignore', 'ignore', ...streams],
      // A separate process group, so that its children end with it.
      detached: true,
    })
    const { stdio } = this.#shell
    this.#lanes = Array.from({ length: lanes }, (_, at) => ({
      output: stdio[3 + 2 * at] as Duplex, // as requested in `stdio`
      stderr: stdio[4 + 2 * at] as Duplex,
      busy: false,
    }))
    const handleExit = () => this.#handleExit()
    for (const stream of [this.#shell.stdin, ...this.#lanes.flatMap((lane) => [lane.output, lane.stderr])]) {
      stream?.on('error', handleExit)
      holdStream(stream, false)
    }
    this.#shell.on('error', handleExit)
    this.#shell.on('exit', handleExit)
    this.#shell.unref()
  }

  launch(args: readonly string[], call: GitCall): LaunchedProcess | null {
    const at = this.#lanes.findIndex(({ busy }) => !busy)
    const lane = this.#lanes[at]
    const exports = exportStatements(this.#environment, call.environment)
    if (lane === undefined || exports === null || this.isGone) return null
    const token = randomUUID()
    const input = call.input === undefined ? noInput : keepInput(call.input, token)
    if (input === null) return null
    lane.busy = true
    const program = ['git', ...args].map(quoteForShell).join(' ')
    const [output, stderr] = [3 + 2 * at, 4 + 2 * at]
    const others = `${closeStreamsText(output, stderr)}`
    // Each stream ends with a random token and the exit code.
    this.#shell.stdin?.write(
      `{ (${exports}cd ${quoteForShell(call.folder)} || exit 126; exec ${program} ${others}) <${quoteForShell(input)} >&${output} 2>&${stderr}; ` +
        `code=$?; printf '\\0${token} %d\\n' $code >&${output}; printf '\\0${token} 0\\n' >&${stderr}; } &\nlane${at}=$!\n`,
    )
    const result = this.#answer(lane, token, at).finally(() => {
      if (input !== noInput) rmSync(input, { force: true })
    })
    return { result, end: () => this.end() }
  }

  async #answer(lane: Lane, token: string, at: number): Promise<GitResult | null> {
    const over = Promise.withResolvers<null>()
    const stop = () => over.resolve(null)
    this.#pending.add(stop)
    const texts = Promise.all([readUntil(lane.output, token), readUntil(lane.stderr, token)])
    const streams = await Promise.race([texts, over.promise])
    this.#pending.delete(stop)
    if (streams === null) return null
    // The process in the lane has ended. Without `wait` it stays defunct.
    this.#shell.stdin?.write(`wait $lane${at}\n`)
    lane.busy = false
    const [output, stderr] = streams
    return { code: output.code, output: output.content, stderr: stderr.content.toString('utf8') }
  }

  end(): void {
    const { pid } = this.#shell
    try {
      if (pid !== undefined && !this.isGone) process.kill(-pid, 'SIGKILL')
    } catch {
      // The shell has already ended.
    }
    this.#handleExit()
  }

  #handleExit(): void {
    this.isGone = true
    for (const stop of this.#pending) stop()
    for (const { output, stderr } of this.#lanes) {
      output.destroy()
      stderr.destroy()
    }
  }
}

process.on('exit', () => {
  for (const launcher of launchers) launcher?.end()
})

const noInput = '/dev/null'
// A list of paths or of objects is far shorter. Longer input is written to git as it reads.
const maxInputLength = 1 << 20

/** Writes the input of a call to a file that only its owner may read. Null if that fails. */
function keepInput(input: Buffer, token: string): string | null {
  if (input.length > maxInputLength) return null
  const file = join(tmpdir(), `waymark-git-${token}`)
  try {
    writeFileSync(file, input, { flag: 'wx', mode: 0o600 })
    return file
  } catch {
    return null
  }
}

interface LauncherResult {
  readonly content: Buffer
  readonly code: number
}

function readUntil(stream: Duplex, token: string): Promise<LauncherResult> {
  return new Promise((resolve) => {
    const last = new RegExp(`\\0${token} (\\d+)\\n$`)
    const longest = token.length + 8
    const chunks: Buffer[] = []
    let tail = Buffer.alloc(0)
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      tail = Buffer.concat([tail, chunk.subarray(-longest)]).subarray(-longest)
      const trailer = last.exec(tail.toString('latin1'))
      if (trailer === null) return
      stream.off('data', take)
      holdStream(stream, false)
      const all = chunks.length === 1 ? chunk : Buffer.concat(chunks)
      resolve({ content: all.subarray(0, all.length - trailer[0].length), code: Number(trailer[1]) })
    }
    holdStream(stream, true)
    stream.on('data', take)
  })
}

/** Whether a stream keeps this process from ending. Streams of processes are sockets, which Node does not say. */
function holdStream(stream: unknown, holds: boolean): void {
  const socket = stream as { ref?: () => void; unref?: () => void } | null
  if (holds) socket?.ref?.()
  else socket?.unref?.()
}

// git does not get the streams of other calls.
function closeStreamsText(...own: readonly number[]): string {
  const all = Array.from({ length: lanes * 2 }, (_, at) => 3 + at)
  return all
    .filter((stream) => !own.includes(stream))
    .map((stream) => `${stream}>&-`)
    .join(' ')
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Shell statements for the differences from the shell's own environment. Null if a name is not valid in a shell. */
function exportStatements(own: GitCall['environment'], wanted: GitCall['environment']): string | null {
  const names = new Set([...Object.keys(own), ...Object.keys(wanted)])
  const differing = [...names].filter((name) => own[name] !== wanted[name])
  if (!differing.every((name) => /^[A-Z_a-z][A-Z_a-z0-9]*$/.test(name))) return null
  return differing
    .map((name) => {
      const value = wanted[name]
      return value === undefined ? `unset ${name}; ` : `export ${name}=${quoteForShell(value)}; `
    })
    .join('')
}
