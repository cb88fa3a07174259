import type { Tool } from '@modelcontextprotocol/server'
import type { Context } from '../../../operations/context.ts'
import { inputSchema, outputSchema } from '../../../operations/input/json-schema.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { Store } from '../../../ports/store.ts'
import type { Surface } from '../surface.ts'
import { calledTool, listedName } from './tool-name.ts'
import { inputOnWire, outputOnWire } from './wire-schema.ts'

type Offering = Pick<Surface, 'catalog' | 'toolsets' | 'readOnly' | 'toolNames'>

/** The tools of one server, in the order of the catalog. */
export interface OfferedTools {
  /** Whether the list of a project can grow: the gate's tools wait for its first process or run. */
  readonly canGrow: boolean
  /** What a project lists now. */
  list(context: Context): Promise<ToolList>
  /** Whether nothing is held back from a project's list any more. Cheap: it is asked after every call. */
  isWhole(context: Context): Promise<boolean>
  /** The operation behind a name that a client calls, if it is offered: also one that is not listed yet. */
  find(name: string): Promise<Operation | undefined>
}

export interface ToolList {
  readonly tools: readonly Tool[]
  readonly isWhole: boolean
}

export function offeredTools({ catalog, toolsets, readOnly, toolNames }: Offering): OfferedTools {
  const sets = toolsets === 'auto' ? null : toolsets
  const offers = async (): Promise<ReadonlyMap<string, Operation>> => {
    const allowed = (await catalog()).filter(
      ({ toolset, kind }) => (sets?.includes(toolset) ?? true) && (!readOnly || kind === 'query'),
    )
    return new Map(allowed.flatMap((operation) => (operation.tool ? [[operation.tool, operation]] : [])))
  }
  // Both made at the first question: a client that waits for `initialize` should not wait for them.
  let offered: Promise<ReadonlyMap<string, Operation>> | null = null
  let listed: readonly Listed[] | null = null
  const gated = new WeakSet<Store>()
  const isWhole = async (context: Context): Promise<boolean> => {
    if (sets !== null || gated.has(context.store)) return true
    if (!(await usesGate(context))) return false
    gated.add(context.store)
    return true
  }
  return {
    canGrow: sets === null,
    list: async (context) => {
      offered ??= offers()
      listed ??= [...(await offered)]
        .filter(([, { unlisted }]) => unlisted !== true)
        .map(([tool, operation]) => ({ operation, tool: definition(listedName(tool, toolNames), operation) }))
      const whole = await isWhole(context)
      const shown = whole ? listed : listed.filter(({ operation }) => operation.toolset !== 'gate')
      return { tools: shown.map(({ tool }) => tool), isWhole: whole }
    },
    isWhole,
    find: async (name) => {
      offered ??= offers()
      return (await offered).get(calledTool(name))
    },
  }
}

interface Listed {
  readonly operation: Operation
  readonly tool: Tool
}

/** A process of its own, or a run: what is shipped with Waymark is not used before somebody begins a run of it. */
async function usesGate({ store, processFiles }: Context): Promise<boolean> {
  try {
    if (await processFiles.hasOwn()) return true
    const runs = await store.view((reads) => reads.runs.list({}, { limit: 1 }))
    return runs.items.length > 0
  } catch {
    return false // a project that cannot be opened says so in each call, and still lists its tools
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
