import { Failure } from '../../kernel/failure.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { artifactType } from './artifacts.ts'
import { isSentBack } from './decisions.ts'
import { eventNamed, interpolatePrompt, type ProcessDefinition, stateNamed } from './definition.ts'
import { type AcceptedTransition, type RefusedTransition, transition } from './engine.ts'
import type { Emitter, EventRequest } from './event-request.ts'
import { type Artifact, nothingObserved } from './evidence.ts'
import { negatedNames } from './expression.ts'
import { type PossibleEvent, possibleEvent } from './possible-events.ts'
import { beginRun, type Run } from './run.ts'
import { type RunProgress, runProgress } from './transitions.ts'

export interface SimulatedEvent {
  readonly event: string
  readonly payload: JsonObject
  /** Paths of files that are taken as submitted; nothing is read. */
  readonly artifacts: readonly string[]
  /** Null: the first role that may emit it. */
  readonly role: string | null
  /** Assumptions for this event only, instead of the simulation's. */
  readonly satisfied?: readonly string[]
}

export interface SimulatedStep {
  readonly event: string
  readonly role: string | null
  readonly result: AcceptedTransition | RefusedTransition
  /** The sender withdraws their earlier approvals. Assumptions stay. */
  readonly withdraws: boolean
}

export interface Simulation {
  readonly steps: readonly SimulatedStep[]
  readonly run: Run
  readonly finished: boolean
  readonly progress: RunProgress
  /** The prompt of the state that the run is in, with its variables. */
  readonly prompt: string | null
  /** The events that someone may send next. */
  readonly next: readonly PossibleEvent[]
}

interface Assumptions {
  /** Names of guards and types of artifacts that count as satisfied; `*` for all; `not x` for a guard that fails. */
  readonly satisfied: readonly string[]
  readonly context: JsonObject
}

/**
 * Simulates events in a process from its initial state. A refused event leaves the run unchanged, and the next follows.
 * Fails with INVALID_INPUT if an assumption names no guard or artifact of the process.
 */
export function simulate(
  original: ProcessDefinition,
  events: readonly SimulatedEvent[],
  { satisfied, context }: Assumptions,
): Simulation {
  const definition = withoutContents(original)
  for (const assumed of [satisfied, ...events.map((event) => event.satisfied ?? [])]) {
    assertKnownAssumptions(definition, assumed)
  }
  let run = beginRun(definition, context)
  const steps: SimulatedStep[] = []
  for (const simulated of events) {
    const emitter = emitterOf(definition, simulated)
    const result = transition(
      definition,
      run,
      simulatedEventRequest(definition, simulated, { emitter, satisfied: simulated.satisfied ?? satisfied }),
    )
    if (result.accepted) run = result.run
    const withdraws =
      result.accepted && emitter.kind === 'person' && withdrawsApprovals(definition, simulated, result)
    steps.push({ event: simulated.event, role: emitter.role, result, withdraws })
  }
  const state = stateNamed(definition, run.state)
  const prompt = state?.prompt ?? null
  return {
    steps,
    run,
    finished: state?.isFinal ?? false,
    progress: runProgress(definition, run),
    prompt: prompt === null ? null : interpolatePrompt(prompt, definition.dialect, run.context),
    next: nextEvents(definition, run, satisfied),
  }
}

function withdrawsApprovals(
  definition: ProcessDefinition,
  { event }: SimulatedEvent,
  { from, to, unsatisfied }: AcceptedTransition,
): boolean {
  const asksForApprovals = definition.guards.some(({ guard }) => guard.type === 'approval')
  return asksForApprovals && unsatisfied.length === 0 && isSentBack(definition, { event, from, to })
}

/** The names that a simulation may assume, beside `*`. */
export function assumableNames({ guards, artifacts, transitions }: ProcessDefinition): readonly string[] {
  const negated = new Set(transitions.flatMap(({ guard }) => negatedNames(guard)))
  return [
    ...guards.flatMap(({ name }) => (negated.has(name) ? [name, `not ${name}`] : [name])),
    ...artifacts.map(({ type }) => type),
  ]
}

function assertKnownAssumptions(definition: ProcessDefinition, assumed: readonly string[]): void {
  const knownNames = [
    ...assumableNames(definition),
    ...definition.guards.map(({ name }) => `not ${name}`),
    ...definition.states.flatMap(({ requiredArtifacts }) => requiredArtifacts),
  ]
  for (const name of assumed) {
    if (name === '*' || knownNames.includes(name)) continue
    throw new Failure(
      'INVALID_INPUT',
      `Process ${definition.id} has no guard and no type of artifact "${name}".${didYouMean(name, knownNames)}`,
      {
        reason: 'assumption_unknown',
        hint: `Possible: ${assumableNames(definition).join(', ') || 'nothing'}, or * for all.`,
      },
    )
  }
}

/** Each event as the first role that may emit it would see it. */
function nextEvents(
  definition: ProcessDefinition,
  run: Run,
  assumed: readonly string[],
): readonly PossibleEvent[] {
  const possible = definition.events.map((event) => {
    const emitter = emitterOf(definition, { event: event.name, role: null })
    const situation = { payload: {}, artifacts: [], emitter, observed: nothingObserved, assumed }
    return possibleEvent(definition, run, { event, situation })
  })
  return possible.filter(({ isAllowed }) => isAllowed)
}

function simulatedEventRequest(
  definition: ProcessDefinition,
  { event, payload, artifacts }: SimulatedEvent,
  { emitter, satisfied }: { readonly emitter: Emitter; readonly satisfied: readonly string[] },
): EventRequest {
  return {
    event,
    payload,
    artifacts: artifacts.map((path) => assumedArtifact(definition, path)),
    emitter,
    expectedRevision: null,
    observed: nothingObserved,
    assumed: satisfied,
  }
}

function assumedArtifact(definition: ProcessDefinition, path: string): Omit<Artifact, 'revision'> {
  return { type: artifactType(definition, path) ?? path, path, bytes: 0, sha256: '', status: 'current' }
}

/** Removes checks of file content: a simulation reads no files. */
function withoutContents(definition: ProcessDefinition): ProcessDefinition {
  return {
    ...definition,
    artifacts: definition.artifacts.map((artifact) => ({ ...artifact, minBytes: null, schema: null })),
  }
}

function emitterOf(
  definition: ProcessDefinition,
  { event, role }: Pick<SimulatedEvent, 'event' | 'role'>,
): Emitter {
  const allowed = eventNamed(definition, event)?.allowedRoles ?? []
  const acting = role ?? allowed.find((name) => name !== '*') ?? definition.roles[0]?.name ?? null
  const kind = definition.roles.find(({ name }) => name === acting)?.kind
  return { role: acting, kind: kind === 'agent' ? 'agent' : 'person' }
}
