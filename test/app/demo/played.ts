import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../../support/git-repository.ts'
import type { Running } from '../../support/program.ts'
import type { Answer } from '../../support/project.ts'
import { type StartedProgram, startAlone, startProgram } from '../../support/started-program.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

export interface Program {
  /** Waits until something was printed. */
  readonly printed: (text: RegExp) => Promise<RegExpExecArray>
  /** Calls an operation of the server that it said it serves. */
  readonly ask: (operation: string, input?: object) => Promise<Answer>
  /** Presses Enter in its terminal. */
  readonly enter: () => void
  /** Ends it as Ctrl-C does. */
  readonly interrupt: () => Promise<Ended>
  readonly ended: Promise<Ended>
  /** What lies in its folder for temporary files. */
  readonly leftovers: () => readonly string[]
}

/** Runs `waymark` with a home, a state folder and a folder for temporary files of its own. */
export function runDemo(...words: readonly string[]): Program {
  return spokenTo((running) => startProgram(words, running))
}

/** The same with a file of this checkout, in a process of its own. */
export function runFile(file: string, ...words: readonly string[]): Program {
  return spokenTo((running) => startAlone([join(root, file), ...words], running))
}

function spokenTo(start: (running: Running) => StartedProgram): Program {
  const home = temporaryFolder()
  const temporary = temporaryFolder()
  const database = join(home, 'record.db')
  const child = start({
    folder: root,
    environment: {
      ...serverEnvironment(home),
      HOME: home,
      TMPDIR: temporary,
      WAYMARK_DATABASE: database,
    },
  })
  let out = ''
  let error = ''
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString()
  })
  child.stderr.on('data', (data: Buffer) => {
    error += data.toString()
  })
  const closing = [once(child.stdout, 'end'), once(child.stderr, 'end')]
  const ended = Promise.all([child.gone, ...closing]).then(([code]): Ended => ({ code, out, error }))
  // Its folders are removed next: it writes nothing there any more.
  onTestFinished(async () => {
    child.kill()
    await child.gone
  })
  const printed = async (text: RegExp) => {
    for (;;) {
      const found = text.exec(out)
      if (found) return found
      const more = await Promise.race([once(child.stdout, 'data'), ended])
      if (!Array.isArray(more) && !text.test(out)) throw new Error(`It ended: ${out}${error}`)
    }
  }
  return {
    printed,
    ended,
    ask: async (operation, input = {}) => {
      const [, address = '', file = ''] = await printed(/ at (http:\S+)\n.*token in ([^\n]+)\n/s)
      const response = await fetch(`${address}/api/${operation}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${readFileSync(file, 'utf8').trim()}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(input),
      })
      return response.json()
    },
    enter: () => child.write('\n'),
    interrupt: () => {
      child.kill('SIGINT')
      return ended
    },
    leftovers: () => readdirSync(temporary).filter((name) => name.startsWith('waymark-')),
  }
}
