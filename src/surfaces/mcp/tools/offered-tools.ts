import type { Tool } from '@modelcontextprotocol/server'
import { inputSchema, outputSchema } from '../../../operations/input/json-schema.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { Surface } from '../surface.ts'
import { calledTool, listedName } from './tool-name.ts'
import { inputOnWire, outputOnWire } from './wire-schema.ts'

type Offering = Pick<Surface, 'catalog' | 'toolsets' | 'readOnly' | 'toolNames'>

/** The tools of one server: fixed at its start, listed in the order of the catalog. */
export interface OfferedTools {
  list(): Promise<readonly Tool[]>
  /** The operation behind a name that a client calls, if it is offered. */
  find(name: string): Promise<Operation | undefined>
}

export function offeredTools({ catalog, toolsets, readOnly, toolNames }: Offering): OfferedTools {
  const offers = async (): Promise<ReadonlyMap<string, Operation>> => {
    const allowed = (await catalog()).filter(
      ({ toolset, kind }) => toolsets.includes(toolset) && (!readOnly || kind === 'query'),
    )
    return new Map(allowed.flatMap((operation) => (operation.tool ? [[operation.tool, operation]] : [])))
  }
  // Both made at the first question: a client that waits for `initialize` should not wait for them.
  let offered: Promise<ReadonlyMap<string, Operation>> | null = null
  let listed: readonly Tool[] | null = null
  return {
    list: async () => {
      offered ??= offers()
      listed ??= [...(await offered)]
        .filter(([, { unlisted }]) => unlisted !== true)
        .map(([tool, operation]) => definition(listedName(tool, toolNames), operation))
      return listed
    },
    find: async (name) => {
      offered ??= offers()
      return (await offered).get(calledTool(name))
    },
  }
}

function definition(name: string, operation: Operation): Tool {
  const { title, description, kind } = operation
  return {
    name,
    title,
    description,
    inputSchema: { ...inputOnWire(inputSchema(operation)), type: 'object' },
    outputSchema: { ...outputOnWire(outputSchema(operation)), type: 'object' },
    annotations: {
      readOnlyHint: kind === 'query',
      destructiveHint: operation.destructive ?? false,
      idempotentHint: kind === 'query' || (operation.idempotent ?? false),
      openWorldHint: false,
    },
  }
}
