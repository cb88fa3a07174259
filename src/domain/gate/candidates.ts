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

/** Why somebody may not emit an event, and the way on: a sentence each. */
export interface Objection {
  readonly reason: string
  readonly fix: string
}

/** What stands against somebody emitting an event at all; null when nothing does. */
export function forbidden(definition: ProcessDefinition, event: string, emitter: Emitter): Objection | null {
  const { role, kind } = emitter
  const held = definition.roles.find(({ name }) => name === role)
  if (held?.kind === 'human' && kind === 'agent') {
    return {
      reason: `Role "${held.name}" is for people; an agent cannot hold it.`,
      fix: 'Leave WAYMARK_ROLE unset, and ask a person for what people decide.',
    }
  }
  const { allowedRoles: allowed = [], channels = null } = eventNamed(definition, event) ?? {}
  if (permits(allowed, role)) return channels === null ? null : otherChannel(event, channels, emitter)
  const who = role === null ? 'A connection without a role' : `Role "${role}"`
  return {
    reason: `${who} may not emit "${event}"; ${allowed.length === 0 ? 'nobody' : allowed.join(', ')} may.`,
    fix: 'A role belongs to the connection: it is set by WAYMARK_ROLE or the token, not by a call.',
  }
}

function otherChannel(event: string, channels: readonly string[], { channel }: Emitter): Objection | null {
  if (channel === undefined || channels.includes(channel)) return null
  const ways = channels.join(' or ')
  return {
    reason: `"${event}" is taken only by way of ${ways}, not by ${channel}.`,
    fix: `Have it sent by way of ${ways}.`,
  }
}

/** Whether a list of roles has this one, or everybody, in it. */
export function permits(allowed: readonly string[] | null, role: string | null): boolean {
  return allowed === null || allowed.includes('*') || (role !== null && allowed.includes(role))
}
