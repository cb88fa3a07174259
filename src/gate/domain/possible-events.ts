import { countedArtifacts } from './artifacts.ts'
import {
  type EventDefinition,
  type GuardExpression,
  type ProcessDefinition,
  stateNamed,
  type TransitionDefinition,
} from './definition.ts'
import { checkTransition, hasArtifactNeeds, type TransitionCheck } from './engine.ts'
import { type EventRequest, evidenceOf } from './event-request.ts'
import {
  createGuardEvaluator,
  expressionWords,
  guardNames,
  type MissingGuard,
  noSuchGuard,
} from './expression.ts'
import type { Guard, GuardStatus } from './guards/guard.ts'
import { guardNeeds } from './guards/guard-kinds.ts'
import { endOf, type Run } from './run.ts'
import { emitterObjection, isRolePermitted, transitionsFor } from './transitions.ts'

export interface PossibleEvent {
  readonly event: EventDefinition
  /** It may be sent: valid in this state, permitted for the role, and the run is unfinished. Guards are separate. */
  readonly isAllowed: boolean
  readonly blockedReason: string | null
  readonly transitions: readonly PossibleTransition[]
  /** Its transitions in other states, if it has none in this one. */
  readonly elsewhere: readonly PossibleTransition[]
  /** The state it would lead to now; null if guards block all its transitions. */
  readonly wouldTransitionTo: string | null
}

interface PossibleTransition {
  readonly to: string
  readonly guard: string | null
  readonly guardStatus: 'satisfied' | 'unsatisfied' | 'no_guard'
  readonly missing: readonly MissingGuard[]
  /** The permitted roles; null if the emitter's role is one of them. */
  readonly onlyFor: readonly string[] | null
}

type EventSituation = Omit<EventRequest, 'event' | 'expectedRevision'>

/** The status of an event for a run and an emitter. */
export function possibleEvent(
  definition: ProcessDefinition,
  run: Run,
  { event, situation }: { readonly event: EventDefinition; readonly situation: EventSituation },
): PossibleEvent {
  const eventRequest: EventRequest = { ...situation, event: event.name, expectedRevision: null }
  const transitions = endOf(definition, run) === null ? transitionsFor(definition, run.state, event.name) : []
  const judged = transitions.map((transition) => ({
    transition,
    judgement: checkTransition(definition, run, { transition, eventRequest }),
  }))
  const blockedReason = reasonAgainst(definition, run, { eventRequest, isHere: transitions.length > 0 })
  const { role } = situation.emitter
  const open = judged.find(
    ({ transition, judgement }) => judgement.satisfied && isRolePermitted(transition.allowedRoles, role),
  )
  return {
    event,
    isAllowed: blockedReason === null,
    blockedReason,
    transitions: judged.map(({ transition, judgement }) => possibleTransition(transition, judgement, role)),
    elsewhere: transitions.length > 0 ? [] : reachableElsewhere(definition, run, eventRequest),
    wouldTransitionTo: blockedReason === null ? (open?.transition.to ?? null) : null,
  }
}

function possibleTransition(
  { to, guard, allowedRoles }: TransitionDefinition,
  { satisfied, missing }: TransitionCheck,
  role: string | null,
): PossibleTransition {
  return {
    to,
    guard: guard === null ? null : expressionWords(guard),
    guardStatus: statusOf(guard !== null, satisfied),
    missing,
    onlyFor: isRolePermitted(allowedRoles, role) ? null : allowedRoles,
  }
}

/** The transitions of an event in other states, evaluated as if the run were there. */
function reachableElsewhere(
  definition: ProcessDefinition,
  run: Run,
  eventRequest: EventRequest,
): readonly PossibleTransition[] {
  if (endOf(definition, run) !== null) return []
  return definition.transitions
    .filter(({ event }) => event === eventRequest.event)
    .map((transition) => {
      const there = { ...run, state: transition.from }
      const judged = checkTransition(definition, there, { transition, eventRequest })
      // Evidence from outside the run is gathered only for guards of the current state.
      const unseen = guardNames(transition.guard).filter((name) => hasOutsideNeeds(definition, name))
      const missing = [
        ...judged.missing.filter(({ name }) => !unseen.includes(name)),
        ...unseen.map((name) => deferredGuard(transition.from, name)),
      ]
      return possibleTransition(
        transition,
        { satisfied: missing.length === 0, missing },
        eventRequest.emitter.role,
      )
    })
}

function hasOutsideNeeds({ guards }: ProcessDefinition, name: string): boolean {
  const guard = guards.find((candidate) => candidate.name === name)
  if (!guard) return false
  return guardNeeds(guard.guard).some(({ kind }) => kind !== 'context' && kind !== 'artifacts')
}

function deferredGuard(state: string, name: string): MissingGuard {
  return {
    name,
    description: '',
    status: 'unknown',
    reason: `it is checked in "${state}"`,
    fix: `Bring the run to "${state}".`,
  }
}

