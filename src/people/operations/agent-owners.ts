import type { Actor } from '../../kernel/actor.ts'
import type { Reads } from '../../store/ports/store.ts'

export type NameBehind = (actor: Actor | null | undefined) => string | null

/** Names the person behind an agent; null for a person, and on a server without people. */
export async function peopleBehind(
  { identities }: Pick<Reads, 'identities'>,
  actors: Iterable<Actor | null | undefined>,
): Promise<NameBehind> {
  const isKnown = [...actors].some((actor) => personOf(actor) !== null)
  const people = isKnown ? await identities.people() : []
  const names = new Map(people.map(({ id, name }) => [String(id), name]))
  return (actor) => names.get(personOf(actor) ?? '') ?? null
}

function personOf(actor: Actor | null | undefined): string | null {
  return actor?.kind === 'agent' ? (actor.person ?? null) : null
}
