import { Failure } from '../../domain/failure.ts'
import type { Asked } from '../../surfaces/cli/run.ts'
import { closeContext } from '../open-context.ts'
import type { EdgePlace } from './connected.ts'
import { type EdgeOpening, openEdgeProject } from './open-edge.ts'

/** The command line in a project that is kept at a server: it asks there, and looks here. */
export function askServer(place: EdgePlace, opening: EdgeOpening): Asked {
  const { project, context } = openEdgeProject(place, opening)
  const { actor } = opening
  return {
    ask: async ({ name }, input, { idempotencyKey }) => {
      const { answer } = await project.perform({
        operation: name,
        input,
        channel: 'cli',
        // An agent's shell acts as an agent, whoever's token there is.
        as: actor.kind === 'agent' ? 'agent' : 'token',
        ...(actor.kind === 'agent' && { client: actor.name }),
        ...(actor.insideCommand && { inside_command: true }),
        ...(idempotencyKey !== undefined && { key: idempotencyKey }),
      })
      if ('answer' in answer) return answer.answer
      throw new Failure('INTERNAL', `The server answered ${name} as no operation is answered.`)
    },
    close: async () => {
      await project.close()
      await closeContext(context)
    },
  }
}
