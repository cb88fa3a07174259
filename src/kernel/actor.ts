export type Channel = 'stdio' | 'http' | 'cli' | 'dashboard' | 'elicitation'

/** The acting connection, never an argument of a tool. The name that an agent gives itself is only a claim. */
export interface Actor {
  readonly name: string
  readonly kind: 'agent' | 'person'
  /** The name that the agent gave itself for the attempt or claim, if it differs from `name`. */
  readonly agentName?: string
  readonly role: string | null
  readonly channel: Channel
  /** The id of the connection, which distinguishes unnamed agents of one client. */
  readonly connection?: string
  /** Inside a guard's command: an agent without a role, which cannot ask a person either. */
  readonly insideCommand?: true
  /** The proven identity: `user:<name>` of the machine's user, `token:<hash>` of a token that a person created. */
  readonly identity?: string
  /** The token of the actor and its owner, on a server with people. */
  readonly token?: string
  readonly person?: string
  /** The remote machine of its calls, which measures. */
  readonly machine?: string
  /** A runner, which submits results with its own kind of token. */
  readonly runner?: true
}

/** The displayed name: the one that the agent gave for the attempt or claim, else the actor's. */
export function displayName(of: {
  readonly actor: Pick<Actor, 'name' | 'agentName'>
  readonly agentName?: string | null
}): string {
  return of.agentName ?? of.actor.agentName ?? of.actor.name
}

/** The actor under the name of an attempt or claim. A person keeps their own name. */
export function withAgentName(actor: Actor, agentName: string | null | undefined): Actor {
  if (!agentName || actor.kind === 'person' || agentName === actor.name) return actor
  return { ...actor, agentName }
}

/** An author: the displayed name, and the identity; null if only names were stored. */
export interface Author {
  readonly name: string
  readonly identity: string | null
}

/** Distinguishes actors regardless of their names; an agent is never a person. */
export function identityOf({ kind, channel, name, identity }: Actor): string {
  return `${kind} ${identity ?? `${channel}:${name}`}`
}

export function isAuthoredBy({ name, identity }: Author, actor: Actor): boolean {
  return identity === null ? name === actor.name : identity === identityOf(actor)
}

/** The owner of an idempotency key: the same key of another actor is different. */
export function keyOwner(actor: Actor): string {
  return `${identityOf(actor)} ${actor.channel} ${actor.name}`
}
