import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { locked } from './locked.ts'
import { readIfThere, versionOf, writePrivate } from './private-file.ts'
import { entryOf, hashOf, newSecret } from './tokens/token.ts'

/** Somebody who logged in with a browser. */
export interface Session {
  /** Of the secret in the cookie. */
  readonly hash: string
  /** The hash of the token by which it was had: without that token there is no session. */
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expires: number
}

const lifetime = 30 * 24 * 60 * 60_000
const most = 100
const shape = z.array(z.object({ hash: z.string(), token: z.string(), expires: z.number() }))

/** Who is logged in, at any server of this user. Kept as hashes in a file, so that a restart logs nobody out. */
export class Sessions {
  readonly #file: string
  #version: string | null = null
  #sessions: readonly Session[] = []

  constructor(file: string) {
    this.#file = file
  }

  /** Begins a session and answers the secret of its cookie. */
  begin(token: string, now: number): string {
    const secret = newSecret()
    this.#change((sessions) => {
      const alive = sessions.filter(({ expires }) => expires > now).slice(1 - most)
      return [...alive, { hash: hashOf(secret), token, expires: now + lifetime }]
    })
    return secret
  }

  find(secret: string, now: number): Session | null {
    const session = entryOf(secret, this.#all())
    return session && session.expires > now ? session : null
  }

  /** Whether the session of that hash is neither ended nor too old. */
  isAlive(hash: string, now: number): boolean {
    return this.#all().some((session) => session.hash === hash && session.expires > now)
  }

  /** Ends the sessions that are meant. Answers how many those were. */
  end(isMeant: (session: Session) => boolean): number {
    let ended = 0
    this.#change((sessions) => {
      const kept = sessions.filter((session) => !isMeant(session))
      ended = sessions.length - kept.length
      return kept
    })
    return ended
  }

  /** Another server of this user writes the same file. */
  #change(change: (sessions: readonly Session[]) => readonly Session[]): void {
    locked(this.#file, () => {
      const before = this.#all()
      const after = change(before)
      if (after.length === before.length && after.every((session) => before.includes(session))) return
      writePrivate(this.#file, JSON.stringify(after))
    })
  }

  #all(): readonly Session[] {
    const version = versionOf(this.#file)
    if (version !== this.#version) {
      this.#sessions = read(this.#file)
      this.#version = version
    }
    return this.#sessions
  }
}

export const cookieLifetime = lifetime / 1000

/** What a writing request of a session must repeat: only a page of our own origin can read it. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('waymark csrf').digest('base64url')
}

/** A file that cannot be read logs people out, and stops nothing. */
function read(file: string): readonly Session[] {
  try {
    return shape.parse(JSON.parse(readIfThere(file) ?? '[]'))
  } catch {
    return []
  }
}
