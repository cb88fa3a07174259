import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Answer } from '../../test/support/project.ts'

/** A JSON-RPC process on stdio that is asked one thing at a time. */
export interface BenchedProcess {
  readonly ask: (method: string, params: object) => Promise<Answer>
  readonly notify: (method: string) => void
  /** Of the process and those that it started. */
  readonly usage: () => Usage
  readonly end: () => Promise<void>
}

export interface Usage {
  /** Resident memory now, in MiB; NaN where the system does not tell. */
  readonly memory: number
  /** Processor time so far, in milliseconds, to the next ten. */
  readonly processor: number
}

export const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
}

export function startProcess(
  words: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): BenchedProcess {
  const child = spawn(process.execPath, words, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => undefined)
  child.on('exit', (code, signal) => {
    ended.reject(new Error(`${words.join(' ')} ended with ${code ?? signal}.`))
  })
  let id = 0
  let answered: (message: Answer) => void = () => undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return // Task Master logs there, too; clients ignore it
    const message = JSON.parse(line)
    // A server may send requests and notifications of its own.
    if (message.method === undefined && message.id === id) answered(message)
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  return {
    ask: (method, params) => {
      id += 1
      const answer = new Promise<Answer>((resolve) => {
        answered = resolve
      })
      send({ id, method, params })
      return Promise.race([answer, ended.promise])
    },
    notify: (method) => send({ method }),
    usage: () => usageOf(child.pid ?? Number.NaN),
    end: async () => {
      child.stdin.end()
      await ended.promise.catch(() => undefined)
    },
  }
}

function usageOf(pid: number): Usage {
  try {
    const folder = `/proc/${pid}`
    const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1]) / 1024
    // After the name: user and system time of the process and of its ended children, in hundredths of a second.
    const stat = readFileSync(`${folder}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const ticks = stat.slice(11, 15).reduce((sum, one) => sum + Number(one), 0)
    const started = readdirSync(`${folder}/task`)
      .flatMap((thread) => readFileSync(`${folder}/task/${thread}/children`, 'utf8').match(/\d+/g) ?? [])
      .map((child) => usageOf(Number(child)))
      .filter((one) => !Number.isNaN(one.memory)) // it has ended
    return {
      memory: started.reduce((sum, one) => sum + one.memory, memory),
      processor: started.reduce((sum, one) => sum + one.processor, ticks * 10),
    }
  } catch {
    return { memory: Number.NaN, processor: Number.NaN }
  }
}
