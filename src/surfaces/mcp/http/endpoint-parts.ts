import { createHash } from 'node:crypto'
import type { Actor } from '../../../kernel/actor.ts'
import type { Context } from '../../../kernel/operations/operation.ts'
import type { EventLogFeed } from '../resources/event-feed.ts'
import type { createServer } from '../server.ts'
import { type ClientIdentity, type Surface, shownName } from '../surface.ts'
import type { OfferedTools } from '../tools/tool-list.ts'

/** A served project. */
export interface McpProject {
  /** Its key on the server. */
  readonly key: string
  /** The context of an actor's calls. All contexts share the project's store. */
  contextOf(actor: Actor): Context
}

/** The parts of one project's endpoint, for both eras. */
export interface EndpointParts {
  readonly options: McpOverHttpOptions
  readonly project: McpProject
  readonly tools: OfferedTools
  readonly feed: EventLogFeed
  /** The project's context, for work without a caller. */
  readonly contextOf: () => Context
}

/** A request with its parsed body. */
export interface PostedMessage {
  readonly request: Request
  readonly body: unknown
  readonly caller: RequestSender
}

export interface McpOverHttpOptions extends Omit<Surface, 'contextOf'> {
  readonly limits?: Partial<McpSessionLimits>
  /** Makes the servers. Conformance tests pass servers with additional tools. */
  readonly serverOf?: typeof createServer
}

export interface McpSessionLimits {
  /** The maximum of sessions per project. */
  readonly sessions: number
  /** A session ends after this time without a request and an open stream, in milliseconds. */
  readonly idle: number
  /** The maximum of `subscriptions/listen` streams per project. */
  readonly subscriptions: number
}

export const defaultLimits: McpSessionLimits = { sessions: 200, idle: 30 * 60_000, subscriptions: 1000 }

/** The caller of a request. */
export interface RequestSender {
  readonly actor: Actor
  /** A key that is the same for all requests with one token, and does not reveal the token. */
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

/** The connection of requests without a session: the same for one token. */
export function connectionOf({ owner }: RequestSender): string {
  return owner.slice(0, 8)
}

/** The actor of a connection: from the token, or with the client's name if the token has none. */
function httpActor({ actor }: RequestSender, client: ClientIdentity | undefined, connection: string): Actor {
  const name = actor.name === unnamed ? (shownName(client?.name) ?? unnamed) : actor.name
  return { ...actor, name, channel: 'http', connection }
}

/** The name of tokens without their own name. */
const unnamed = 'agent'

/** The surface for one caller and connection. */
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
