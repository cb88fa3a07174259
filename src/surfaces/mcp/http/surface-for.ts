import type { Surface } from '../surface.ts'
import { actorOver, type Caller } from './caller.ts'
import type { Serving } from './project.ts'

/** The surface as one caller sees it over one connection. */
export function surfaceFor({ options, project }: Serving, caller: Caller, connection: string): Surface {
  const { catalog, toolsets, readOnly, toolNames, version, log } = options
  return {
    catalog,
    contextOf: (client) => project.contextOf(actorOver(caller, client, connection)),
    toolsets,
    readOnly,
    toolNames,
    version,
    log,
  }
}
