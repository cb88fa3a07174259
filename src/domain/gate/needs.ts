import { candidates } from './candidates.ts'
import { type GuardExpression, type ProcessDefinition, stateNamed } from './definition.ts'
import type { Need } from './evidence.ts'
import { guardNames } from './expression.ts'
import type { CommandGuard } from './guards/command.ts'
import { guardNeeds } from './guards/guard-kinds.ts'

/** What must be gathered before an event is judged in a state; before any event is, without one. */
export function neededFor(definition: ProcessDefinition, state: string, event?: string): readonly Need[] {
  const events = event === undefined ? definition.events.map(({ name }) => name) : [event]
  const named = new Set(
    events.flatMap((name) => candidates(definition, state, name)).flatMap(({ guard }) => guardNames(guard)),
  )
  const guarded = definition.guards.filter(({ name }) => named.has(name))
  const required = (stateNamed(definition, state)?.requiredArtifacts ?? []).map(
    (type): Need => ({ kind: 'artifacts', type }),
  )
  return [...guarded.flatMap(({ guard }) => guardNeeds(guard)), ...required]
}

/** How the guards of a state's events ask a command line to end: what stands under `not` asks for the other way. */
export function endsAsked(
  definition: ProcessDefinition,
  state: string,
  line: string,
): ReadonlySet<'zero' | 'nonzero'> {
  const ways = definition.events.flatMap(({ name }) => candidates(definition, state, name))
  const asked = ways.flatMap(({ guard }) => (guard === null ? [] : signedNames(guard, true)))
  const ends = asked.flatMap(({ name, isMeant }) => {
    const guard = definition.guards.find((each) => each.name === name)?.guard
    if (guard?.type !== 'command' || guard.run !== line) return []
    return [(guard.exit === 'nonzero') === isMeant ? ('nonzero' as const) : ('zero' as const)]
  })
  return new Set(ends)
}

function signedNames(
  expression: GuardExpression,
  isMeant: boolean,
): readonly { readonly name: string; readonly isMeant: boolean }[] {
  if (typeof expression === 'string') return [{ name: expression, isMeant }]
  if ('not' in expression) return signedNames(expression.not, !isMeant)
  const parts = 'all' in expression ? expression.all : expression.any
  return parts.flatMap((part) => signedNames(part, isMeant))
}

/** The command guards that an event is judged by in a state, each line once. */
export function commandsFor(
  definition: ProcessDefinition,
  state: string,
  event?: string,
): readonly CommandGuard[] {
  const lines = neededFor(definition, state, event).flatMap((need) =>
    need.kind === 'command' ? [need.run] : [],
  )
  return [...new Set(lines)].flatMap((line) => {
    const guards = definition.guards.flatMap(({ guard }) =>
      guard.type === 'command' && guard.run === line ? [guard] : [],
    )
    const [first] = guards
    // One question for one line: with all that any of its guards pins.
    return first ? [{ ...first, pinned: [...new Set(guards.flatMap(({ pinned }) => pinned))] }] : []
  })
}
