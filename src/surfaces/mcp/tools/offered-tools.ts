import type { Tool } from '@modelcontextprotocol/server'
import { inputSchema, outputSchema } from '../../../operations/input/json-schema.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { Surface } from '../surface.ts'
import { calledTool, listedName } from './tool-name.ts'
import { inputOnWire, outputOnWire } from './wire-schema.ts'

/** The tools of one server: fixed at its start, listed in the order of the catalog. */
export interface OfferedTools {
  list(): readonly Tool[]
  /** The operation behind a name that a client calls, if it is offered. */
  find(name: string): Operation | undefined
}

export function offeredTools({ catalog, toolsets, readOnly, toolNames }: Surface): OfferedTools {
  const offered = new Map<string, Operation>()
  for (const operation of catalog) {
    if (operation.tool === undefined || !toolsets.includes(operation.toolset)) continue
    if (readOnly && operation.kind !== 'query') continue
    offered.set(operation.tool, operation)
  }
  let listed: readonly Tool[] | null = null
  return {
    // Made at the first question: a schema takes time that a client waiting for `initialize` should not wait.
    list: () => {
      listed ??= [...offered].map(([tool, operation]) => definition(listedName(tool, toolNames), operation))
      return listed
    },
    find: (name) => offered.get(calledTool(name)),
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
