import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AnswerPipe } from './answer-pipe.ts'
import { removeFolder } from './removed-folder.ts'
import { roomForYoung } from './room-for-young.ts'

/** The program as it is installed. */
export const bin = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

export type Variables = Readonly<Record<string, string>>

export interface Running {
  readonly folder: string
  readonly environment: Variables
  /** What is on standard input. */
  readonly input?: string
}

/**
 * Runs `waymark` with these words to its end. Starting Node and loading the program takes a third of a second of a
 * core, so one process that has done so runs one after the other.
 */
export function runProgram(words: readonly string[], running: Running): Ran {
  if (process.platform === 'win32' || needsOwnProcess(running.environment)) {
    return runAlone([bin, ...words], running)
  }
  host ??= new Host()
  return host.run(words, running)
}

/** Runs Node with these words to its end, in a process of its own. */
export function runAlone(
  words: readonly string[],
  { folder, environment, input, node = process.execPath }: Running & { readonly node?: string },
): Ran {
  const { status, stdout, stderr } = spawnSync(node, words, {
    cwd: folder,
    env: { ...environment },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    ...(input !== undefined && { input }),
  })
  return { code: status, out: stdout, error: stderr }
}

/** Variables that are read when Node starts, or once in a process. */
export function needsOwnProcess(environment: Variables): boolean {
  return Object.keys(environment).some((name) => name === 'NODE_OPTIONS')
}

let host: Host | undefined

/** The process that runs them: asked over one pipe, and read from another without going on. */
class Host {
  readonly #folder = mkdtempSync(join(tmpdir(), 'waymark-host-'))
  readonly #child: ChildProcess
  readonly #runs: number
  readonly #answers: AnswerPipe

  constructor() {
    const channel = join(this.#folder, 'pipe')
    execFileSync('mkfifo', [`${channel}.runs`, `${channel}.answers`])
    this.#answers = new AnswerPipe(`${channel}.answers`)
    // Open for both, because whoever only writes waits for a reader.
    this.#runs = openSync(`${channel}.runs`, constants.O_RDWR)
    this.#child = spawn(
      process.execPath,
      [...roomForYoung, join(import.meta.dirname, 'program-host.mjs'), bin, channel],
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    )
    this.#child.unref()
    this.#child.channel?.unref()
    process.once('exit', this.#end)
  }

  run(words: readonly string[], { folder, environment, input = '' }: Running): Ran {
    writeAll(this.#runs, Buffer.from(`${JSON.stringify({ words, folder, environment, input })}\n`))
    const answer = this.#line()
    if (answer === null) {
      this.#end()
      host = undefined
      throw new Error(`waymark ${words.join(' ')} did not end.`)
    }
    return JSON.parse(answer)
  }

  #line(): string | null {
    const chunks: Buffer[] = []
    for (let chunk = this.#answers.next(); chunk; chunk = this.#answers.next()) {
      chunks.push(chunk)
      // Of the last byte: a line feed inside of a text is written as two characters.
      if (chunk.at(-1) === 10) return Buffer.concat(chunks).toString('utf8')
    }
    return null
  }

  readonly #end = (): void => {
    process.off('exit', this.#end)
    this.#child.kill('SIGKILL')
    closeSync(this.#runs)
    this.#answers.close()
    removeFolder(this.#folder)
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
