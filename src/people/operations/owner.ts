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

/** The person of a single-user server; added, or renamed to the current user name. */
export async function ownerPerson(
  reads: Reads,
  setting: TransactionContext,
  owner: MachineOwner,
): Promise<OwnerChanges> {
  const name = owner.name()
  const [existing] = await reads.identities.people()
  if (!existing) {
    const person = await newPerson(reads, setting, { name, email: null, admin: true })
    return { person, events: [{ kind: 'person.added', person }] }
  }
  if (existing.name === name) return { person: existing, events: [] }
  const changes = { name }
  return {
    person: { ...existing, ...changes },
    events: [{ kind: 'person.changed', personId: existing.id, name, changes }],
  }
}

const server: Actor = { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' }

/** Long, because programs are configured with these tokens once. */
const ownLifetime = 10 * 365 * 24 * 60 * 60_000

/** The tokens of a single-user server for its own user; replaced if missing or invalid. */
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
      const context = { team, owner, person, setting: { at, ids } }
      const [agent, personal] = [
        await ownToken(reads, 'agent', context),
        await ownToken(reads, 'person', context),
      ]
      return {
        events: [...events, ...agent.events, ...personal.events],
        sideWrites: [...(agent.sideWrites ?? []), ...(personal.sideWrites ?? [])],
        answer: { agent: agent.answer, person: personal.answer },
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
  const stored = parts && (await reads.identities.token(parts.id))
  const secret = stored && (await reads.identities.secret(stored.id))
  const isRight = secret?.hash === team.hashOf(parts?.secret ?? '')
  if (text !== null && stored && isRight && isOwnToken(stored) && tokenErrorOf(stored, setting.at) === null)
    return { events: [], answer: text }
  const others = await reads.identities.tokens({ personId: person.id })
  const earlier = others.flatMap(({ token }) => (token.kind === kind && isOwnToken(token) ? [token] : []))
  const newToken = newOwnToken(kind, person, setting)
  const newParts = { id: newToken.id, secret: team.newSecret() }
  // Inside the transaction: if two servers start together, the file has the token of the record.
  owner.keepToken(kind, writeToken(newParts))
  const ended = await endedTokens(reads, earlier, setting.at)
  return {
    events: [...ended.events, { kind: 'token.created', token: newToken, person: person.name }],
    sideWrites: [
      ...ended.sideWrites,
      { kind: 'secret made', of: newToken.id, hash: team.hashOf(newParts.secret) },
    ],
    answer: writeToken(newParts),
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
