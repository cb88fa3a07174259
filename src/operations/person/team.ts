import { Failure } from '../../domain/failure.ts'
import type { Setting } from '../../domain/id.ts'
import type { Person } from '../../domain/identity/identity.ts'
import type { Decided, Reads } from '../../ports/store.ts'
import type { Team } from '../../ports/team.ts'
import type { Handling } from '../operation.ts'

/** What lies in a database that is named, as the beginning of a sentence, and what there is without one. */
export interface TeamSubject {
  readonly what: string
  readonly otherwise: string
}

const persons: TeamSubject = { what: 'Persons and their tokens', otherwise: '' }

/** What all projects of a database share. Fails where the project's database is its own, which has nothing of it. */
export function teamOf({ team }: Pick<Handling, 'team'>, { what, otherwise }: TeamSubject = persons): Team {
  if (team) return team
  throw new Failure(
    'REFUSED',
    `${what} are kept in a database that is named for all projects of a server, and none is named here.`,
    {
      hint: [
        'Set WAYMARK_DATABASE to a file or to a postgres:// address, for this command and for waymark serve.',
        otherwise,
      ]
        .filter(Boolean)
        .join(' '),
    },
  )
}

/** Records what happens to persons, tokens and sessions. Never under an idempotency key: an answer may hold a secret. */
export function recordInTeam<Answer>(
  handling: Handling,
  decide: (reads: Reads, setting: Setting) => Promise<Decided<Answer>>,
): Promise<Answer> {
  const { actor, clock, ids } = handling
  const at = clock.now()
  return teamOf(handling).store.record({ actor, at, decide: (reads) => decide(reads, { at, ids }) })
}

/** The person of this id, e-mail address or name. */
export async function findPerson({ identities }: Reads, words: string): Promise<Person> {
  const [person, other] = await identities.personsCalled(words.trim())
  if (person && !other) return person
  if (person && other) {
    throw new Failure('CONFLICT', `${words} may be ${person.id} or ${other.id}.`, {
      hint: 'Name the person by id: waymark person list.',
    })
  }
  throw new Failure('NOT_FOUND', `There is no person "${words}".`, {
    hint: 'Name a person by id, e-mail address or name: waymark member list shows those of this project.',
  })
}
