import { computed, signal } from '@preact/signals'
import type { Access, NeededAccess } from '../../src/people/domain/access.ts'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import { base } from '../router/location.ts'

/** A project that this server serves, and that who is logged in may see. */
export interface SessionProject {
  readonly key: string
  readonly name: string
  readonly folder: string
}

/** Who a person is in the project that is shown, and what is refused to them there. */
export interface ProjectPermissions {
  readonly person: { readonly id: string; readonly name: string }
  /** Null for who is no member, such as an admin of the server. */
  readonly access: Access | null
  readonly admin: boolean
  /** What the token that they signed in with lets at most; null where it sets no limit. */
  readonly max_access: Access | null
  readonly roles: readonly string[]
  readonly expires_at: string
  /** The operations that they may not call, with the access that each needs. */
  readonly refused: Readonly<Record<string, NeededAccess>>
}

/** Who is logged in, and what is served: `GET /api/session`. */
interface CurrentSession {
  readonly actor: { readonly name: string; readonly kind: string }
  readonly csrf: string | null
  readonly project: string
  readonly projects: readonly SessionProject[]
  readonly version: string
  /** The last log entry that was recorded; null where the record cannot be read. */
  readonly seq: number | null
  /** What a client of agents is told to start. */
  readonly program: string
  /** Clients that left something in the project, the likeliest first. */
  readonly clients: readonly string[]
  /** The recorded day that this server plays; null where it serves projects of people. */
  readonly demo: 'waiting' | 'playing' | 'over' | null
  /** The server is of the user of its machine alone. */
  readonly single_user: boolean
  readonly permissions: ProjectPermissions
}

type SessionResult = CurrentSession | 'unknown person'

const read = signal<{ readonly of: string; readonly known: SessionResult | null }>({ of: '', known: null })

/** Null until it is known of the project that is shown; `'unknown person'` where no one is logged in. */
export const session = computed(() => (read.value.of === base.value ? read.value.known : null))

/** Who is signed in, and what they may. */
export const ownPermissions = computed(() => {
  const known = session.value
  return known === null || known === 'unknown person' ? null : known.permissions
})

/** Whether the server is of the user of its machine alone; false until it is known. */
export const isSingleUser = computed(() => {
  const known = session.value
  return known !== null && known !== 'unknown person' && known.single_user
})

/** Starts the recorded day that waits for it. */
export async function playDemo(): Promise<void> {
  const token = csrf()
  const headers = { 'Content-Type': 'application/json', ...(token !== null && { 'X-Waymark-Csrf': token }) }
  const response = await fetch('/api/demo/play', { method: 'POST', headers, body: '{}' }).catch(
    (error: unknown) => {
      throw new ApiFailure(0, {}, error)
    },
  )
  if (!response.ok) throw await failureOf(response)
  await readSession()
}

/** Why it could not be read; null when it could. */
export const sessionFailure = signal<unknown>(null)

/** Milliseconds after which a session that could not be read is asked for again. */
const patience = 2_000

/** Why nobody is signed in any more; null where nobody was. */
export const signedOut = signal<'left' | 'ended' | null>(null)

export async function readSession(): Promise<void> {
  const of = base.peek()
  const response = await fetch(`${of}/api/session`).catch((error: unknown) => {
    throw new ApiFailure(0, {}, error)
  })
  const failure = response.ok || response.status === 401 ? null : await failureOf(response)
  const known = response.ok ? ((await response.json()) as CurrentSession) : null // the server answers by its contract
  // By then another project may be shown.
  if (of !== base.peek()) return
  if (response.status === 401) {
    if (isSession(read.peek().known)) signedOut.value ??= 'ended'
    read.value = { of, known: 'unknown person' }
    return
  }
  if (known !== null) {
    signedOut.value = null
    sessionFailure.value = null
    read.value = { of, known }
    return
  }
  // A project that one is not let into any more is shown no more.
  if (response.status === 404) read.value = { of, known: null }
  sessionFailure.value = failure
  throw failure
}

function isSession(known: SessionResult | null): known is CurrentSession {
  return known !== null && known !== 'unknown person'
}

