import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { GitCall, GitResult } from './process.ts'

/** The exit code if the output is longer than the call allows. */
export const tooLong = -1

/**
 * Starts git from a small shell that stays. To start a program, the system copies the page tables of its parent: from a
 * large server this blocks longer than git itself takes. Null if the shell cannot be used.
 */
export function launch(args: readonly string[], call: GitCall): LaunchedProcess | null {
  if (process.platform === 'win32' || call.limit !== undefined) return null
  // Not for calls that write to a user's repository: a call whose shell was ended runs again.
  if (call.environment['GIT_DIR'] === undefined && !call.onlyReads) return null
  const there = shells.filter(({ isGone }) => !isGone)
  const idle = there.find(({ isBusy }) => !isBusy)
  if (idle === undefined && there.length === maxShells) return null
  const shell = idle ?? new GitShell(call.environment)
  shells = idle === undefined ? [...there, shell] : there
  return shell.launch(args, call)
}

export interface LaunchedProcess {
  /** Null if the shell was ended before git: then the result is unknown. */
  readonly result: Promise<GitResult | null>
  /** Ends it and everything it started. */
  readonly end: () => void
}

// Two measurements at once start a few processes each.
const maxShells = 6
let shells: readonly GitShell[] = []

/** Runs one process after another, so that each costs one fork. */
class GitShell {
  isGone = false
  isBusy = false
  readonly #shell: ChildProcess
  readonly #environment: GitCall['environment']
  readonly #output: Duplex
  readonly #stderr: Duplex
  #stop = () => {}

  constructor(environment: GitCall['environment']) {
    this.#environment = environment
    this.#shell = spawn('/bin/sh', [], {
      cwd: '/',
      env: environment,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe', 'pipe'],
      // A separate process group, so that its children end with it.
      detached: true,
    })
    const { stdin, stdio } = this.#shell
    // As requested in `stdio`.
    this.#output = stdio[3] as Duplex
    this.#stderr = stdio[4] as Duplex
    const handleExit = () => this.#handleExit()
    for (const stream of [stdin, this.#output, this.#stderr]) {
      stream?.on('error', handleExit)
      holdStream(stream, false)
    }
    this.#shell.on('error', handleExit)
    this.#shell.on('exit', handleExit)
    this.#shell.unref()
  }

  launch(args: readonly string[], call: GitCall): LaunchedProcess | null {
    const exports = exportStatements(this.#environment, call.environment)
    if (exports === null) return null
    const token = randomUUID()
    const input = call.input === undefined ? noInput : keepInput(call.input, token)
    if (input === null) return null
    this.isBusy = true
    const program = ['git', ...args].map(quoteForShell).join(' ')
    // Each stream ends with a random token and the exit code. git does not get the streams themselves.
    this.#shell.stdin?.write(
      `(${exports}cd ${quoteForShell(call.folder)} || exit 126; exec ${program} 3>&- 4>&-) <${quoteForShell(input)} >&3 2>&4; ` +
        `printf '\\0${token} %d\\n' $? >&3; printf '\\0${token} 0\\n' >&4\n`,
    )
    const result = this.#answer(token, call.maxOutput).finally(() => {
      if (input !== noInput) rmSync(input, { force: true })
    })
    return { result, end: () => this.end() }
  }

  async #answer(token: string, maxOutput?: number): Promise<GitResult | null> {
    const over = Promise.withResolvers<null>()
    this.#stop = () => over.resolve(null)
    const output = readUntil(this.#output, token, maxOutput)
    const errors = readUntil(this.#stderr, token)
    const first = await Promise.race([output, over.promise])
    // It would go on writing.
    if (first?.code === tooLong) this.end()
    const stderr = await Promise.race([errors, over.promise])
    if (first === null) return null
    if (stderr === null) return first.code === tooLong ? { ...first, stderr: '' } : null
    this.isBusy = false
    return { ...first, stderr: stderr.output.toString('utf8') }
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
    this.#stop()
    this.#output.destroy()
    this.#stderr.destroy()
  }
}

// An idle shell ends by itself when its input closes with this process.
process.on('exit', () => {
  for (const shell of shells) if (shell.isBusy) shell.end()
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

interface StreamEnd extends Pick<GitResult, 'code' | 'output'> {}

/** Reads a stream to its token. The code is `tooLong` if it is not there after so many bytes. */
function readUntil(stream: Duplex, token: string, maxBytes = Number.POSITIVE_INFINITY): Promise<StreamEnd> {
  return new Promise((resolve) => {
    const last = new RegExp(`\\0${token} (\\d+)\\n$`)
    const longest = token.length + 8
    const chunks: Buffer[] = []
    let length = 0
    let tail = Buffer.alloc(0)
    const end = (code: number, own: number) => {
      stream.off('data', take)
      holdStream(stream, false)
      const [only] = chunks
      const all = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
      resolve({ output: all.subarray(0, own), code })
    }
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      tail = Buffer.concat([tail, chunk.subarray(-longest)]).subarray(-longest)
      const trailer = last.exec(tail.toString('latin1'))
      const own = length - (trailer?.[0].length ?? longest)
      if (own > maxBytes) end(tooLong, maxBytes)
      else if (trailer !== null) end(Number(trailer[1]), own)
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
