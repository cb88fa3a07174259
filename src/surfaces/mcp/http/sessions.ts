import type { Actor } from '../../../domain/actor.ts'
import type { Caller } from './caller.ts'
import type { Limits } from './options.ts'
import type { Session } from './session.ts'

/** The sessions of one project: few enough to hold, and none that nobody uses. */
export class Sessions {
  readonly #limits: Limits
  readonly #byId = new Map<string, Session>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#byId.size
  }

  /** Takes a session in where there is room. */
  add(session: Session): boolean {
    if (this.#byId.size >= this.#limits.sessions) return false
    this.#byId.set(session.id, session)
    return true
  }

  remove(session: Session): void {
    this.#byId.delete(session.id)
  }

  /** The session of that id, if this caller began it. */
  find(id: string, { owner }: Caller): Session | undefined {
    const session = this.#byId.get(id)
    return session?.owner === owner ? session : undefined
  }

  /** Ends those that were not used for long. */
  async endIdle(): Promise<void> {
    await end(this.#unused().filter(({ unusedFor }) => (unusedFor ?? 0) >= this.#limits.idle))
  }

  /** Makes room for one more, if need be at the cost of the one that was not used for longest. */
  async makeRoom(): Promise<void> {
    await this.endIdle()
    if (this.#byId.size >= this.#limits.sessions) await end(this.#unused().slice(0, 1))
  }

  /** Ends at once the sessions of somebody who is let in no more. */
  revoke(actor: Actor): void {
    for (const session of Array.from(this.#byId.values())) {
      if (session.belongsTo(actor)) void session.breakOff()
    }
  }

  async endAll(): Promise<void> {
    await end([...this.#byId.values()])
  }

  #unused(): readonly Session[] {
    return [...this.#byId.values()]
      .filter(({ unusedFor }) => unusedFor !== null)
      .sort((one, other) => (other.unusedFor ?? 0) - (one.unusedFor ?? 0))
  }
}

async function end(sessions: readonly Session[]): Promise<void> {
  await Promise.all(sessions.map((session) => session.close()))
}
