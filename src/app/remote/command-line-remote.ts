import { z } from 'zod'
import type { FollowableStore } from '../../events/operations/follow.ts'
import { Failure } from '../../kernel/failure.ts'
import { parseInput } from '../../kernel/operations/input/parse-input.ts'
import type { Answer } from '../../kernel/operations/operation.ts'
import { day } from '../../people/domain/identity.ts'
import { type Check, captureChecks } from '../../project/operations/doctor.ts'
import { baseOf } from '../../remote/machine/known-servers.ts'
import { remoteEventLog } from '../../remote/machine/remote-log.ts'
import { ServerRefusal } from '../../remote/machine/server-client.ts'
import type { ServerInvoker } from '../../surfaces/cli/run.ts'
import { version } from '../program.ts'
import { type OpenRemoteOptions, openRemoteProject } from './open-remote.ts'
import type { RemoteProjectLocation } from './remote-project-location.ts'

const Session = z.object({
  version: z.string(),
  actor: z.object({ name: z.string(), kind: z.string() }),
  permissions: z.object({ expires_at: z.string() }).nullable().optional(),
})

interface ConnectionChecks {
  readonly isThere: boolean
  readonly checks: readonly Check[]
}

const soon = 7 * day

/** Checks of this machine's connection: the server, the token's expiry, the waiting hook events. */
async function connectionChecks({
  client,
  captureHealth,
}: Pick<ReturnType<typeof openRemoteProject>, 'client' | 'captureHealth'>): Promise<ConnectionChecks> {
  const address = baseOf(client.server)
  const waits = captureChecks({ ...(captureHealth && { captureHealth }) })
  try {
    const began = performance.now()
    const session = Session.parse(await client.get('/api/session'))
    const took = Math.round(performance.now() - began)
    const versions =
      session.version === version ? `Waymark ${version}` : `Waymark ${session.version} there, ${version} here`
    const connection = {
      check: 'connection',
      ok: true,
      finding: `${address} answers in ${took} ms; ${versions}`,
    }
    return { isThere: true, checks: [connection, tokenCheck(session), ...waits] }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const finding = [`${address}: ${error.message}`, error instanceof ServerRefusal ? error.hint : '']
      .join(' ')
      .trim()
    return { isThere: false, checks: [{ check: 'connection', ok: false, finding }, ...waits] }
  }
}

function tokenCheck({ actor, permissions }: z.output<typeof Session>): Check {
  const who = `of ${actor.name} (${actor.kind})`
  if (!permissions) return { check: 'token', ok: true, finding: `${who}, valid until it is revoked` }
  const isSoon = Date.parse(permissions.expires_at) - Date.now() < soon
  const renewal = isSoon
    ? '; create another one (waymark token create) and use it: waymark connect <url> --new-token'
    : ''
  return { check: 'token', ok: !isSoon, finding: `${who}, valid until ${permissions.expires_at}${renewal}` }
}

function addMachineChecks(answer: Answer, before: readonly Check[]): Answer {
  const checks = Array.isArray(answer['checks']) ? answer['checks'] : []
  return {
    healthy: answer['healthy'] === true && before.every(({ ok }) => ok),
    checks: [...before, ...checks],
  }
}

/** The command line for a project at a server: calls go there, files are read here. */
export function askServer(
  place: RemoteProjectLocation,
  opening: OpenRemoteOptions,
): ServerInvoker & { readonly log: FollowableStore } {
  const { calls, client, captureHealth, close } = openRemoteProject(place, opening)
  const { actor } = opening
  return {
    address: baseOf(place.server),
    ask: async (operation, input, { idempotencyKey }) => {
      // A wrong input is refused here, because the sentence of a server names the fields of tools.
      parseInput(operation, input)
      const { name } = operation
      const callInput = {
        operation: name,
        input,
        channel: 'cli' as const,
        // An agent's shell acts as an agent, even with a person's token.
        caller: actor.kind === 'agent' ? ('agent' as const) : ('token' as const),
        ...(actor.kind === 'agent' && { client: actor.name }),
        ...(actor.insideCommand && { inside_command: true }),
        ...(idempotencyKey !== undefined && { key: idempotencyKey }),
      }
      const connection = name === 'doctor' ? await connectionChecks({ client, captureHealth }) : null
      if (connection && !connection.isThere) return { healthy: false, checks: connection.checks }
      const outcome = await calls.perform(callInput)
      if (outcome.kind !== 'answer') {
        throw new Failure('INTERNAL', `Cannot read the answer of the server to ${name}.`, {
          reason: 'server_answer_invalid',
        })
      }
      return {
        ...outcome.answer,
        ...(connection && addMachineChecks(outcome.answer, connection.checks)),
      }
    },
    close,
    log: remoteEventLog(client),
  }
}
