import type {
  ArtifactDefinition,
  Dialect,
  EventDefinition,
  ProcessDefinition,
  RoleDefinition,
  StateDefinition,
  ToolPermissions,
  TransitionDefinition,
} from '../domain/gate/definition.ts'
import { isJsonObject, type JsonObject } from '../domain/gate/json.ts'
import { expressionFrom, namedGuardFrom } from './guard-from.ts'
import {
  numberOrNull,
  objectOrNull,
  objectsAt,
  own,
  textAt,
  textOrNull,
  textsAt,
  textsOrNull,
  truthAt,
} from './plain-fields.ts'

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
