import { hash } from 'node:crypto'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { isJsonObject } from '../../kernel/json.ts'
import { firstMistake } from '../../kernel/operations/input/first-mistake.ts'
import { inputSchema, outputSchema } from '../../kernel/operations/input/json-schema.ts'
import { invoke } from '../../kernel/operations/invoke.ts'
import type { Context, RemoteMachine } from '../../kernel/operations/operation.ts'
import { lowerAccess } from '../../people/domain/access.ts'
import {
  addressHeader,
  callLimits,
  contractVersion,
  machineIdOf,
} from '../../remote/operations/protocol-limits.ts'
import { remoteContext } from '../../remote/operations/remote-context.ts'
import { RemoteMeasureRequired } from '../../remote/operations/remote-measurement.ts'
import { RemoteCallRequest } from '../../remote/operations/remote-request.ts'
import { answerPerson } from './api.ts'
import { requireAuth } from './auth/authenticate.ts'
import { bodyLimits, readJson } from './body.ts'
import type { McpPart, RequestContext } from './parts.ts'
import { Refusal } from './refusal.ts'
import type { HttpServingOptions, ServedProject } from './serving.ts'

/**
 * `POST /api/machines/call`: a call from another machine. The server decides; the other machine measures its files first,
 * and repeats the request with the results.
 */
export function createRemoteCallHandler(options: HttpServingOptions, mcp: McpPart) {
  const tracker = new RemoteMachineTracker()
  const operations = new Map(options.catalog.map((operation) => [operation.name, operation]))
  return async (c: RequestContext): Promise<Response> => {
    const { actor } = requireAuth(c.var.caller)
    const request = await readRequest(c, options)
    const project = c.var.project
    const { call: id, folder, measured } = request
    const machine = machineOf(request)
    const context = remoteContext(contextForRequest(project.contextOf(actor), request), {
      machine,
      id,
      folder,
      address: addressOf(c),
      measured,
    })
    tracker.track(project, { request, machine, context: project.contextOf(actor) })
    try {
      return c.json(await perform(request, context))
    } catch (error) {
      if (!(error instanceof RemoteMeasureRequired)) throw error
      return c.json({ measure: error.request, now: context.clock.now() })
    }
  }

  async function perform(request: RemoteCallRequest, context: Context): Promise<object> {
    if (request.tool !== undefined) return mcp.callTool(context, { ...request, tool: request.tool })
    const operation = operations.get(request.operation ?? '')
    if (!operation) {
      throw new Failure('NOT_FOUND', `There is no operation "${request.operation ?? ''}" at this server.`, {
        reason: 'operation_unknown',
        hint: `The server is Waymark ${options.version}.`,
      })
    }
    const callOptions = request.key === undefined ? {} : { idempotencyKey: request.key }
    const answer = invoke(operation, context, request.input ?? {}, callOptions)
    return { answer: await (request.channel === 'cli' ? answerPerson(answer, options.catalog) : answer) }
  }
}

/** The address of the record for its remote machine: never the address of the database. */
function addressOf(c: RequestContext): string {
  const address = c.req.header(addressHeader) ?? ''
  const isAddress = address.length <= 500 && /^https?:\/\/[\w.:[\]-]+(?:\/p\/[a-z0-9-]+)?$/i.test(address)
  if (!isAddress) return `the project ${c.var.project.key} of the server`
  return address.includes('/p/') ? address : `${address}/p/${c.var.project.key}`
}

const heartbeatEveryMs = 10_000

interface RemoteMachineContact {
  readonly request: RemoteCallRequest
  readonly machine: RemoteMachine
  readonly context: Context
}

/**
 * Records when each remote machine last called, at most every ten seconds. The last time is read from the record, because
 * another server may have served the same machine.
 */
class RemoteMachineTracker {
  /** The machines of a project whose contact is being recorded, with a newer contact if there is one. */
  readonly #pending = new WeakMap<ServedProject, Map<string, RemoteMachineContact | null>>()

  track(project: ServedProject, contact: RemoteMachineContact): void {
    const pending = this.#pending.get(project) ?? new Map<string, RemoteMachineContact | null>()
    this.#pending.set(project, pending)
    const { id } = contact.machine
    const isPending = pending.has(id)
    pending.set(id, isPending ? contact : null)
    if (!isPending) void this.#keep(pending, contact)
  }

  async #keep(pending: Map<string, RemoteMachineContact | null>, first: RemoteMachineContact): Promise<void> {
    const { id } = first.machine
    for (
      let contact: RemoteMachineContact | null = first;
      contact !== null;
      contact = pending.get(id) ?? null
    ) {
      pending.set(id, null)
      await recordHeartbeat(contact).catch(() => undefined) // the next call tries again
    }
    pending.delete(id)
  }
}

