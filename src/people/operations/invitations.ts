import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Access, accesses, lowerAccess } from '../domain/access.ts'
import {
  day,
  type Member,
  membershipOf,
  type Person,
  type Token,
  tokenErrorOf,
  writeInvitation,
  writeToken,
} from '../domain/identity.ts'
import type { Team } from '../ports/team.ts'
import { endedTokens } from './ended-tokens.ts'
import { personField } from './people.ts'
import { adminStep, findPerson, recordInTeam, sharedTeamOf } from './team.ts'
import { limitsOf } from './tokens.ts'

export const invitationCreate = defineOperation({
  name: 'invitation_create',
  command: 'invitation create',
  ofMembers: true,
  toolset: 'track',
  audience: 'person',
  access: 'owner',
  title: 'Create a one-time invitation',
  description:
    'Create a one-time invitation for a member who never signed in, for servers without single sign-on. Send it to them: within 24 hours they sign in with it, on the dashboard or with `waymark connect`, and get a token for this project. It is shown once, and replaces an earlier one.',
  kind: 'command',
  positional: ['person'],
  input: z.strictObject({ person: personField }),
  output: z.object({
    id: z.string(),
    person: Named,
    /** The project's name in addresses. */
    project: z.string(),
    /** The person's access to the project. */
    access: z.enum(accesses),
    expires_at: z.string(),
    /** The text of the invitation, which is not stored. */
    invitation: z.string(),
  }),
}).handler(async (handling, { person: words }) => {
  const team = sharedTeamOf(handling)
  const { permissions } = handling
  const { projectId, project } = await handling.store.view(async ({ identities }) => {
    const projects = await identities.projects()
    const name = projects.find(({ id }) => id === identities.project)?.name ?? identities.project
    return { projectId: identities.project, project: name }
  })
  const secret = team.newSecret()
  const { token, person, access } = await recordInTeam(handling, async (reads, { at: createdAt, ids }) => {
    const invited = await findPerson(reads, words)
    const parent = permissions?.tokenId ? await reads.identities.token(permissions.tokenId) : null
    const createdBy = (permissions?.personId ?? null) as Token['createdBy'] // a brand
    const isAdmin = permissions?.admin ?? true
    const member = await assertMayInvite(reads, invited, { projectId, createdBy, parent, isAdmin })
    const limits = limitsOf({ kind: 'person' }, { parent, projectHere: projectId, at: createdAt })
    const newToken: Token = {
      id: ids.next('token'),
      name: 'invitation',
      kind: 'invitation',
      role: null,
      ...limits,
      projectId,
      expiresAt: Math.min(limits.expiresAt, createdAt + day),
      personId: invited.id,
      createdBy,
      parentId: parent?.id ?? null,
      createdAt,
      revokedAt: null,
      revokedBy: null,
    }
    const ended = await endedTokens(reads, await openInvitations(reads, invited), createdAt)
    return {
      events: [...ended.events, { kind: 'token.created', token: newToken, person: invited.name }],
      sideWrites: [...ended.sideWrites, { kind: 'secret made', of: newToken.id, hash: team.hashOf(secret) }],
      answer: { token: newToken, person: invited, access: member.access },
    }
  })
  return {
    id: token.id,
    person: { id: person.id, name: person.name },
    project,
    access,
    expires_at: instant(token.expiresAt),
    invitation: writeInvitation({ id: token.id, secret }),
  }
})

interface NewInvitation {
  readonly person: Person
  readonly token: Token
  /** The text of the token, which is not stored. */
  readonly secret: string
}

/** Creates the first token of an invited person. An invitation works once, even with concurrent requests. */
export async function acceptInvitation(
  team: Team,
  id: Token['id'],
  { at: createdAt, ids }: TransactionContext,
  person: Person,
): Promise<NewInvitation> {
  const secret = team.newSecret()
  const accepted = await team.store.record({
    actor: {
      name: person.name,
      kind: 'person',
      role: null,
      channel: 'http',
      identity: `person:${person.id}`,
      person: person.id,
      token: id,
    },
    at: createdAt,
    decide: async (reads) => {
      const invitation = await reads.identities.token(id)
      const invited = invitation && (await reads.identities.person(invitation.personId))
      if (!invited || invitation.kind !== 'invitation' || tokenErrorOf(invitation, createdAt) !== null)
        throw invitationEndedFailure()
      const { projectId, createdBy, parentId } = invitation
      const parent = parentId === null ? null : await reads.identities.token(parentId)
      if (projectId === null || (parent && tokenErrorOf(parent, createdAt) !== null))
        throw invitationEndedFailure()
      await assertMayInvite(reads, invited, { projectId, createdBy, parent, isAdmin: false })
      // Without a limit below the inviter's, so that it permits what the person's access becomes.
      const token: Token = {
        ...invitation,
        ...limitsOf(
          { kind: 'person', access: invitation.most },
          { parent, projectHere: projectId, at: createdAt },
        ),
        id: ids.next('token'),
        name: invited.name,
        kind: 'person',
        projectId,
        createdAt,
      }
      const lost = await reads.identities.tokens({ personId: invited.id })
      const used = await endedTokens(
        reads,
        lost.map((one) => one.token),
        createdAt,
      )
      return {
        events: [...used.events, { kind: 'token.created', token, person: invited.name }],
        sideWrites: [...used.sideWrites, { kind: 'secret made', of: token.id, hash: team.hashOf(secret) }],
        answer: { person: invited, token },
      }
    },
  })
  return { ...accepted, secret: writeToken({ id: accepted.token.id, secret }) }
}

