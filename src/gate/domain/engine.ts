import type { JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { countedArtifacts } from './artifacts.ts'
import { eventNamed, type ProcessDefinition, stateNamed, type TransitionDefinition } from './definition.ts'
import { artifactsAtNextRevision, type EventRequest, evidenceOf } from './event-request.ts'
import { createGuardEvaluator, isAssumed, judgeExpression, type MissingGuard } from './expression.ts'
import { valueAt } from './json.ts'
import { type SchemaProblem, schemaProblems } from './json-schema.ts'
import { payloadExample } from './payload-example.ts'
import { endOf, mergeArtifacts, type Run, recordVisit } from './run.ts'
import { emitterObjection, isOnEveryPath, isRolePermitted, transitionsFor } from './transitions.ts'

/** The specified codes, in the order in which they are checked. */
type RefusalCode =
  | 'RUN_FINISHED'
  | 'REVISION_CONFLICT'
  | 'INVALID_EVENT'
  | 'FORBIDDEN'
  | 'INVALID_PAYLOAD'
  | 'GUARD_FAILED'

export interface AcceptedTransition {
  readonly accepted: true
  readonly run: Run
  readonly from: string
  readonly to: string
  /** False if the evidence was recorded and the run stayed. */
  readonly stateChanged: boolean
  /** The guards that blocked, if the run stayed. */
  readonly unsatisfied: readonly MissingGuard[]
}

export interface RefusedTransition {
  readonly accepted: false
  readonly code: RefusalCode
  readonly message: string
  /** The fix, if it depends on more than the code. */
  readonly fix?: string
  readonly currentRevision: number
  readonly missing: readonly MissingGuard[]
  readonly validationErrors: readonly SchemaProblem[]
  /** The event with a payload that has the required fields, if the payload was refused. */
  readonly example?: { readonly event: string; readonly payload: JsonObject }
}

/** Decides an event. Pure: only its arguments count, and a refused event leaves the run unchanged. */
export function transition(
  definition: ProcessDefinition,
  run: Run,
  eventRequest: EventRequest,
): AcceptedTransition | RefusedTransition {
  const { event, payload, emitter, expectedRevision } = eventRequest
  const refuse = refusalFactory(run)
  const end = endOf(definition, run)
  if (end !== null) return refuse('RUN_FINISHED', end)
  if (expectedRevision !== null && expectedRevision !== run.revision) {
    return refuse(
      'REVISION_CONFLICT',
      `Expected revision ${expectedRevision}, but current is ${run.revision}`,
    )
  }
  const possible = transitionsFor(definition, run.state, event)
  if (possible.length === 0) return refuse('INVALID_EVENT', invalidEvent(definition, run, event))
  const refusal = emitterObjection(definition, event, emitter)
  if (refusal !== null) return { ...refuse('FORBIDDEN', refusal.reason), fix: refusal.fix }
  const permitted = possible.filter(({ allowedRoles }) => isRolePermitted(allowedRoles, emitter.role))
  if (permitted.length === 0) {
    return refuse('FORBIDDEN', `Role "${emitter.role ?? 'none'}" may not emit "${event}" in "${run.state}".`)
  }
  const schema = eventNamed(definition, event)?.payloadSchema ?? null
  const problems = schema === null ? [] : schemaProblems(schema, payload)
  if (problems.length > 0) {
    const example = payloadExample(schema)
    return {
      ...refuse('INVALID_PAYLOAD', `The payload does not match the schema of "${event}".`),
      validationErrors: problems,
      ...(example !== null && { example: { event, payload: example } }),
    }
  }
  return choose(definition, run, { eventRequest, permitted })
}

function choose(
  definition: ProcessDefinition,
  run: Run,
  {
    eventRequest,
    permitted,
  }: { readonly eventRequest: EventRequest; readonly permitted: readonly TransitionDefinition[] },
): AcceptedTransition | RefusedTransition {
  const judged = permitted.map((candidate) => ({
    candidate,
    ...checkTransition(definition, run, { transition: candidate, eventRequest }),
  }))
  const open = judged.find(({ satisfied }) => satisfied)
  if (open) return takeTransition(definition, run, { eventRequest, taken: open.candidate })
  const missing = judged
    .flatMap((entry) => entry.missing)
    .filter(({ name }, index, all) => all.findIndex((other) => other.name === name) === index)
  if (!judged.some(({ candidate }) => candidate.whenBlocked === 'record')) {
    return { ...refusalFactory(run)('GUARD_FAILED', 'Guard conditions not satisfied'), missing }
  }
  const stayed = {
    ...run,
    revision: run.revision + 1,
    artifacts: mergeArtifacts(run.artifacts, artifactsAtNextRevision(run, eventRequest)),
  }
  return {
    accepted: true,
    run: stayed,
    from: run.state,
    to: run.state,
    stateChanged: false,
    unsatisfied: missing,
  }
}

function takeTransition(
  definition: ProcessDefinition,
  run: Run,
  { eventRequest, taken }: { readonly eventRequest: EventRequest; readonly taken: TransitionDefinition },
): AcceptedTransition | RefusedTransition {
  const context = assignedContext(taken, run.context, eventRequest.payload)
  const problems = contextProblems(definition, context)
  if (problems.length > 0) {
    const message = `The values that "${eventRequest.event}" assigns do not match the schema of the context.`
    return { ...refusalFactory(run)('INVALID_PAYLOAD', message), validationErrors: problems }
  }
  const revision = run.revision + 1
  const after: Run = {
    state: taken.to,
    revision,
    context,
    artifacts: mergeArtifacts(run.artifacts, artifactsAtNextRevision(run, eventRequest)),
    visits: recordVisit(run.visits, taken.to, revision),
  }
  return { accepted: true, run: after, from: run.state, to: taken.to, stateChanged: true, unsatisfied: [] }
}

function refusalFactory(run: Run): (code: RefusalCode, message: string) => RefusedTransition {
  return (code, message) => ({
    accepted: false,
    code,
    message,
    currentRevision: run.revision,
    missing: [],
    validationErrors: [],
  })
}

function invalidEvent(definition: ProcessDefinition, { state }: Run, event: string): string {
  if (!eventNamed(definition, event)) {
    const names = definition.events.map(({ name }) => name)
    return `There is no event "${event}".${didYouMean(event, names)} State "${state}" has ${eventsFrom(definition, state)}.`
  }
  const where = definition.transitions.filter((each) => each.event === event).map(({ from }) => `"${from}"`)
  const only = where.length === 0 ? 'no state' : [...new Set(where)].join(', ')
  return `Cannot emit "${event}" in "${state}", only in ${only}. State "${state}" has ${eventsFrom(definition, state)}.`
}

function eventsFrom(definition: ProcessDefinition, state: string): string {
  const names = definition.events
    .map(({ name }) => name)
    .filter((name) => transitionsFor(definition, state, name).length > 0)
  return names.length === 0 ? 'no event' : names.join(', ')
}

/** Satisfied only if nothing is missing; unknown guards count as missing. */
export interface TransitionCheck {
  readonly satisfied: boolean
  readonly missing: readonly MissingGuard[]
}

/** Whether a transition may be taken: its guard, the state's required artifacts (forward only), and the visit limit. */
export function checkTransition(
  definition: ProcessDefinition,
  run: Run,
  {
    transition,
    eventRequest,
  }: { readonly transition: TransitionDefinition; readonly eventRequest: EventRequest },
): TransitionCheck {
  const evidence = evidenceOf(definition, run, eventRequest)
  const judge = createGuardEvaluator(evidence, eventRequest.assumed)
  const guarded =
    transition.guard === null ? [] : judgeExpression(transition.guard, definition, judge).missing
  const artifacts = hasArtifactNeeds(definition, run.state, transition)
    ? missingArtifacts(definition, run, eventRequest)
    : []
  const visits = visitLimitRefusal(definition, run, transition)
  const missing = [...guarded, ...artifacts, ...visits]
  return { satisfied: missing.length === 0, missing }
}

/**
 * Whether a transition needs the required artifacts of its state. A step forward does. A step back to a state that every
 * path went through does not, nor does an escape.
 */
export function hasArtifactNeeds(
  definition: ProcessDefinition,
  state: string,
  { to, escape: escapes }: TransitionDefinition,
): boolean {
  if (escapes || (stateNamed(definition, state)?.requiredArtifacts ?? []).length === 0) return false
  return to !== state && !isOnEveryPath(definition, to, state)
}

function missingArtifacts(
  definition: ProcessDefinition,
  run: Run,
  eventRequest: EventRequest,
): readonly MissingGuard[] {
  const evidence = evidenceOf(definition, run, eventRequest)
  const required = stateNamed(definition, run.state)?.requiredArtifacts ?? []
  return required
    .filter((type) => !isAssumed(type, eventRequest.assumed))
    .flatMap((type) => {
      const { counted, passedOver } = countedArtifacts(type, evidence)
      if (counted.length > 0) return []
      const why = passedOver.length === 0 ? 'none was submitted' : `none counts: ${passedOver.join('; ')}`
      const {
        description,
        paths,
        minBytes = null,
      } = definition.artifacts.find((artifact) => artifact.type === type) ?? {}
      const where = paths === undefined || paths.length === 0 ? '' : ` (${paths.join(', ')})`
      return {
        name: `required_artifacts.${type}`,
        description: description ?? '',
        status: 'fails' as const,
        reason: `state "${run.state}" needs "${type}", and ${why}`,
        fix: `Attach a file of type "${type}"${where}${minBytes === null ? '' : ` of at least ${minBytes} bytes`} to the event.`,
      }
    })
}

function visitLimitRefusal(
  definition: ProcessDefinition,
  run: Run,
  { to }: TransitionDefinition,
): readonly MissingGuard[] {
  const most = stateNamed(definition, to)?.maxVisits ?? null
  const visits = run.visits.find(({ state }) => state === to)?.count ?? 0
  if (most === null || visits < most) return []
  return [
    {
      name: `max_visits.${to}`,
      description: '',
      status: 'fails',
      reason: `state "${to}" was entered ${visits} times, the maximum`,
      fix: 'Send another event.',
    },
  ]
}

/** The context after a transition, with its assignments and the merged payload. */
function assignedContext(
  { assign, mergePayload }: TransitionDefinition,
  context: JsonObject,
  payload: JsonObject,
): JsonObject {
  const entries = assign.map(
    ({ variable, value }) => [variable, resolveValue(value, { context, payload })] as const,
  )
  return Object.fromEntries([
    ...Object.entries(context),
    ...(mergePayload ? Object.entries(payload) : []),
    ...entries.filter(([, value]) => value !== undefined),
  ])
}

export function contextProblems(
  { contextSchema }: ProcessDefinition,
  context: JsonObject,
): readonly SchemaProblem[] {
  return contextSchema === null ? [] : schemaProblems(contextSchema, context)
}

function resolveValue(value: unknown, scope: JsonObject): unknown {
  return typeof value === 'string' && value.startsWith('$.')
    ? valueAt(scope, value.split('.').slice(1))
    : value
}
