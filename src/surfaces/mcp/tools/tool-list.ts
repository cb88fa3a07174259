import type { Server, Tool } from '@modelcontextprotocol/server'
import { inputSchema, type JsonSchema, outputSchema } from '../../../kernel/operations/input/json-schema.ts'
import type { Context, Operation } from '../../../kernel/operations/operation.ts'
import type { Store } from '../../../store/ports/store.ts'
import type { ResourceWatch } from '../resources/subscriptions.ts'
import type { Surface, ToolNames } from '../surface.ts'

type ToolListOptions = Pick<Surface, 'catalog' | 'toolsets' | 'readOnly' | 'toolNames'>

/** The tools of one server, in the order of the catalog. */
export interface OfferedTools {
  /** Whether a project's list can grow: the gate's tools appear with its first process or run. */
  readonly canGrow: boolean
  /** All tools, including hidden ones. */
  all(): Promise<readonly Tool[]>
  /** The current list of a project. */
  list(context: Context): Promise<ToolList>
  /** Whether a project's list is complete. Cheap: called after every call. */
  isWhole(context: Context): Promise<boolean>
  /** The operation of a called name, if it is offered, even before it is listed. */
  find(name: string): Promise<Operation | undefined>
}

export interface ToolList {
  readonly tools: readonly Tool[]
  readonly isWhole: boolean
}

export function offeredTools({ catalog, toolsets, readOnly, toolNames }: ToolListOptions): OfferedTools {
  const sets = toolsets === 'auto' ? null : toolsets
  const offers = async (): Promise<ReadonlyMap<string, Operation>> => {
    const allowed = (await catalog()).filter(
      ({ toolset, kind }) => (sets?.includes(toolset) ?? true) && (!readOnly || kind === 'query'),
    )
    return new Map(allowed.flatMap((operation) => (operation.tool ? [[operation.tool, operation]] : [])))
  }
  // Both are made on first use, so that `initialize` does not wait for them.
  let offered: Promise<ReadonlyMap<string, Operation>> | null = null
  let listed: readonly ListedTool[] | null = null
  const listing = async (): Promise<readonly ListedTool[]> => {
    offered ??= offers()
    listed ??= [...(await offered)]
      .filter(([, { unlisted }]) => unlisted !== true)
      .map(([tool, operation]) => ({ operation, tool: definition(listedName(tool, toolNames), operation) }))
    return listed
  }
  const gated = new WeakSet<Store>()
  const isWhole = async (context: Context): Promise<boolean> => {
    if (sets !== null || gated.has(context.store)) return true
    if (!(await usesGate(context))) return false
    gated.add(context.store)
    return true
  }
  return {
    canGrow: sets === null,
    all: async () => (await listing()).map(({ tool }) => tool),
    list: async (context) => {
      const all = await listing()
      const whole = await isWhole(context)
      const visible = whole ? all : all.filter(({ operation }) => operation.toolset !== 'gate')
      return { tools: visible.map(({ tool }) => tool), isWhole: whole }
    },
    isWhole,
    find: async (name) => {
      offered ??= offers()
      return (await offered).get(calledTool(name))
    },
  }
}

interface ListedTool {
  readonly operation: Operation
  readonly tool: Tool
}

/** Whether a project has its own process or a run; shipped processes alone do not count. */
async function usesGate({ store, processFiles }: Context): Promise<boolean> {
  try {
    if (await processFiles.hasOwn()) return true
    const runs = await store.view((reads) => reads.runs.list({}, { limit: 1 }))
    return runs.items.length > 0
  } catch {
    return false // a project that cannot be opened fails at each call, but still lists its tools
  }
}

function definition(name: string, operation: Operation): Tool {
  const { title, description, kind } = operation
  return {
    name,
    title,
    description,
    inputSchema: { ...inputOnWire(inputSchema(operation)), type: 'object' },
    outputSchema: { ...outputOnWire(outputSchema(operation), operation.listedOutput), type: 'object' },
    annotations: {
      readOnlyHint: kind === 'query',
      destructiveHint: operation.destructive ?? false,
      idempotentHint: kind === 'query' || (operation.idempotent ?? false),
      openWorldHint: false,
    },
  }
}

interface ToolNewsOptions {
  readonly watch: ResourceWatch | null
  readonly log: (line: string) => void
}

/** Notifies a client once that more tools are listed. */
export class ToolListChanges {
  readonly #tools: OfferedTools
  readonly #options: ToolNewsOptions
  #waits = false

