import type { OutputUnit } from '@cfworker/json-schema'
import type { JsonObject } from '../json.ts'
import { type BoundedValidator, boundedValidator, hasKeyword, withKeysOf } from './bounded-validator.ts'
import { inWords, type SchemaProblem } from './schema-words.ts'

/** What in a value does not fit a JSON Schema, the innermost problems only. A schema that cannot be used is one problem. */
export function schemaProblems(schema: JsonObject, value: unknown): readonly SchemaProblem[] {
  try {
    const validator = hasKeyword(schema, 'patternProperties')
      ? boundedValidator(withKeysOf(schema, value))
      : validatorOf(schema)
    const { valid, errors } = validator.validate(value)
    if (valid) return []
    const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    const inner = errors.filter((unit) => !containers.includes(unit.keyword) && !isInside(unit, choices))
    return (inner.length === 0 ? errors : inner)
      .slice(0, 20)
      .map((unit) => inWords(unit, validator.schema, value))
  } catch (error) {
    return [{ path: '/', message: `the schema cannot be used: ${messageOf(error)}` }]
  }
}

// A thousand files are checked against one schema, and walking it takes longer than checking a file.
const validators = new WeakMap<JsonObject, BoundedValidator>()

function validatorOf(schema: JsonObject): BoundedValidator {
  const known = validators.get(schema)
  if (known) return known
  const validator = boundedValidator(schema)
  validators.set(schema, validator)
  return validator
}

// They only say that something inside them is wrong, which is reported too.
const containers: readonly string[] = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'allOf',
  'if',
  '$ref',
]

/** Whether it is about one of several forms, none of which fits: together they contradict each other. */
function isInside({ keywordLocation }: OutputUnit, choices: readonly OutputUnit[]): boolean {
  return choices.some((choice) => keywordLocation.startsWith(`${choice.keywordLocation}/`))
}

function messageOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line
}
