export type Channel = 'stdio' | 'http' | 'cli' | 'dashboard' | 'elicitation'

/** Who acts: the connection, never an argument of a tool. What an agent calls itself is kept beside it, as a claim. */
export interface Actor {
  readonly name: string
  readonly kind: 'agent' | 'person'
  /** What the agent calls itself in the attempt or claim that a log entry belongs to, where that is another name. */
  readonly agentName?: string
  readonly role: string | null
  readonly channel: Channel
  /** Names the connection while it lasts: unnamed agents of one client are told apart by it. */
  readonly connection?: string
  /** Inside a guard's command: an agent without a role, by whose way no person is asked either. */
  readonly insideCommand?: true
  /**
   * What lets it act, whatever it calls itself: `user:<name>` of the machine's user, `token:<hash>` of a token that a
   * person made.
   */
  readonly identity?: string
  /** The token by which it acts, and the person whose that is, where a server knows its persons. */
  readonly token?: string
  readonly person?: string
  /** The remote machine that its calls came by: the machine that measures. */
  readonly machine?: string
  /** A machine that hands in results, by a token made for that. */
  readonly runner?: true
}

/**
 * The name that every surface shows: the one that the agent gave for the attempt or claim, else the actor's. An attempt,
 * a claimant and a log entry are all asked this way.
 */
export function displayName(of: {
  readonly actor: Pick<Actor, 'name' | 'agentName'>
  readonly agentName?: string | null
}): string {
  return of.agentName ?? of.actor.agentName ?? of.actor.name
}

/** The actor of what is recorded for an attempt or claim of this name. A person keeps their own. */
export function withAgentName(actor: Actor, agentName: string | null | undefined): Actor {
  if (!agentName || actor.kind === 'person' || agentName === actor.name) return actor
  return { ...actor, agentName }
}

/** Who did something: the name that is shown, and the identity; null where only names were kept. */
export interface Author {
  readonly name: string
  readonly identity: string | null
}

/** Two that differ here are two, whatever they are called; an agent is never a person. */
export function identityOf({ kind, channel, name, identity }: Actor): string {
  return `${kind} ${identity ?? `${channel}:${name}`}`
}

export function isAuthoredBy({ name, identity }: Author, actor: Actor): boolean {
  return identity === null ? name === actor.name : identity === identityOf(actor)
}

/** Whose an idempotency key is: the same word of another actor is another key. */
export function keyOwner(actor: Actor): string {
  return `${identityOf(actor)} ${actor.channel} ${actor.name}`
}
