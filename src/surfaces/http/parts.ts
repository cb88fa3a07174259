import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpBindings } from '@hono/node-server'
import type { Context as HonoContext } from 'hono'
import type { Actor } from '../../kernel/actor.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { Caller } from './auth/request-info.ts'
import type { ServedProject } from './serving.ts'

/** What is plugged into the HTTP surface. Each part is reached only by requests that were let in. */
export interface HttpParts {
  readonly mcp: McpPart
  readonly live: LivePart
  readonly assets: AssetsPart
}

/** MCP over Streamable HTTP: `/mcp` of each project. */
export interface McpPart {
  /** Answers a request whose host, origin, token and size were checked. */
  handle(request: Request, project: ServedProject, actor: Actor): Promise<Response>
  /** Calls a tool for somebody who works on another machine: `{ result }`, or `{ protocol_error }`. */
  callTool(context: Context, call: RemoteToolCall): Promise<object>
  /** What is listed of a project now: all tools, or those of some sets, `plan,track`. */
  listTools(context: Context, toolsets: string): Promise<readonly object[]>
  /** Ends at once what is open for somebody who is let in no more. */
  revoke(actor: Actor): void
  /** Answers what is asked, then ends every stream and session. */
  shutdown(): Promise<void>
}

export interface RemoteToolCall {
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly can_ask?: boolean | undefined
  readonly responses?: Record<string, unknown> | undefined
}

/** What a reader of the live feed is told of. */
export interface LiveReaderScope {
  readonly project: ServedProject
  /** Tells which kinds of what is known of persons changed, where they may see it. Answers its stop. */
  readonly watchIdentities: ((tell: (of: readonly string[]) => void) => () => void) | null
}

/** The live feed: `/ws` of each project. */
export interface LivePart {
  /** Takes over a connection that was let in. Answers how it is ended once its reader is let in no more. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, reading: LiveReaderScope): () => void
  /** How many are connected. */
  readers(): number
  /** Tells every reader that the server ends. */
  close(): Promise<void>
}

/** The dashboard's files. They hold no secret, so nobody needs a token for them. */
export interface AssetsPart {
  /** Answers a GET or HEAD of a path; a path that is no file is a page of the dashboard. */
  answer(request: Request, path: string): Promise<Response>
  /** The page itself, as text; null where the dashboard was not built. */
  readonly page: () => string | null
}

/** What a route finds in its request's context. */
export interface AppEnvironment {
  Bindings: HttpBindings
  Variables: {
    /** The project that the path names. */
    project: ServedProject
    /** The projects that they may see. */
    seen: { readonly projects: readonly ServedProject[] }
    /** Who was let in; null on the routes that let everybody in. */
    caller: Caller | null
    /** A stricter policy than that of the dashboard’s files, for what is answered alone. */
    policy: string | undefined
  }
}

export type RequestContext = HonoContext<AppEnvironment>
