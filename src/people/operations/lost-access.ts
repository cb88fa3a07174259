import type { Actor } from '../../kernel/actor.ts'
import type { Reads } from '../../store/ports/store.ts'
import { tokenErrorOf } from '../domain/identity.ts'

/** Why an actor can make no more calls, as `Dan is disabled`; null if it can, and on a server without people. */
export async function lostAccess(
  { identities }: Pick<Reads, 'identities'>,
  { kind, person: personId, token: tokenId }: Actor,
  now: number,
): Promise<string | null> {
  const person = personId === undefined ? null : await identities.person(personId)
  if (person !== null && person.disabledAt !== null) return `${person.name} is disabled`
  if (person !== null && !person.admin && (await identities.member(person.id)) === null)
    return `${person.name} is no member any more`
  // A person continues with another token, an agent cannot.
  const token = kind === 'person' || tokenId === undefined ? null : await identities.token(tokenId)
  const error = token && tokenErrorOf(token, now)
  return error ? `its token ${error === 'revoked' ? 'was revoked' : 'expired'}` : null
}
