import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { commitCopied } from '../../support/copied-folder.ts'
import { runProgram } from '../../support/program.ts'
import type { Answer } from '../../support/project.ts'
import { removeFolder } from '../../support/removed-folder.ts'
import { dismiss, type StartedProgram, startAlone, startProgram } from '../../support/started-program.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

/** A server process that is spoken to line by line. */
export interface ServerProcess {
  /** Everything it wrote to standard output, a parsed message for each line. */
  readonly messages: readonly Answer[]
  /** Everything it wrote to standard error. */
  readonly errors: () => string
  readonly write: (bytes: string | Buffer) => void
  readonly send: (message: object) => void
  /** Sends a request and waits for its answer. */
  readonly ask: (method: string, params?: object) => Promise<Answer>
  /** Waits for a message that fits. */
  readonly message: (fits: (message: Answer) => boolean) => Promise<Answer>
  /** Closes its standard input, and waits until the process is gone. Answers its exit code. */
  readonly end: () => Promise<number | null>
  readonly process: StartedProgram
}

export interface Starting {
  readonly folder?: string
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Another program than the built one. */
  readonly entry?: string
}

/** A repository with one commit, in a temporary folder. */
export function temporaryRepository(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-mcp-')))
  onTestFinished(() => removeFolder(home))
  const folder = join(home, 'tree')
  commitCopied(folder, { 'README.md': '# Project\n' })
  return folder
}

export function startServer(starting: Starting = {}): ServerProcess {
  const folder = starting.folder ?? temporaryRepository()
  const words = ['mcp', ...(starting.flags ?? [])]
  const running = {
    folder,
    environment: { ...serverEnvironment(join(folder, '..')), ...starting.environment },
  }
  const program = starting.entry
    ? startAlone([starting.entry, ...words], running)
    : startProgram(words, running)
  onTestFinished(() => dismiss(program))
  const messages: Answer[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  let errors = ''
  program.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  program.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) messages.push(JSON.parse(line))
    for (const look of waiting) look()
  })

  const message: ServerProcess['message'] = (fits) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = messages.find(fits)
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      void program.gone.then((code) => reject(new Error(`the server ended with ${code}: ${errors}`)))
    })
  let lastId = 0
  const write: ServerProcess['write'] = (bytes) => program.write(bytes)
  const send: ServerProcess['send'] = (sent) => write(`${JSON.stringify(sent)}\n`)
  return {
    process: program,
    messages,
    errors: () => errors,
    write,
    send,
    message,
    ask: (method, params) => {
      lastId += 1
      const id = `ask-${lastId}`
      send({ jsonrpc: '2.0', id, method, ...(params && { params }) })
      return message((candidate) => candidate.id === id)
    },
    end: () => {
      program.end()
      return program.gone
    },
  }
}

/** Runs the command line as a person in a project, and answers its JSON. */
export function runWaymark(folder: string, ...words: readonly string[]): Answer {
  const environment = serverEnvironment(join(folder, '..'))
  const { code, out, error } = runProgram([...words, '--format', 'json'], { folder, environment })
  if (code !== 0) throw new Error(`waymark ${words.join(' ')} ended with ${code}: ${error}`)
  return JSON.parse(out)
}
