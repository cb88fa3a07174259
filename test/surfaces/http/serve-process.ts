import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { copyFolder } from '../../support/copied-folder.ts'
import { git } from '../../support/git.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { bin, type Ran, runProgram } from '../../support/program.ts'
import { type StartedProgram, startAlone, startProgram } from '../../support/started-program.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

const agentMarks = /^(AI_AGENT|CODEX|GEMINI|QWEN|OPENCODE|AUGMENT|CLINE|COPILOT)/

export interface Serving {
  readonly child: StartedProgram
  readonly port: number
  /** What was printed until it served. */
  readonly greeting: string
  /** All that was printed, and the exit code. */
  readonly ended: Promise<Ran>
}

export interface ServeHome {
  readonly home: string
  readonly environment: Record<string, string>
  readonly repository: (name: string) => string
  /** Runs the built program to its end. */
  readonly run: (folder: string, ...words: readonly string[]) => Ran
  /** Starts `waymark serve` and waits until it serves. */
  readonly serve: (folder: string, ...words: readonly string[]) => Promise<Serving>
  /** The same in a process of its own, which ends with it. */
  readonly serveAlone: (folder: string, ...words: readonly string[]) => Promise<Serving>
  readonly token: (kind: 'person' | 'agent') => string
}

/** A home of its own with repositories, in which the built program serves. */
export function serveHome(): ServeHome {
  const home = temporaryFolder()
  const inherited = Object.entries(serverEnvironment(home)).filter(([name]) => !agentMarks.test(name))
  const environment = { ...Object.fromEntries(inherited), HOME: home }
  return {
    home,
    environment,
    repository: (name) => {
      const folder = join(home, name)
      copyFolder('served', folder, (template) => {
        mkdirSync(template)
        git(template, 'init', '-q')
      })
      return folder
    },
    run: (folder, ...words) => runProgram(words, { folder, environment }),
    serve: (folder, ...words) => started(startProgram(['serve', ...words], { folder, environment })),
    serveAlone: (folder, ...words) => started(startAlone([bin, 'serve', ...words], { folder, environment })),
    token: (kind) => readFileSync(join(home, 'state', 'waymark', 'server', `${kind}.token`), 'utf8').trim(),
  }
}

/** Waits until it serves. */
export async function started(child: StartedProgram): Promise<Serving> {
  let out = ''
  let error = ''
  child.stderr.on('data', (data: Buffer) => {
    error += data.toString()
  })
  const ended = Promise.all([child.gone, once(child.stdout, 'end'), once(child.stderr, 'end')]).then(
    ([code]) => ({ code, out, error }),
  )
  // Its folder is removed next: it writes nothing there any more.
  onTestFinished(async () => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill(), 500)
    await child.gone
    clearTimeout(late)
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString()
      const found = /at http:\/\/[^:]+:(\d+)\n.*MCP:/s.exec(out)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    void ended.then(() => reject(new Error(`it ended: ${error}`)))
  })
  return { child, port, greeting: out, ended }
}
