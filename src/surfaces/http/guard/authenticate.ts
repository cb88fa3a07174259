import type { Channel } from '../../../domain/actor.ts'
import { Refusal } from '../refusal/refusal.ts'
import type { Caller } from './caller.ts'
import { cookieName, readCookie } from './cookie.ts'
import type { Knock } from './knock.ts'
import type { Security } from './security.ts'
import { csrfOf } from './sessions.ts'
import { entryOf, type TokenEntry } from './tokens/token.ts'

/** Who knocks: by a bearer token, else by a cookie; null where neither was given. Fails for a wrong token. */
export function authenticate(knock: Knock, security: Security): Caller | null {
  if (knock.authorization !== undefined) return byToken(knock.authorization, knock, security)
  return byCookie(knock, security)
}

function byToken(authorization: string, knock: Knock, security: Security): Caller {
  const [, secret] = /^Bearer +([^\s]+)$/i.exec(authorization.trim()) ?? []
  const entry = secret === undefined ? null : entryOf(secret, security.tokens.entries())
  if (entry)
    return confined(
      callerOf(entry, { channel: 'http', session: null, csrf: null, user: security.user }),
      knock,
      security,
    )
  throw mistaken(knock, security, 'The token in the Authorization header is not valid.')
}

/** A cookie that is not known is an old one, not an attack: its holder logs in again. */
function byCookie(knock: Knock, security: Security): Caller | null {
  const { hosts, tokens, sessions, now } = security
  const secret = readCookie(knock.cookie, cookieName(hosts().port))
  const session = secret === null ? null : sessions.find(secret, now())
  const entry = session && tokens.entries().find(({ hash }) => hash === session.token)
  if (secret === null || !session || !entry) return null
  const caller = callerOf(entry, {
    channel: 'dashboard',
    session: session.hash,
    csrf: csrfOf(secret),
    user: security.user,
  })
  return confined(caller, knock, security)
}

/** A command of a guard reads the files of its user, tokens too: what it sends with them is not that user's word. */
function confined(caller: Caller, { connection }: Knock, { insideCommand }: Security): Caller {
  const actor = insideCommand(connection, caller.actor.channel)
  return actor === null ? caller : { ...caller, actor }
}

function callerOf(
  { name, kind, role, hash, explicit }: TokenEntry,
  login: Pick<Caller, 'session' | 'csrf'> & { readonly channel: Channel; readonly user: string },
): Caller {
  const { channel, user, ...own } = login
  // What the server made for itself can be read by every program of its user: it is nobody else.
  const identity = explicit ? `token:${hash.slice(0, 16)}` : user
  return { actor: { name, kind, role, channel, identity }, token: hash, ...own }
}

/** A wrong token or code; too many of them from one client are not even looked at as such. */
export function mistaken({ from }: Knock, { rates, now }: Security, message: string): Refusal {
  const waits = rates.mistakes.take(from, now())
  if (waits === 0) return unauthenticated(message)
  return new Refusal('TOO_MANY_REQUESTS', `There were too many wrong tokens from ${from}.`, {
    hint: `Try again in ${waits} seconds.`,
    headers: { 'Retry-After': String(waits) },
  })
}

export function unauthenticated(message: string): Refusal {
  return new Refusal('UNAUTHENTICATED', message, {
    hint: 'Send Authorization: Bearer <token> (waymark token list says which there are), or open the address that waymark serve prints.',
    headers: { 'WWW-Authenticate': 'Bearer realm="waymark"' },
  })
}
