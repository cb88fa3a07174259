import { Failure } from '../../domain/failure.ts'
import type { Asked } from '../../surfaces/cli/run.ts'
import { tell } from '../../surfaces/cli/terminal.ts'
import type { EdgePlace } from './connected.ts'
import { type EdgeOpening, openEdgeProject } from './open-edge.ts'

/** The command line in a project that is kept at a server: it asks there, and looks here. */
export function askServer(place: EdgePlace, opening: EdgeOpening): Asked {
  const { offline, close } = openEdgeProject(place, opening)
  const { actor } = opening
  return {
    ask: async ({ name, kind }, input, { idempotencyKey }) => {
      const calling = {
        operation: name,
        input,
        channel: 'cli' as const,
        // An agent's shell acts as an agent, whoever's token there is.
        as: actor.kind === 'agent' ? ('agent' as const) : ('token' as const),
        ...(actor.kind === 'agent' && { client: actor.name }),
        ...(actor.insideCommand && { inside_command: true }),
        ...(idempotencyKey !== undefined && { key: idempotencyKey }),
      }
      const done = await offline.perform(calling, kind)
      if (done.kind !== 'answer') {
        throw new Failure('INTERNAL', `The server answered ${name} as no operation is answered.`)
      }
      if (done.stale) tell(`As of ${done.stale.as_of}, not now. ${done.stale.reason}\n`)
      for (const notice of done.notices) tell(`${notice}\n`)
      return {
        ...done.answer,
        ...(done.stale && { stale: done.stale }),
        ...(name === 'status' && { edge: offline.standing() }),
      }
    },
    close,
  }
}
