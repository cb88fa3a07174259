import { Failure } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import type { CommandContext, QueryContext } from '../../kernel/operations/operation.ts'
import { joinNames } from '../../kernel/text.ts'
import type { ChangeSet, Reads } from '../../store/ports/store.ts'
import type { CallerPermissions } from '../domain/access.ts'
import { type Person, tokenErrorOf } from '../domain/identity.ts'
import type { TeamReader } from '../ports/team.ts'

/** The subject of a sentence about a shared database, and the alternative without one. */
export interface TeamSubject {
  readonly what: string
  readonly otherwise: string
}

const people: TeamSubject = { what: 'People and their tokens', otherwise: '' }

/** The people of this server: those who share a database, or the user of this machine. */
export function teamOf<Known extends TeamReader>({ team }: { readonly team?: Known }): Known {
  if (team) return team
  throw sharedDatabaseNeeded(people)
}

/** The team of a shared database. Fails on a single-user server, whose projects have their own databases. */
export function sharedTeamOf<Known extends TeamReader>(
  { team }: { readonly team?: Known },
  subject: TeamSubject = people,
): Known {
  if (team?.owner === null) return team
  throw sharedDatabaseNeeded(subject)
}

function sharedDatabaseNeeded({ what, otherwise }: TeamSubject): Failure {
  return new Failure('REFUSED', `${what} need a shared database, and none is set.`, {
    reason: 'named_database_needed',
    hint: [
      'Set WAYMARK_DATABASE to a file or a postgres:// address, for this command and for waymark serve. Or connect this folder to a server: waymark connect <url>.',
      otherwise,
    ]
      .filter(Boolean)
      .join(' '),
  })
}

/** Records changes of people, tokens and sessions. Never under an idempotency key: an answer may hold a secret. */
export function recordInTeam<Answer>(
  handling: CommandContext,
  decide: (reads: Reads, setting: TransactionContext) => Promise<ChangeSet<Answer>>,
): Promise<Answer> {
  const { actor, clock, ids, permissions } = handling
  const now = clock.now()
  return teamOf(handling).store.record({
    actor,
    at: now,
    decide: async (reads) => {
      if (permissions) await assertAdmitted(reads, permissions, now)
      return decide(reads, { at: now, ids })
    },
  })
}

/** The same, only on a team server. */
export function recordInSharedTeam<Answer>(
  handling: CommandContext,
  decide: (reads: Reads, setting: TransactionContext) => Promise<ChangeSet<Answer>>,
): Promise<Answer> {
  sharedTeamOf(handling)
  return recordInTeam(handling, decide)
}

/** Servers cache permissions for seconds, so changes of people and tokens check them again in the transaction. */
async function assertAdmitted(
  { identities }: Reads,
  permissions: CallerPermissions,
  now: number,
): Promise<void> {
  const { personId, tokenId, sessionId } = permissions
  const person = await identities.person(personId)
  const token = tokenId === null ? null : await identities.token(tokenId)
  const session = sessionId === null ? null : await identities.session(sessionId)
  const isOver =
    person === null ||
    person.disabledAt !== null ||
    (tokenId !== null && (token === null || tokenErrorOf(token, now) !== null)) ||
    (sessionId !== null && (session === null || session.endedAt !== null || session.expiresAt <= now))
  if (!isOver) return
  throw new Failure('FORBIDDEN', 'Your token or session has ended. Nothing was changed.', {
    reason: 'token_or_session_ended',
    hint: 'Sign in again, or use another token.',
  })
}

/** The person with this id, e-mail address or name. */
export async function findPerson({ identities }: Reads, words: string): Promise<Person> {
  const [person, other] = await identities.peopleNamed(words.trim())
  if (person && !other) return person
  if (person && other) {
    throw new Failure('CONFLICT', `"${words}" matches ${person.id} and ${other.id}.`, {
      reason: 'person_ambiguous',
      hint: 'Use the id of the person: waymark person list',
    })
  }
  const written = words.trim().toLowerCase()
  const alike = (await identities.people()).find(({ name }) => name.toLowerCase() === written)
  throw new Failure('NOT_FOUND', `There is no person "${words}".`, {
    reason: 'person_not_found',
    hint: alike
      ? `Write the name as it is: ${alike.name}.`
      : 'waymark member list shows the people of this project. An admin can add one: waymark person add <name>',
  })
}

/** The next step of a refusal that only an admin can take, for an admin and for others. */
export async function adminStep(
  { identities }: Reads,
  isAdmin: boolean,
  { step, command }: { readonly step: string; readonly command: string },
): Promise<string> {
  if (isAdmin) return `${step[0]?.toUpperCase()}${step.slice(1)}: ${command}`
  const people = await identities.people()
  const admins = people.flatMap(({ name, admin, disabledAt }) => (admin && disabledAt === null ? [name] : []))
  const some = admins.length === 0 ? 'an admin of the server' : joinNames(admins.slice(0, 3))
  return `Only an admin of the server can ${step}. Ask ${some} to run: ${command}`
}

/** Fails if the folder, or the one that `--project` names, has no project, and lists the existing ones. Creates nothing. */
export async function assertProject(
  { store, team }: Pick<QueryContext, 'store' | 'team'>,
  folder: string | undefined,
): Promise<void> {
  if (
    team?.owner !== null ||
    (await store.view(({ identities }) => Promise.resolve(identities.project))) !== ''
  )
    return
  const where = folder === undefined ? 'This folder' : `The folder ${folder}`
  throw await noProject(team, `${where} has no project in the database.`, folder)
}

/** The project with this name or id. On failure, lists the existing ones. */
export async function findTeamProject(
  team: TeamReader,
  words: string,
): Promise<{ readonly id: string; readonly name: string }> {
  const projects = await projectsOf(team)
  const project = projects.find(({ id, name }) => id === words || name === words)
  if (project) return project
  throw await noProject(
    team,
    `There is no project "${words}".${didYouMean(
      words,
      projects.map(({ name }) => name),
    )}`,
  )
}

/** A project with the name of a folder that is there is chosen by its id. */
async function noProject(team: TeamReader, message: string, folder?: string): Promise<Failure> {
  const projects = await projectsOf(team)
  const names = projects.map(({ name }) => name)
  const same = projects.find(({ name }) => name === folder)
  const choice = same === undefined ? `--project ${names[0]}` : `its id: --project ${same.id}`
  return new Failure(
    'NOT_FOUND',
    `${message} ${names.length === 0 ? 'There is none yet.' : `There are: ${names.join(', ')}.`}`,
    {
      reason: 'project_not_found',
      hint: names.length === 0 ? 'Add one: waymark project add <name>' : `Choose one with ${choice}`,
    },
  )
}

const projectsOf = (team: TeamReader) => team.store.view(({ identities }) => identities.projects())
