import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Answer } from '../../test/support/project.ts'

/** A JSON-RPC process on stdio that is asked one thing at a time. */
export interface BenchedProcess {
  readonly ask: (method: string, params: object) => Promise<Answer>
  /** Resident memory now, in MiB; NaN where the system does not tell. */
  readonly memory: () => number
  readonly end: () => Promise<void>
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
  let answered: (message: Answer) => void = () => undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.id !== undefined) answered(message)
  })
  let id = 0
  return {
    ask: (method, params) => {
      id += 1
      const answer = new Promise<Answer>((resolve) => {
        answered = resolve
      })
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return answer
    },
    memory: () => residentMemory(child),
    end: async () => {
      const gone = new Promise((resolve) => child.on('exit', resolve))
      child.stdin.end()
      await gone
    },
  }
}

function residentMemory({ pid }: ChildProcess): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
