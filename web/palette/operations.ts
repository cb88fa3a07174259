import { type EntityKind, entityKindOf } from './entity-fields.ts'
import { type FieldWords, wordsOf } from './field-words.ts'

/** A command of the catalog, from the server's OpenAPI document. */
export interface OperationEntry {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly fields: readonly Field[]
}

let cached: { readonly of: string; readonly entries: Promise<readonly OperationEntry[]> } | null = null

/** The commands of a project, by its base path; read once. */
export function readOperations(of: string): Promise<readonly OperationEntry[]> {
  if (cached?.of !== of) cached = { of, entries: fetchOperations(of) }
  return cached.entries
}

async function fetchOperations(of: string): Promise<readonly OperationEntry[]> {
  const response = await fetch(`${of}/api/openapi.json`)
  const document = (await response.json()) as OpenApi // of our own server
  return Object.values(document.paths)
    .flatMap(({ post }) => (post?.parameters ? entryOf(post) : []))
    .filter(({ name, fields }) => !notForPeople.includes(name) && !fields.some(isProgramsOnly))
}

/** A required structure is written by programs. */
function isProgramsOnly({ isRequired, type }: Field): boolean {
  return isRequired && type === 'json'
}

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly post?: PostOperation }>>
}

interface PostOperation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  /** Only commands have one: the idempotency key. */
  readonly parameters?: unknown
  readonly requestBody?: {
    readonly content?: { readonly 'application/json'?: { readonly schema?: ObjectSchema } }
  }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
}

interface FieldSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: FieldSchema
  readonly properties?: Readonly<Record<string, FieldSchema>>
}

/** Fields of agents and programs, which a person does not fill. */
const agentFields: readonly string[] = [
  'format',
  'brief',
  'creator',
  'agent_name',
  'caller_type',
  'claim_token',
  'content',
  'idempotency_key',
  'work_tree',
  'profile',
  'done_when.inherit',
]

/** Short forms of parts of `done_when`, for a command line. */
const doneWhenFlags: readonly string[] = ['criterion', 'check']

/** The calls of another program, the old names of commands, and those whose difference a person sees first, elsewhere. */
const notForPeople: readonly string[] = [
  'undo',
  'restore',
  'command_end',
  'command_renew',
  'start_workflow',
  'complete_workflow',
  'complete_phase',
  'taskman_task_next',
  'state_gate_emit_event',
  'ci_report',
  'reply_to_review',
  'review_comment_drop',
]

/** For people, where the description is one for agents. */
const ownDescriptions: Readonly<Record<string, string>> = {
  complete_mission: 'End the mission. The summary is part of its report.',
  resolve:
    'Answer a blocker or a question in words; this does not approve the work. Or dismiss an item: it is closed, and nothing else happens.',
  start_mission: 'A goal with tasks of its own. Agents or people do them, and Waymark measures what changed.',
  taskman_task_edit: 'Only what you change is saved.',
}

function entryOf({
  operationId,
  summary,
  description,
  requestBody,
}: PostOperation): readonly OperationEntry[] {
  if (operationId === undefined) return []
  const schema = requestBody?.content?.['application/json']?.schema
  const required = new Set(schema?.required)
  const properties = schema?.properties ?? {}
  const hidden = [...agentFields, ...('done_when' in properties ? doneWhenFlags : [])]
  const fields = Object.entries(properties)
    .flatMap(([name, field]) => (required.has(name) ? [[name, field] as const] : partsOf(name, field)))
    .filter(([name]) => required.has(name) || !hidden.includes(name))
    .map(([name, field]) => ({
      ...fieldOf(name, field, required.has(name)),
      of: entityKindOf(operationId, name),
      ...wordsOf(operationId, name),
    }))
  const inOrder = [
    ...fields.filter(({ isRequired }) => isRequired),
    ...fields.filter(({ isRequired }) => !isRequired),
  ]
  return [
    {
      name: operationId,
      title: summary ?? operationId,
      description: ownDescriptions[operationId] ?? description ?? '',
      fields: inOrder,
    },
  ]
}

/** A structure of known parts is a field for each: `done_when.check`. */
function partsOf(name: string, field: FieldSchema): readonly (readonly [string, FieldSchema])[] {
  if (field.properties === undefined) return [[name, field]]
  return Object.entries(field.properties).map(([part, inside]) => [`${name}.${part}`, inside])
}

function fieldOf(
  name: string,
  schema: FieldSchema,
  isRequired: boolean,
): Omit<Field, 'of' | keyof FieldWords> & Pick<Field, 'description'> {
  return {
    name,
    description: schema.description ?? '',
    range: [schema.minimum, schema.maximum],
    isRequired,
    type: typeOf(schema),
    choices: schema.enum ?? schema.items?.enum ?? [],
    longest: schema.maxLength ?? 20_000,
  }
}

function typeOf({ type, items }: FieldSchema): Field['type'] {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'yes or no'
  if (type === 'array') return items?.type === 'object' ? 'json' : 'list'
  return type === 'object' ? 'json' : 'text'
}

/** A field of a command. */
export interface Field extends FieldWords {
  readonly name: string
  readonly isRequired: boolean
  readonly type: 'text' | 'number' | 'yes or no' | 'list' | 'json'
  /** The allowed values; empty for free text. */
  readonly choices: readonly string[]
  /** What its ids name; null for other values. */
  readonly of: EntityKind | null
  readonly longest: number
  /** The lowest and the highest of a number. */
  readonly range: readonly [number | undefined, number | undefined]
}

/** The input from the texts of the fields, without empty ones. Fails if a value is not JSON. */
export function inputOf(
  fields: readonly Field[],
  written: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const field of fields) {
    const text = written.get(field.name)?.trim() ?? ''
    if (text === '') continue
    const [name = '', part] = field.name.split('.')
    const value = readers[field.type](text, field)
    input[name] = part === undefined ? value : { ...(input[name] as object | undefined), [part]: value } // of parts alone
  }
  return input
}

/** A value that no field of JSON refuses. */
export const jsonExample = '{"name": "value"}'

const readers = {
  text: (text) => text,
  number: Number,
  'yes or no': (text) => text === 'true',
  list: (text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  json: (text, { label }): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      throw new Error(`“${label}” must be JSON, such as ${jsonExample}`)
    }
  },
} as const satisfies Record<Field['type'], (text: string, field: Field) => unknown>
