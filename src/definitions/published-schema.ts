import type { Field, Shape } from './dialect.ts'
import { processShape } from './dialect.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** The JSON Schema of dialect 1, for editors: the text of processes/process.schema.json. */
export function publishedSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Waymark process',
    description: 'A process as a state machine, dialect 1. Generated from the reader of the dialect.',
    ...schemaOf(processShape),
    $defs: { guards: guardsSchema },
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

const guardsSchema: JsonSchema = {
  anyOf: [
    { type: 'string' },
    branch('all', { type: 'array', minItems: 1, items: { $ref: '#/$defs/guards' } }),
    branch('any', { type: 'array', minItems: 1, items: { $ref: '#/$defs/guards' } }),
    branch('not', { $ref: '#/$defs/guards' }),
  ],
}

function branch(key: string, schema: JsonSchema): JsonSchema {
  return { type: 'object', required: [key], additionalProperties: false, properties: { [key]: schema } }
}

function schemaOf(shape: Shape): JsonSchema {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', minLength: 1, ...(shape.pattern !== undefined && { pattern: shape.pattern }) }
    case 'integer':
      return { type: 'integer', minimum: shape.least }
    case 'number':
      return { type: 'number' }
    case 'truth':
      return { type: 'boolean' }
    case 'anything':
      return {}
    case 'json':
      return { type: 'object' }
    case 'choice':
      return { enum: shape.values }
    case 'choices':
      return {
        anyOf: [
          { enum: [...shape.words, ...shape.values] },
          { type: 'array', items: { enum: shape.values } },
        ],
      }
    case 'list':
      return { type: 'array', items: schemaOf(shape.of), ...(shape.least && { minItems: shape.least }) }
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(shape.of) }
    case 'variants':
      return { anyOf: Object.values(shape.of).map(schemaOf) }
    case 'guards':
      return { $ref: '#/$defs/guards' }
    case 'object': {
      const fields = Object.entries(shape.keys).filter(([, field]) => field.inert === undefined)
      return {
        type: 'object',
        required: fields.filter(([, field]) => field.required).map(([key]) => key),
        additionalProperties: false,
        properties: Object.fromEntries(fields.map(([key, field]) => [key, described(field)])),
      }
    }
  }
}

function described({ shape, description }: Field): JsonSchema {
  return { ...(description !== undefined && { description }), ...schemaOf(shape) }
}
