import type { Evidence } from '../evidence.ts'
import { sameJson, shownJson, valueAt } from '../json.ts'
import { type GuardKind, satisfied, unknown, unsatisfied } from './guard.ts'

export type ContextCondition =
  | { readonly condition: 'exists' | 'not_exists' }
  | { readonly condition: 'equals' | 'not_equals'; readonly value: unknown }
  | { readonly condition: 'in' | 'not_in'; readonly value: readonly unknown[] }
  | { readonly condition: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: number }

export type ContextGuard = ContextCondition & {
  readonly type: 'context'
  /** A path in the context, `plan.risk`, or in this event's payload, `$.payload.risk`. */
  readonly variable: string
}

/** A variable of the context, or of this event's payload. */
export const context: GuardKind<ContextGuard> = {
  needs: () => [{ kind: 'context' }],
  evaluate: (guard, evidence) => {
    const value = variableOf(guard.variable, evidence)
    const reason = `"${guard.variable}" is ${value === undefined ? 'not set' : shownJson(value)}`
    if (holds(guard, value)) return satisfied(reason)
    const judge = comparesNumbers(guard) && typeof value !== 'number' ? unknown : unsatisfied
    return judge(`${reason}, not ${wanted(guard)}`, `"${guard.variable}" must be ${wanted(guard)}.`)
  },
}

function variableOf(variable: string, { context, payload }: Evidence): unknown {
  const path = variable.split('.')
  if (path[0] !== '$') return valueAt(context, path)
  return valueAt({ context, payload }, path.slice(1))
}

/** What is not a number is neither above nor below one. */
function comparesNumbers({ condition }: ContextCondition): boolean {
  return ['gt', 'gte', 'lt', 'lte'].includes(condition)
}

function holds(guard: ContextCondition, value: unknown): boolean {
  switch (guard.condition) {
    case 'exists':
      return value !== undefined && value !== null
    case 'not_exists':
      return value === undefined || value === null
    case 'equals':
      return sameJson(value, guard.value)
    case 'not_equals':
      return !sameJson(value, guard.value)
    case 'in':
      return guard.value.some((allowed) => sameJson(value, allowed))
    case 'not_in':
      return !guard.value.some((refused) => sameJson(value, refused))
    case 'gt':
      return typeof value === 'number' && value > guard.value
    case 'gte':
      return typeof value === 'number' && value >= guard.value
    case 'lt':
      return typeof value === 'number' && value < guard.value
    case 'lte':
      return typeof value === 'number' && value <= guard.value
  }
}

function wanted(guard: ContextCondition): string {
  switch (guard.condition) {
    case 'exists':
      return 'set'
    case 'not_exists':
      return 'unset'
    case 'equals':
      return shownJson(guard.value)
    case 'not_equals':
      return `other than ${shownJson(guard.value)}`
    case 'in':
      return `one of ${shownJson(guard.value)}`
    case 'not_in':
      return `none of ${shownJson(guard.value)}`
    case 'gt':
      return `above ${guard.value}`
    case 'gte':
      return `at least ${guard.value}`
    case 'lt':
      return `below ${guard.value}`
    case 'lte':
      return `at most ${guard.value}`
  }
}
