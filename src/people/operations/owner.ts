import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { IdSource, TransactionContext } from '../../kernel/id.ts'
import type { ChangeSet, Reads } from '../../store/ports/store.ts'
import {
  isOwnToken,
  type Person,
  readToken,
  type Token,
  tokenErrorOf,
  writeToken,
} from '../domain/identity.ts'
import type { MachineOwner, OwnTokenKind, Team } from '../ports/team.ts'
import { endedTokens } from './ended-tokens.ts'
import { newPerson } from './people.ts'

interface OwnerChanges {
  readonly person: Person
  readonly events: readonly NewProjectEvent[]
}

/** The one person of a single-user server, under the name they have now; added where there is none yet. */
export async function ownerPerson(
  reads: Reads,
  setting: TransactionContext,
  owner: MachineOwner,
): Promise<OwnerChanges> {
  const name = owner.name()
  const [known] = await reads.identities.people()
  if (!known) {
    const person = await newPerson(reads, setting, { name, email: null, admin: true })
    return { person, events: [{ kind: 'person.added', person }] }
  }
  if (known.name === name) return { person: known, events: [] }
  const changes = { name }
  return {
    person: { ...known, ...changes },
    events: [{ kind: 'person.changed', personId: known.id, name, changes }],
  }
}

const server: Actor = { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' }

/** In milliseconds: programs are configured by these tokens once. */
const ownLifetime = 10 * 365 * 24 * 60 * 60_000

/** The tokens that a single-user server makes for its own user; made anew where one is gone, or lets nobody in any more. */
export function keepOwnTokens(
  team: Team,
  owner: MachineOwner,
  { at, ids }: { readonly at: number; readonly ids: IdSource },
): Promise<Readonly<Record<OwnTokenKind, string>>> {
  return team.store.record({
    actor: server,
    at,
    decide: async (reads) => {
      const { person, events } = await ownerPerson(reads, { at, ids }, owner)
      const kept = { team, owner, person, setting: { at, ids } }
      const [agent, own] = [await ownToken(reads, 'agent', kept), await ownToken(reads, 'person', kept)]
      return {
        events: [...events, ...agent.events, ...own.events],
        beside: [...(agent.beside ?? []), ...(own.beside ?? [])],
        answer: { agent: agent.answer, person: own.answer },
      }
    },
  })
}

interface OwnTokenSetting {
  readonly team: Team
  readonly owner: MachineOwner
  readonly person: Person
  readonly setting: TransactionContext
}

async function ownToken(
  reads: Reads,
  kind: OwnTokenKind,
  { team, owner, person, setting }: OwnTokenSetting,
): Promise<ChangeSet<string>> {
  const text = owner.readToken(kind)
  const parts = text === null ? null : readToken(text)
  const known = parts && (await reads.identities.token(parts.id))
  const secret = known && (await reads.identities.secret(known.id))
  const isRight = secret?.hash === team.hashOf(parts?.secret ?? '')
  if (text !== null && known && isRight && isOwnToken(known) && tokenErrorOf(known, setting.at) === null)
    return { events: [], answer: text }
  const others = await reads.identities.tokens({ personId: person.id })
  const before = others.flatMap(({ token }) => (token.kind === kind && isOwnToken(token) ? [token] : []))
  const made = newOwnToken(kind, person, setting)
  const own = { id: made.id, secret: team.newSecret() }
  // Inside the transaction: of two servers that start together, the file is of the one that the record knows.
  owner.keepToken(kind, writeToken(own))
  const ended = await endedTokens(reads, before, setting.at)
  return {
    events: [...ended.events, { kind: 'token.created', token: made, person: person.name }],
    beside: [...ended.beside, { kind: 'secret made', of: made.id, hash: team.hashOf(own.secret) }],
    answer: writeToken(own),
  }
}

function newOwnToken(kind: OwnTokenKind, person: Person, { at: createdAt, ids }: TransactionContext): Token {
  return {
    id: ids.next('token'),
    name: kind,
    kind,
    projectId: null,
    role: null,
    personId: person.id,
    createdBy: person.id,
    parentId: null,
    createdAt,
    expiresAt: createdAt + ownLifetime,
    revokedAt: null,
    revokedBy: null,
  }
}
