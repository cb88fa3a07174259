import type { ProcessDefinition, TransitionDefinition } from './definition.ts'
import { eventNamed, stateNamed } from './definition.ts'
import type { Emitter } from './emission.ts'

/** The transitions that an event may cause in a state, in the order they are tried. */
export function candidates(
  definition: ProcessDefinition,
  state: string,
  event: string,
): readonly TransitionDefinition[] {
  if (stateNamed(definition, state)?.isFinal) return []
  const found = definition.transitions.filter(
    (transition) => transition.event === event && (transition.from === state || transition.from === '*'),
  )
  if (definition.dialect === 1) return found
  // The original tries what is guarded first.
  return [...found.filter(({ guard }) => guard !== null), ...found.filter(({ guard }) => guard === null)]
}

/** Why somebody may not emit an event at all, as a sentence; null when they may. */
export function forbidden(definition: ProcessDefinition, event: string, emitter: Emitter): string | null {
  const { role, kind } = emitter
  const held = definition.roles.find(({ name }) => name === role)
  if (held?.kind === 'human' && kind === 'agent') {
    return `Role "${held.name}" is for people; an agent cannot hold it.`
  }
  const { allowedRoles: allowed = [], channels = null } = eventNamed(definition, event) ?? {}
  if (permits(allowed, role)) return channels === null ? null : otherChannel(event, channels, emitter)
  const who = role === null ? 'A connection without a role' : `Role "${role}"`
  return `${who} may not emit "${event}"; ${allowed.length === 0 ? 'nobody' : allowed.join(', ')} may.`
}

function otherChannel(event: string, channels: readonly string[], { channel }: Emitter): string | null {
  if (channel === undefined || channels.includes(channel)) return null
  return `"${event}" is taken only by way of ${channels.join(' or ')}, not by ${channel}.`
}

/** Whether a list of roles has this one, or everybody, in it. */
export function permits(allowed: readonly string[] | null, role: string | null): boolean {
  return allowed === null || allowed.includes('*') || (role !== null && allowed.includes(role))
}