/** What a server refused, in its own words. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const said: unknown = await response.json().catch(() => null)
  const hasError = typeof said === 'object' && said !== null && 'error' in said
  const error = hasError ? (said.error as ConstructorParameters<typeof ApiFailure>[1]) : {} // the server's refusals have one shape
  return new ApiFailure(response.status, error)
}

/** Reads the session until it is known. Answers its stop. */
export function waitForSession(): () => void {
  let retry = 0
  let ended = false
  const attempt = async () => {
    try {
      await readSession()
    } catch (error) {
      if (ended) return
      sessionFailure.value = error
      retry = window.setTimeout(() => void attempt(), patience)
    }
  }
  void attempt()
  return () => {
    ended = true
    clearTimeout(retry)
  }
}

/** Ends the login of this browser on the server, and shows how to log in again. */
export async function logOut(): Promise<void> {
  const token = csrf()
  const headers = { ...(token !== null && { 'X-Waymark-Csrf': token }) }
  signedOut.value = 'left'
  await fetch('/api/logout', { method: 'POST', headers }).catch(() => undefined)
  await readSession()
}

/** Why a sign-in elsewhere led to nothing, and where it was begun, as the server wrote it into the page; null else. */
export const signInError = signal(
  readMeta('error') === null ? null : { says: readMeta('error') ?? '', to: readMeta('to') ?? '/' },
)

function readMeta(name: 'error' | 'to'): string | null {
  return document.querySelector<HTMLMetaElement>(`meta[name="waymark-sign-in-${name}"]`)?.content ?? null
}

/** A way to sign in that the server has: `GET /api/sign-in`. */
export type SignInOption =
  | { readonly way: 'address' }
  | { readonly way: 'token'; readonly path: string }
  | { readonly way: 'oidc'; readonly path: string; readonly issuer: string }

export async function readSignInMethods(): Promise<readonly SignInOption[]> {
  const response = await fetch('/api/sign-in').catch((error: unknown) => {
    throw new ApiFailure(0, {}, error)
  })
  if (!response.ok) throw await failureOf(response)
  const { ways } = (await response.json()) as { readonly ways: readonly SignInOption[] } // our own server's
  return ways
}

/** A person's first token, which is shown once. */
export interface FirstToken {
  readonly name: string
  readonly token: string
  readonly expires_at: string
}

/** Exchanges an invitation for a token, once. */
export async function acceptInvitation(invitation: string): Promise<FirstToken> {
  const response = await postJson('/api/invitation', { invitation })
  return (await response.json()) as FirstToken // our own server's
}

/** Begins a session with a person's token. What was shown before is shown again. */
export async function signIn(path: string, token: string): Promise<void> {
  await postJson(path, { token })
  await readSession()
}

async function postJson(path: string, body: object): Promise<Response> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw new ApiFailure(0, {}, error)
  })
  if (!response.ok) throw await failureOf(response)
  return response
}

/** It is of the person, who has the same in every project. Where one may see none, the refusal tells it. */
export function csrf(): string | null {
  const { known } = read.peek()
  if (isSession(known)) return known.csrf
  const failure = sessionFailure.peek()
  const told = known === null && failure instanceof ApiFailure ? failure.details?.['csrf'] : null
  return typeof told === 'string' ? told : null
}

/** What people call the project that is shown. */
export function projectName(): string {
  const known = session.value
  if (known === null || known === 'unknown person') return 'Waymark'
  return known.projects.find(({ key }) => key === known.project)?.name ?? known.project
}

/** Whether who is signed in may call an operation here. */
export function isPermitted(operation: string): boolean {
  return denialReason(operation) === null
}

/** Why who is signed in may not call an operation here, as a sentence; null where they may. */
export function denialReason(operation: string): string | null {
  const known = ownPermissions.value
  const needed = known?.refused[operation]
  if (!known || needed === undefined) return null
  if (known.max_access !== null)
    return `The token that you signed in with lets no more than ${known.max_access}. Sign in with another one.`
  if (needed === 'admin') return 'Only an admin of the server may do this.'
  const has = known.access === null ? 'you are no member of this project' : `you have ${known.access} access`
  return `This needs ${needed} access, and ${has}. An owner of the project can change that.`
}
