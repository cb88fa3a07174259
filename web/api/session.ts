import { computed, signal } from '@preact/signals'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import { base } from '../router/location.ts'

/** Who is logged in, and what is served: `GET /api/session`. */
interface Session {
  readonly actor: { readonly name: string; readonly kind: string }
  readonly csrf: string | null
  readonly project: string
  readonly projects: readonly { readonly key: string; readonly name: string; readonly folder: string }[]
  readonly version: string
  /** The last fact that was recorded; null where the record cannot be read. */
  readonly seq: number | null
  /** What a client of agents is told to start. */
  readonly program: string
  /** Clients that left something in the project, the likeliest first. */
  readonly clients: readonly string[]
}

type Known = Session | 'unknown person'

const read = signal<{ readonly of: string; readonly known: Known | null }>({ of: '', known: null })

/** Null until it is known of the project that is shown; `'unknown person'` where no one is logged in. */
export const session = computed(() => (read.value.of === base.value ? read.value.known : null))

/** Why it could not be read; null when it could. */
export const sessionFailure = signal<unknown>(null)

/** Milliseconds after which a session that could not be read is asked for again. */
const patience = 2_000

export async function readSession(): Promise<void> {
  const of = base.peek()
  const response = await fetch(`${of}/api/session`).catch((error: unknown) => {
    throw new ApiFailure(0, {}, error)
  })
  if (!response.ok && response.status !== 401) throw new ApiFailure(response.status, {})
  const known = response.status === 401 ? 'unknown person' : ((await response.json()) as Session) // the server answers by its contract
  // By then another project may be shown.
  if (of === base.peek()) read.value = { of, known }
}

/** Reads the session until it is known. Answers its stop. */
export function untilSession(): () => void {
  let retry = 0
  let ended = false
  const attempt = async () => {
    try {
      await readSession()
      if (!ended) sessionFailure.value = null
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

/** Ends the login of this browser, and shows how to log in again. */
export async function logOut(): Promise<void> {
  const token = csrf()
  const headers = { ...(token !== null && { 'X-Waymark-Csrf': token }) }
  await fetch('/api/logout', { method: 'POST', headers }).catch(() => undefined)
  await readSession()
}

/** It is of the person, who has the same in every project. */
export function csrf(): string | null {
  const { known } = read.peek()
  return known === null || known === 'unknown person' ? null : known.csrf
}

/** What people call the project that is shown. */
export function projectName(): string {
  const known = session.value
  if (known === null || known === 'unknown person') return 'Waymark'
  return known.projects.find(({ key }) => key === known.project)?.name ?? known.project
}
