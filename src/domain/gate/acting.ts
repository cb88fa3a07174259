import type { Actor } from '../actor.ts'
import { eventNamed, type ProcessDefinition } from './definition.ts'
import type { Emitter } from './emission.ts'

/**
 * In which role somebody emits an event. The connection's role counts; without one, an agent has the process' only role
 * for agents (or the one called `agent`), and a person the one they ask for, else the first that may emit it.
 */
export function emitterFor(
  definition: ProcessDefinition,
  event: string,
  { actor, asked }: { readonly actor: Actor; readonly asked?: string | undefined },
): Emitter {
  const { kind, channel } = actor
  if (actor.role !== null) return { role: actor.role, kind, channel }
  if (kind === 'agent') return { role: agentRole(definition), kind, channel }
  return { role: asked ?? personRole(definition, event), kind, channel }
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
