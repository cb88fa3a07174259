import { parse as cookiesIn, serialize } from 'hono/utils/cookie'
import type { Configuration, IDToken } from 'openid-client'
import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { type Access, accesses } from '../../../people/domain/access.ts'
import type { Person } from '../../../people/domain/identity.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { RequestContext } from '../parts.ts'
import { Refusal } from '../refusal.ts'
import type { ServedProject } from '../serving.ts'
import { recordMistake } from './authenticate.ts'
import type { PeopleDirectory } from './directory.ts'
import { actorOfPrincipal } from './principal.ts'
import { type RequestInfo, requestInfoOf } from './request-info.ts'
import type { Security } from './security.ts'
import { beginSession, refusalPage } from './sign-in.ts'

/** A group of the provider and the access of its members. */
export interface GroupAccess {
  readonly group: string
  readonly access: Access
  /** The key of its project; null for every served project. */
  readonly project: string | null
}

export interface OidcSettings {
  /** The address of the provider. */
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client, which uses only PKCE. */
  readonly clientSecret: string | null
  /** The claim that names groups. */
  readonly groupClaim: string
  readonly groups: readonly GroupAccess[]
}

const callbackPath = '/sign-in/oidc/callback'
const scope = 'openid profile email'
/** Seconds that a person has to sign in at the provider. */
const patience = 600
/** The timeout of requests to the provider, in seconds. */
const timeout = 10

/** Sign-in with OpenID Connect: the code flow with PKCE, state and nonce. No provider tokens are stored. */
export class OidcSignIn {
  readonly #settings: OidcSettings
  #configuration: Promise<Configuration> | null = null

  constructor(settings: OidcSettings) {
    this.#settings = settings
  }

  get issuer(): string {
    return this.#settings.issuer
  }

