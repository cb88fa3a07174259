import { createHash } from 'node:crypto'
import type { Actor } from '../../../domain/actor.ts'
import { shownName } from '../client-name.ts'
import type { ClientIdentity } from '../surface.ts'

/** Who sent a request. */
export interface Caller {
  readonly actor: Actor
  /** The same for every request with one token, and for no other. The token cannot be read from it. */
  readonly owner: string
}

export function callerOf(request: Request, actor: Actor): Caller {
  const { name, kind, role, connection } = actor
  const credential = request.headers.get('authorization')
  const owner = createHash('sha256')
    .update(JSON.stringify([credential, name, kind, role, connection]))
    .digest('hex')
  return { actor, owner }
}

/** Names the connection of requests that belong to no session: the same for one token. */
export function connectionOf({ owner }: Caller): string {
  return owner.slice(0, 8)
}

/** The actor of calls over a connection: what the token says, or the client's own name where it says no name. */
export function actorOver({ actor }: Caller, client: ClientIdentity | undefined, connection: string): Actor {
  const name = actor.name === unnamed ? (shownName(client?.name) ?? unnamed) : actor.name
  return { ...actor, name, channel: 'http', connection }
}

/** The name of a token that was given none. */
const unnamed = 'agent'
