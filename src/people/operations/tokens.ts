import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { everyProcess, loadedProcess } from '../../gate/operations/process/processes.ts'
import { Failure } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { choice, count, identifier } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { type CommandContext, defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { ProcessSource } from '../../project/ports/project-files.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Access, accesses, type CallerPermissions, hasAccess, lowerAccess } from '../domain/access.ts'
import {
  day,
  type Person,
  serverProject,
  type Token,
  type TokenKind,
  tokenDays,
  tokenKinds,
  writeToken,
} from '../domain/identity.ts'
import type { TokenListing } from '../ports/identity-reads.ts'
import { endedTokens } from './ended-tokens.ts'
import { TokenEntry, tokenEntry } from './identity-answer.ts'
import { ownerPerson } from './owner.ts'
import { newPerson, personField, personNameField } from './people.ts'
import { adminStep, findPerson, recordInTeam, sharedTeamOf, teamOf } from './team.ts'

export const tokenCreate = defineOperation({
  name: 'token_create',
  command: 'token create',
  aliases: ['token add'],
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  access: 'contributor',
  title: 'Create a token',
  description:
    'Create a token for an agent of yours (agent), for yourself (person), or for a machine that reports results (runner). It is shown once. Create the first admin of a server on the command line, with --admin.',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    name: personNameField
      .describe('Name of the token, and of its agent; default: its kind, or its person')
      .optional(),
    kind: choice(tokenKinds, 'Default agent; person with --admin').optional(),
    person: personField.describe('Its owner; default: you. Another person: admins only').optional(),
    role: identifier('Gate role of its holder').optional(),
    access: choice(
      accesses,
      "Limits its access, which is never more than its owner's; default: no limit",
    ).optional(),
    days: count(`Days until it expires; default ${tokenDays.usual}`, tokenDays.most).optional(),
    all_projects: z
      .boolean()
      .describe(
        'Valid for all projects of its owner; default: this project only, except for tokens of kind person and on a single-user server',
      )
      .optional(),
    admin: z
      .boolean()
      .describe('Make its owner an admin of the server, and add the person if new')
      .optional(),
  }),
  output: TokenEntry.extend({
    /** The text of the token, which is not stored. */
    secret: z.string(),
  }),
})
  .measure({ processes: everyProcess })
  .handler(processesOfRole, async (handling, input, { processes = [] }) => {
    const team = teamOf(handling)
    const kind = kindOf(input)
    await assertMayCreateToken(handling, { ...input, kind }, processes)
    const here = await currentProjectId(handling)
    const secret = team.newSecret()
    const { listed, id, at } = await recordInTeam(handling, async (reads, setting) => {
      const { permissions } = handling
      const parent = permissions?.tokenId ? await reads.identities.token(permissions.tokenId) : null
      const all_projects = input.all_projects ?? (team.owner === null ? undefined : true)
      const limits = limitsOf({ ...input, kind, all_projects }, { parent, projectHere: here, at: setting.at })
      const { person, events } = await holderOf(reads, setting, { ...input, handling })
      const token: Token = {
        id: setting.ids.next('token'),
        name: await tokenName(reads, input.name, { kind, person, at: setting.at }),
        kind,
        role: input.role ?? null,
        ...limits,
        personId: person.id,
        createdBy: (permissions?.personId ?? null) as Token['createdBy'], // a brand
        parentId: parent?.id ?? null,
        createdAt: setting.at,
        revokedAt: null,
        revokedBy: null,
      }
      return {
        events: [...events, { kind: 'token.created', token, person: person.name }],
        sideWrites: [{ kind: 'secret made', of: token.id, hash: team.hashOf(secret) }],
        answer: { listed: { token, person, usedAt: null }, id: token.id, at: setting.at },
      }
    })
    return { ...tokenEntry(listed, at), secret: writeToken({ id, secret }) }
  })

interface KindInput {
  readonly kind?: TokenKind | undefined
  readonly role?: string | undefined
  readonly admin?: boolean | undefined
}

function kindOf({ kind, admin }: KindInput): TokenKind {
  return kind ?? (admin ? 'person' : 'agent')
}

/** Loads the processes only to check the role of an agent or a runner. */
function processesOfRole(input: KindInput) {
  return input.role !== undefined && kindOf(input) !== 'person' ? { processes: {} } : {}
}

type TokenLimits = Pick<Token, 'projectId' | 'most' | 'expiresAt'>

