import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpBindings } from '@hono/node-server'
import type { Context as HonoContext } from 'hono'
import type { Actor } from '../../kernel/actor.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { Caller } from './auth/request-info.ts'
import type { ServedProject } from './serving.ts'

/** The parts of the HTTP surface. Only authenticated requests reach them. */
export interface HttpParts {
  readonly mcp: McpPart
  readonly live: LivePart
  readonly assets: AssetsPart
}

/** MCP over Streamable HTTP: `/mcp` of each project. */
export interface McpPart {
  /** Answers a request after the checks of host, origin, token and size. */
  handle(request: Request, project: ServedProject, actor: Actor): Promise<Response>
  /** Calls a tool for another machine: `{ result }`, or `{ protocol_error }`. */
  callTool(context: Context, call: RemoteToolCall): Promise<object>
  /** The current tools of a project: all, or those of some toolsets, such as `plan,track`. */
  listTools(context: Context, toolsets: string): Promise<readonly object[]>
  /** Closes all connections of a caller who lost access. */
  revoke(actor: Actor): void
  /** Answers running requests, then ends every stream and session. */
  shutdown(): Promise<void>
}

export interface RemoteToolCall {
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly can_ask?: boolean | undefined
  readonly responses?: Record<string, unknown> | undefined
}

/** The scope of a reader of the live feed. */
export interface LiveReaderScope {
  readonly project: ServedProject
  /** Notifies of visible changes of people, tokens and sessions. Returns a function to stop. */
  readonly watchIdentities: ((tell: (of: readonly string[]) => void) => () => void) | null
}

/** The live feed: `/ws` of each project. */
export interface LivePart {
  /** Takes over an authenticated connection. Returns a function to close it when its reader loses access. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, reading: LiveReaderScope): () => void
  /** The number of connected readers. */
  readers(): number
  /** Notifies every reader that the server ends. */
  close(): Promise<void>
}

/** The dashboard's files. They contain no secret and need no token. */
export interface AssetsPart {
  /** Answers a GET or HEAD; a path without a file is a page of the dashboard. */
  answer(request: Request, path: string): Promise<Response>
  /** The page as text; null if the dashboard is not built. */
  readonly page: () => string | null
}

/** The variables of a request's context. */
export interface AppEnvironment {
  Bindings: HttpBindings
  Variables: {
    /** The project that the path names. */
    project: ServedProject
    /** The projects that the caller may see. */
    seen: { readonly projects: readonly ServedProject[] }
    /** The authenticated caller; null on public routes. */
    caller: Caller | null
    /** A stricter content security policy than that of the dashboard’s files. */
    policy: string | undefined
  }
}

export type RequestContext = HonoContext<AppEnvironment>
