import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { choice } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Access, accesses, lowerAccess } from '../domain/access.ts'
import { type Member, membershipOf, type Person, tokenErrorOf } from '../domain/identity.ts'
import { MemberEntry, memberEntry } from './identity-answer.ts'
import { emailField, newPerson, personField, personNameField } from './people.ts'
import { findPerson, recordInTeam, sharedTeamOf } from './team.ts'

const accessField = choice(
  accesses,
  'viewer: reads; contributor: works; maintainer: also approves and plans; owner: also manages members',
)
const rolesField = z
  .array(
    z
      .string()
      .max(100)
      .regex(/^[\w.-]+$/, 'a role is one word'),
  )
  .max(20)
  .describe('Gate roles, such as reviewer')

export const memberAdd = defineOperation({
  name: 'member_add',
  command: 'member add',
  ofMembers: true,
  toolset: 'track',
  audience: 'person',
  access: 'owner',
  title: 'Add a person to the project',
  description: 'Give a person of this server access to this project.',
  kind: 'command',
  positional: ['person', 'access'],
  input: z.strictObject({
    person: personField,
    access: accessField.default('contributor'),
    roles: rolesField.default([]),
  }),
  output: MemberEntry,
}).handler((handling, { person, access, roles }) => {
  sharedTeamOf(handling)
  return handling.record(async (reads) => {
    const added = await findPerson(reads, person)
    const before = await reads.identities.member(added.id)
    if (before) {
      throw new Failure('CONFLICT', `${added.name} is a member already: ${before.access}.`, {
        reason: 'member_exists',
        hint: `Change their access: waymark member set ${added.id} --access ${access}`,
      })
    }
    return memberSet(reads, added, { member: { personId: added.id, access, roles }, before: null })
  })
})

export const memberInvite = defineOperation({
  name: 'member_invite',
  command: 'member invite',
  ofMembers: true,
  toolset: 'track',
  audience: 'person',
  access: 'owner',
  title: 'Invite a person by e-mail address',
  description:
    'Add a member by e-mail address: they join when they first sign in with OpenID Connect. Nothing is sent; give them the address of the server. Without single sign-on, use `waymark invitation create`.',
  kind: 'command',
  idempotent: true,
  positional: ['email', 'access'],
  input: z.strictObject({
    email: emailField,
    name: personNameField.describe('Name; default: the part before the @').optional(),
    access: accessField.default('contributor'),
    roles: rolesField.default([]),
  }),
  output: MemberEntry,
}).handler(async (handling, { email, name, access, roles }) => {
  const person = await findOrInvitePerson(handling, email, name)
  return handling.record(async (reads) => {
    const before = await reads.identities.member(person.id)
    const member = { personId: person.id, access, roles }
    return memberSet(reads, person, { member, before: before?.access ?? null })
  })
})

/** The person with an address, added if there is none yet. */
function findOrInvitePerson(
  handling: CommandContext,
  email: string,
  name: string | undefined,
): Promise<Person> {
  return recordInTeam(handling, async (reads, setting) => {
    const [answer] = await reads.identities.peopleNamed(email)
    if (answer) return { events: [], answer }
    const called = name ?? email.slice(0, email.indexOf('@'))
    const [taken] = name === undefined ? await reads.identities.peopleNamed(called) : []
    const person = await newPerson(reads, setting, { name: taken ? email : called, email, admin: false })
    return { events: [{ kind: 'person.added', person }], answer: person }
  })
}

export const memberChange = defineOperation({
  name: 'member_set',
  command: 'member set',
  ofMembers: true,
  toolset: 'track',
  audience: 'person',
  access: 'owner',
  title: "Change a member's access or gate roles",
  description: 'Change access or gate roles, on every server within five seconds.',
  kind: 'command',
  idempotent: true,
  positional: ['person', 'access'],
  input: z.strictObject({
    person: personField,
    access: accessField.optional(),
    roles: rolesField.optional(),
  }),
  output: MemberEntry.extend({
    /** Why more access has no effect yet: the person's only tokens for this project permit less. */
    limited_tokens: list(Named.extend({ access: z.enum(accesses) })),
  }),
}).handler((handling, { person, access, roles }) => {
  sharedTeamOf(handling)
  return handling.record(async (reads, { at }) => {
    const { found, member, recorded } = await findMember(reads, person)
    const after = { ...member, ...(access && { access }), ...(roles && { roles }) }
    if (after.access !== 'owner') await assertOtherOwner(reads, found, recorded)
    const { events, answer } = await memberSet(reads, found, {
      member: after,
      before: recorded?.access ?? null,
      previous: member,
    })
    const isRaised = lowerAccess(after.access, member.access) !== after.access
    return {
      events,
      answer: { ...answer, limited_tokens: isRaised ? await limitedTokens(reads, found, after, at) : [] },
    }
  })
})

