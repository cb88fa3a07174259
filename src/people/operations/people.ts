import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { idPrefixes, type PersonId, type TransactionContext } from '../../kernel/id.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { idOf, Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { ChangeSet, Reads } from '../../store/ports/store.ts'
import type { Person } from '../domain/identity.ts'
import { endedTokens } from './ended-tokens.ts'
import { PersonEntry, personEntry } from './identity-answer.ts'
import { endedSessions } from './sessions.ts'
import { findPerson, recordInSharedTeam, sharedTeamOf } from './team.ts'

export const personField = identifier('The person: id, e-mail address or name')

export const emailField = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'it is not an e-mail address')
  .describe('E-mail address; the first sign-in with it becomes this person')

/** A person's name, which their actions are recorded under. */
export const personNameField = z
  .string()
  .max(200)
  .trim()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._@()'’-]{0,99}$/u,
    "it has up to 100 letters, digits, spaces and ._@()'-, and begins with a letter or digit",
  )

export const personAdd = defineOperation({
  name: 'person_add',
  command: 'person add',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  access: 'admin',
  title: 'Add a person to the server',
  description:
    'Add a person to this server, or an e-mail address to the person of an id. With an address they can sign in with OpenID Connect, and their commits are known; without one, create a token for them.',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    name: personNameField.describe('Name'),
    email: emailField.optional(),
    admin: z.boolean().describe('Make them an admin, who manages projects and people').optional(),
  }),
  output: PersonEntry,
}).handler((handling, { name, email = null, admin = false }) =>
  recordInSharedTeam(handling, async (reads, setting): Promise<ChangeSet<z.output<typeof PersonEntry>>> => {
    const known = email === null || admin ? null : await personForEmail(reads, name)
    if (email !== null && known !== null) {
      await assertFree(reads, [email])
      const users = await reads.identities.tokenUsers()
      return {
        events: [personChanged(known.id, known.name, { email })],
        answer: personEntry({ ...known, email }, users),
      }
    }
    const person = await newPerson(reads, setting, { name, email, admin })
    return { events: [{ kind: 'person.added', person }], answer: personEntry(person, new Set()) }
  }),
)

/** The person of an id who was added without an address and never signed in. Another of the same name gets no rights by it. */
async function personForEmail(reads: Reads, id: string): Promise<Person | null> {
  if (!id.startsWith(`${idPrefixes.person}-`)) return null
  const person = await findPerson(reads, id)
  return person.id === id && takesEmail(person) ? person : null
}

function takesEmail({ email, issuer, disabledAt }: Person): boolean {
  return email === null && issuer === null && disabledAt === null
}

/** A new person. Fails if the name or the address is taken. */
export async function newPerson(
  reads: Reads,
  { at: createdAt, ids }: TransactionContext,
  { name, email, admin }: Pick<Person, 'name' | 'email' | 'admin'>,
): Promise<Person> {
  await assertFree(reads, email === null ? [name] : [name, email])
  const unknown = { issuer: null, subject: null, disabledAt: null }
  return { id: ids.next('person'), name, email, ...unknown, admin, createdAt }
}

/** Fails if somebody has one of the names or addresses. */
async function assertFree({ identities }: Reads, names: readonly string[]): Promise<void> {
  for (const words of names) {
    const [other] = await identities.peopleNamed(words)
    if (!other) continue
    throw new Failure('CONFLICT', `There is already a person ${words}: ${other.id}.`, {
      reason: 'person_exists',
      hint: takesEmail(other)
        ? `Choose another name. To give ${other.name} an address: waymark person add ${other.id} --email <address>`
        : other.disabledAt === null
          ? 'Choose another name, or use the existing person.'
          : `Enable them: waymark person enable ${other.id}`,
    })
  }
}

export const personList = defineOperation({
  name: 'person_list',
  command: 'person list',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  access: 'owner',
  title: 'List people',
  description: 'List the people of this server, oldest first.',
  kind: 'query',
  input: z.strictObject(pageFields(1000, 'How many')),
  output: z.object({ people: list(PersonEntry), ...page }),
}).handler((handling, input) =>
  sharedTeamOf(handling).store.view(async ({ identities }) => {
    const paging = new Paging('person_list', input, handling.actor, 1000)
    const { entries, ...rest } = paging.slice(await identities.people(), idOf)
    const users = await identities.tokenUsers()
    return { people: entries.map((person) => personEntry(person, users)), ...rest }
  }),
)

