import { signal } from '@preact/signals'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import { base } from '../router/location.ts'

/** Who is logged in, and what is served: `GET /api/session`. */
export interface Session {
  readonly actor: { readonly name: string; readonly kind: string }
  readonly csrf: string | null
  readonly project: string
  readonly projects: readonly { readonly key: string; readonly name: string; readonly folder: string }[]
  readonly version: string
  /** What a client of agents is told to start. */
  readonly program: string
  /** Clients that left something in the project, the likeliest first. */
  readonly clients: readonly string[]
}

/** Null until it is known; `'unknown person'` where nobody is logged in. */
export const session = signal<Session | 'unknown person' | null>(null)

export async function readSession(): Promise<void> {
  const response = await fetch(`${base.value}/api/session`)
  if (response.status === 401) {
    session.value = 'unknown person'
    return
  }
  if (!response.ok) throw new ApiFailure(response.status, {})
  session.value = (await response.json()) as Session // the server answers by its contract
}

export function csrf(): string | null {
  const known = session.value
  return known === null || known === 'unknown person' ? null : known.csrf
}

/** What people call the project that is shown. */
export function projectName(): string {
  const known = session.value
  if (known === null || known === 'unknown person') return 'Waymark'
  return known.projects.find(({ key }) => key === known.project)?.name ?? known.project
}
