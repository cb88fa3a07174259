import { Failure } from '../../kernel/failure.ts'
import type { JsonSchema } from '../../kernel/operations/input/json-schema.ts'

/** A flag of the command line, derived from a field of the contract. */
export interface Flag {
  /** `mission-id`, or `outcome.summary` for a field of a field. */
  readonly name: string
  /** The path of its value in the input. */
  readonly path: readonly string[]
  readonly takes: 'nothing' | 'text' | 'number' | 'json'
  /** It may be repeated; its values become a list. */
  readonly many: boolean
  /** Commas separate its values too; a JSON list holds a value that has a comma. */
  readonly separated: boolean
  readonly required: boolean
  readonly description: string
  readonly choices: readonly string[]
}

/** The flags of an input: one for each field, and one for each field of an object in it. */
export function flagsOf(schema: JsonSchema, path: readonly string[] = []): readonly Flag[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const flag = flagOf([...path, key], field, required.has(key))
    return field.properties ? [flag, ...flagsOf(field, flag.path)] : [flag]
  })
}

/** `mission_id` and `missionId` are written `mission-id` on a command line. */
export function toKebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/_/g, '-')
    .toLowerCase()
}

function flagOf(path: readonly string[], field: JsonSchema, required: boolean): Flag {
  const many = field.type === 'array'
  const value = many ? (field.items ?? {}) : field
  return {
    name: path.map(toKebabCase).join('.'),
    path,
    takes: flagValueType(value),
    many,
    separated: many && separatedFields.has(path.at(-1) ?? ''),
    required,
    description: field.description ?? '',
    choices: (value.enum ?? []).map(String),
  }
}

/** Lists of paths, ids and names. In lists of sentences and commands a comma is text. */
const separatedFields = new Set([
  'areas',
  'changes',
  'keeps',
  'weakened',
  'artifact_paths',
  'depends_on',
  'packages_added',
  'packages_removed',
  'people',
  'roles',
  'satisfied',
  'include',
  'clear',
  'kinds',
])

function flagValueType({ type }: JsonSchema): Flag['takes'] {
  if (type === 'boolean') return 'nothing'
  if (type === 'object') return 'json'
  return type === 'integer' || type === 'number' ? 'number' : 'text'
}

const base = { many: false, separated: false, required: false, choices: [] }

/** The flags of every command, listed once in `waymark help`. */
export const generalFlags: readonly Flag[] = [
  {
    ...base,
    name: 'format',
    path: ['format'],
    takes: 'text',
    description: 'Output format; default: $WAYMARK_FORMAT, else text',
    choices: ['json', 'text'],
  },
  { ...base, name: 'json', path: ['json'], takes: 'nothing', description: 'Same as --format json' },
  {
    ...base,
    name: 'project',
    path: ['project'],
    takes: 'text',
    description: 'Project folder; default: the enclosing repository',
  },
  {
    ...base,
    name: 'idempotency-key',
    path: ['idempotencyKey'],
    takes: 'text',
    description: 'Repeat a call safely: the same key returns the same answer',
  },
  { ...base, name: 'help', path: ['help'], takes: 'nothing', description: 'Show help for this command' },
]

/** The parsed values of the common flags. */
export interface GeneralOptions {
  readonly format: 'json' | 'text' | null
  readonly project: string | undefined
  readonly idempotencyKey: string | undefined
  readonly help: boolean
}

/** A failure for an invalid command line, with exit code 2. */
export function usageFailure(message: string, hint: string): Failure {
  return new Failure('INVALID_INPUT', message, { reason: 'usage_invalid', hint })
}
