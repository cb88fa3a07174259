import { Validator } from '@cfworker/json-schema'
import type { JsonObject } from '../json.ts'

export interface SchemaProblem {
  /** A JSON pointer, `/summary`; `/` for the whole. */
  readonly path: string
  readonly message: string
}

/** What in a value does not fit a JSON Schema, the innermost problems only. A schema that cannot be used is one problem. */
export function schemaProblems(schema: JsonObject, value: unknown): readonly SchemaProblem[] {
  try {
    const { valid, errors } = validatorOf(schema).validate(value)
    if (valid) return []
    const inner = errors.filter(({ keyword }) => !containers.includes(keyword))
    return (inner.length === 0 ? errors : inner)
      .slice(0, 20)
      .map(({ instanceLocation, error }) => ({ path: instanceLocation.slice(1) || '/', message: error }))
  } catch (error) {
    return [{ path: '/', message: `the schema cannot be used: ${messageOf(error)}` }]
  }
}

// A thousand files are checked against one schema, and walking it takes longer than checking a file.
const validators = new WeakMap<JsonObject, Validator>()

function validatorOf(schema: JsonObject): Validator {
  const known = validators.get(schema)
  if (known) return known
  // It writes into the schema that it is given.
  const validator = new Validator(structuredClone({ ...schema }), '2020-12', false)
  validators.set(schema, validator)
  return validator
}

// They only say that something inside them is wrong, which is reported too.
const containers: readonly string[] = ['properties', 'items', 'allOf', '$ref']

function messageOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line
}
