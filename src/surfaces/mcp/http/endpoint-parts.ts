import { createHash } from 'node:crypto'
import type { Actor } from '../../../kernel/actor.ts'
import type { Context } from '../../../kernel/operations/operation.ts'
import type { EventLogFeed } from '../resources/event-feed.ts'
import type { createServer } from '../server.ts'
import { type ClientIdentity, type Surface, shownName } from '../surface.ts'
import type { OfferedTools } from '../tools/tool-list.ts'

/** A project that is served. */
export interface McpProject {
  /** Names it among those of the server. */
  readonly key: string
  /** The context of calls by somebody. Every one shares the project's store. */
  contextOf(actor: Actor): Context
}

/** What both eras of one project's endpoint are made of. */
export interface EndpointParts {
  readonly options: McpOverHttpOptions
  readonly project: McpProject
  readonly tools: OfferedTools
  readonly feed: EventLogFeed
  /** The project's context, for what no single caller asks. */
  readonly contextOf: () => Context
}

/** A request with what its body says. */
export interface PostedMessage {
  readonly request: Request
  readonly body: unknown
  readonly caller: RequestSender
}

export interface McpOverHttpOptions extends Omit<Surface, 'contextOf'> {
  readonly limits?: Partial<McpSessionLimits>
  /** Makes the servers. Tests of conformance add what they call to the one that is served otherwise. */
  readonly serverOf?: typeof createServer
}

export interface McpSessionLimits {
  /** Sessions of one project at a time. */
  readonly sessions: number
  /** Milliseconds without a request and without an open stream, after which a session ends. */
  readonly idle: number
  /** Streams of `subscriptions/listen` of one project at a time. */
  readonly subscriptions: number
}

export const defaultLimits: McpSessionLimits = { sessions: 200, idle: 30 * 60_000, subscriptions: 1000 }

/** Who sent a request. */
export interface RequestSender {
  readonly actor: Actor
  /** The same for every request with one token, and for no other. The token cannot be read from it. */
  readonly owner: string
}

export function senderOf(request: Request, actor: Actor): RequestSender {
  const { name, kind, role, connection } = actor
  const credential = request.headers.get('authorization')
  const owner = createHash('sha256')
    .update(JSON.stringify([credential, name, kind, role, connection]))
    .digest('hex')
  return { actor, owner }
}

/** Names the connection of requests that belong to no session: the same for one token. */
export function connectionOf({ owner }: RequestSender): string {
  return owner.slice(0, 8)
}

/** The actor of calls over a connection: what the token says, or the client's own name where it says no name. */
function httpActor({ actor }: RequestSender, client: ClientIdentity | undefined, connection: string): Actor {
  const name = actor.name === unnamed ? (shownName(client?.name) ?? unnamed) : actor.name
  return { ...actor, name, channel: 'http', connection }
}

/** The name of a token that was given none. */
const unnamed = 'agent'

/** The surface as one caller sees it over one connection. */
export function createSurface(
  { options, project }: EndpointParts,
  caller: RequestSender,
  connection: string,
): Surface {
  const { catalog, toolsets, readOnly, toolNames, version, log } = options
  return {
    catalog,
    contextOf: (client) => project.contextOf(httpActor(caller, client, connection)),
    toolsets,
    readOnly,
    toolNames,
    version,
    log,
  }
}
