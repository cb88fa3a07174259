import { createHash, timingSafeEqual } from 'node:crypto'
import { parse as cookiesIn } from 'hono/utils/cookie'
import { Refusal } from '../refusal.ts'
import { checkHost, checkOrigin } from './origin.ts'
import type { Caller, RequestInfo } from './request-info.ts'
import type { Security } from './security.ts'

/** Authenticates a request or upgrade, or fails with a `Refusal`. Null: an anonymous caller. */
export async function authenticateRequest(request: RequestInfo, security: Security): Promise<Caller | null> {
  checkTarget(request)
  checkOrigin(request, checkHost(request, security.hosts()))
  const caller = await authenticate(request, security)
  checkRate(security.directory.rateLimitKey(caller, request.from), security)
  if (caller && !isReading(request)) checkCsrf(request, caller)
  return caller
}

/** Fails for an anonymous caller. */
export function requireAuth(caller: Caller | null): Caller {
  if (caller) return caller
  throw unauthenticatedRefusal('This needs a token, and none was sent.', 'token_missing')
}

/** An absolute target such as `http://evil.example/` would bypass the check of the host. */
function checkTarget({ target }: RequestInfo): void {
  if (target.startsWith('/')) return
  throw new Refusal('INVALID_INPUT', `A request needs a path, not "${target.slice(0, 200)}".`, {
    reason: 'request_target_invalid',
  })
}

function checkRate(key: string, { rates, now }: Security): void {
  const waits = rates.requests.take(key, now())
  if (waits === 0) return
  throw new Refusal('TOO_MANY_REQUESTS', 'There were too many requests at once.', {
    reason: 'too_many_requests',
    hint: `Try again in ${waits === 1 ? 'a second' : `${waits} seconds`}.`,
    headers: { 'Retry-After': String(waits) },
  })
}

function checkCsrf({ csrf, method }: RequestInfo, caller: Caller): void {
  if (caller.csrf === null || (csrf !== undefined && isSame(csrf, caller.csrf))) return
  const problem = csrf === undefined ? 'is missing' : 'is not the one of this session'
  throw new Refusal(
    'FORBIDDEN',
    `A ${method} with a cookie needs the header X-Waymark-Csrf, which ${problem}.`,
    {
      reason: csrf === undefined ? 'csrf_token_missing' : 'wrong_csrf_token',
      hint: 'GET /api/session returns it as csrf.',
    },
  )
}

function isReading({ method }: RequestInfo): boolean {
  return method === 'GET' || method === 'HEAD'
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** The caller, by a bearer token or a cookie; null without both. Fails for a wrong token. */
async function authenticate(request: RequestInfo, security: Security): Promise<Caller | null> {
  if (request.authorization !== undefined)
    return authenticateByToken(request.authorization, request, security)
  const caller = await security.directory.byCookie(cookiesIn(request.cookie ?? ''), request)
  // An unknown cookie is an old one, not an attack: its holder logs in again.
  return caller && assertConfinedCaller(caller, request, security)
}

async function authenticateByToken(
  authorization: string,
  request: RequestInfo,
  security: Security,
): Promise<Caller> {
  const [, secret] = /^Bearer +([^\s]+)$/i.exec(authorization.trim()) ?? []
  const caller = secret === undefined ? null : await security.directory.byToken(secret)
  if (caller) return assertConfinedCaller(caller, request, security)
  throw recordMistake(request, security, {
    reason: 'token_invalid',
    message: 'This token is not valid: it was revoked, has expired, or its person is disabled.',
    hint: 'Ask an owner of the project for another. A connected folder takes it with waymark connect <url> --new-token.',
  })
}

/** A guard's command can read its user's tokens, but must not act as that user. */
async function assertConfinedCaller(
  caller: Caller,
  { connection }: RequestInfo,
  { insideCommand }: Security,
): Promise<Caller> {
  const actor = await insideCommand(connection, caller.actor.channel)
  if (actor === null) return caller
  const { token, person } = caller.actor
  return { ...caller, actor: { ...actor, ...(token && { token }), ...(person && { person }) } }
}

interface AccessRefusal {
  readonly reason: string
  readonly message: string
  /** The next step; default: how to sign in. */
  readonly hint?: string
}

/** A wrong token or code. After too many of them a client is refused without a check. */
export function recordMistake(
  { from }: RequestInfo,
  { rates, now }: Security,
  { reason, message, hint }: AccessRefusal,
): Refusal {
  const waits = rates.mistakes.take(from, now())
  if (waits === 0) return unauthenticatedRefusal(message, reason, hint)
  return new Refusal('TOO_MANY_REQUESTS', `There were too many wrong tokens from ${from}.`, {
    reason: 'too_many_wrong_tokens',
    hint: `Try again in ${waits} seconds.`,
    headers: { 'Retry-After': String(waits) },
  })
}

function unauthenticatedRefusal(
  message: string,
  reason: string,
  hint = 'Send Authorization: Bearer <token> (waymark token list shows yours), or open the address that waymark serve prints.',
): Refusal {
  return new Refusal('UNAUTHENTICATED', message, {
    reason,
    hint,
    headers: { 'WWW-Authenticate': 'Bearer realm="waymark"' },
  })
}
