import { candidates, forbidden, permits } from './candidates.ts'
import type { EventDefinition, ProcessDefinition } from './definition.ts'
import { stateNamed } from './definition.ts'
import type { Emission } from './emission.ts'
import { expressionWords, type MissingGuard } from './expression.ts'
import { judgePassage } from './passage.ts'
import type { Run } from './run.ts'

export interface PossibleEvent {
  readonly event: EventDefinition
  /** It may be attempted: valid in this state, the role permits, the run goes on. Guards are told apart. */
  readonly isAllowed: boolean
  readonly blockedReason: string | null
  readonly transitions: readonly PossibleTransition[]
  /** Where it would lead now; null when every guard stands in the way. */
  readonly wouldTransitionTo: string | null
}

export interface PossibleTransition {
  readonly to: string
  readonly guard: string | null
  readonly guardStatus: 'satisfied' | 'unsatisfied' | 'no_guard'
  readonly missing: readonly MissingGuard[]
}

type Situation = Omit<Emission, 'event' | 'expectedRevision'>

/** Every event of the process as it stands for a run and an emitter, in the order of the definition. */
export function possibleEvents(
  definition: ProcessDefinition,
  run: Run,
  situation: Situation,
): readonly PossibleEvent[] {
  return definition.events.map((event) => possibleEvent(definition, run, { event, situation }))
}

/** One event as it stands for a run and an emitter. */
export function possibleEvent(
  definition: ProcessDefinition,
  run: Run,
  { event, situation }: { readonly event: EventDefinition; readonly situation: Situation },
): PossibleEvent {
  const emission: Emission = { ...situation, event: event.name, expectedRevision: null }
  const found = candidates(definition, run.state, event.name)
  const judged = found.map((transition) => ({
    transition,
    judgement: judgePassage(definition, run, { transition, emission }),
  }))
  const blockedReason = reasonAgainst(definition, run, { emission, isHere: found.length > 0 })
  const open = judged.find(
    ({ transition, judgement }) =>
      judgement.satisfied && permits(transition.allowedRoles, situation.emitter.role),
  )
  return {
    event,
    isAllowed: blockedReason === null,
    blockedReason,
    transitions: judged.map(({ transition, judgement }) => ({
      to: transition.to,
      guard: transition.guard === null ? null : expressionWords(transition.guard),
      guardStatus: statusOf(transition.guard !== null, judgement.satisfied),
      missing: judgement.missing,
    })),
    wouldTransitionTo: blockedReason === null ? (open?.transition.to ?? null) : null,
  }
}

function statusOf(isGuarded: boolean, isSatisfied: boolean): PossibleTransition['guardStatus'] {
  if (!isSatisfied) return 'unsatisfied'
  return isGuarded ? 'satisfied' : 'no_guard'
}

function reasonAgainst(
  definition: ProcessDefinition,
  run: Run,
  { emission, isHere }: { readonly emission: Emission; readonly isHere: boolean },
): string | null {
  if (stateNamed(definition, run.state)?.isFinal) return 'The run is finished.'
  if (isHere) {
    const found = candidates(definition, run.state, emission.event)
    const refusal = forbidden(definition, emission.event, emission.emitter)
    if (refusal !== null) return refusal
    if (found.some(({ allowedRoles }) => permits(allowedRoles, emission.emitter.role))) return null
    return `Role "${emission.emitter.role ?? 'none'}" may not emit "${emission.event}" here.`
  }
  const states = definition.transitions
    .filter(({ event }) => event === emission.event)
    .map(({ from }) => from)
  return `It cannot be emitted in "${run.state}", only in ${[...new Set(states)].join(', ') || 'no state'}.`
}
