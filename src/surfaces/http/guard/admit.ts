import { createHash, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../refusal/refusal.ts'
import { authenticate, unauthenticated } from './authenticate.ts'
import type { Caller } from './caller.ts'
import { checkHost } from './hosts.ts'
import type { Knock } from './knock.ts'
import { checkOrigin } from './origin.ts'
import type { Security } from './security.ts'

/** Lets a request or an upgrade in, or fails with a `Refusal`. Null is somebody who is not known. */
export function admit(knock: Knock, security: Security): Caller | null {
  checkTarget(knock)
  checkOrigin(knock, checkHost(knock, security.hosts()))
  const caller = authenticate(knock, security)
  checkRate(`${knock.from} ${caller?.token ?? ''}`, security)
  if (caller && !isReading(knock)) checkCsrf(knock, caller)
  return caller
}

/** For what only people and programs with a token may have. */
export function known(caller: Caller | null): Caller {
  if (caller) return caller
  throw unauthenticated('This needs a token, and none was sent.')
}

/** A target such as `http://evil.example/` would go by another host than the one that was checked. */
function checkTarget({ target }: Knock): void {
  if (target.startsWith('/')) return
  throw new Refusal('INVALID_INPUT', `A request names a path, not "${target.slice(0, 200)}".`)
}

function checkRate(key: string, { rates, now }: Security): void {
  const waits = rates.requests.take(key, now())
  if (waits === 0) return
  throw new Refusal('TOO_MANY_REQUESTS', 'There were too many requests at once.', {
    hint: `Try again in ${waits === 1 ? 'a second' : `${waits} seconds`}.`,
    headers: { 'Retry-After': String(waits) },
  })
}

function checkCsrf({ csrf, method }: Knock, caller: Caller): void {
  if (caller.csrf === null || (csrf !== undefined && isSame(csrf, caller.csrf))) return
  const given = csrf === undefined ? 'is missing' : 'is not the one of this session'
  throw new Refusal(
    'FORBIDDEN',
    `A ${method} with a cookie needs the header X-Waymark-Csrf, which ${given}.`,
    {
      hint: 'GET /api/session says its value as csrf.',
    },
  )
}

function isReading({ method }: Knock): boolean {
  return method === 'GET' || method === 'HEAD'
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
