import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs git to its end and answers its output; fails with what it complained of. It is started from a small shell that
 * stays: to start a program, the system copies the page tables of whoever starts it, and a process of tests is large.
 */
export function git(folder: string, ...words: readonly string[]): string {
  if (process.platform === 'win32') return execFileSync('git', words, { cwd: folder, encoding: 'utf8' })
  if (shell?.environment !== environmentNow()) {
    shell?.end()
    shell = new Shell()
  }
  const { code, output, complaint } = shell.run(folder, words)
  if (code === 0) return output
  throw new Error(`Command failed: git ${words.join(' ')}\n${complaint}`)
}

let shell: Shell | undefined

const limit = 50_000

class Shell {
  readonly environment = environmentNow()
  readonly #folder = mkdtempSync(join(tmpdir(), 'waymark-git-'))
  readonly #child: ChildProcess
  readonly #commands: number
  readonly #codes: number
  #isOpen = true

  constructor() {
    const [commands, codes] = [join(this.#folder, 'commands'), join(this.#folder, 'codes')]
    execFileSync('mkfifo', [commands, codes])
    // Open for both, because opening one end alone waits for the other.
    this.#commands = openSync(commands, constants.O_RDWR)
    this.#codes = openSync(codes, constants.O_RDWR | constants.O_NONBLOCK)
    this.#child = spawn('/bin/sh', [], { stdio: [this.#commands, this.#codes, 'ignore'] })
    this.#child.unref()
    process.once('exit', () => this.end())
  }

  run(folder: string, words: readonly string[]) {
    const [output, complaint] = [join(this.#folder, 'output'), join(this.#folder, 'complaint')]
    const program = ['git', ...words].map(quoted).join(' ')
    const call = `(cd ${quoted(folder)} && exec ${program}) </dev/null >${quoted(output)} 2>${quoted(complaint)}; echo $?\n`
    writeSync(this.#commands, call)
    const code = this.#code()
    if (code === null) {
      this.end()
      shell = undefined
      throw new Error(`git ${words.join(' ')} did not end.`)
    }
    return { code, output: readFileSync(output, 'utf8'), complaint: readFileSync(complaint, 'utf8') }
  }

  #code(): number | null {
    const answer = Buffer.alloc(16)
    const until = performance.now() + limit
    while (performance.now() < until) {
      const length = this.#read(answer)
      if (length > 0) return Number(answer.toString('utf8', 0, length))
      Atomics.wait(clock, 0, 0, 0.3)
    }
    return null
  }

  #read(answer: Buffer): number {
    try {
      return readSync(this.#codes, answer)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0
      throw error
    }
  }

  end(): void {
    this.#child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const stream of [this.#commands, this.#codes]) closeSync(stream)
  }
}

const clock = new Int32Array(new SharedArrayBuffer(4))

function environmentNow(): string {
  return JSON.stringify(process.env)
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
