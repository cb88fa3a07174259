import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { Context } from '../../../operations/context.ts'
import type { Operation } from '../../../operations/operation.ts'
import { explained } from '../protocol-error.ts'
import { askIn } from './ask.ts'
import type { Glance } from './glance.ts'
import { listResources, resourceTemplates } from './list-resources.ts'
import { readResource } from './read-resource.ts'

export interface ServingResources {
  readonly catalog: () => Promise<readonly Operation[]>
  readonly contextOf: (request: ServerContext) => Context
  readonly glance: Glance
  readonly log: (line: string) => void
}

/** Lists and reads resources. */
export function serveResources(server: Server, { catalog, contextOf, glance, log }: ServingResources): void {
  server.setRequestHandler('resources/list', ({ params }, request) =>
    explained({ log }, async () => {
      await glance.begin()
      return listResources(params?.cursor, askIn(catalog, contextOf(request)))
    }),
  )
  server.setRequestHandler('resources/templates/list', () => resourceTemplates)
  server.setRequestHandler('resources/read', ({ params: { uri } }, request) =>
    explained({ log, data: { uri } }, () => readResource(uri, askIn(catalog, contextOf(request)))),
  )
}
