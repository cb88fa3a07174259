import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Reads, SideWrite } from '../../store/ports/store.ts'
import type { Token } from '../domain/identity.ts'
import { endedSessions } from './sessions.ts'

interface TokenRevocation {
  readonly events: readonly NewProjectEvent[]
  readonly sideWrites: readonly SideWrite[]
}

/** Revokes tokens, the tokens created with them, and the sessions started with any of these. */
export async function endedTokens(
  reads: Reads,
  tokens: readonly Token[],
  now: number,
): Promise<TokenRevocation> {
  if (tokens.length === 0) return { events: [], sideWrites: [] }
  const derived = await reads.identities.tokensMadeWith(tokens.map(({ id }) => id))
  const all = new Map([...tokens, ...derived].map((token) => [token.id, token]))
  const sessions = await endedSessions(reads, { personId: null, now, tokenIds: [...all.keys()] })
  return {
    events: [
      ...[...all.values()].map(({ id, name }) => ({ kind: 'token.revoked', tokenId: id, name }) as const),
      ...sessions.events,
    ],
    sideWrites: [
      ...[...all.keys()].map((of) => ({ kind: 'secret ended', of }) as const),
      ...sessions.sideWrites,
    ],
  }
}
