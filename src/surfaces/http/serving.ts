import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import type { Context, Operation } from '../../kernel/operations/operation.ts'

/** A project as a server serves it. */
export interface ServedProject {
  /** Names it in addresses, `/p/<key>/…`: lower case, digits and dashes, the same after a restart. */
  readonly key: string
  /** What people call it: its folder's name. */
  readonly name: string
  /** Absolute path of its root. */
  readonly folder: string
  /** Clients of agents that left something in it, the likeliest first. */
  clients(): readonly string[]
  /** The context of calls by somebody. Every one shares the project's store and witness. */
  contextOf(actor: Actor): Context
}

/** What the HTTP server serves. */
export interface HttpServingOptions {
  /** Those that there are at this moment. The first one answers addresses that name no project. */
  readonly projects: readonly ServedProject[]
  /** What is asked about the server and its persons where there is no project to ask in; null where there always is. */
  readonly own: ServedProject | null
  /** Looks for projects that were added or renamed elsewhere. */
  refresh(): Promise<void>
  readonly catalog: readonly Operation[]
  /** Waymark's own version. */
  readonly version: string
  /** Absolute path of the script that runs, which a client is told to start. */
  readonly program: string
  /** Names this run of the server, in what it shows to holders of a token; told to no one. */
  readonly instance: string
  readonly log: Logger
  /** The recorded day that this server plays; null where it serves projects of people. */
  readonly demo: DemoControl | null
}

/** A recorded day, as its page shows and starts it. */
export interface DemoControl {
  state(): DemoState
  /** Starts a day that waits; nothing else does anything. */
  play(): void
}

export type DemoState = 'waiting' | 'playing' | 'over'

/** Structured lines for people, on standard error. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, unknown>>

/** The project that an address names. */
export function projectNamed(
  key: string,
  { projects }: { readonly projects: readonly ServedProject[] },
): ServedProject {
  const found = projects.find((project) => project.key === key)
  if (found) return found
  const keys = projects.map((project) => project.key)
  throw new Failure('NOT_FOUND', `There is no project "${key.slice(0, 100)}" here.${didYouMean(key, keys)}`, {
    reason: 'project_not_found',
    hint:
      keys.length === 0 ? 'You are not a member of any project.' : `This server serves ${keys.join(', ')}.`,
  })
}

/** The project of who may see none: what a server without projects answers, or the first one, which refuses. */
export function projectOfNobody({
  projects,
  own,
}: Pick<HttpServingOptions, 'projects' | 'own'>): ServedProject {
  const project = projects[0] ?? own
  if (!project) throw new Error('a server without a database for all projects serves one at least')
  return project
}

/** Splits a path into its project and the rest: `/p/shop/ws` is `/ws` of `shop`. */
export function projectOfPath(
  path: string,
  projects: readonly ServedProject[],
): { readonly project: ServedProject; readonly rest: string } {
  const [, key] = /^\/p\/([^/]+)/.exec(path) ?? []
  const [first] = projects
  if (key !== undefined || !first)
    return { project: projectNamed(key ?? '', { projects }), rest: pathInProject(path) }
  return { project: first, rest: path }
}

/** The rest alone, whichever project it is of. */
export function pathInProject(path: string): string {
  return /^\/p\/[^/]+(\/.*)?$/.exec(path)?.[1] ?? (/^\/p\/[^/]+$/.test(path) ? '/' : path)
}
