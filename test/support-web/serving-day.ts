import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeContext } from '../../src/app/open-context.ts'
import { type OpenProject, openProjects } from '../../src/app/serve/projects.ts'
import { openServer } from '../../src/app/serve/server.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { OidcSettings } from '../../src/surfaces/http/auth/oidc.ts'
import { TokenBuckets } from '../../src/surfaces/http/auth/security.ts'
import type { DemoControl } from '../../src/surfaces/http/serving.ts'
import { machinePeople, tokenIdOf } from '../support/machine-people.ts'
import type { Answer } from '../support/project.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { type Day, openDay, plantRepository } from './day.ts'

export interface ServingDay {
  readonly day: Day
  /** Calls an operation of a project, the first unless said, as whoever can write its database. */
  readonly call: (name: string, input?: object, project?: number) => Promise<Answer>
  /** Calls an operation over HTTP with a token. */
  readonly ask: (token: string, name: string, input: object) => Promise<Answer>
  /** `http://127.0.0.1:<port>`. */
  readonly address: string
  /** A fresh address that logs a browser in as a person, on a server of a team by their token. */
  login(token?: string): string
  /** Ends the server, and answers how to begin it again where it was. */
  interrupt(): Promise<() => Promise<void>>
  readonly stop: () => Promise<void>
}

const owner: Actor = { name: 'Tess', kind: 'person', role: null, channel: 'cli' }

function operationCalled(name: string) {
  const operation = catalog.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`There is no operation ${name}.`)
  return operation
}

const plenty = { burst: 100_000, perSecond: 100_000 }
const quiet = () => undefined

export interface ServingOptions {
  readonly port?: number
  readonly folders?: readonly string[]
  readonly assets?: string
  /** The projects are in one database, which knows persons. */
  readonly team?: boolean
  /** Who vouches for its persons. */
  readonly oidc?: OidcSettings
}

/** A real server over real repositories in temporary folders, with the dashboard that was built. */
export async function openServingDay(options: ServingOptions = {}): Promise<ServingDay> {
  const { port = 0, folders = ['diffkit'], assets, team = false, oidc } = options
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-day-')))
  for (const folder of folders) {
    mkdirSync(join(home, folder))
    plantRepository(join(home, folder))
  }
  const environment = {
    ...serverEnvironment(home),
    ...(team && { WAYMARK_DATABASE: join(home, 'team.db') }),
  }
  const named = folders.map((folder) => join(home, folder))
  const [first, ...others] = openProjects({ named, environment, workingFolder: home, reachesPrivate: true })
  return serveDay([first, ...others], {
    home,
    hours: 3.25,
    port,
    assets,
    ...(oidc && { oidc }),
    remove: () => rmSync(home, { recursive: true, force: true }),
  })
}

interface Serving {
  /** Where the server keeps its own. */
  readonly home: string
  /** How long ago the day began. */
  readonly hours: number
  readonly port: number
  readonly assets: string | undefined
  readonly oidc?: OidcSettings
  readonly demo?: DemoControl
  /** Removes what the day is kept in. */
  readonly remove: () => void
}

/** A real server on projects that are open, logged in as a person. */
export async function serveDay(
  projects: readonly [OpenProject, ...OpenProject[]],
  { home, hours, port, assets, oidc, demo, remove }: Serving,
): Promise<ServingDay> {
  const [first, ...others] = projects
  const shared = first.context.team?.owner === null ? first.context.team : null
  const people = shared ? null : await machinePeople(serverEnvironment(home), () => first.context)
  const team = shared ?? people?.team
  if (!team) throw new Error('a server lets somebody in')
  const open = (at: number) =>
    openServer({
      projects: [first.served, ...others.map(({ served }) => served)],
      host: '127.0.0.1',
      port: at,
      allowedHosts: [],
      instance: 'day',
      team,
      ...(oidc && { oidc }),
      ...(demo && { demo }),
      log: {
        debug: quiet,
        info: quiet,
        warn: quiet,
        error: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
      },
      rates: { requests: new TokenBuckets(plenty), mistakes: new TokenBuckets(plenty) },
      ...(assets !== undefined && { assets }),
    })
  let server = await open(port)
  const address = `http://127.0.0.1:${server.port}`
  return {
    day: openDay(first.context, hours),
    call: (name, input = {}, project = 0) => {
      const context = projects[project]?.context
      if (!context) throw new Error(`There is no project ${project}.`)
      return invoke(operationCalled(name), { ...context, actor: owner }, input)
    },
    ask: async (token, name, input) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const body = JSON.stringify(input)
      const response = await fetch(`${address}/api/${name}`, { method: 'POST', headers, body })
      const said: Answer = await response.json()
      if (!response.ok) throw new Error(JSON.stringify(said))
      return said
    },
    address,
    login: (token = people?.own.person ?? '') =>
      `${address}/login?code=${server.security.codes.make(tokenIdOf(token), Date.now())}`,
    interrupt: async () => {
      const at = server.port
      await server.stop()
      let back: Promise<void> | undefined
      const begin = async () => {
        server = await open(at)
      }
      return () => (back ??= begin())
    },
    stop: async () => {
      await server.stop()
      for (const { context } of projects) await closeContext(context)
      await team.store.close()
      remove()
    },
  }
}
