import type { ProcessDefinition, TransitionDefinition } from './definition.ts'
import { type JsonObject, valueAt } from './json.ts'
import { schemaProblems } from './schema/schema-problems.ts'
import type { SchemaProblem } from './schema/schema-words.ts'

/** The context after a transition: what it assigns, and the payload where it is merged. */
export function assignedContext(
  { assign, mergePayload }: TransitionDefinition,
  context: JsonObject,
  payload: JsonObject,
): JsonObject {
  const entries = assign.map(
    ({ variable, value }) => [variable, resolved(value, { context, payload })] as const,
  )
  return Object.fromEntries([
    ...Object.entries(context),
    ...(mergePayload ? Object.entries(payload) : []),
    ...entries.filter(([, value]) => value !== undefined),
  ])
}

export function contextProblems(
  { contextSchema }: ProcessDefinition,
  context: JsonObject,
): readonly SchemaProblem[] {
  return contextSchema === null ? [] : schemaProblems(contextSchema, context)
}

function resolved(value: unknown, scope: JsonObject): unknown {
  return typeof value === 'string' && value.startsWith('$.')
    ? valueAt(scope, value.split('.').slice(1))
    : value
}
