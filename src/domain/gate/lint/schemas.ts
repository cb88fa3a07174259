import type { ProcessDefinition } from '../definition.ts'
import type { JsonObject } from '../json.ts'
import { schemaProblems } from '../schema/schema-problems.ts'
import { unusableSchema } from '../schema/unusable-schema.ts'
import { type DefinitionPath, type Finding, finding } from './finding.ts'

/** Schemas can be used, and what the process begins with fits its own. */
export function schemas(definition: ProcessDefinition): readonly Finding[] {
  const { contextSchema, initialContext, events, artifacts } = definition
  const broken = [
    ...unusable(contextSchema, ['process', 'context_schema']),
    ...events.flatMap(({ payloadSchema }, at) => unusable(payloadSchema, ['events', at, 'payload_schema'])),
    ...artifacts.flatMap(({ schema }, at) => unusable(schema, ['artifacts', at, 'schema'])),
  ]
  if (contextSchema === null || unusableSchema(contextSchema) !== null) return broken
  const problems = schemaProblems(contextSchema, initialContext).map(({ path, message }) =>
    finding('error', 'initial-context', {
      message: `initial_context does not fit context_schema at ${path}: ${message}`,
      path: ['process', 'initial_context'],
    }),
  )
  return [...broken, ...problems]
}

function unusable(schema: JsonObject | null, path: DefinitionPath): readonly Finding[] {
  const problem = schema === null ? null : unusableSchema(schema)
  if (problem === null) return []
  return [finding('error', 'unusable-schema', { message: `The schema cannot be used. ${problem}`, path })]
}