/** The tokens of a person who cannot use their access with any of them, nor by single sign-on. */
async function limitedTokens({ identities }: Reads, { id, issuer }: Person, { access }: Member, at: number) {
  const tokens = (await identities.tokens({ personId: id })).flatMap(({ token }) => {
    const isHere = token.projectId === null || token.projectId === identities.project
    return token.kind === 'person' && isHere && tokenErrorOf(token, at) === null ? [token] : []
  })
  const limited = tokens.flatMap(({ id: token, name, most = access }) =>
    lowerAccess(access, most) === access ? [] : [{ id: token, name, access: most }],
  )
  return issuer === null && limited.length === tokens.length ? limited : []
}

export const memberRemove = defineOperation({
  name: 'member_remove',
  command: 'member remove',
  ofMembers: true,
  toolset: 'track',
  audience: 'person',
  access: 'owner',
  title: 'Remove a member from the project',
  description: 'Remove a person’s access to this project. Their log entries stay.',
  kind: 'command',
  destructive: true,
  positional: ['person'],
  input: z.strictObject({ person: personField }),
  output: z.object({ removed: z.string() }),
}).handler((handling, { person }) => {
  sharedTeamOf(handling)
  return handling.record(async (reads) => {
    const { found, recorded } = await findMember(reads, person)
    if (recorded === null) {
      throw new Failure(
        'CONFLICT',
        `${found.name} is an admin of the server, who has access to every project.`,
        {
          reason: 'member_is_admin',
          hint: `Remove these rights: waymark person admin ${found.id} --end`,
        },
      )
    }
    await assertOtherOwner(reads, found, recorded)
    return {
      events: [{ kind: 'member.removed', personId: found.id, name: found.name }],
      answer: { removed: found.name },
    }
  })
})

export const memberList = defineOperation({
  name: 'member_list',
  command: 'member list',
  ofMembers: true,
  toolset: 'track',
  audience: 'person',
  title: 'List members',
  description: 'List who has access to this project, with the admins of the server.',
  kind: 'query',
  input: z.strictObject(pageFields(1000, 'How many')),
  output: z.object({ members: list(MemberEntry), ...page }),
}).handler((handling, input) => {
  sharedTeamOf(handling)
  return handling.store.view(async ({ identities }) => {
    const paging = new Paging('member_list', input, handling.actor, 1000)
    const { entries, ...rest } = paging.slice(await identities.members(), ({ person }) => person.id)
    const users = await identities.tokenUsers()
    return { members: entries.map((listing) => memberEntry(listing, users)), ...rest }
  })
})

async function memberSet(
  { identities }: Reads,
  person: Person,
  {
    member,
    before,
    previous,
  }: { readonly member: Member; readonly before: Access | null; readonly previous?: Member },
) {
  const isSame =
    previous?.access === member.access && JSON.stringify(previous.roles) === JSON.stringify(member.roles)
  return {
    events: isSame ? [] : [{ kind: 'member.set', member, name: person.name, before } as const],
    answer: memberEntry({ member, person }, await identities.tokenUsers()),
  }
}

async function findMember(
  reads: Reads,
  person: string,
): Promise<{
  readonly found: Person
  readonly member: Member
  /** Null for an admin of the server who was never added. */
  readonly recorded: Member | null
}> {
  const found = await findPerson(reads, person)
  const recorded = await reads.identities.member(found.id)
  const member = recorded ?? membershipOf(found, null)
  if (member) return { found, member, recorded }
  throw new Failure('NOT_FOUND', `${found.name} is not a member of this project.`, {
    reason: 'member_not_found',
    hint: `Add them: waymark member add ${found.id}`,
  })
}

async function assertOtherOwner(
  { identities }: Reads,
  { name }: Person,
  recorded: Member | null,
): Promise<void> {
  if (recorded?.access !== 'owner' || (await identities.owners()) > 1) return
  throw new Failure('CONFLICT', `${name} is the only owner of this project.`, {
    reason: 'last_owner',
    hint: 'Make another member an owner first: waymark member set <person> --access owner',
  })
}