/** The limits of a new token: never more than those of the token that creates it. */
export function limitsOf(
  { kind, access, days, all_projects }: Pick<TokenOptions, 'kind' | 'access' | 'days' | 'all_projects'>,
  from: { readonly parent: Token | null; readonly projectHere: string; readonly at: number },
): TokenLimits {
  const { parent, at } = from
  const most = access ?? inheritedAccess(kind, parent)
  if (parent?.most && access && lowerAccess(access, parent.most) !== access) {
    throw tokenLimitFailure(`allows at most ${parent.most}, so it cannot create one for ${access}`)
  }
  if (parent?.projectId && all_projects) {
    throw tokenLimitFailure('is for one project, so it cannot create one for all projects')
  }
  const ofAll = !parent?.projectId && (all_projects ?? kind === 'person')
  const end = at + (days ?? tokenDays.usual) * day
  if (parent && days !== undefined && end > parent.expiresAt) {
    throw tokenLimitFailure(`ends at ${instant(parent.expiresAt)}, so it cannot create one that lasts longer`)
  }
  return {
    projectId: ofAll ? null : (parent?.projectId ?? thisProject(from.projectHere)),
    ...(most && { most }),
    expiresAt: parent ? Math.min(end, parent.expiresAt) : end,
  }
}

function tokenLimitFailure(what: string): Failure {
  return new Failure('FORBIDDEN', `Your token ${what}.`, {
    reason: 'token_limit',
    hint: 'Use a token without this limit, or sign in yourself. waymark whoami shows its limits.',
  })
}

/** A limited token creates tokens with the same limit. */
function inheritedAccess(kind: TokenKind, parent: Token | null): Access | undefined {
  if (!parent?.most) return undefined
  return kind === 'person' ? parent.most : lowerAccess(parent.most, 'contributor')
}

interface TokenOptions {
  readonly kind: TokenKind
  readonly person?: string | undefined
  readonly role?: string | undefined
  readonly access?: Access | undefined
  readonly days?: number | undefined
  readonly all_projects?: boolean | undefined
  readonly admin?: boolean | undefined
}

/** Access to the database needs no permissions: the command line has none. */
async function assertMayCreateToken(
  handling: CommandContext,
  making: TokenOptions,
  processes: readonly ProcessSource[],
): Promise<void> {
  const { kind, person, role, all_projects, admin } = making
  const { permissions } = handling
  assertConsistentToken(making)
  if (role !== undefined && kind !== 'person') await assertRoleOfAgents(handling, role, processes)
  if (!permissions) return
  const { personName: name } = permissions
  if (admin && !permissions.admin)
    throw forbiddenFailure('admin_needed', `Only an admin can make admins. ${name} is not an admin.`)
  if (person !== undefined && person !== permissions.personId && person !== name && !permissions.admin) {
    throw forbiddenFailure(
      'token_for_other_person',
      `Only ${person} or an admin can create a token of ${person}.`,
    )
  }
  if (kind === 'runner' && !hasAccess(permissions, 'owner')) {
    throw forbiddenFailure(
      'access_too_low',
      `Only an owner can create a runner token, because its results count as evidence. ${name} is not an owner.`,
    )
  }
  if (kind === 'runner' && all_projects && !permissions.admin) {
    throw forbiddenFailure(
      'admin_needed',
      `Only an admin can create a runner token for all projects. ${name} is not an admin.`,
    )
  }
  if (kind === 'person' && role !== undefined && !permissions.admin && !permissions.roles.includes(role)) {
    throw forbiddenFailure(
      'gate_role_missing',
      `${name} does not have the gate role "${role}" in this project.`,
    )
  }
}

/** Refuses a limit that has no effect, or that contradicts another field. */
function assertConsistentToken({ kind, access, admin }: TokenOptions): void {
  if (access === undefined) return
  if (admin) {
    throw new Failure('INVALID_INPUT', `A token limited to ${access} cannot make an admin.`, {
      reason: 'access_with_admin',
      hint: 'Omit --access or --admin.',
    })
  }
  if (kind === 'person' || access === lowerAccess(access, 'contributor')) return
  const holder = kind === 'agent' ? 'An agent' : 'A runner'
  throw new Failure(
    'INVALID_INPUT',
    `${holder} decides nothing: its token allows at most contributor, not ${access}.`,
    {
      reason: 'access_too_high',
      hint: 'Use --access viewer or --access contributor (the default).',
    },
  )
}

function forbiddenFailure(reason: string, message: string): Failure {
  return new Failure('FORBIDDEN', message, { reason, hint: 'waymark whoami shows your access.' })
}

/** Refuses a role that a process reserves for people. */
async function assertRoleOfAgents(
  { processFiles }: CommandContext,
  role: string,
  sources: readonly ProcessSource[],
): Promise<void> {
  const processes = await Promise.all(sources.map((source) => loadedProcess(processFiles, source)))
  const process = processes.find(({ definition }) =>
    definition?.roles.some(({ name, kind }) => name === role && kind === 'human'),
  )
  if (!process) return
  throw new Failure(
    'FORBIDDEN',
    `The role "${role}" is for people in process ${process.definition?.id}. No agent or runner can have it.`,
    { reason: 'role_for_people', hint: 'Create a token of kind person, or choose a role for agents.' },
  )
}

