import type { Dialect } from '../definition.ts'
import type { Evidence } from '../evidence.ts'
import { isSameJson, shownJson, valueAt } from '../json.ts'
import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

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
    const isUnset = value === undefined || (value === null && evidence.dialect === 1)
    if (isConditionMet(guard, value, { isUnset, dialect: evidence.dialect })) return satisfiedGuard(reason)
    const judge = isNumberComparison(guard) && typeof value !== 'number' ? unknownGuard : unsatisfiedGuard
    return judge(
      `${reason}, not ${conditionText(guard)}`,
      `"${guard.variable}" must be ${conditionText(guard)}.`,
    )
  },
}

function variableOf(variable: string, { context, payload, dialect }: Evidence): unknown {
  // state_gate knew no paths: a variable was a key, dots and all.
  if (dialect === 'original' && Object.hasOwn(context, variable)) return context[variable]
  const path = variable.split('.')
  if (path[0] !== '$') return valueAt(context, path)
  return valueAt({ context, payload }, path.slice(1))
}

/** Only numbers can be compared. */
function isNumberComparison({ condition }: ContextCondition): boolean {
  return ['gt', 'gte', 'lt', 'lte'].includes(condition)
}

/** In state_gate a variable that is not set compares with nothing, and one that is null is set. */
function isConditionMet(
  guard: ContextCondition,
  value: unknown,
  { isUnset, dialect }: { readonly isUnset: boolean; readonly dialect: Dialect },
): boolean {
  const compares = dialect === 1 || !isUnset
  switch (guard.condition) {
    case 'exists':
      return !isUnset
    case 'not_exists':
      return isUnset
    case 'equals':
      return isSameJson(value, guard.value)
    case 'not_equals':
      return compares && !isSameJson(value, guard.value)
    case 'in':
      return guard.value.some((allowed) => isSameJson(value, allowed))
    case 'not_in':
      return compares && !guard.value.some((refused) => isSameJson(value, refused))
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

function conditionText(guard: ContextCondition): string {
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
