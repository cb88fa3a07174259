import { createHmac } from 'node:crypto'
import { serialize } from 'hono/utils/cookie'
import { z } from 'zod'
import { readIfThere, runLocked, versionOf, writePrivate } from './private-file.ts'
import { hashOf, newSecret } from './secret.ts'
import { entryOf } from './tokens.ts'

/** Somebody who logged in with a browser. */
export interface Login {
  /** Of the secret in the cookie. */
  readonly hash: string
  /** The hash of the token by which it was had: without that token there is no login. */
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expires: number
}

const lifetime = 30 * 24 * 60 * 60_000
const most = 100
const shape = z.array(z.object({ hash: z.string(), token: z.string(), expires: z.number() }))

/** Who is logged in, at any server of this user. Kept as hashes in a file, so that a restart logs nobody out. */
export class Logins {
  readonly #file: string
  #version: string | null = null
  #logins: readonly Login[] = []

  constructor(file: string) {
    this.#file = file
  }

  /** Begins a login and answers the secret of its cookie. */
  begin(token: string, now: number): string {
    const secret = newSecret()
    this.#change((logins) => {
      const alive = logins.filter(({ expires }) => expires > now).slice(1 - most)
      return [...alive, { hash: hashOf(secret), token, expires: now + lifetime }]
    })
    return secret
  }

  find(secret: string, now: number): Login | null {
    const login = entryOf(secret, this.#all())
    return login && login.expires > now ? login : null
  }

  /** Whether the login of that hash is neither ended nor too old. */
  isAlive(hash: string, now: number): boolean {
    return this.#all().some((login) => login.hash === hash && login.expires > now)
  }

  /** Ends the logins that are meant. Answers how many those were. */
  end(isMeant: (login: Login) => boolean): number {
    let ended = 0
    this.#change((logins) => {
      const kept = logins.filter((login) => !isMeant(login))
      ended = logins.length - kept.length
      return kept
    })
    return ended
  }

  /** Another server of this user writes the same file. */
  #change(change: (logins: readonly Login[]) => readonly Login[]): void {
    runLocked(this.#file, () => {
      const before = this.#all()
      const after = change(before)
      if (after.length === before.length && after.every((login) => before.includes(login))) return
      writePrivate(this.#file, JSON.stringify(after))
    })
  }

  #all(): readonly Login[] {
    const version = versionOf(this.#file)
    if (version !== this.#version) {
      this.#logins = read(this.#file)
      this.#version = version
    }
    return this.#logins
  }
}

/** What a writing request of a login must repeat: only a page of our own origin can read it. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('waymark csrf').digest('base64url')
}

/** A file that cannot be read logs people out, and stops nothing. */
function read(file: string): readonly Login[] {
  try {
    return shape.parse(JSON.parse(readIfThere(file) ?? '[]'))
  } catch {
    return []
  }
}

/** Cookies do not know ports, so that each server needs a name of its own. */
export function cookieName(port: number): string {
  return `waymark_session_${port}`
}

/** Takes the cookie out of the browser. */
export function expiredCookie(port: number): string {
  return sessionCookie(cookieName(port), '', { secure: false, seconds: 0 })
}

export function loginCookie(port: number, secret: string): string {
  return sessionCookie(cookieName(port), secret, { secure: false, seconds: lifetime / 1000 })
}

/** A cookie of a login or a session; with 0 seconds it is taken out of the browser. */
export function sessionCookie(
  name: string,
  value: string,
  { secure, seconds }: { readonly secure: boolean; readonly seconds: number },
): string {
  return serialize(name, value, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: seconds, secure })
}