  /** `GET /sign-in/oidc?to=/p/shop`: redirects to the provider. A cookie keeps the values to compare later. */
  async begin(c: RequestContext, security: Security): Promise<Response> {
    const request = requestInfoOf(c.env.incoming, security)
    const oidc = await import('openid-client')
    const configuration = await this.#discoveredConfiguration()
    const signIn: OidcLoginState = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      to: ownPath(c.req.query('to')),
    }
    const address = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: `${originOf(request)}${callbackPath}`,
      scope,
      state: signIn.state,
      nonce: signIn.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(signIn.verifier),
      code_challenge_method: 'S256',
    })
    return c.body(null, 303, {
      Location: address.href,
      'Set-Cookie': signInCookie(
        request,
        security,
        Buffer.from(JSON.stringify(signIn)).toString('base64url'),
      ),
      'Cache-Control': 'no-store',
    })
  }

  /** `GET /sign-in/oidc/callback`: handles the return from the provider. */
  async end(
    c: RequestContext,
    security: Security,
    { page }: { readonly page: () => string | null },
  ): Promise<Response> {
    const { directory } = security
    const request = requestInfoOf(c.env.incoming, security)
    const ended = { 'Set-Cookie': signInCookie(request, security, ''), 'Cache-Control': 'no-store' }
    const signIn = signInInProgress(request, security)
    try {
      const claims = await this.#claims(c, request, signIn)
      const person = await this.#person(claims, security, directory)
      await this.#joinByGroups(claims, person, { security, directory })
      const at = security.now()
      const session = await beginSession(directory, { person, token: null }, { secure: request.secure, at })
      directory.forget()
      const headers = new Headers({ Location: signIn.to, ...ended })
      headers.append('Set-Cookie', session.header)
      return new Response(null, { status: 303, headers })
    } catch (error) {
      if (!(error instanceof SignInError)) throw error
      const refusal = recordMistake(request, security, {
        reason: 'oidc_sign_in_failed',
        message: error.message,
      })
      return refusalPage(c, refusal, { page: page(), to: signIn.to, more: ended })
    }
  }

  /** The provider's claims, after checking its response against our request. */
  async #claims(
    c: RequestContext,
    request: RequestInfo,
    signIn: OidcLoginState | NoOidcLoginState,
  ): Promise<IDToken> {
    if (signIn.state === null) throw new SignInError('This sign-in did not start here, or took too long.')
    const oidc = await import('openid-client')
    const configuration = await this.#discoveredConfiguration()
    const address = new URL(c.req.url)
    const answered = new URL(`${originOf(request)}${callbackPath}${address.search}`)
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, answered, {
        pkceCodeVerifier: signIn.verifier,
        expectedState: signIn.state,
        expectedNonce: signIn.nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims) return claims
    } catch (error) {
      throw new SignInError('The answer of the provider does not match this sign-in.', { cause: error })
    }
    throw new SignInError('The provider did not name the person who signed in.')
  }

  /** Finds the person by issuer and subject, or the first time by an invited verified email. */
  async #person(claims: IDToken, { now }: Security, { team, ids }: PeopleDirectory): Promise<Person> {
    const userProfile = profile.parse(claims)
    const email = userProfile.email_verified === true ? (userProfile.email?.toLowerCase() ?? null) : null
    const existing = await team.store.view((reads) => reads.identities.personOf(claims.iss, claims.sub))
    if (existing) return assertEnabled(existing)
    const byGroup = this.#accessByGroups(claims, null) !== null
    const createdAt = now()
    const linked = { issuer: claims.iss, subject: claims.sub }
    const name = nameOf(userProfile, email)
    return team.store.record({
      actor: { name, kind: 'person', role: null, channel: 'dashboard' },
      at: createdAt,
      decide: async (reads) => {
        const invited = email === null ? null : await invitedPersonOf(reads, email)
        if (invited) {
          const person = { ...assertEnabled(invited), ...linked }
          const event = {
            kind: 'person.changed',
            personId: person.id,
            name: person.name,
            changes: linked,
          } as const
          return { events: [event], answer: person }
        }
        if (!byGroup) throw uninvitedError(userProfile.email, userProfile.email_verified === true)
        const [taken] = await reads.identities.peopleNamed(name)
        const person: Person = {
          id: ids.next('person'),
          name: taken ? `${name} (${claims.sub.slice(0, 12)})` : name,
          email,
          ...linked,
          admin: false,
          disabledAt: null,
          createdAt,
        }
        return { events: [{ kind: 'person.added', person }], answer: person }
      },
    })
  }

  async #joinByGroups(
    claims: IDToken,
    person: Person,
    { security, directory }: { readonly security: Security; readonly directory: PeopleDirectory },
  ): Promise<void> {
    for (const project of this.#settings.groups.length === 0 ? [] : directory.projects) {
      const access = this.#accessByGroups(claims, project)
      if (access === null) continue
      const actor = actorOfPrincipal({ person, token: null, session: null })
      await directory.storeOf(project).record({
        actor: { ...actor, channel: 'dashboard' },
        at: security.now(),
        decide: async ({ identities }) => {
          const before = await identities.member(person.id)
          if (before?.access === access) return { events: [], answer: undefined }
          const member = { personId: person.id, access, roles: before?.roles ?? [] }
          const event = {
            kind: 'member.set',
            member,
            name: person.name,
            before: before?.access ?? null,
          } as const
          return { events: [event], answer: undefined }
        },
      })
    }
  }

  /** The highest access of their groups in a project or, with null, in any; null for none. */
  #accessByGroups(claims: IDToken, project: ServedProject | null): Access | null {
    const { groupClaim, groups } = this.#settings
    const named = [claims[groupClaim] ?? []].flat().map(String)
    const given = groups
      .filter(({ group }) => named.includes(group))
      .filter((entry) => project === null || entry.project === null || entry.project === project.key)
      .map(({ access }) => accesses.indexOf(access))
    return accesses[Math.max(-1, ...given)] ?? null
  }

  #discoveredConfiguration(): Promise<Configuration> {
    this.#configuration ??= this.#discover().catch((error: unknown) => {
      this.#configuration = null
      const why = error instanceof Error ? error.message : String(error)
      throw new Failure('UNAVAILABLE', `The sign-in provider ${this.issuer} cannot be reached: ${why}.`, {
        reason: 'oidc_issuer_unreachable',
        hint: 'Try again in a moment, or sign in with a token.',
      })
    })
    return this.#configuration
  }

  async #discover(): Promise<Configuration> {
    const oidc = await import('openid-client')
    const { issuer, clientId, clientSecret } = this.#settings
    const address = new URL(issuer)
    const isOwn =
      address.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(address.hostname)
    const authentication = clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret)
    const execute = isOwn ? [oidc.allowInsecureRequests] : []
    return oidc.discovery(address, clientId, undefined, authentication, { execute, timeout })
  }
}