export const personDisable = defineOperation({
  name: 'person_disable',
  command: 'person disable',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  access: 'admin',
  title: 'Disable a person: reject tokens and sessions',
  description:
    'Disable a person: reject their tokens and sessions on every server, and revoke the tokens that they created for others. Their log entries stay.',
  kind: 'command',
  idempotent: true,
  positional: ['person'],
  input: z.strictObject({ person: personField }),
  output: PersonEntry,
}).handler((handling, input) =>
  recordInSharedTeam(handling, async (reads, { at }) => {
    const person = await findPerson(reads, input.person)
    const users = await reads.identities.tokenUsers()
    if (person.disabledAt !== null) return { events: [], answer: personEntry(person, users) }
    await assertOtherAdmin(reads, person)
    const sessions = await endedSessions(reads, { personId: person.id, now: at })
    // They may still know the secrets of tokens that they created for others.
    const tokens = await endedTokens(reads, await reads.identities.tokensMadeForOthers(person.id), at)
    return {
      events: [
        personChanged(person.id, person.name, { disabledAt: at }),
        ...sessions.events,
        ...tokens.events,
      ],
      sideWrites: [...sessions.sideWrites, ...tokens.sideWrites],
      answer: personEntry({ ...person, disabledAt: at }, users),
    }
  }),
)

export const personEnable = defineOperation({
  name: 'person_enable',
  command: 'person enable',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  access: 'admin',
  title: 'Enable a disabled person',
  description: 'Enable a disabled person. Their tokens work again, except revoked and expired ones.',
  kind: 'command',
  idempotent: true,
  positional: ['person'],
  input: z.strictObject({ person: personField }),
  output: PersonEntry,
}).handler((handling, input) =>
  recordInSharedTeam(handling, async (reads): Promise<ChangeSet<z.output<typeof PersonEntry>>> => {
    const person = await findPerson(reads, input.person)
    const events =
      person.disabledAt === null ? [] : [personChanged(person.id, person.name, { disabledAt: null })]
    const users = await reads.identities.tokenUsers()
    return { events, answer: personEntry({ ...person, disabledAt: null }, users) }
  }),
)

export const personAdmin = defineOperation({
  name: 'person_admin',
  command: 'person admin',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  access: 'admin',
  title: 'Grant or remove admin rights',
  description:
    'Make a person an admin, who manages projects and people, or remove these rights. The last admin cannot be removed.',
  kind: 'command',
  idempotent: true,
  positional: ['person'],
  input: z.strictObject({
    person: personField,
    end: z.boolean().describe('Remove admin rights').optional(),
  }),
  output: PersonEntry,
}).handler((handling, input) =>
  recordInSharedTeam(handling, async (reads): Promise<ChangeSet<z.output<typeof PersonEntry>>> => {
    const person = await findPerson(reads, input.person)
    const admin = input.end !== true
    const users = await reads.identities.tokenUsers()
    if (person.admin === admin) return { events: [], answer: personEntry(person, users) }
    if (person.disabledAt !== null && admin) {
      throw new Failure('CONFLICT', `Cannot make ${person.name} an admin: this person is disabled.`, {
        reason: 'person_disabled',
        hint: `Enable them first: waymark person enable ${person.id}`,
      })
    }
    if (person.disabledAt === null) await assertOtherAdmin(reads, person)
    return {
      events: [personChanged(person.id, person.name, { admin })],
      answer: personEntry({ ...person, admin }, users),
    }
  }),
)

/** There must be another admin, to manage projects and people. */
async function assertOtherAdmin({ identities }: Reads, { id, name, admin }: Person): Promise<void> {
  if (!admin || (await identities.admins()) > 1) return
  throw new Failure('CONFLICT', `The last admin cannot be removed: ${name} (${id}).`, {
    reason: 'last_admin',
    hint: 'Make another person an admin first: waymark person admin <person>',
  })
}

function personChanged(
  personId: PersonId,
  name: string,
  changes: Pick<Person, 'disabledAt'> | Pick<Person, 'admin'> | Pick<Person, 'email'>,
) {
  return { kind: 'person.changed', personId, name, changes } as const
}
