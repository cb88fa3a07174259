import type { Actor, Channel } from '../../kernel/actor.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { eventNamed, type ProcessDefinition } from './definition.ts'
import type { Artifact, Evidence, Observations } from './evidence.ts'
import { mergeArtifacts, type Run } from './run.ts'

/** An event with all the input of its decision. */
export interface EventRequest {
  readonly event: string
  readonly payload: JsonObject
  readonly artifacts: readonly Omit<Artifact, 'revision'>[]
  /** The emitter: its role comes from the connection, never from the call. */
  readonly emitter: Emitter
  /** Null: not checked. */
  readonly expectedRevision: number | null
  readonly observed: Observations
  /** Names of guards and types of artifacts that count as satisfied, in a simulation; `*` for all. */
  readonly assumed: readonly string[]
}

export interface Emitter {
  readonly role: string | null
  readonly kind: 'agent' | 'person'
  /** The channel; absent in a simulation. */
  readonly channel?: Channel
}

export function evidenceOf(definition: ProcessDefinition, run: Run, eventRequest: EventRequest): Evidence {
  return {
    dialect: definition.dialect,
    context: run.context,
    payload: eventRequest.payload,
    artifacts: mergeArtifacts(run.artifacts, artifactsAtNextRevision(run, eventRequest)),
    declared: definition.artifacts,
    visits: run.visits,
    observed: eventRequest.observed,
  }
}

/** The event's artifacts as the revision that accepts it records them. */
export function artifactsAtNextRevision(run: Run, { artifacts }: EventRequest): readonly Artifact[] {
  return artifacts.map((artifact) => ({ ...artifact, revision: run.revision + 1 }))
}

/**
 * In which role someone emits an event. The connection's role counts; without one, an agent has the process' only role
 * for agents (or the one called `agent`), and a person the one they ask for, else the first that may emit it.
 */
export function emitterFor(
  definition: ProcessDefinition,
  event: string,
  { actor, requestedRole }: { readonly actor: Actor; readonly requestedRole?: string | undefined },
): Emitter {
  const { kind, channel } = actor
  if (actor.role !== null) return { role: actor.role, kind, channel }
  if (kind === 'agent') return { role: agentRole(definition), kind, channel }
  return { role: requestedRole ?? personRole(definition, event), kind, channel }
}

function agentRole({ roles }: ProcessDefinition): string | null {
  const forAgents = roles.filter((role) => role.kind === 'agent').map(({ name }) => name)
  if (forAgents.includes('agent')) return 'agent'
  return forAgents.length === 1 ? (forAgents[0] ?? null) : null
}

function personRole(definition: ProcessDefinition, event: string): string | null {
  const allowed = eventNamed(definition, event)?.allowedRoles ?? []
  const human = definition.roles.filter(({ kind }) => kind === 'human').map(({ name }) => name)
  if (allowed.includes('*')) return human[0] ?? null
  return allowed.find((name) => human.includes(name)) ?? allowed[0] ?? null
}
