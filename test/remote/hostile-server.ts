import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { plainSpelling } from '../../src/kernel/shell-word.ts'
import type { Answer } from '../support/project.ts'
import { type AgentMachine, agentMachine, ranAt } from './machines.ts'

interface AskedMeasurement {
  readonly name: string
  readonly brief: unknown
}

interface Measurement {
  readonly name: string
  readonly measured?: Answer
  readonly failure?: { readonly code: string; readonly reason?: string }
}

export interface HostileServer {
  readonly address: string
  /** What a machine is asked to measure during its next call, one round after the other. */
  readonly askToMeasure: (operation: string, ...rounds: readonly (readonly AskedMeasurement[])[]) => void
  /** What it sent of that. */
  readonly measured: () => readonly Measurement[]
  /** The requests of machines as they arrived. */
  readonly requests: () => readonly Answer[]
}

/** A server that a machine is connected to, and that asks of it whatever it likes. */
export async function hostileServer(): Promise<HostileServer> {
  let measured: readonly Measurement[] = []
  let toMeasure: readonly object[] = []
  const requests: Answer[] = []
  const answer = async (request: IncomingMessage): Promise<object> => {
    if (!request.url?.endsWith('/api/machines/call')) {
      const project = { key: 'shop', name: 'shop' }
      return {
        project: 'shop',
        projects: [project],
        actor: { name: 'eve', kind: 'person' },
        version: '0.0.0',
        permissions: null,
      }
    }
    const body = await buffer(request)
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    const call = JSON.parse(text.toString())
    requests.push(call)
    if (call.operation === 'machine_brief') return { answer: {} }
    measured = call.measured
    const [measure, ...after] = toMeasure
    toMeasure = after
    if (measure) return { measure, now: Date.now() }
    return { answer: { healthy: true } }
  }
  const server = createServer((request, response) => {
    void answer(request).then((body) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    address: `http://127.0.0.1:${port}`,
    askToMeasure: (operation, ...wanted) => {
      toMeasure = wanted.map((asked) => ({
        operation,
        asked: asked.map((one) => ({ ...one, hash: 'a'.repeat(64) })),
      }))
      measured = []
    },
    measured: () => measured,
    requests: () => requests,
  }
}

/** A machine of somebody who trusts the server with their record, and with nothing else. */
export async function machineOf({ address }: HostileServer): Promise<AgentMachine> {
  const machine = agentMachine()
  await ranAt(machine, ['connect', `${address}/p/shop`], { WAYMARK_TOKEN: 'wm_token' })
  return machine
}

/** A command as a server may know it, with the hash that it has on a machine. */
export function commandAt(folder: string, run: string, pinned: Readonly<Record<string, string>> = {}) {
  const files = Object.entries(pinned).map(([path, content]) => [
    path,
    createHash('sha256').update(content).digest('hex'),
  ])
  const hash = createHash('sha256')
    .update(JSON.stringify([plainSpelling(run), folder, files]))
    .digest('hex')
  const command = { run, folder, pinned: Object.keys(pinned), hash }
  return {
    approve: { name: 'kept', brief: { ...command, files: [], author: 'eve', refused: null } },
    start: {
      name: 'ran',
      brief: [{ ...command, id: `cmd-${hash.slice(0, 12)}`, timeout: 10_000, approvedThere: true }],
    },
    revoke: { hash, run, folder, author: 'eve', wasApproved: true },
  }
}
