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
  const found = [...broken, ...unread(definition)]
  if (contextSchema === null || unusableSchema(contextSchema) !== null) return found
  const problems = schemaProblems(contextSchema, initialContext).map(({ path, message }) =>
    finding('error', 'initial-context', {
      message: `initial_context does not fit context_schema at ${path}: ${message}`,
      path: ['process', 'initial_context'],
    }),
  )
  return [...found, ...problems]
}

/** A schema is for JSON: a Markdown file never fits one. state_gate only wrote it down. */
function unread({ dialect, artifacts }: ProcessDefinition): readonly Finding[] {
  return artifacts.flatMap(({ type, schema, paths }, at) => {
    const path = ['artifacts', at, 'schema']
    if (schema === null) return []
    if (dialect === 'original') {
      const message = `The schema of "${type}" is checked in .json files alone; a file of another kind counts as it is.`
      return [finding('note', 'schema-of-other-files', { message, path })]
    }
    const others = paths.filter((glob) => /\.[a-z0-9]+$/i.test(glob) && !/\.json$/i.test(glob))
    if (others.length === 0) return []
    const message = `"${type}" has a schema, and ${others.join(', ')} is not JSON: such a file never counts. Leave the schema out, or hand in JSON.`
    return [finding('warning', 'schema-of-other-files', { message, path })]
  })
}

function unusable(schema: JsonObject | null, path: DefinitionPath): readonly Finding[] {
  const problem = schema === null ? null : unusableSchema(schema)
  if (problem === null) return []
  return [finding('error', 'unusable-schema', { message: `The schema cannot be used. ${problem}`, path })]
}
