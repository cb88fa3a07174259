import type { RequestContext } from '../app.ts'
import { Refusal } from '../refusal/refusal.ts'
import { known } from './admit.ts'
import { mistaken } from './authenticate.ts'
import { sessionCookie } from './cookie.ts'
import { knockOf } from './knock.ts'
import type { Security } from './security.ts'

/** `GET /login?code=…`: begins a session of the dashboard, once for each code. */
export function logIn(c: RequestContext, security: Security): Response {
  // A HEAD, as programs send that preview an address, must not use the code up.
  if (c.req.method !== 'GET') {
    throw new Refusal('METHOD_NOT_ALLOWED', `/login is opened with GET, not with ${c.req.method}.`, {
      headers: { Allow: 'GET' },
    })
  }
  const { codes, sessions, hosts, now } = security
  const token = codes.take(c.req.query('code') ?? '', now())
  if (token === null) {
    const message = 'This login address was used already, is older than ten minutes, or was never made.'
    const refusal = mistaken(knockOf(c.env.incoming), security, message)
    throw new Refusal(refusal.code, refusal.message, {
      hint: 'Run waymark serve in a terminal: it prints a fresh one.',
      headers: { ...refusal.headers, 'Cache-Control': 'no-store' },
    })
  }
  const secret = sessions.begin(token, now())
  return c.body(null, 303, {
    'Set-Cookie': sessionCookie(hosts().port, secret),
    Location: '/',
    'Cache-Control': 'no-store',
  })
}

/** `POST /api/login-code`: a fresh code for the holder of a person's token. */
export function makeLoginCode(c: RequestContext, { codes, now }: Security): Response {
  const { actor, token } = known(c.var.caller)
  if (actor.kind === 'person') return c.json({ code: codes.make(token, now()) })
  throw new Refusal('FORBIDDEN', `The dashboard is for people; ${actor.name} acts as an agent.`)
}
