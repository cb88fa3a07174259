import type { GuardExpression, NamedGuard } from '../domain/gate/definition.ts'
import type { ContextCondition } from '../domain/gate/guards/context.ts'
import type { Guard } from '../domain/gate/guards/guard.ts'
import { isJsonObject, type JsonObject } from '../domain/gate/json.ts'
import { type SharedKind, sharedKinds } from '../domain/track/scope/file-kind.ts'
import { listAt, numberOrNull, own, textAt, textOrNull, textsAt } from './plain-fields.ts'

/** A guard whose shape was checked. */
export function namedGuardFrom(name: string, fields: JsonObject): NamedGuard {
  return {
    name,
    description: textOrNull(fields, 'description'),
    hint: textOrNull(fields, 'hint'),
    guard: guardFrom(fields),
  }
}

/** `a`, `{ all: [a, b] }` and so on. */
export function expressionFrom(value: unknown): GuardExpression | null {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return null
  if (Object.hasOwn(value, 'all')) return { all: expressions(value, 'all') }
  if (Object.hasOwn(value, 'any')) return { any: expressions(value, 'any') }
  const not = expressionFrom(own(value, 'not'))
  return not === null ? null : { not }
}

function expressions(fields: JsonObject, key: string): readonly GuardExpression[] {
  return listAt(fields, key).flatMap((item) => expressionFrom(item) ?? [])
}

function guardFrom(fields: JsonObject): Guard {
  const type = textAt(fields, 'type')
  const found = readers[type]
  if (!found) throw new Error(`a guard of type ${type} passed the check of its shape`)
  return found(fields)
}

const readers: Readonly<Record<string, (fields: JsonObject) => Guard>> = {
  artifact: (fields) => ({
    type: 'artifact',
    artifactType: textAt(fields, 'artifact_type'),
    count: textAt(fields, 'condition') === 'count' ? (numberOrNull(fields, 'min_count') ?? 1) : 1,
  }),
  context: (fields) => ({
    type: 'context',
    variable: textAt(fields, 'variable'),
    ...contextCondition(fields),
  }),
  changes: changesFrom,
  command: (fields) => ({
    type: 'command',
    run: textAt(fields, 'run'),
    timeout: milliseconds(textOrNull(fields, 'timeout') ?? '10m'),
    pinned: textsAt(fields, 'pinned'),
    ...(textOrNull(fields, 'exit') === 'nonzero' && { exit: 'nonzero' }),
  }),
  blockers: () => ({ type: 'blockers', condition: 'none' }),
  milestone: (fields) => ({ type: 'milestone', id: textAt(fields, 'id') }),
  task: (fields) => ({ type: 'task', condition: 'all_done', phase: textOrNull(fields, 'phase') }),
  approval: (fields) => ({
    type: 'approval',
    role: textAt(fields, 'role'),
    of: textOrNull(fields, 'of'),
    count: numberOrNull(fields, 'count') ?? 1,
  }),
}

function contextCondition(fields: JsonObject): ContextCondition {
  const value = own(fields, 'value')
  const condition = textAt(fields, 'condition')
  switch (condition) {
    case 'exists':
    case 'not_exists':
      return { condition }
    case 'in':
    case 'not_in':
      return { condition, value: listAt(fields, 'value') }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { condition, value: numberOrNull(fields, 'value') ?? 0 }
    case 'not_equals':
      return { condition, value }
    default:
      return { condition: 'equals', value }
  }
}

function changesFrom(fields: JsonObject): Guard {
  const condition = textAt(fields, 'condition')
  switch (condition) {
    case 'touches_only':
    case 'touches_none':
      return { type: 'changes', condition, paths: textsAt(fields, 'paths') }
    case 'none':
      return { type: 'changes', condition }
    default:
      return { type: 'changes', condition: 'in_scope', ...sharedFrom(own(fields, 'shared')) }
  }
}

/** Nothing where all may change: so it was before one could choose. */
function sharedFrom(value: unknown): { readonly shared?: readonly SharedKind[] } {
  if (value === undefined || value === 'all') return {}
  const written: readonly unknown[] = Array.isArray(value) ? value : [value]
  return { shared: sharedKinds.filter((kind) => written.includes(kind)) }
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function milliseconds(text: string): number {
  const [, amount = '0', unit = 'ms'] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? []
  return Number(amount) * (units[unit] ?? 1)
}