async function recordHeartbeat({
  request,
  machine,
  context: { store, actor, clock },
}: RemoteMachineContact): Promise<void> {
  const { version } = request
  const at = clock.now()
  const before = await store.view(({ machines }) => machines.byId(machine.id))
  const { trusts_commands: trustsCommands } = request.machine
  const isSame =
    before?.name === machine.name && before.token === actor.name && before.trustsCommands === trustsCommands
  if (isSame && at - before.seenAt < heartbeatEveryMs) return
  const sideWrites = [
    { kind: 'machine seen' as const, ...machine, token: actor.name, version, trustsCommands, at },
  ]
  await store.record({ actor, at, decide: async () => ({ events: [], sideWrites, answer: null }) })
}

/** The token decides actor and permissions; the remote machine's own claims can only reduce them. */
function contextForRequest(context: Context, request: RemoteCallRequest): Context {
  const { caller, channel, client, connection, inside_command: inside } = request
  const { actor, permissions } = context
  // An agent with a person's token has an agent's permissions.
  const isLent = actor.kind === 'person' && (caller === 'agent' || inside === true)
  const clientName = client?.replace(/\s+/g, ' ').trim().slice(0, 100)
  // A token without its own name does not identify its user.
  const name = clientName && (isLent || actor.name === 'agent') ? clientName : actor.name
  const acting: Actor = {
    ...actor,
    name: inside ? 'command of a guard' : name,
    channel,
    ...(connection !== undefined && { connection }),
    ...(isLent && { kind: 'agent', role: null }),
    ...(inside && { role: null, insideCommand: true }),
  }
  if (!permissions || !isLent) return { ...context, actor: acting }
  const { user: _, ...ownStanding } = permissions
  const { access } = permissions
  const lent = {
    admin: false,
    roles: [],
    access: access === null ? null : lowerAccess(access, 'contributor'),
  }
  return { ...context, actor: acting, permissions: { ...ownStanding, ...lent } }
}

function upgradeRequired(version: string): Refusal {
  return new Refusal('UPGRADE_REQUIRED', "The Waymark on your machine is older than the server's.", {
    hint: `Install Waymark ${version} there: npm install -g waymark@${version}`,
    reason: 'machine_outdated',
    details: { version, contract: contractVersion },
    headers: { Upgrade: `waymark/${version}` },
  })
}

async function readRequest(
  c: RequestContext,
  { version }: Pick<HttpServingOptions, 'version'>,
): Promise<RemoteCallRequest> {
  const body = await readJson(c.req.raw, callLimits)
  const contract = isJsonObject(body) ? body['contract'] : undefined
  if (typeof contract === 'number' && contract < contractVersion) throw upgradeRequired(version)
  // Measurements may be large, the input may not.
  const fields = isJsonObject(body) ? Object.keys(body) : []
  const input = isJsonObject(body) ? [body['input'], body['arguments'], body['meta'], body['responses']] : []
  if (fields.length > 100 || valuesIn(input, bodyLimits.maxValues) > bodyLimits.maxValues) {
    throw new Refusal('TOO_LARGE', `The call has more than ${bodyLimits.maxValues} values.`, {
      reason: 'too_many_values',
      hint: 'Send it in several calls.',
    })
  }
  const read = RemoteCallRequest.safeParse(body)
  if (read.success) return read.data
  throw new Failure(
    'INVALID_INPUT',
    `The request of the machine is not understood: ${firstMistake(read.error)}.`,
    { reason: 'machine_request_invalid' },
  )
}

/** Counts values, and stops when there are more than a number of them. */
function valuesIn(value: unknown, maxCount: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const one of Object.values(value)) {
    count += valuesIn(one, maxCount - count)
    if (count > maxCount) break
  }
  return count
}

function machineOf({ machine: { key, name } }: RemoteCallRequest): RemoteMachine {
  return { id: machineIdOf(hash('sha256', key)), name }
}

/** `GET /api/catalog`: all operations of this server, as data. */
export async function catalogAnswer(c: RequestContext, options: HttpServingOptions, mcp: McpPart) {
  const { actor } = requireAuth(c.var.caller)
  return {
    version: options.version,
    contract: contractVersion,
    project: c.var.project.key,
    actor: { name: actor.name, kind: actor.kind },
    tools: await mcp.listTools(c.var.project.contextOf(actor), c.req.query('toolsets') ?? ''),
    operations: options.catalog.map((operation) => ({
      name: operation.name,
      tool: operation.tool ?? null,
      command: operation.command,
      kind: operation.kind,
      audience: operation.audience,
      title: operation.title,
      description: operation.description,
      input: inputSchema(operation),
      output: outputSchema(operation),
    })),
  }
}