function thisProject(id: string): string {
  if (id !== '' && id !== serverProject) return id
  throw new Failure('REFUSED', 'This folder has no project, and a token needs one.', {
    reason: 'project_missing',
    hint: 'Choose one with --project <name> (waymark project list), or use --all-projects.',
  })
}

/** The owner of a new token; the first admin is added with their token. */
async function holderOf(
  reads: Reads,
  setting: TransactionContext,
  {
    person: words,
    admin,
    handling,
  }: Pick<TokenOptions, 'person' | 'admin'> & { readonly handling: CommandContext },
): Promise<{ readonly person: Person; readonly events: readonly NewProjectEvent[] }> {
  const { permissions, team } = handling
  if (admin) sharedTeamOf(handling)
  if (team?.owner && words === undefined) return ownerPerson(reads, setting, team.owner)
  const name = words ?? permissions?.personId
  if (name === undefined) {
    throw new Failure('INVALID_INPUT', 'The token needs an owner.', {
      reason: 'owner_missing',
      hint: admin
        ? 'Name the admin: waymark token create --admin --person <name>'
        : 'waymark token create <name> --person <person>; the first admin: waymark token create --admin --person <name>',
    })
  }
  const sameName = await reads.identities.peopleNamed(name)
  if (sameName.length === 0 && admin) {
    const person = await newPerson(reads, setting, { name, email: null, admin: true })
    return { person, events: [{ kind: 'person.added', person }] }
  }
  const person = await findPerson(reads, name)
  if (person.disabledAt !== null) {
    throw new Failure('CONFLICT', `${person.name} is disabled.`, {
      reason: 'person_disabled',
      hint: await adminStep(reads, permissions?.admin ?? true, {
        step: 'enable them',
        command: `waymark person enable ${person.id}`,
      }),
    })
  }
  if (!admin || person.admin) return { person, events: [] }
  const changed = { personId: person.id, name: person.name, changes: { admin: true } }
  return { person: { ...person, admin: true }, events: [{ kind: 'person.changed', ...changed }] }
}

/** A person's valid tokens have different names: a name that was not chosen gets a number. */
async function tokenName(
  { identities }: Reads,
  chosen: string | undefined,
  { kind, person, at }: { readonly kind: TokenKind; readonly person: Person; readonly at: number },
): Promise<string> {
  const tokens = await identities.tokens({ personId: person.id })
  const valid = tokens.filter(({ token }) => token.expiresAt > at)
  const holderOfName = (name: string) => valid.find(({ token }) => token.name === name)
  if (chosen === undefined) {
    const usual = kind === 'person' ? person.name : kind
    for (let count = 2, name = usual; ; name = `${usual}-${count++}`) if (!holderOfName(name)) return name
  }
  const existing = holderOfName(chosen)
  if (!existing) return chosen
  throw new Failure('CONFLICT', `${person.name} already has a token "${chosen}".`, {
    reason: 'token_exists',
    hint: `Choose another name, or revoke it: waymark token revoke ${existing.token.id}`,
  })
}

export const tokenList = defineOperation({
  name: 'token_list',
  command: 'token list',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  title: 'List tokens',
  description:
    'List your tokens. With --all, an owner sees those for this project, an admin those of everybody. Secrets are never shown.',
  kind: 'query',
  input: z.strictObject({
    all: z.boolean().describe('Also those of other people; owners and admins only').optional(),
    revoked: z.boolean().describe('Also revoked ones').optional(),
    ...pageFields(1000, 'How many'),
  }),
  output: z.object({ tokens: list(TokenEntry), ...page }),
}).handler(async (handling, input) => {
  const { all, revoked = false } = input
  const { permissions, clock } = handling
  if (all && permissions && !permissions.admin && !hasAccess(permissions, 'owner')) {
    throw forbiddenFailure(
      'access_too_low',
      `Only owners can see tokens of other people. ${permissions.personName} is not an owner.`,
    )
  }
  const everybody = all ?? !permissions
  const here = await currentProjectId(handling)
  return teamOf(handling).store.view(async ({ identities }) => {
    const filter = everybody || !permissions ? {} : { personId: permissions.personId }
    const tokens = await identities.tokens({ ...filter, revoked })
    const visibleTokens = tokens.filter((listed) => isVisible(listed, permissions, here))
    const paging = new Paging('token_list', input, handling.actor, 1000)
    const { entries, ...rest } = paging.slice(visibleTokens, ({ token }) => token.id)
    return { tokens: entries.map((listed) => tokenEntry(listed, clock.now())), ...rest }
  })
})

