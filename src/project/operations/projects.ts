import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { instantOrNull } from '../../kernel/instant.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { type CommandContext, defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import { idOf, Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { Person } from '../../people/domain/identity.ts'
import { serverProject } from '../../people/domain/identity.ts'
import { personField } from '../../people/operations/people.ts'
import { findPerson, recordInTeam, sharedTeamOf, type TeamSubject } from '../../people/operations/team.ts'
import type { ProjectListing } from '../../people/ports/identity-reads.ts'
import type { Reads } from '../../store/ports/store.ts'

const subject: TeamSubject = {
  what: 'Projects that are added by name',
  otherwise: 'Without one, the first record in a folder creates its project: run waymark init there.',
}

const maxNameLength = 40

const nameField = identifier('Name in addresses: lowercase letters, digits and dashes')
const projectField = identifier('The project: name or id')

const ProjectEntry = z.object({
  id: z.string(),
  name: z.string(),
  events: z.int(),
  /** The number of open inbox items. */
  waiting: z.int(),
  open_attempts: z.int(),
  last_event_at: z.string().nullable(),
})

function projectEntry(project: ProjectListing): z.output<typeof ProjectEntry> {
  const { id, name, events, waiting, openAttempts, lastEventAt } = project
  return { id, name, events, waiting, open_attempts: openAttempts, last_event_at: instantOrNull(lastEventAt) }
}

export const projectAdd = defineOperation({
  name: 'project_add',
  command: 'project add',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  ofServer: true,
  title: 'Add a project to the server',
  description:
    'Create an empty project on this server. Connect a folder to it with: waymark connect <url> --project <name>.',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    name: nameField,
    owner: personField.describe('First owner; default: you').optional(),
  }),
  output: z.object({
    id: z.string(),
    name: z.string(),
    /** Null if nobody was named and its creator is no person of the server. */
    owner: Named.nullable(),
  }),
}).handler((context, { name, owner: words }) => {
  sharedTeamOf(context, subject)
  assertUsable(name)
  return recordInTeam(context, async (reads, { ids }) => {
    const projects = await reads.identities.projects()
    assertProjectNameFree(projects, name)
    const owner = await ownerOf(reads, context, words)
    const id = ids.next('project')
    const member = owner && ({ personId: owner.id, access: 'owner', roles: [] } as const)
    const events = member ? [{ kind: 'member.set', member, name: owner.name, before: null } as const] : []
    return {
      events: [{ kind: 'project.named', projectId: id, name, before: null }],
      sideWrites: [{ kind: 'project made', id, name, events }],
      answer: { id, name, owner: owner && { id: owner.id, name: owner.name } },
    }
  })
})

export const projectList = defineOperation({
  name: 'project_list',
  command: 'project list',
  toolset: 'track',
  audience: 'person',
  ofServer: true,
  title: 'List projects',
  description:
    'List the projects that you can see: what needs people, open attempts, and the last log entry.',
  kind: 'query',
  input: z.strictObject(pageFields(1000, 'How many')),
  output: z.object({ projects: list(ProjectEntry), ...page }),
}).handler((context, input) =>
  sharedTeamOf(context, subject).store.view(async (reads) => {
    const [projects, isSeen] = [await reads.identities.projects(), await projectVisibility(reads, context)]
    const visible = projects.filter(({ id }) => isSeen(id))
    const { entries, ...rest } = new Paging('project_list', input, context.actor, 1000).slice(visible, idOf)
    return { projects: entries.map(projectEntry), ...rest }
  }),
)

export const projectRename = defineOperation({
  name: 'project_rename',
  command: 'project rename',
  toolset: 'track',
  audience: 'person',
  access: 'admin',
  ofServer: true,
  title: 'Rename a project',
  description: 'Change the name of a project in its addresses. Connect folders again that used the old name.',
  kind: 'command',
  positional: ['project', 'name'],
  input: z.strictObject({ project: projectField, name: nameField }),
  output: z.object({ id: z.string(), name: z.string(), before: z.string() }),
}).handler((context, { project: words, name }) => {
  sharedTeamOf(context, subject)
  assertUsable(name)
  return recordInTeam(context, async ({ identities }) => {
    const projects = await identities.projects()
    const project = findProject(projects, words)
    const answer = { id: project.id, name, before: project.name }
    if (project.named && project.name === name) return { events: [], answer }
    assertProjectNameFree(
      projects.filter(({ id }) => id !== project.id),
      name,
    )
    const projectId = project.id as ReturnType<typeof context.ids.next<'project'>> // a brand
    return {
      events: [{ kind: 'project.named', projectId, name, before: project.name }],
      sideWrites: [{ kind: 'project renamed', id: project.id, name }],
      answer,
    }
  })
})

/** Fails for a name that is invalid in a URL or reserved. */
function assertUsable(name: string): void {
  if (name === serverProject) {
    throw new Failure('REFUSED', `"${name}" is reserved for people and tokens.`, {
      reason: 'project_name_reserved',
      hint: 'Choose another name.',
    })
  }
  if (name.length > maxNameLength) {
    throw new Failure(
      'INVALID_INPUT',
      `A project's name has at most ${maxNameLength} characters, and "${name.slice(0, 60)}" has ${name.length}.`,
      { reason: 'project_name_too_long' },
    )
  }
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return
  throw new Failure(
    'INVALID_INPUT',
    `"${name}" is not a valid project name: use lowercase letters, digits, and single dashes between them.`,
    { reason: 'project_name_invalid', hint: 'For example: waymark project add site' },
  )
}

function assertProjectNameFree(projects: readonly ProjectListing[], name: string): void {
  const other = projects.find((project) => project.name === name)
  if (!other) return
  throw new Failure('CONFLICT', `There is already a project "${name}": ${other.id}.`, {
    reason: 'project_exists',
    hint: 'Choose another name, or use the existing project.',
  })
}

/** The named person, else the caller; nobody on the command line of the database itself. */
async function ownerOf(
  reads: Reads,
  { permissions }: CommandContext,
  words: string | undefined,
): Promise<Person | null> {
  if (words !== undefined) return findPerson(reads, words)
  return permissions ? reads.identities.person(permissions.personId) : null
}

/** The projects that the caller may see: all for an admin, else their own, or the token's only one. */
async function projectVisibility(
  { identities }: Reads,
  { permissions }: QueryContext,
): Promise<(projectId: string) => boolean> {
  if (!permissions || permissions.admin) return () => true
  const token = permissions.tokenId === null ? null : await identities.token(permissions.tokenId)
  const only = token?.projectId ?? null
  const person = await identities.person(permissions.personId)
  const own = new Set((await identities.memberships(permissions.personId)).map(({ projectId }) => projectId))
  return (id) => (only === null || id === only) && (person?.admin === true || own.has(id))
}

function findProject(projects: readonly ProjectListing[], words: string): ProjectListing {
  const found = projects.find(({ id, name }) => id === words || name === words)
  if (found) return found
  const names = projects.map(({ name }) => name)
  throw new Failure('NOT_FOUND', `There is no project "${words}".${didYouMean(words, names)}`, {
    reason: 'project_not_found',
    hint: names.length === 0 ? 'There is none yet: waymark project add <name>.' : 'waymark project list',
  })
}
