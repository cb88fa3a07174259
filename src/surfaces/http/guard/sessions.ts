import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { readIfThere, writePrivate } from './private-file.ts'
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

/** Who is logged in. Kept as hashes in a file, so that a restart logs nobody out. */
export class Sessions {
  readonly #file: string
  #sessions: readonly Session[]

  constructor(file: string) {
    this.#file = file
    this.#sessions = read(file)
  }

  /** Begins a session and answers the secret of its cookie. */
  begin(token: string, now: number): string {
    const secret = newSecret()
    const alive = this.#sessions.filter(({ expires }) => expires > now).slice(1 - most)
    this.#sessions = [...alive, { hash: hashOf(secret), token, expires: now + lifetime }]
    writePrivate(this.#file, JSON.stringify(this.#sessions))
    return secret
  }

  find(secret: string, now: number): Session | null {
    const session = entryOf(secret, this.#sessions)
    return session && session.expires > now ? session : null
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
