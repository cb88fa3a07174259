import { join } from 'node:path'
import type { Actor } from '../../domain/actor.ts'
import { EdgeProject } from '../../edge/edge-project.ts'
import { thisEdge } from '../../edge/origins.ts'
import { ServerClient } from '../../edge/server-client.ts'
import type { Context } from '../../operations/operation.ts'
import { openContext } from '../open-context.ts'
import { version } from '../program.ts'
import { confined } from '../serve/projects.ts'
import type { Environment } from '../settings/environment.ts'
import type { EdgePlace } from './connected.ts'

export interface EdgeOpening {
  readonly actor: Actor
  readonly environment: Environment
  readonly workingFolder: string
  readonly project: string | undefined
}

/** Puts the edge of a project together: this machine's own ports, and the server that asks them. */
export function openEdgeProject(place: EdgePlace, opening: EdgeOpening) {
  const context: Context = confined(openContext(opening))
  const edge = thisEdge(place.folder)
  const project = new EdgeProject({
    client: new ServerClient(place.server),
    edge,
    context,
    snapshots: () => join(context.program.stateFolder, 'snapshots'),
    version,
  })
  return { project, context }
}
