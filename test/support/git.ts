import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AnswerPipe } from './answer-pipe.ts'
import { removeFolder } from './removed-folder.ts'

/**
 * Runs git to its end and answers its output; fails with what it complained of. It is started from a small shell that
 * stays: to start a program, the system copies the page tables of whoever starts it, and a process of tests is large.
 */
export function git(folder: string, ...words: readonly string[]): string {
  if (process.platform === 'win32') return execFileSync('git', words, { cwd: folder, encoding: 'utf8' })
  shell ??= new Shell()
  const { code, output, complaint } = shell.run(folder, words)
  if (code === 0) return output
  throw new Error(`Command failed: git ${words.join(' ')}\n${complaint}`)
}

let shell: Shell | undefined

process.once('exit', () => shell?.end())

class Shell {
  readonly #variables = { ...process.env }
  readonly #folder = mkdtempSync(join(tmpdir(), 'waymark-git-'))
  readonly #child: ChildProcess
  readonly #commands: number
  readonly #codes: AnswerPipe
  #isOpen = true

  constructor() {
    const [commands, codes] = [join(this.#folder, 'commands'), join(this.#folder, 'codes')]
    execFileSync('mkfifo', [commands, codes])
    // Open for both, because opening one end alone waits for the other.
    this.#commands = openSync(commands, constants.O_RDWR)
    this.#codes = new AnswerPipe(codes)
    // The shell only reads: once this process is gone, however it went, there is nothing more to read.
    const given = openSync(commands, constants.O_RDONLY)
    this.#child = spawn('/bin/sh', [], { stdio: [given, this.#codes.file, 'ignore'] })
    closeSync(given)
    this.#child.unref()
  }

  run(folder: string, words: readonly string[]) {
    const [output, complaint] = [join(this.#folder, 'output'), join(this.#folder, 'complaint')]
    const program = ['git', ...words].map(quoted).join(' ')
    const steps = [`cd ${quoted(folder)}`, ...this.#changedVariables(), `exec ${program}`].join(' && ')
    const call = `(${steps}) </dev/null >${quoted(output)} 2>${quoted(complaint)}; echo $?\n`
    writeSync(this.#commands, call)
    const code = this.#codes.next()
    if (code === null) {
      this.end()
      shell = undefined
      throw new Error(`git ${words.join(' ')} did not end.`)
    }
    return {
      code: Number(code.toString('utf8')),
      output: readFileSync(output, 'utf8'),
      complaint: readFileSync(complaint, 'utf8'),
    }
  }

  /** Tests set variables for git, and the shell has those that were there when it was started. */
  #changedVariables(): readonly string[] {
    const now = { ...process.env }
    return [
      ...Object.entries(now)
        .filter(([name, value]) => value !== this.#variables[name])
        .map(([name, value]) => `export ${name}=${quoted(value ?? '')}`),
      ...Object.keys(this.#variables)
        .filter((name) => !(name in now))
        .map((name) => `unset ${name}`),
    ]
  }

  end(): void {
    this.#child.kill('SIGKILL')
    removeFolder(this.#folder)
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#commands)
    this.#codes.close()
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
