import { computed, signal } from '@preact/signals'
import type { Access, NeededAccess } from '../../src/people/domain/access.ts'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import { base } from '../router/location.ts'

/** A project of this server that the person may see. */
export interface SessionProject {
  readonly key: string
  readonly name: string
  readonly folder: string
}

/** The person's permissions in the current project. */
export interface ProjectPermissions {
  readonly person: { readonly id: string; readonly name: string }
  /** Null if the person is not a member. */
  readonly access: Access | null
  readonly admin: boolean
  /** The access limit of the token that they signed in with; null without a limit. */
  readonly max_access: Access | null
  readonly roles: readonly string[]
  readonly expires_at: string
  /** The operations that they may not call, with the access that each needs. */
  readonly refused: Readonly<Record<string, NeededAccess>>
}

/** The person and the projects: `GET /api/session`. */
export interface CurrentSession {
  readonly actor: { readonly name: string; readonly kind: string }
  readonly csrf: string | null
  readonly project: string
  readonly projects: readonly SessionProject[]
  readonly version: string
  /** The last log entry that was recorded; null where the record cannot be read. */
  readonly seq: number | null
  /** The program that a client of agents starts. */
  readonly program: string
  /** The clients with files in the project, the likeliest first. */
  readonly clients: readonly string[]
  /** The clients of this machine that have Waymark in the project. */
  readonly set_up: readonly string[]
  /** `waymark` on the PATH is this program. */
  readonly on_path: boolean
  /** The state of the recorded day that this server plays; null for other servers. */
  readonly demo: 'waiting' | 'playing' | 'over' | null
  /** The server is for the user of its machine only. */
  readonly single_user: boolean
  readonly permissions: ProjectPermissions
}

type SessionResult = CurrentSession | 'unknown person'

const read = signal<{ readonly of: string; readonly current: SessionResult | null }>({
  of: '',
  current: null,
})

/** The session of the current project: null until it is loaded, `'unknown person'` if no one is signed in. */
export const session = computed(() => (read.value.of === base.value ? read.value.current : null))

/** The person and their permissions. */
export const ownPermissions = computed(() => {
  const current = session.value
  return current === null || current === 'unknown person' ? null : current.permissions
})

/** Whether the server is for the user of its machine only; false until the session is loaded. */
export const isSingleUser = computed(() => {
  const current = session.value
  return current !== null && current !== 'unknown person' && current.single_user
})

/** Starts the recorded day. */
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

/** Why the session could not be loaded; null without a failure. */
export const sessionFailure = signal<unknown>(null)

/** The delay before another try to load the session, in milliseconds. */
const retryMs = 2_000

/** Why the person is no longer signed in; null if no one was. */
export const signedOut = signal<'left' | 'ended' | null>(null)

export async function readSession(): Promise<void> {
  const of = base.peek()
  const response = await fetch(`${of}/api/session`).catch((error: unknown) => {
    throw new ApiFailure(0, {}, error)
  })
  const failure = response.ok || response.status === 401 ? null : await failureOf(response)
  const current = response.ok ? ((await response.json()) as CurrentSession) : null // the server answers by its contract
  // Another project may be shown by now.
  if (of !== base.peek()) return
  if (response.status === 401) {
    if (isSession(read.peek().current)) signedOut.value ??= 'ended'
    read.value = { of, current: 'unknown person' }
    return
  }
  if (current !== null) {
    signedOut.value = null
    sessionFailure.value = null
    read.value = { of, current }
    return
  }
  // A project without access is no longer shown.
  if (response.status === 404) read.value = { of, current: null }
  sessionFailure.value = failure
  throw failure
}

function isSession(current: SessionResult | null): current is CurrentSession {
  return current !== null && current !== 'unknown person'
}

/** The failure of a refused request. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const body: unknown = await response.json().catch(() => null)
  const hasError = typeof body === 'object' && body !== null && 'error' in body
  const error = hasError ? (body.error as ConstructorParameters<typeof ApiFailure>[1]) : {} // the server's refusals have one shape
  return new ApiFailure(response.status, error)
}

/** Loads the session until it succeeds. Returns a stop function. */
export function waitForSession(): () => void {
  let retry = 0
  let ended = false
  const attempt = async () => {
    try {
      await readSession()
    } catch (error) {
      if (ended) return
      sessionFailure.value = error
      retry = setTimeout(() => void attempt(), retryMs)
    }
  }
  void attempt()
  return () => {
    ended = true
    clearTimeout(retry)
  }
}

/** Signs this browser out, and shows the sign-in page. */
export async function logOut(): Promise<void> {
  const token = csrf()
  const headers = { ...(token !== null && { 'X-Waymark-Csrf': token }) }
  signedOut.value = 'left'
  await fetch('/api/logout', { method: 'POST', headers }).catch(() => undefined)
  await readSession()
}

/** Why single sign-on failed, and where it began, as the server wrote it into the page; null otherwise. */
export const signInError = signal(
  readMeta('error') === null ? null : { text: readMeta('error') ?? '', to: readMeta('to') ?? '/' },
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

/** Exchanges an invitation for a token. It works once. */
export async function acceptInvitation(invitation: string): Promise<FirstToken> {
  const response = await postJson('/api/invitation', { invitation })
  return (await response.json()) as FirstToken // our own server's
}

/** Signs in with a person's token. */
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

/** The CSRF token of the person, the same in every project. Without a project it is in the refusal. */
export function csrf(): string | null {
  const { current } = read.peek()
  if (isSession(current)) return current.csrf
  const failure = sessionFailure.peek()
  const token = current === null && failure instanceof ApiFailure ? failure.details?.['csrf'] : null
  return typeof token === 'string' ? token : null
}

/** The name of the current project. */
export function projectName(): string {
  const current = session.value
  if (current === null || current === 'unknown person') return 'Waymark'
  return current.projects.find(({ key }) => key === current.project)?.name ?? current.project
}

/** Whether the person may call an operation here. */
export function isPermitted(operation: string): boolean {
  return denialReason(operation) === null
}

/** Why the person may not call an operation here; null if they may. */
export function denialReason(operation: string): string | null {
  const current = ownPermissions.value
  const needed = current?.refused[operation]
  if (!current || needed === undefined) return null
  if (current.max_access !== null)
    return `Your token is limited to ${current.max_access} access. Sign in with another token.`
  if (needed === 'admin') return 'Only an admin of the server can do this.'
  const has =
    current.access === null ? 'you are not a member of this project' : `you have ${current.access} access`
  return `This needs ${needed} access; ${has}. An owner of the project or an admin of the server can change your access.`
}