class SignInError extends Error {}

const profile = z.object({
  name: z.string().optional().catch(undefined),
  preferred_username: z.string().optional().catch(undefined),
  email: z.string().max(254).optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
})

/** A valid person's name from the provider's untrusted profile. */
function nameOf({ name, preferred_username }: z.output<typeof profile>, email: string | null): string {
  const claimed = name ?? preferred_username ?? email ?? 'somebody'
  const clean = claimed.replace(/[^\p{L}\p{N} ._@()'’-]/gu, '').replace(/^[^\p{L}\p{N}]+/u, '')
  return clean.trim().slice(0, 80) || 'somebody'
}

function assertEnabled(person: Person): Person {
  if (person.disabledAt === null) return person
  throw new SignInError('An admin of this server has disabled you.')
}

/** The person invited by an email who has not signed in yet. */
async function invitedPersonOf({ identities }: Reads, email: string): Promise<Person | null> {
  const called = await identities.peopleNamed(email)
  return called.find((person) => person.email === email && person.issuer === null) ?? null
}

function uninvitedError(email: string | undefined, isVerified: boolean): SignInError {
  if (email !== undefined && !isVerified) {
    return new SignInError('The provider has not verified your e-mail address, so no invitation matches it.')
  }
  return new SignInError(
    'There is no invitation for your e-mail address. Ask an owner: waymark member invite <address>',
  )
}

/** The values to compare on return, stored in the browser so that any replica can answer. */
interface OidcLoginState {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The path to return to. */
  readonly to: string
}

interface NoOidcLoginState {
  readonly state: null
  readonly to: string
}

const signInShape = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() })

function signInCookieName({ secure }: RequestInfo, { hosts }: Security): string {
  return secure ? '__Host-waymark_signing_in' : `waymark_signing_in_${hosts().port}`
}

/** SameSite=Lax: the browser must send it on the return from another site. */
function signInCookie(request: RequestInfo, security: Security, value: string): string {
  return serialize(signInCookieName(request, security), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: value === '' ? 0 : patience,
    secure: request.secure,
  })
}

function signInInProgress(request: RequestInfo, security: Security): OidcLoginState | NoOidcLoginState {
  const value = cookiesIn(request.cookie ?? '')[signInCookieName(request, security)] ?? ''
  try {
    const signIn = signInShape.parse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8')))
    return { ...signIn, to: ownPath(signIn.to) }
  } catch {
    return { state: null, to: '/' }
  }
}

/** A path of this server: sign-in never redirects elsewhere. */
function ownPath(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[\w\-./~%?=&#]*$/.test(to) ? to : '/'
}

/** The Host header was checked before. */
function originOf({ secure, host = '' }: RequestInfo): string {
  return `${secure ? 'https' : 'http'}://${host}`
}

/** Parses `devs=contributor, leads=owner@shop`. Fails with INVALID_INPUT for an invalid list. */
export function readGroups(text: string): readonly GroupAccess[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, group, word, project = null] = /^(.+)=([a-z]+)(?:@([\w-]+))?$/.exec(part) ?? []
      const access = accesses.find((one) => one === word)
      if (group !== undefined && access) return { group, access, project }
      throw new Failure('INVALID_INPUT', `"${part.slice(0, 100)}" gives no group an access.`, {
        reason: 'oidc_group_invalid',
        hint: `Write <group>=<${accesses.join('|')}>, or <group>=<access>@<project>, comma-separated.`,
      })
    })
}

/** The refusal of a server without a provider. */
export function withoutOidc(): Refusal {
  return new Refusal('NOT_FOUND', 'This server has no sign-in with OpenID Connect.', {
    reason: 'oidc_not_configured',
    hint: 'GET /api/sign-in lists the ways to sign in.',
  })
}