function isVisible(
  { token }: TokenListing,
  permissions: CallerPermissions | undefined,
  here: string,
): boolean {
  return !permissions || canRevokeToken(token, permissions, here)
}

/** Callers may revoke their own tokens, owners those for the project, admins all. */
function canRevokeToken(token: Token, permissions: CallerPermissions, here: string): boolean {
  if (permissions.admin || token.personId === permissions.personId) return true
  return hasAccess(permissions, 'owner') && token.projectId === here && here !== ''
}

export const tokenRevoke = defineOperation({
  name: 'token_revoke',
  command: 'token revoke',
  aliases: ['token remove'],
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  // Everyone may revoke their own tokens.
  access: 'viewer',
  title: 'Revoke a token',
  description:
    'Revoke a token, and those that were made with it, on every server within five seconds. Sessions that were started with them end.',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['token'],
  input: z.strictObject({
    token: identifier('Its id, or its name'),
    dry_run: z.boolean().describe('Only list what would be revoked').optional(),
  }),
  output: TokenEntry.extend({
    /** Tokens that were made with it, also by invitations, and are revoked with it. */
    also: list(z.object({ id: z.string(), name: z.string(), person: z.string() })),
    dry_run: z.literal(true).optional(),
  }),
}).handler(async (handling, input) => {
  const { permissions } = handling
  const here = await currentProjectId(handling)
  return recordInTeam(handling, async (reads, { at: revokedAt }) => {
    const ownToken = permissions?.tokenId ? await reads.identities.token(permissions.tokenId) : null
    const all = await reads.identities.tokens({ revoked: true })
    const mine = all.filter(
      ({ token }) =>
        !permissions ||
        (canRevokeToken(token, permissions, here) && isWithinOwnLimits(token, ownToken, permissions, here)),
    )
    const listing = findToken(mine, input.token)
    const { token } = listing
    if (token.revokedAt !== null)
      return { events: [], answer: { ...tokenEntry(listing, revokedAt), also: [] } }
    const ended = await endedTokens(reads, [token], revokedAt)
    const names = new Map(all.map((one) => [one.token.id as string, one.person.name]))
    const also = ended.events.flatMap((event) =>
      event.kind === 'token.revoked' && event.tokenId !== token.id
        ? [{ id: event.tokenId, name: event.name, person: names.get(event.tokenId) ?? '' }]
        : [],
    )
    if (input.dry_run)
      return { events: [], answer: { ...tokenEntry(listing, revokedAt), also, dry_run: true } }
    const revoked = { ...token, revokedAt, revokedBy: handling.actor.name }
    return {
      ...ended,
      answer: { ...tokenEntry({ ...listing, token: revoked }, revokedAt), also },
    }
  })
})

/** A limited token may revoke itself, those of the project as an owner, and those of its person with no higher limit. */
function isWithinOwnLimits(
  token: Token,
  ownToken: Token | null,
  permissions: CallerPermissions,
  here: string,
): boolean {
  if (ownToken === null || token.id === ownToken.id) return true
  if (hasAccess(permissions, 'owner') && token.projectId === here && here !== '') return true
  const isOfProject = ownToken.projectId === null || token.projectId === ownToken.projectId
  if (ownToken.most === undefined) return isOfProject
  const access = token.most ?? (token.kind === 'person' ? null : 'contributor')
  return isOfProject && access !== null && lowerAccess(access, ownToken.most) === access
}

function findToken(tokens: readonly TokenListing[], words: string): TokenListing {
  const byId = tokens.find(({ token }) => token.id === words)
  const sameName = tokens.filter(({ token }) => token.name === words)
  const valid = sameName.filter(({ token }) => token.revokedAt === null)
  const [match, other] = byId ? [byId] : valid.length > 0 ? valid : sameName
  if (match && !other) return match
  if (match && other) {
    throw new Failure('CONFLICT', `There is more than one token "${words}".`, {
      reason: 'token_ambiguous',
      hint: `Use an id: ${valid.map(({ token }) => token.id).join(', ')}`,
    })
  }
  throw new Failure('NOT_FOUND', `There is no token "${words}" that you can revoke.`, {
    reason: 'token_not_found',
    hint: 'waymark token list shows them.',
  })
}

/** The caller's project; empty in a folder without one, where tokens for all projects can be created. */
async function currentProjectId({ store }: Pick<QueryContext, 'store'>): Promise<string> {
  try {
    return await store.view(({ identities }) => Promise.resolve(identities.project))
  } catch (error) {
    if (error instanceof Failure && error.reason === 'no_project_chosen') return ''
    throw error
  }
}
