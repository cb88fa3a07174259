import { didYouMean } from '../../nearest-word.ts'
import type { Assignment, ProcessDefinition } from '../definition.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { promptVariables } from '../prompt.ts'
import { type Finding, finding } from './finding.ts'

/** Prompts, guards and assignments name variables that something sets. */
export function contextUse(definition: ProcessDefinition): readonly Finding[] {
  const known = knownVariables(definition)
  return [
    ...definition.states.flatMap(({ prompt }, at) =>
      promptVariables(prompt ?? '', definition.dialect).flatMap(({ written, path }) => {
        const [root = '', name = ''] = path
        const place = { path: ['states', at, 'prompt'] }
        if (root !== 'context' || name === '') {
          const message = `${written} names nothing: variables begin with "context.".${didYouMean(root, ['context'])}`
          return finding('error', 'unknown-variable', { ...place, message })
        }
        return unset(name, written, { known, ...place })
      }),
    ),
    ...definition.guards.flatMap(({ name, guard }) => {
      if (guard.type !== 'context' || guard.variable.startsWith('$.')) return []
      const [variable = ''] = guard.variable.split('.')
      return unset(variable, `"${guard.variable}"`, { known, path: ['guards', name, 'variable'] })
    }),
    ...definition.transitions.flatMap(({ assign, event }, at) =>
      assign.flatMap((assignment) => assigned(assignment, { definition, event, at })),
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

function unset(
  name: string,
  written: string,
  { known, path }: { readonly known: readonly string[] | null; readonly path: Finding['path'] },
): readonly Finding[] {
  if (known === null || known.includes(name)) return []
  const message = `${written}: nothing sets "${name}" in the context.${didYouMean(name, known)}`
  return [finding('warning', 'unknown-variable', { message, path })]
}

function assigned(
  { variable, value }: Assignment,
  place: { readonly definition: ProcessDefinition; readonly event: string; readonly at: number },
): readonly Finding[] {
  if (typeof value !== 'string' || !value.startsWith('$.')) return []
  const path = ['transitions', place.at, 'assign', variable]
  const [root = '', name = ''] = value.split('.').slice(1)
  if (!['payload', 'context'].includes(root) || name === '') {
    const message = `"${value}" names nothing: it begins with "$.payload." or "$.context.".${didYouMean(root, ['payload', 'context'])}`
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
