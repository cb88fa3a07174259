import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

export interface Spawned {
  /** The first line that it prints. */
  readonly firstLine: Promise<string>
  readonly ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
}

export type ScriptName = 'writer' | 'locker' | 'opener' | 'once' | 'emitter'

/** Runs a script of this folder in a process of its own. */
export function spawned(script: ScriptName, args: readonly string[]): Spawned {
  const file = fileURLToPath(new URL(`./${script}.ts`, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const { promise: firstLine, resolve } = Promise.withResolvers<string>()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes('\n')) resolve(output.slice(0, output.indexOf('\n')))
    })
  }
  const ended = once(child, 'close').then(() => {
    resolve(output)
    return { code: child.exitCode, signal: child.signalCode, output }
  })
  return { firstLine, ended, kill: (signal) => child.kill(signal) }
}
