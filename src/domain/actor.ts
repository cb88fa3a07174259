export type Channel = 'stdio' | 'http' | 'cli' | 'dashboard' | 'elicitation'

/** Who acts: the connection, never an argument of a tool. What an agent calls itself is kept beside it, as a claim. */
export interface Actor {
  readonly name: string
  readonly kind: 'agent' | 'person'
  readonly role: string | null
  readonly channel: Channel
  /** Names the connection while it lasts: unnamed agents of one client are told apart by it. */
  readonly connection?: string
  /** Inside a guard's command: an agent without a role, by whose way no person is asked either. */
  readonly insideCommand?: true
}