async function openInvitations({ identities }: Reads, { id }: Person): Promise<readonly Token[]> {
  const tokens = await identities.tokens({ personId: id })
  return tokens.flatMap(({ token }) => (token.kind === 'invitation' ? [token] : []))
}

interface Inviter {
  readonly projectId: string
  /** Null for a caller with direct access to the database. */
  readonly createdBy: Person['id'] | null
  /** The token that they act with. */
  readonly parent: Token | null
  /** Whether a refusal is read by someone who may do what an admin may. */
  readonly isAdmin: boolean
}

/**
 * Checked when the invitation is created and when it is used. An inviter must not get a way to act as a person who can
 * already sign in, or who has access that the inviter cannot grant.
 */
async function assertMayInvite(reads: Reads, invited: Person, inviter: Inviter): Promise<Member> {
  const { name, id } = invited
  const byAdmin = (step: string, command: string) => adminStep(reads, inviter.isAdmin, { step, command })
  const byToken = () =>
    byAdmin('create a token for them', `waymark token create --kind person --person ${id}`)
  if (invited.admin) {
    throw new Failure('FORBIDDEN', `${name} is an admin of the server. Invitations are for members.`, {
      reason: 'invited_is_admin',
      hint: await byToken(),
    })
  }
  const memberships = await reads.identities.memberships(id)
  const member = memberships.find(({ projectId }) => projectId === inviter.projectId)?.member
  if (!member) {
    throw new Failure('NOT_FOUND', `${name} is not a member of this project.`, {
      reason: 'member_not_found',
      hint: `Add them: waymark member add ${id}`,
    })
  }
  if (invited.disabledAt !== null) {
    throw new Failure('CONFLICT', `${name} is disabled.`, {
      reason: 'person_disabled',
      hint: await byAdmin('enable them', `waymark person enable ${id}`),
    })
  }
  if (await hasSignedIn(reads, invited, inviter)) {
    throw new Failure('CONFLICT', `${name} has signed in before, or has a token.`, {
      reason: 'invited_signed_in',
      hint: await byToken(),
    })
  }
  const mayIn = await accessOf(reads, inviter)
  if (mayIn(inviter.projectId) !== 'owner') throw inviterTooLow(name)
  const others = memberships.map(({ projectId }) => projectId).filter((one) => one !== inviter.projectId)
  if (!others.every((project) => canDecide(mayIn(project)))) {
    throw new Failure(
      'FORBIDDEN',
      `${name} is also a member of a project that their inviter does not maintain.`,
      {
        reason: 'invited_elsewhere',
        hint: await byToken(),
      },
    )
  }
  return member
}

const canDecide = (access: Access | null) => access === 'maintainer' || access === 'owner'

/** An unused token by the same inviter was lost on its way. */
async function hasSignedIn(
  { identities }: Reads,
  { id, issuer }: Person,
  { createdBy }: Inviter,
): Promise<boolean> {
  if (issuer !== null) return true
  const tokens = await identities.tokens({ personId: id, revoked: true })
  return tokens.some(({ token: { kind, revokedAt, ...token }, usedAt }) => {
    const isLost = revokedAt === null && usedAt === null && token.createdBy === createdBy
    return kind !== 'invitation' && !isLost
  })
}

/** An inviter's access in each project, with the token that they act with. */
async function accessOf(
  { identities }: Reads,
  { createdBy, parent }: Inviter,
): Promise<(projectId: string) => Access | null> {
  if (createdBy === null) return () => 'owner'
  const person = await identities.person(createdBy)
  if (!person || person.disabledAt !== null) return () => null
  const memberships = new Map(
    (await identities.memberships(createdBy)).map(({ projectId, member }) => [projectId, member]),
  )
  return (projectId) => {
    if (parent?.projectId && parent.projectId !== projectId) return null
    const access = membershipOf(person, memberships.get(projectId) ?? null)?.access ?? null
    return access && lowerAccess(access, parent?.most ?? access)
  }
}

function inviterTooLow(name: string): Failure {
  return new Failure('FORBIDDEN', `The person who invited ${name} is no longer an owner of this project.`, {
    reason: 'inviter_access_too_low',
    hint: 'Ask an owner of the project for a new invitation: waymark invitation create <person>',
  })
}

function invitationEndedFailure(): Failure {
  return new Failure(
    'CONFLICT',
    'This invitation was used, replaced or revoked, or is older than 24 hours.',
    {
      reason: 'invitation_ended',
      hint: 'Ask an owner of the project for a new one: waymark invitation create <person>',
    },
  )
}
