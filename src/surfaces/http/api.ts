import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { withCommandHints } from '../../kernel/operations/hints.ts'
import { invoke } from '../../kernel/operations/invoke.ts'
import { accessOf, type Operation } from '../../kernel/operations/operation.ts'
import {
  type CallerPermissions,
  hasAccess,
  isReadOnlyAccess,
  type NeededAccess,
} from '../../people/domain/access.ts'
import { status, Work } from '../../project/operations/status.ts'
import { requireAuth } from './auth/authenticate.ts'
import { bodyLimits, readJson } from './body.ts'
import type { RequestContext } from './parts.ts'
import { Refusal } from './refusal.ts'
import type { HttpServingOptions, ServedProject } from './serving.ts'
import { answerOrStream } from './streamed-answer.ts'

/** `POST /api/<operation>`: calls an operation, like every surface. */
export function callOperation(options: HttpServingOptions) {
  const { catalog } = options
  const operations = new Map(catalog.map((operation) => [operation.name, operation]))
  return async (c: RequestContext): Promise<Response> => {
    const { actor } = requireAuth(c.var.caller)
    const name = c.req.param('operation') ?? ''
    const operation = operations.get(name)
    if (!operation) throw unknownOperation(name, [...operations.keys()])
    if (c.req.method !== 'POST') throw wrongMethod(c.req.method, name)
    const input = await readJson(c.req.raw, bodyLimits)
    const idempotencyKey = c.req.header('idempotency-key')
    const callOptions = idempotencyKey === undefined ? {} : { idempotencyKey }
    const context = c.var.project.contextOf(actor)
    const answer = answerOrStream((writeText) =>
      invoke(operation, context, input, { ...callOptions, writeText }),
    )
    // This server serves changed projects at once, other servers within two seconds.
    if (operation.ofServer && operation.kind === 'command') await answer.then(() => options.refresh())
    const sent = await (actor.channel === 'dashboard' ? answerPerson(answer, catalog) : answer)
    if (!(sent instanceof ReadableStream)) return c.json(sent)
    return c.body(sent, 200, { 'Content-Type': 'application/json' })
  }
}

/** People use no tools: a refusal names the command instead. */
export async function answerPerson<Sent>(
  answer: Promise<Sent>,
  catalog: readonly Operation[],
): Promise<Sent> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof Failure ? withCommandHints(error, catalog) : error
  }
}

function unknownOperation(name: string, names: readonly string[]): Failure {
  return new Failure(
    'NOT_FOUND',
    `There is no operation "${name.slice(0, 100)}".${didYouMean(name, names)}`,
    { reason: 'operation_unknown', hint: 'GET /api/openapi.json describes all of them.' },
  )
}

function wrongMethod(method: string, name: string): Refusal {
  return new Refusal('METHOD_NOT_ALLOWED', `${name} is called with POST, not with ${method}.`, {
    reason: 'method_not_allowed',
    hint: `POST /api/${name} with a JSON object as body.`,
    headers: { Allow: 'POST' },
  })
}

/** `GET /api/session`: the caller, and the data that a page needs first. */
export async function sessionAnswer(c: RequestContext, options: HttpServingOptions) {
  const { actor, csrf } = requireAuth(c.var.caller)
  const { store, permissions, team } = c.var.project.contextOf(actor)
  const { name, kind, role, channel } = actor
  const isSingleUser = team?.owner !== null
  return {
    actor: { name, kind, role, channel },
    csrf,
    // A single-user server.
    single_user: isSingleUser,
    permissions: permissions
      ? {
          person: { id: permissions.personId, name: permissions.personName },
          access: permissions.access,
          admin: permissions.admin,
          // The limit of the token that they signed in with; null without a limit.
          max_access: permissions.most ?? null,
          roles: permissions.roles,
          session_id: permissions.sessionId,
          expires_at: instant(permissions.expiresAt),
          refused: deniedOperations(permissions, options.catalog),
        }
      : null,
    // Empty if there is none yet.
    project: c.var.project === options.own ? '' : c.var.project.key,
    projects: listServedProjects(c.var.seen),
    version: options.version,
    // A page that follows the live feed from here misses no change.
    seq: await store.view(({ eventLog: log }) => log.head()).catch(() => null),
    program: options.program,
    clients: c.var.project.clients(),
    ...(isSingleUser ? await c.var.project.setup() : { set_up: [], on_path: false }),
    demo: options.demo?.state() ?? null,
  }
}

/** `POST /api/demo/play`: a person starts the recorded day. */
export function answerPlayDemo(c: RequestContext, { demo }: HttpServingOptions): Response {
  const { actor } = requireAuth(c.var.caller)
  if (!demo) {
    throw new Failure('NOT_FOUND', 'This server plays no recorded day.', {
      reason: 'page_not_found',
      hint: 'Run waymark demo in a terminal.',
    })
  }
  if (actor.kind !== 'person') {
    throw new Failure('FORBIDDEN', `Only a person starts the recorded day, and ${actor.name} is an agent.`, {
      reason: 'person_needed',
    })
  }
  demo.play()
  return c.json({ demo: demo.state() })
}

/** The operations that a caller may not use, with the access that each needs: a page hides them. */
function deniedOperations(
  permissions: CallerPermissions,
  catalog: readonly Operation[],
): Readonly<Record<string, NeededAccess>> {
  const refused = catalog.filter(
    (operation) =>
      isReadOnlyAccess(permissions, operation.kind) || !hasAccess(permissions, accessOf(operation)),
  )
  return Object.fromEntries(refused.map((operation) => [operation.name, accessOf(operation)]))
}

/** `GET /api/projects`. */
export function listServedProjects({ projects }: { readonly projects: readonly ServedProject[] }) {
  return projects.map(listedProject)
}

function listedProject({ key, name, folder }: ServedProject) {
  return { key, name, folder }
}

/** The maximum of projects that are read at once. */
const abreast = 4

/** `GET /api/projects/work`: the open inbox items and active agents of each visible project. */
export async function projectsAtWork(c: RequestContext) {
  const { actor } = requireAuth(c.var.caller)
  const { projects } = c.var.seen
  const summaries: object[] = []
  const left = projects.entries()
  const readInTurn = async () => {
    for (const [at, project] of left)
      summaries[at] = { ...listedProject(project), ...(await projectWork(project, actor)) }
  }
  await Promise.all(Array.from({ length: abreast }, readInTurn))
  return { projects: summaries }
}

/** A project that cannot be read does not hide the others. */
async function projectWork(project: ServedProject, actor: Actor) {
  try {
    return { work: Work.parse(await invoke(status, project.contextOf(actor), {})), failure: null }
  } catch (error) {
    if (error instanceof Failure) return { work: null, failure: error.message }
    throw error
  }
}
