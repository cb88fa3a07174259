import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readIfThere, writePrivate } from '../../surfaces/http/guard/private-file.ts'

/** A server of this user, as it says of itself in a file while it runs. */
export interface RunningServer {
  readonly pid: number
  readonly port: number
  /** Where it is asked from this machine: `127.0.0.1:4747`. */
  readonly address: string
  /** Its run: whoever answers at the address must say the same. */
  readonly instance: string
  /** Folders of the projects that it serves. */
  readonly projects: readonly string[]
}

const shape = z.object({
  pid: z.int(),
  port: z.int(),
  address: z.string(),
  instance: z.string(),
  projects: z.array(z.string()),
})
const patience = 2_000

/** The servers of this user, each in a file that is named after its port. */
export class RunningServers {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  announce(server: RunningServer): void {
    writePrivate(this.#fileOf(server.port), `${JSON.stringify(server, null, 2)}\n`)
  }

  /** Takes back what was announced, unless another server took the port since. */
  withdraw({ port, instance }: RunningServer): void {
    if (this.#read(this.#fileOf(port))?.instance === instance) rmSync(this.#fileOf(port), { force: true })
  }

  /** The server that runs and serves all of these folders. What files say of servers that are gone is ignored. */
  async serving(projects: readonly string[]): Promise<RunningServer | null> {
    for (const server of this.#announced()) {
      const isMeant = projects.every((folder) => server.projects.includes(folder))
      if (isMeant && (await answers(server))) return server
    }
    return null
  }

  #announced(): readonly RunningServer[] {
    return filesIn(this.#folder).flatMap((name) => this.#read(join(this.#folder, name)) ?? [])
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

async function answers({ address, instance }: RunningServer): Promise<boolean> {
  try {
    const response = await fetch(`http://${address}/healthz`, { signal: AbortSignal.timeout(patience) })
    const said: unknown = await response.json()
    return typeof said === 'object' && said !== null && 'instance' in said && said.instance === instance
  } catch {
    return false
  }
}
