import type { Channel } from '../../../kernel/actor.ts'
import { cookieName, csrfOf, type Logins } from './logins.ts'
import type { Caller, RequestInfo } from './request-info.ts'
import { entryOf, type TokenEntry, type TokenFile } from './tokens.ts'

/** How a server knows who asks: by the tokens of this machine's user, or by the persons of its database. */
export interface Authenticator {
  /** Null for a token that is not known, or lets nobody in any more. */
  byToken(token: string): Promise<Caller | null>
  /** Null where there is no cookie of ours, or an old one: its holder signs in again. */
  byCookie(cookies: Readonly<Record<string, string>>, request: RequestInfo): Promise<Caller | null>
  /** Whether somebody who was let in would be let in again, and as the same. */
  stands(caller: Caller): Promise<boolean>
  /** Whose requests are counted together. */
  counted(caller: Caller | null, from: string): string
}

interface OwnTokens {
  readonly tokens: TokenFile
  readonly logins: Logins
  /** The port that the server listens on. */
  readonly port: () => number
  /** Whose machine's user the server runs as: the tokens that it makes for itself are theirs. */
  readonly user: string
  readonly now: () => number
}

/** By the tokens in `tokens.json`, and the logins that were had by them. */
export function fileAdmission({ tokens, logins, port, user, now }: OwnTokens): Authenticator {
  const callerOf = (
    { name, kind, role, hash, explicit }: TokenEntry,
    login: Pick<Caller, 'login' | 'csrf'> & { readonly channel: Channel },
  ): Caller => {
    const { channel, ...own } = login
    // What the server made for itself can be read by every program of its user: it is nobody else.
    const identity = explicit ? `token:${hash.slice(0, 16)}` : user
    return { actor: { name, kind, role, channel, identity }, token: hash, seat: null, ...own }
  }
  return {
    async byToken(token) {
      const entry = entryOf(token, tokens.entries())
      return entry && callerOf(entry, { channel: 'http', login: null, csrf: null })
    },
    async byCookie(cookies) {
      const secret = cookies[cookieName(port())]
      const login = secret === undefined ? null : logins.find(secret, now())
      const entry = login && tokens.entries().find(({ hash }) => hash === login.token)
      if (secret === undefined || !login || !entry) return null
      return callerOf(entry, { channel: 'dashboard', login: login.hash, csrf: csrfOf(secret) })
    },
    async stands({ token, login }) {
      try {
        if (!tokens.entries().some(({ hash }) => hash === token)) return false
        return login === null || logins.isAlive(login, now())
      } catch {
        return true // files that cannot be read now say of nobody that they were removed
      }
    },
    counted: (caller, from) => `${from} ${caller?.token ?? ''}`,
  }
}
