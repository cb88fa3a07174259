import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import type { Context, Operation } from '../../kernel/operations/operation.ts'

/** A served project. */
export interface ServedProject {
  /** Its key in URLs, `/p/<key>/…`: lower case, digits and dashes, stable across restarts. */
  readonly key: string
  /** Its display name: the folder's name. */
  readonly name: string
  /** Absolute path of its root; empty without a folder on this machine. */
  readonly folder: string
  /** The clients with files in it, the likeliest first. */
  clients(): readonly string[]
  /** What of Waymark is set up on this machine, for its user. */
  setup(): Promise<MachineSetup>
  /** The context of an actor's calls. All contexts share the project's store and witness. */
  contextOf(actor: Actor): Context
}

export interface MachineSetup {
  /** The clients that have Waymark in this project. */
  readonly set_up: readonly string[]
  /** `waymark` on the PATH is this copy. */
  readonly on_path: boolean
}

/** The content of the HTTP server. */
export interface HttpServingOptions {
  /** The current projects. The first one answers URLs without a project. */
  readonly projects: readonly ServedProject[]
  /** The reserved project for calls about the server and its people; null if a project is always there. */
  readonly own: ServedProject | null
  /** Finds projects that were added or renamed elsewhere. */
  refresh(): Promise<void>
  readonly catalog: readonly Operation[]
  /** Waymark's own version. */
  readonly version: string
  /** Absolute path of the running script, for the configuration of clients. */
  readonly program: string
  /** The secret of this run of the server, for proofs; never sent. */
  readonly instance: string
  readonly log: Logger
  /** The recorded day that this server plays; null for real projects. */
  readonly demo: DemoControl | null
}

/** A recorded day, for its page. */
export interface DemoControl {
  state(): DemoState
  /** Starts a waiting day; otherwise does nothing. */
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

/** The project that a URL names. */
export function findServedProject(
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

/** The project for a caller without any: the reserved one, or the first one, which refuses. */
export function fallbackProject({
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
    return { project: findServedProject(key ?? '', { projects }), rest: pathInProject(path) }
  return { project: first, rest: path }
}

/** Only the rest. */
export function pathInProject(path: string): string {
  return /^\/p\/[^/]+(\/.*)?$/.exec(path)?.[1] ?? (/^\/p\/[^/]+$/.test(path) ? '/' : path)
}
