import { isJsonObject, type JsonObject } from '../../../kernel/json.ts'
import { didYouMean } from '../../../kernel/nearest-word.ts'
import { type Assignment, type ProcessDefinition, promptVariables } from '../definition.ts'
import { schemaProblems, unusableSchema } from '../json-schema.ts'
import { type DefinitionPath, type Finding, finding } from './finding.ts'

/** Prompts, guards and assignments name variables that something sets. */
export function contextUse(definition: ProcessDefinition): readonly Finding[] {
  const knownNames = knownVariables(definition)
  return [
    ...definition.states.flatMap(({ prompt }, index) =>
      promptVariables(prompt ?? '', definition.dialect).flatMap(({ written: text, path }) => {
        const [root = '', name = ''] = path
        const place = { path: ['states', index, 'prompt'] }
        if (root !== 'context' || name === '') {
          const message = `${text} is no variable: variables begin with "context.".${didYouMean(root, ['context'])}`
          return finding('error', 'unknown-variable', { ...place, message })
        }
        return unsetVariableFindings(name, text, { knownNames, ...place })
      }),
    ),
    ...definition.guards.flatMap(({ name, guard }) => {
      if (guard.type !== 'context' || guard.variable.startsWith('$.')) return []
      const [variable = ''] = guard.variable.split('.')
      return unsetVariableFindings(variable, `"${guard.variable}"`, {
        knownNames,
        path: ['guards', name, 'variable'],
      })
    }),
    ...definition.transitions.flatMap(({ assign, event }, index) =>
      assign.flatMap((assignment) => assignmentFindings(assignment, { definition, event, at: index })),
    ),
  ]
}

/** The variables that something sets; null when a merged payload may set any. */
function knownVariables(definition: ProcessDefinition): readonly string[] | null {
  const { transitions, contextSchema, initialContext } = definition
  if (transitions.some(({ mergePayload }) => mergePayload)) return null
  return [
    ...Object.keys(initialContext),
    ...propertiesOf(contextSchema),
    ...transitions.flatMap(({ assign }) => assign.map(({ variable }) => variable)),
  ]
}

function unsetVariableFindings(
  name: string,
  text: string,
  { knownNames, path }: { readonly knownNames: readonly string[] | null; readonly path: Finding['path'] },
): readonly Finding[] {
  if (knownNames === null || knownNames.includes(name)) return []
  const message = `${text}: nothing sets "${name}" in the context.${didYouMean(name, knownNames)}`
  return [finding('warning', 'unknown-variable', { message, path })]
}

function assignmentFindings(
  { variable, value }: Assignment,
  place: { readonly definition: ProcessDefinition; readonly event: string; readonly at: number },
): readonly Finding[] {
  if (typeof value !== 'string' || !value.startsWith('$.')) return []
  const path = ['transitions', place.at, 'assign', variable]
  const [root = '', name = ''] = value.split('.').slice(1)
  if (!['payload', 'context'].includes(root) || name === '') {
    const message = `"${value}" is no variable: it must begin with "$.payload." or "$.context.".${didYouMean(root, ['payload', 'context'])}`
    return [finding('error', 'unknown-variable', { message, path })]
  }
  const schema = place.definition.events.find((event) => event.name === place.event)?.payloadSchema ?? null
  const declared = propertiesOf(schema)
  if (root !== 'payload' || declared.length === 0 || declared.includes(name)) return []
  const message = `The payload of "${place.event}" declares no "${name}".${didYouMean(name, declared)}`
  return [finding('warning', 'unknown-variable', { message, path })]
}

function propertiesOf(schema: JsonObject | null): readonly string[] {
  const properties = schema?.['properties']
  return isJsonObject(properties) ? Object.keys(properties) : []
}

/** Schemas are usable, and the initial context matches its schema. */
export function schemas(definition: ProcessDefinition): readonly Finding[] {
  const { contextSchema, initialContext, events, artifacts } = definition
  const broken = [
    ...unusableSchemaFindings(contextSchema, ['process', 'context_schema']),
    ...events.flatMap(({ payloadSchema }, index) =>
      unusableSchemaFindings(payloadSchema, ['events', index, 'payload_schema']),
    ),
    ...artifacts.flatMap(({ schema }, index) =>
      unusableSchemaFindings(schema, ['artifacts', index, 'schema']),
    ),
  ]
  const found = [...broken, ...unreadSchemaFindings(definition)]
  if (contextSchema === null || unusableSchema(contextSchema) !== null) return found
  const problems = schemaProblems(contextSchema, initialContext).map(({ path, message }) =>
    finding('error', 'initial-context', {
      message: `initial_context does not match context_schema at ${path}: ${message}`,
      path: ['process', 'initial_context'],
    }),
  )
  return [...found, ...problems]
}

/** A schema is for JSON: a Markdown file never fits one. state_gate only wrote it down. */
function unreadSchemaFindings({ dialect, artifacts }: ProcessDefinition): readonly Finding[] {
  return artifacts.flatMap(({ type, schema, paths }, index) => {
    const path = ['artifacts', index, 'schema']
    if (schema === null) return []
    if (dialect === 'original') {
      const message = `The schema of "${type}" is checked only in .json files. Other files count without a check.`
      return [finding('note', 'schema-of-other-files', { message, path })]
    }
    const others = paths.filter((glob) => /\.[a-z0-9]+$/i.test(glob) && !/\.json$/i.test(glob))
    if (others.length === 0) return []
    const message = `"${type}" has a schema, and ${others.join(', ')} is not JSON: such a file never counts. Remove the schema, or use JSON.`
    return [finding('warning', 'schema-of-other-files', { message, path })]
  })
}

function unusableSchemaFindings(schema: JsonObject | null, path: DefinitionPath): readonly Finding[] {
  const problem = schema === null ? null : unusableSchema(schema)
  if (problem === null) return []
  return [finding('error', 'unusable-schema', { message: `The schema cannot be used. ${problem}`, path })]
}