function statusOf(isGuarded: boolean, isSatisfied: boolean): PossibleTransition['guardStatus'] {
  if (!isSatisfied) return 'unsatisfied'
  return isGuarded ? 'satisfied' : 'no_guard'
}

function reasonAgainst(
  definition: ProcessDefinition,
  run: Run,
  { eventRequest, isHere }: { readonly eventRequest: EventRequest; readonly isHere: boolean },
): string | null {
  const end = endOf(definition, run)
  if (end !== null) return end
  if (isHere) {
    const transitions = transitionsFor(definition, run.state, eventRequest.event)
    const refusal = emitterObjection(definition, eventRequest.event, eventRequest.emitter)
    if (refusal !== null) return refusal.reason
    if (transitions.some(({ allowedRoles }) => isRolePermitted(allowedRoles, eventRequest.emitter.role)))
      return null
    return `Role "${eventRequest.emitter.role ?? 'none'}" may not emit "${eventRequest.event}" here.`
  }
  const states = definition.transitions
    .filter(({ event }) => event === eventRequest.event)
    .map(({ from }) => from)
  return `Cannot be emitted in "${run.state}", only in ${[...new Set(states)].join(', ') || 'no state'}.`
}

/** A requirement of a transition, and its status. */
interface PassageCheck extends Omit<MissingGuard, 'status'> {
  readonly status: GuardStatus
  readonly satisfied: boolean
  /** The event measures it again: what is known now does not decide. */
  readonly measuredByEvent: boolean
}

/** All requirements of a transition: satisfied ones with their evidence, others with their fix. */
export function transitionChecks(
  definition: ProcessDefinition,
  run: Run,
  passage: { readonly transition: TransitionDefinition; readonly eventRequest: EventRequest },
): readonly PassageCheck[] {
  const { transition, eventRequest } = passage
  const evidence = evidenceOf(definition, run, eventRequest)
  const judge = createGuardEvaluator(evidence, eventRequest.assumed)
  const guarded = expressionLeaves(transition.guard).map(({ name, negated }): PassageCheck => {
    const guard = definition.guards.find((candidate) => candidate.name === name)
    const guardResult = guard ? judge(guard) : noSuchGuard
    const status = negated ? opposite[guardResult.status] : guardResult.status
    return {
      name: negated ? `not ${name}` : name,
      description: guard?.description ?? '',
      status,
      satisfied: status === 'holds',
      measuredByEvent: guard !== undefined && isMeasuredByEvent(guard.guard),
      reason: guardResult.reason,
      fix: status === 'holds' ? '' : negated && status === 'fails' ? 'Send another event.' : guardResult.fix,
    }
  })
  const required = hasArtifactNeeds(definition, run.state, transition)
    ? (stateNamed(definition, run.state)?.requiredArtifacts ?? [])
    : []
  const present = required.flatMap((type): readonly PassageCheck[] => {
    const { counted } = countedArtifacts(type, evidence)
    if (counted.length === 0) return []
    const description = definition.artifacts.find((artifact) => artifact.type === type)?.description ?? ''
    const reason = counted.map(({ path }) => path).join(', ')
    return [
      {
        name: `required_artifacts.${type}`,
        description,
        status: 'holds',
        satisfied: true,
        measuredByEvent: false,
        reason,
        fix: '',
      },
    ]
  })
  const guardedNames = new Set(guarded.map(({ name }) => name))
  const otherChecks = checkTransition(definition, run, passage).missing.filter(
    ({ name }) => !guardedNames.has(name) && !name.startsWith('not '),
  )
  return [
    ...guarded,
    ...present,
    ...otherChecks.map((missing) => ({ ...missing, satisfied: false, measuredByEvent: false })),
  ]
}

/** Commands run for the event, and what landed is measured for it; a runner's commands run elsewhere. */
function isMeasuredByEvent(guard: Guard): boolean {
  return guard.type === 'landed' || (guard.type === 'command' && guard.reportedBy === undefined)
}

const opposite = { holds: 'fails', fails: 'holds', unknown: 'unknown' } as const satisfies Record<
  GuardStatus,
  GuardStatus
>

interface GuardLeaf {
  readonly name: string
  readonly negated: boolean
}

/** The guards of an expression, each once, and whether it is negated. */
function expressionLeaves(expression: GuardExpression | null, negated = false): readonly GuardLeaf[] {
  if (expression === null) return []
  if (typeof expression === 'string') return [{ name: expression, negated }]
  if ('not' in expression) return expressionLeaves(expression.not, !negated)
  const parts = 'all' in expression ? expression.all : expression.any
  const leaves = parts.flatMap((part) => expressionLeaves(part, negated))
  return leaves.filter(
    (leaf, index) =>
      leaves.findIndex(({ name, negated: not }) => name === leaf.name && not === leaf.negated) === index,
  )
}
