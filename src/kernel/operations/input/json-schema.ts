import { z } from 'zod'
import type { Operation } from '../operation.ts'

/** The part of JSON Schema that our contracts produce. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  /** Schemas that refer to themselves, by name. */
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  /** Other words that agents use for a choice, each with the choice it means. */
  /** Accepted from callers who know it from another program, and not listed. */
  readonly unlisted?: true
  readonly aliases?: Readonly<Record<string, string>>
}

const schemas = new WeakMap<z.ZodType, JsonSchema>()

/** The JSON Schema of an operation's input; computed once. */
export function inputSchema(operation: Operation): JsonSchema {
  return schemaOf(operation.input, 'input')
}

/** The JSON Schema of an operation's output; computed once. */
export function outputSchema(operation: Operation): JsonSchema {
  return schemaOf(operation.output, 'output')
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const cached = schemas.get(schema)
  if (cached) return cached
  const converted = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      if (io === 'input') return
      // An answer may gain fields; a list that our code does not change is a list.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      delete jsonSchema.readOnly
    },
  }) as JsonSchema // zod types every keyword
  schemas.set(schema, converted)
  return converted
}
