import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { readIfThere, runLocked, writePrivate } from '../../kernel/files/private-file.ts'
import { isProof, keyIdOf, type LoginProofExchange, proofOf } from '../../surfaces/http/auth/login-proof.ts'
import { newSecret } from '../../surfaces/http/auth/secret.ts'
import { processStart } from '../process.ts'

/** A running server of this user, from the file that it keeps. */
export interface RunningServer {
  readonly pid: number
  /** The start time of its process. */
  readonly started: string
  readonly port: number
  /** Its address on this machine: `127.0.0.1:4747`. */
  readonly address: string
  /** The secret of this run: the process at the address must prove that it has it. */
  readonly instance: string
  /** Folders of the projects that it serves. */
  readonly projects: readonly string[]
}

const shape = z.object({
  pid: z.int().positive(),
  started: z.string(),
  port: z.int(),
  address: z.string(),
  instance: z.string(),
  projects: z.array(z.string()),
})

const portsShape = z.record(z.string(), z.int().min(1).max(65_535))
const maxPorts = 200

/** The servers of this user, each in a file named after its port. */
export class RunningServers {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  announce(server: RunningServer): void {
    writePrivate(this.#fileOf(server.port), `${JSON.stringify(server, null, 2)}\n`)
    const [first = ''] = server.projects
    runLocked(this.#ports, () => {
      const others = Object.entries(this.#lastPorts()).filter(([project]) => project !== first)
      const ports = Object.fromEntries([...others, [first, server.port] as const].slice(-maxPorts))
      writePrivate(this.#ports, `${JSON.stringify(ports, null, 2)}\n`)
    })
  }

  /** The port on which these projects were served last. */
  lastPort([first = '']: readonly string[]): number | null {
    return this.#lastPorts()[first] ?? null
  }

  /** The server that has a port. */
  at(port: number): RunningServer | null {
    return this.#readAnnouncements().find((server) => server.port === port) ?? null
  }

  /** Removes the file, unless another server has taken the port. */
  withdraw({ port, instance }: RunningServer): void {
    if (this.#read(this.#fileOf(port))?.instance === instance) rmSync(this.#fileOf(port), { force: true })
  }

  /**
   * The running server of all these folders. Its process still runs, and proves at its port that it has the secret of its
   * file, which is not sent.
   */
  async serving(projects: readonly string[]): Promise<RunningServer | null> {
    for (const server of this.#readAnnouncements()) {
      const isMeant = projects.every((folder) => server.projects.includes(folder))
      if (isMeant && (await isGenuine(server))) return server
    }
    return null
  }

  /** Removes the files of servers that were killed. */
  #readAnnouncements(): readonly RunningServer[] {
    return filesIn(this.#folder).flatMap((name) => {
      const file = join(this.#folder, name)
      const server = this.#read(file)
      if (server && processStart(server.pid) === server.started) return [server]
      rmSync(file, { force: true })
      return []
    })
  }

  #read(file: string): RunningServer | null {
    const text = readIfThere(file)
    if (text === null) return null
    try {
      return shape.parse(JSON.parse(text))
    } catch {
      return null
    }
  }

  get #ports(): string {
    return join(this.#folder, 'ports.json')
  }

  #lastPorts(): Readonly<Record<string, number>> {
    try {
      return portsShape.parse(JSON.parse(readIfThere(this.#ports) ?? '{}'))
    } catch {
      return {} // a file that somebody wrote in
    }
  }

  #fileOf(port: number): string {
    return join(this.#folder, `server-${port}.json`)
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^server-\d+\.json$/.test(name))
  } catch {
    return [] // no server ever ran
  }
}

type ServerEndpoint = Pick<RunningServer, 'address' | 'port' | 'instance'>

// In milliseconds: a server that hangs must not delay every start.
const quick = 2_000
const requestTimeoutMs = 15_000

/** Whether the process at an address proves that it has the secret of this server. */
export async function isGenuine(server: ServerEndpoint): Promise<boolean> {
  return (await proveServer(server, quick).catch(() => null)) !== null
}

/** Requests a sign-in link from a running server of this user. */
export async function freshLogin(server: ServerEndpoint): Promise<string> {
  const meeting = await proveServer(server, requestTimeoutMs)
  const { answered } = meeting
  const answer = await post(
    server,
    'login-code',
    { answered, proof: proofOf('client', meeting, server.instance) },
    requestTimeoutMs,
  )
  const code = textIn(answer, 'code')
  if (code !== null) return `http://${server.address}/login?code=${encodeURIComponent(code)}`
  throw invalidServerAnswer(server, 'gave no sign-in address')
}

async function proveServer(server: ServerEndpoint, patience: number): Promise<LoginProofExchange> {
  const { instance } = server
  const challenge = newSecret()
  const answer = await post(server, 'login-proof', { key: keyIdOf(instance), asked: challenge }, patience)
  const [answered, proof] = [textIn(answer, 'answered'), textIn(answer, 'proof')]
  if (answered === null || proof === null)
    throw invalidServerAnswer(server, 'is not the server that was started here')
  const meeting = { port: server.port, asked: challenge, answered }
  if (isProof(proof, proofOf('server', meeting, instance))) return meeting
  throw invalidServerAnswer(
    server,
    'could not prove that it is your Waymark server, so nothing was sent to it',
  )
}

async function post(server: ServerEndpoint, path: string, body: object, patience: number): Promise<unknown> {
  try {
    const response = await fetch(`http://${server.address}/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(patience),
    })
    return await response.json()
  } catch {
    throw invalidServerAnswer(server, `did not answer as a Waymark server within ${patience / 1000} seconds`)
  }
}

function textIn(answer: unknown, name: string): string | null {
  const value =
    typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' && value.length <= 200 ? value : null
}

function invalidServerAnswer({ address }: ServerEndpoint, what: string): Failure {
  return new Failure('UNAVAILABLE', `The program at ${address} ${what}.`, {
    reason: 'server_answer_invalid',
    hint: 'Stop that program, or start the server on another port: waymark serve --port <number>',
  })
}
