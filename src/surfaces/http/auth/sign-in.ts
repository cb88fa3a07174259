import { z } from 'zod'
import { instant } from '../../../kernel/instant.ts'
import { readToken, sessionLifetimes } from '../../../people/domain/identity.ts'
import { acceptInvitation } from '../../../people/operations/invitations.ts'
import { endedSessions, newSession } from '../../../people/operations/sessions.ts'
import type { Team } from '../../../people/ports/team.ts'
import { readJson } from '../body.ts'
import type { RequestContext } from '../parts.ts'
import { Refusal } from '../refusal.ts'
import { recordMistake, requireAuth } from './authenticate.ts'
import type { PeopleDirectory } from './directory.ts'
import { actorOfPrincipal, type Principal } from './principal.ts'
import { requestInfoOf } from './request-info.ts'
import type { Security } from './security.ts'
import { csrfOf, sessionCookie } from './session-cookie.ts'

/** A sign-in method for the page. */
export type SignInMethod =
  /** The link that `waymark serve` prints. */
  | { readonly way: 'address' }
  /** `POST /api/sign-in` with `{ token }`. */
  | { readonly way: 'token'; readonly path: '/api/sign-in' }
  /** A link to follow; `?to=` is the path to return to. */
  | { readonly way: 'oidc'; readonly path: '/sign-in/oidc'; readonly issuer: string }

/** `GET /api/sign-in`: lists the sign-in methods. It needs no token. */
export function signInMethods({ directory, oidc }: Security): { readonly ways: readonly SignInMethod[] } {
  return {
    ways: [
      ...(directory.team.owner ? [{ way: 'address' } as const] : []),
      ...(oidc ? [{ way: 'oidc', path: '/sign-in/oidc', issuer: oidc.issuer } as const] : []),
      { way: 'token', path: '/api/sign-in' },
    ],
  }
}

const withToken = z.object({ token: z.string().max(200) })
const largest = { maxBytes: 1_000, maxValues: 100 }

/** `POST /api/sign-in`: starts a dashboard session with a person's token. */
export async function signInByToken(c: RequestContext, security: Security): Promise<Response> {
  const { directory, now } = security
  const request = requestInfoOf(c.env.incoming, security)
  if (await security.insideCommand(c.env.incoming.socket, 'dashboard'))
    throw dashboardPersonRefusal('A command of a guard')
  const { data } = withToken.safeParse(await readJson(c.req.raw, largest))
  if (!data)
    throw new Refusal('INVALID_INPUT', 'The body must be an object with token, a text.', {
      reason: 'body_fields_invalid',
    })
  const caller = readToken(data.token.trim()) ? await directory.byToken(data.token.trim()) : null
  if (!caller)
    throw recordMistake(request, security, {
      reason: 'token_invalid',
      message: 'This token is not valid here.',
      hint: 'It was revoked, has expired, or its person is disabled. Ask an owner of the project for another.',
    })
  if (caller.actor.kind !== 'person') throw dashboardPersonRefusal(caller.actor.name)
  const cookie = await beginSession(directory, caller.principal, { secure: request.secure, at: now() })
  return c.json({ success: true, csrf: cookie.csrf }, 200, {
    'Set-Cookie': cookie.header,
    'Cache-Control': 'no-store',
  })
}

const withInvitation = z.strictObject({ invitation: z.string().max(200) })

/** `POST /api/invitation`: exchanges an invitation for a token, once. */
export async function acceptInvitedPerson(c: RequestContext, security: Security): Promise<Response> {
  const request = requestInfoOf(c.env.incoming, security)
  if (await security.insideCommand(c.env.incoming.socket, 'http'))
    throw dashboardPersonRefusal('A command of a guard')
  const { data } = withInvitation.safeParse(await readJson(c.req.raw, largest))
  if (!data)
    throw new Refusal(
      'INVALID_INPUT',
      'The body must be an object with invitation, a text, and nothing else.',
      {
        reason: 'body_fields_invalid',
      },
    )
  const { directory } = security
  const principal = await directory.byInvitation(data.invitation.trim())
  if (!principal?.token) {
    throw recordMistake(request, security, {
      reason: 'invitation_invalid',
      message: 'This invitation is not valid here. Each works once.',
      hint: 'Ask the person who invited you for a new one.',
    })
  }
  const { team, ids } = directory
  const made = await acceptInvitation(team, principal.token.id, { at: security.now(), ids }, principal.person)
  const { person, token, secret } = made
  return c.json(
    { success: true, token: secret, name: person.name, expires_at: instant(token.expiresAt) },
    200,
    { 'Cache-Control': 'no-store' },
  )
}

