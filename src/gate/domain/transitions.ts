import { eventNamed, type ProcessDefinition, stateNamed, type TransitionDefinition } from './definition.ts'
import type { Emitter } from './event-request.ts'
import type { Run } from './run.ts'

/** The transitions that an event may cause in a state, in the order they are tried. */
export function transitionsFor(
  definition: ProcessDefinition,
  state: string,
  event: string,
): readonly TransitionDefinition[] {
  if (stateNamed(definition, state)?.isFinal) return []
  const transitions = definition.transitions.filter(
    (transition) => transition.event === event && (transition.from === state || transition.from === '*'),
  )
  if (definition.dialect === 1) return transitions
  // The original tries guarded transitions first.
  return [
    ...transitions.filter(({ guard }) => guard !== null),
    ...transitions.filter(({ guard }) => guard === null),
  ]
}

/** Why someone may not emit an event, and the fix: a sentence each. */
interface EmitObjection {
  readonly reason: string
  readonly fix: string
}

/** Why an emitter may not send an event in any state; null if they may. */
export function emitterObjection(
  definition: ProcessDefinition,
  event: string,
  emitter: Emitter,
): EmitObjection | null {
  const { role, kind } = emitter
  const roleDefinition = definition.roles.find(({ name }) => name === role)
  if (roleDefinition?.kind === 'human' && kind === 'agent') {
    return {
      reason: `Role "${roleDefinition.name}" is for people; an agent cannot hold it.`,
      fix: 'Unset WAYMARK_ROLE, and ask a person to decide.',
    }
  }
  const { allowedRoles: allowed = [], channels = null } = eventNamed(definition, event) ?? {}
  if (isRolePermitted(allowed, role)) return channels === null ? null : otherChannel(event, channels, emitter)
  const who = role === null ? 'A connection without a role' : `Role "${role}"`
  return {
    reason: `${who} may not emit "${event}"; ${allowed.length === 0 ? 'no one' : allowed.join(', ')} may.`,
    fix: 'The role is set by the token or WAYMARK_ROLE, on a team server by waymark member set --roles; not by a call.',
  }
}

function otherChannel(
  event: string,
  channels: readonly string[],
  { channel }: Emitter,
): EmitObjection | null {
  if (channel === undefined || channels.includes(channel)) return null
  const channelList = channels.join(' or ')
  return {
    reason: `"${event}" is accepted only through ${channelList}, not through ${channel}.`,
    fix: `Send it through ${channelList}.`,
  }
}

/** Whether a list of roles includes this one, or everyone. */
export function isRolePermitted(allowed: readonly string[] | null, role: string | null): boolean {
  return allowed === null || allowed.includes('*') || (role !== null && allowed.includes(role))
}

/** The states that transitions lead to directly from a state, each once. */
export function nextStates(definition: ProcessDefinition, state: string): readonly string[] {
  if (stateNamed(definition, state)?.isFinal) return []
  const leaving = definition.transitions.filter(({ from }) => from === state || from === '*')
  return [...new Set(leaving.map(({ to }) => to))]
}

/** All states reachable from a state, ignoring guards, with the fewest steps to each. The start has 0. */
export function reachableStates(definition: ProcessDefinition, start: string): ReadonlyMap<string, number> {
  const steps = new Map([[start, 0]])
  for (const [state, count] of steps) {
    for (const next of nextStates(definition, state)) {
      if (!steps.has(next)) steps.set(next, count + 1)
    }
  }
  return steps
}

/** Whether every path from the initial state to a state goes through another one. */
export function isOnEveryPath(definition: ProcessDefinition, through: string, state: string): boolean {
  const { initialState } = definition
  if (through === state || !reachableStates(definition, initialState).has(state)) return false
  const reached = new Set(through === initialState ? [] : [initialState])
  for (const step of reached) {
    for (const next of nextStates(definition, step)) if (next !== through) reached.add(next)
  }
  return !reached.has(state)
}

export interface RunProgress {
  /** States that were left, in the order of their first entry. */
  readonly completedStates: readonly string[]
  readonly currentState: string
  /** Reachable states other than the current one. */
  readonly remainingStates: readonly string[]
  /** Null if no final state can be reached. */
  readonly fewestStepsToEnd: number | null
}

export function runProgress(definition: ProcessDefinition, run: Run): RunProgress {
  const steps = run.isCancelled ? new Map<string, number>() : reachableStates(definition, run.state)
  const ends = [...steps]
    .filter(([state]) => stateNamed(definition, state)?.isFinal)
    .map(([, count]) => count)
  const visited = run.visits.map(({ state }) => state)
  return {
    completedStates: visited.filter((state) => state !== run.state),
    currentState: run.state,
    remainingStates: [...steps.keys()].filter((state) => state !== run.state),
    fewestStepsToEnd: ends.length === 0 ? null : Math.min(...ends),
  }
}
