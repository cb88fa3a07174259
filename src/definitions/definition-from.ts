import type {
  ArtifactDefinition,
  Dialect,
  EventDefinition,
  GuardExpression,
  NamedGuard,
  ProcessDefinition,
  RoleDefinition,
  StateDefinition,
  ToolPermissions,
  TransitionDefinition,
} from '../domain/gate/definition.ts'
import type { ContextCondition } from '../domain/gate/guards/context.ts'
import type { Guard } from '../domain/gate/guards/guard.ts'
import { isJsonObject, type JsonObject } from '../domain/gate/json.ts'
import { type SharedKind, sharedKinds } from '../domain/track/scope/file-kind.ts'

/** The definition in a file whose shape was checked. What a dialect means by default is decided here, once. */
export function definitionFrom(file: JsonObject, dialect: Dialect): ProcessDefinition {
  const process = objectOrNull(file, 'process') ?? {}
  const shared = objectOrNull(file, 'schemas')
  return {
    dialect,
    id: textAt(process, 'id'),
    version: textAt(process, 'version'),
    name: textAt(process, 'name'),
    description: textOrNull(process, 'description'),
    initialState: textAt(process, 'initial_state'),
    initialContext: objectOrNull(process, 'initial_context') ?? {},
    contextSchema: objectOrNull(process, 'context_schema'),
    roles: objectsAt(file, 'roles').map((fields) => roleFrom(fields, dialect)),
    states: objectsAt(file, 'states').map(stateFrom),
    events: objectsAt(file, 'events').map((fields) => eventFrom(fields, shared)),
    transitions: objectsAt(file, 'transitions').map((fields) => transitionFrom(fields, dialect)),
    guards: Object.entries(objectOrNull(file, 'guards') ?? {}).flatMap(([name, fields]) =>
      isJsonObject(fields) ? namedGuardFrom(name, fields) : [],
    ),
    artifacts: objectsAt(file, 'artifacts').map(artifactFrom),
  }
}

function roleFrom(fields: JsonObject, dialect: Dialect): RoleDefinition {
  const name = textAt(fields, 'name')
  const kind = textOrNull(fields, 'kind')
  // The original had no kinds: the role named agent was for agents, the others for people.
  const usual = dialect === 'original' && name !== 'agent' ? 'human' : 'agent'
  return {
    name,
    description: textOrNull(fields, 'description'),
    kind: kind === 'human' || kind === 'agent' ? kind : usual,
    allowedEvents: textsOrNull(fields, 'allowed_events'),
  }
}

function stateFrom(fields: JsonObject): StateDefinition {
  const isFinal = truthAt(fields, 'is_final')
  const failed = textOrNull(fields, 'outcome') === 'failed'
  return {
    name: textAt(fields, 'name'),
    description: textOrNull(fields, 'description'),
    prompt: textOrNull(fields, 'prompt'),
    requiredArtifacts: textsAt(fields, 'required_artifacts'),
    toolPermissions: toolPermissionsFrom(objectOrNull(fields, 'tool_permissions')),
    isFinal,
    outcome: isFinal ? (failed ? 'failed' : 'succeeded') : null,
    maxVisits: numberOrNull(fields, 'max_visits'),
    allowsPhaseCompletion: truthAt(fields, 'allow_phase_completion'),
  }
}

function toolPermissionsFrom(fields: JsonObject | null): ToolPermissions | null {
  if (fields === null) return null
  const paths = objectOrNull(fields, 'paths') ?? {}
  return {
    allowed: textsAt(fields, 'allowed'),
    denied: textsAt(fields, 'denied'),
    ask: textsAt(fields, 'ask'),
    paths: Object.keys(paths).map((tool) => ({ tool, globs: textsAt(paths, tool) })),
  }
}

/** The original's `#/schemas/…` goes into the schema that refers to it. */
function eventFrom(fields: JsonObject, shared: JsonObject | null): EventDefinition {
  const schema = objectOrNull(fields, 'payload_schema')
  return {
    name: textAt(fields, 'name'),
    description: textOrNull(fields, 'description'),
    allowedRoles: textsAt(fields, 'allowed_roles'),
    payloadSchema: schema === null || shared === null ? schema : { ...schema, schemas: shared },
    channels: textsOrNull(fields, 'channels'),
  }
}

function transitionFrom(fields: JsonObject, dialect: Dialect): TransitionDefinition {
  const assign = objectOrNull(fields, 'assign') ?? {}
  return {
    from: textAt(fields, 'from'),
    event: textAt(fields, 'event'),
    to: textAt(fields, 'to'),
    description: textOrNull(fields, 'description'),
    guard: expressionFrom(own(fields, 'guard')),
    allowedRoles: textsOrNull(fields, 'allowed_roles'),
    whenBlocked: textOrNull(fields, 'when_blocked') === 'record' ? 'record' : 'reject',
    assign: Object.entries(assign).map(([variable, value]) => ({ variable, value })),
    mergePayload: dialect === 'original' || truthAt(fields, 'merge_payload'),
    escape: truthAt(fields, 'escape'),
  }
}

function artifactFrom(fields: JsonObject): ArtifactDefinition {
  const fresh = textOrNull(fields, 'fresh')
  return {
    type: textAt(fields, 'type'),
    description: textOrNull(fields, 'description'),
    paths: textsAt(fields, 'paths'),
    minBytes: numberOrNull(fields, 'min_bytes'),
    schema: objectOrNull(fields, 'schema'),
    fresh: fresh === 'state' || fresh === 'loop' ? fresh : 'run',
  }
}

/** A guard whose shape was checked. */
function namedGuardFrom(name: string, fields: JsonObject): NamedGuard {
  return {
    name,
    description: textOrNull(fields, 'description'),
    hint: textOrNull(fields, 'hint'),
    guard: guardFrom(fields),
  }
}

/** `a`, `{ all: [a, b] }` and so on. */
function expressionFrom(value: unknown): GuardExpression | null {
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

// The shape was checked: what is absent is null or empty here, never wrong.

export function textAt(fields: JsonObject, key: string): string {
  return textOrNull(fields, key) ?? ''
}

function textOrNull(fields: JsonObject, key: string): string | null {
  const value = own(fields, key)
  return typeof value === 'string' ? value : null
}

function numberOrNull(fields: JsonObject, key: string): number | null {
  const value = own(fields, key)
  return typeof value === 'number' ? value : null
}

function truthAt(fields: JsonObject, key: string): boolean {
  return own(fields, key) === true
}

function listAt(fields: JsonObject, key: string): readonly unknown[] {
  const value = own(fields, key)
  return Array.isArray(value) ? value : []
}

function textsAt(fields: JsonObject, key: string): readonly string[] {
  return listAt(fields, key).filter((item) => typeof item === 'string')
}

function textsOrNull(fields: JsonObject, key: string): readonly string[] | null {
  return Array.isArray(own(fields, key)) ? textsAt(fields, key) : null
}

export function objectsAt(fields: JsonObject, key: string): readonly JsonObject[] {
  return listAt(fields, key).filter(isJsonObject)
}

function objectOrNull(fields: JsonObject, key: string): JsonObject | null {
  const value = own(fields, key)
  return isJsonObject(value) ? value : null
}

export function own(fields: JsonObject, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}