function dashboardPersonRefusal(name: string): Refusal {
  return new Refusal('FORBIDDEN', `The dashboard is for people. ${name} is an agent.`, {
    reason: 'person_needed',
    hint: 'Sign in with a token of kind person: waymark token create --kind person',
  })
}

interface SessionCookieOptions {
  readonly secure: boolean
  readonly at: number
}

/** Records the session and returns its cookie. Only a hash of the secret is stored. */
export async function beginSession(
  directory: PeopleDirectory,
  { person, token, user = null }: Pick<Principal, 'person' | 'token'> & Partial<Pick<Principal, 'user'>>,
  { secure, at }: SessionCookieOptions,
): Promise<{ readonly header: string; readonly csrf: string }> {
  const { team } = directory
  const secret = team.newSecret()
  // Never longer than the token that started it.
  const lifetime = team.owner ? sessionLifetimes.ofOwner : sessionLifetimes.shared
  const until = Math.min(at + lifetime, token?.expiresAt ?? Number.POSITIVE_INFINITY)
  const id = await team.store.record({
    actor: { ...actorOfPrincipal({ person, token, session: null, user }), channel: 'dashboard' },
    at,
    decide: () => {
      const hash = team.hashOf(secret)
      const { id: began, ...what } = newSession(
        { at, ids: directory.ids },
        { person, tokenId: token?.id ?? null, hash, until },
      )
      return Promise.resolve({ ...what, answer: began })
    },
  })
  const value = `${id.slice(id.indexOf('-') + 1)}.${secret}`
  const seconds = Math.floor((until - at) / 1000)
  return {
    header: sessionCookie(directory.cookieName(secure), value, { secure, seconds }),
    csrf: csrfOf(secret),
  }
}

/** `POST /api/logout`: ends the session of the cookie; for a token, every session that it started. */
export async function signOut(c: RequestContext, security: Security): Promise<Response> {
  const caller = requireAuth(c.var.caller)
  const { principal } = caller
  const { directory } = security
  const ended = await endSessions(directory.team, principal, security.now())
  directory.forget()
  const { secure } = requestInfoOf(c.env.incoming, security)
  return c.json({ success: true, ended }, 200, {
    'Cache-Control': 'no-store',
    ...(caller.login !== null && {
      'Set-Cookie': sessionCookie(directory.cookieName(secure), '', { secure, seconds: 0 }),
    }),
  })
}

function endSessions(team: Team, principal: Principal, now: number): Promise<number> {
  const { person, token, session } = principal
  return team.store.record({
    actor: actorOfPrincipal(principal),
    at: now,
    decide: async (reads) => {
      const which = session ? { only: session.id } : token ? { tokenIds: [token.id] } : {}
      const ended = await endedSessions(reads, { personId: person.id, now, ...which })
      return { ...ended, answer: ended.events.length }
    },
  })
}

/** A browser gets a page with the next step; a program gets the usual refusal. */
export function refusalPage(
  c: RequestContext,
  refusal: Refusal,
  { page, to, more, hint = 'GET /api/sign-in lists the ways to sign in.' }: RefusalPage,
): Response {
  const headers = { ...refusal.headers, ...more }
  if (!(c.req.header('accept') ?? '').includes('text/html')) {
    throw new Refusal(refusal.code, refusal.message, {
      ...(refusal.reason !== null && { reason: refusal.reason }),
      hint,
      headers,
    })
  }
  const mustWait = refusal.code === 'TOO_MANY_REQUESTS'
  const error =
    mustWait && refusal.hint !== undefined ? `${refusal.message} ${refusal.hint}` : refusal.message
  const status = mustWait ? 429 : 401
  const html = page === null ? plainPage(error) : signInPage(page, { error, to })
  return c.body(html, status, { ...headers, 'Content-Type': 'text/html; charset=utf-8' })
}

interface RefusalPage {
  /** The dashboard's page; null if it is not built. */
  readonly page: string | null
  /** The path to return to. */
  readonly to: string
  /** The next step of a program. */
  readonly hint?: string
  readonly more: Record<string, string>
}

/** The dashboard's page with values in its head for its first view. */
function signInPage(page: string, values: Readonly<Record<'error' | 'to', string>>): string {
  const tags = Object.entries(values).map(
    ([name, text]) => `<meta name="waymark-sign-in-${name}" content="${escapeHtml(text)}" />`,
  )
  return page.replace('</head>', () => `${tags.join('')}</head>`)
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function plainPage(message: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not signed in · Waymark</title>
<main>
<h1>You are not signed in</h1>
<p>${escapeHtml(message)}</p>
<p><a href="/">Back to the dashboard</a>, where you can try again.</p>
</main>
</html>
`
}