  constructor(tools: OfferedTools, options: ToolNewsOptions) {
    this.#tools = tools
    this.#options = options
  }

  /** The list for a client; while it is incomplete, new log entries are checked. */
  async list(context: Context): Promise<readonly Tool[]> {
    const { tools, isWhole } = await this.#tools.list(context)
    this.#waits = !isWhole
    if (this.#waits) await this.#listen()
    return tools
  }

  async tell(server: Server, context: Context): Promise<void> {
    if (!this.#waits || this.#options.watch?.isHeld) return
    try {
      if (!(await this.#tools.isWhole(context)) || !this.#waits) return
      this.#waits = false
      this.#options.watch?.leave(listener)
      await server.sendToolListChanged()
    } catch (error) {
      this.#options.log(`Cannot announce that the list of tools may have changed: ${String(error)}`)
    }
  }

  /** Another process may start the first run. If the log cannot be followed, the next call checks. */
  async #listen(): Promise<void> {
    try {
      await this.#options.watch?.listen(listener)
    } catch (error) {
      this.#options.log(`Changes cannot be announced: ${String(error)}`)
    }
  }
}

const listener = 'tools'

const gate = 'state_gate_'

/** The listed name of a tool. */
function listedName(tool: string, names: ToolNames): string {
  return names === 'dotted' ? dottedToolName(tool) : tool
}

/** The tool of a called name, in either spelling. */
function calledTool(name: string): string {
  return name.startsWith('state_gate.') ? gate + name.slice(gate.length) : name
}

function dottedToolName(tool: string): string {
  return tool.startsWith(gate) ? `state_gate.${tool.slice(gate.length)}` : tool
}

/** A JSON Schema for clients. */
export type WireSchema = Readonly<Record<string, unknown>>

/** The JSON Schema that zod writes, with parts that our own code does not use. */
interface ZodJsonSchema extends JsonSchema {
  readonly anyOf?: readonly ZodJsonSchema[]
  readonly minItems?: number
}

/**
 * An input schema without parts that only cost tokens: huge lengths, the limits of integers, our own keywords, and
 * `additionalProperties`. All of it is still checked, and a refusal names it.
 */
function inputOnWire(schema: ZodJsonSchema): WireSchema {
  const { description, enum: choices, properties, required, items, minimum, maximum, minItems } = schema
  return {
    ...typeOf(schema),
    ...(description !== undefined && { description }),
    ...(choices !== undefined && { enum: choices }),
    ...(isMeaningfulLimit(minimum) && { minimum }),
    ...(isMeaningfulLimit(maximum) && { maximum }),
    ...(minItems !== undefined && { minItems }),
    ...(schema.default !== undefined && { default: schema.default }),
    ...(properties && { properties: mapValues(listedProperties(properties), inputOnWire) }),
    ...(items && { items: inputOnWire(items) }),
    ...(required && required.length > 0 && { required }),
    ...(schema.additionalProperties === false && isEmpty(properties) && { additionalProperties: false }),
  }
}

/**
 * The top-level keys of an output with their types. None is required: clients check a refusal, `{ success: false, error }`,
 * with the same schema.
 */
function outputOnWire(schema: ZodJsonSchema, keys?: readonly string[]): WireSchema {
  const properties = Object.entries(schema.properties ?? {})
  const named = keys === undefined ? properties : properties.filter(([key]) => keys.includes(key))
  return { type: 'object', properties: mapValues(Object.fromEntries(named), typeOf) }
}

function listedProperties<Field extends JsonSchema>(properties: Readonly<Record<string, Field>>) {
  return Object.fromEntries(Object.entries(properties).filter(([, { unlisted }]) => unlisted !== true))
}

function isEmpty(properties: JsonSchema['properties']): boolean {
  return properties !== undefined && Object.keys(properties).length === 0
}

function typeOf(schema: ZodJsonSchema): WireSchema {
  const types = typesOf(schema)
  if (types.length === 0) return {}
  return { type: types.length === 1 ? types[0] : types }
}

function typesOf({ type, anyOf }: ZodJsonSchema): readonly string[] {
  if (anyOf) return [...new Set(anyOf.flatMap(typesOf))]
  if (type === undefined) return []
  return typeof type === 'string' ? [type] : type
}

function isMeaningfulLimit(limit: number | undefined): limit is number {
  return limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Readonly<Record<string, Mapped>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
