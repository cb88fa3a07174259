import { eventNamed, type ProcessDefinition, type TransitionDefinition } from '../definition.ts'
import type { HookRun } from './hook-run.ts'

const mostNamed = 4

/** How a run gets out of its state, as a sentence. */
export function waysOn({ record, definition }: HookRun): string {
  const leaving = definition.transitions.filter(
    (way) => [record.state, '*'].includes(way.from) && way.to !== record.state && !way.escape,
  )
  const named = [...new Set(leaving.map((transition) => wayWords(definition, transition)))]
  const see = `\`waymark get-state ${record.id}\` says what is missing.`
  if (named.length === 0) return `No event leads on from there; ${see}`
  const more = named.length > mostNamed ? ' and more' : ''
  return `The way on: state_gate_emit_event with ${named.slice(0, mostNamed).join(', or ')}${more}. ${see}`
}

function wayWords(definition: ProcessDefinition, { event, to, allowedRoles }: TransitionDefinition): string {
  const roles = allowedRoles ?? eventNamed(definition, event)?.allowedRoles ?? []
  const who = roles.includes('*') || roles.length === 0 ? '' : `, by ${roles.join(' or ')}`
  return `${event} (to "${to}"${who})`
}
