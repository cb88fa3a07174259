import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { closeContext } from '../../../src/app/open-context.ts'
import { openProjects } from '../../../src/app/serve/projects.ts'
import { type OpenServer, openServer, type ServerOptions } from '../../../src/app/serve/server.ts'
import type { Context } from '../../../src/kernel/operations/operation.ts'
import type { Logger } from '../../../src/surfaces/http/serving.ts'
import { commitCopied } from '../../support/copied-folder.ts'
import { git as runGit } from '../../support/git.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { type MachinePeople, machinePeople } from '../../support/machine-people.ts'
import { plantDatabase } from '../../support/planted-database.ts'
import type { Answer } from '../../support/project.ts'
import { whenFinished } from '../../support/shared.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface HttpProject {
  readonly home: string
  /** Of the first project. */
  readonly folder: string
  /** As the server itself, in the order of the folders. */
  readonly contexts: readonly [Context, ...Context[]]
  readonly server: OpenServer
  readonly port: number
  /** `http://127.0.0.1:<port>`. */
  readonly address: string
  /** Of the user of this machine, and of their agents; both are empty where people share a database. */
  readonly personToken: string
  readonly agentToken: string
  /** The user of this machine; null where people share a database. */
  readonly people: MachinePeople | null
  readonly logged: readonly LogLine[]
  readonly write: (path: string, content: string | Buffer) => void
  readonly stop: () => Promise<void>
}

export interface HttpOptions extends Partial<ServerOptions> {
  /** Names of the folders that are served. */
  readonly folders?: readonly string[]
  /** A database for all projects of the server: its persons are who is let in. */
  readonly database?: string
  /** Where it is: a server that is opened again has the same. */
  readonly home?: string
}

/** A real server on a port of the system's choice, over real repositories in temporary folders. */
export async function openHttpProject(options: HttpOptions = {}): Promise<HttpProject> {
  const { folders = ['shop'], home = temporaryFolder(), database, ...more } = options
  const named = folders.map((name) => repositoryIn(join(home, name)))
  const environment = { ...serverEnvironment(home), ...(database && { WAYMARK_DATABASE: database }) }
  if (database === undefined)
    for (const folder of named) await plantNew(join(folder, '.waymark', 'waymark.db'))
  const [first, ...others] = openProjects({
    named,
    environment,
    workingFolder: home,
  })
  const people = database === undefined ? await machinePeople(environment, () => first.context) : null
  const team = people?.team ?? first.context.team
  if (!team) throw new Error('a database that is named has people')
  const logged: LogLine[] = []
  const server = await openServer({
    projects: [first.served, ...others.map(({ served }) => served)],
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    instance: 'test-run',
    log: keptIn(logged),
    assets: join(home, 'web'),
    team,
    ...more,
  })
  let stopping: Promise<void> | null = null
  const stop = () => {
    stopping ??= (async () => {
      await server.stop()
      for (const { context } of [first, ...others]) await closeContext(context)
      await team.store.close()
    })()
    return stopping
  }
  whenFinished(stop)
  return {
    home,
    folder: first.context.folder,
    contexts: [first.context, ...others.map(({ context }) => context)],
    server,
    port: server.port,
    address: `http://127.0.0.1:${server.port}`,
    personToken: people?.own.person ?? '',
    agentToken: people?.own.agent ?? '',
    people,
    logged,
    write: (path, content) => put(join(home, path), content),
    stop,
  }
}

/** A home that is opened again keeps its record. */
async function plantNew(file: string): Promise<void> {
  if (!existsSync(file)) await plantDatabase(file)
}

/** What a response says, to be read freely. */
export async function jsonOf(response: Response | Promise<Response>): Promise<Answer> {
  return (await response).json()
}

function repositoryIn(folder: string): string {
  if (!existsSync(folder)) {
    commitCopied(folder, { 'README.md': '# Shop\n' })
    return folder
  }
  const git = (...words: readonly string[]) => runGit(folder, ...words)
  put(join(folder, 'README.md'), '# Shop\n')
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'Begin', '--allow-empty')
  return folder
}

function put(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

function keptIn(lines: LogLine[]): Logger {
  const keep =
    (level: string) =>
    (message: string, fields = {}) =>
      void lines.push({ level, message, fields })
  return { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
}
