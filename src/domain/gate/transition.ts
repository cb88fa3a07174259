import { didYouMean } from '../nearest-word.ts'
import { assignedContext, contextProblems } from './assign.ts'
import { candidates, forbidden, permits } from './candidates.ts'
import { eventNamed, type ProcessDefinition, type TransitionDefinition } from './definition.ts'
import { type Emission, recorded } from './emission.ts'
import type { MissingGuard } from './expression.ts'
import { judgePassage } from './passage.ts'
import { endOf, entered, handedIn, type Run } from './run.ts'
import { schemaProblems } from './schema/schema-problems.ts'
import type { SchemaProblem } from './schema/schema-words.ts'

/** The seed's codes, in the order in which they are checked. */
export type RefusalCode =
  | 'RUN_FINISHED'
  | 'REVISION_CONFLICT'
  | 'INVALID_EVENT'
  | 'FORBIDDEN'
  | 'INVALID_PAYLOAD'
  | 'GUARD_FAILED'

export interface Accepted {
  readonly accepted: true
  readonly run: Run
  readonly from: string
  readonly to: string
  /** False where the evidence was recorded and the run stayed. */
  readonly stateChanged: boolean
  /** What stood in the way where the run stayed. */
  readonly unsatisfied: readonly MissingGuard[]
}

export interface Refused {
  readonly accepted: false
  readonly code: RefusalCode
  readonly message: string
  /** The way on, where it depends on more than the code. */
  readonly fix?: string
  readonly currentRevision: number
  readonly missing: readonly MissingGuard[]
  readonly validationErrors: readonly SchemaProblem[]
}

/** Decides about an event. Pure: nothing but its arguments counts, and a refused event leaves the run as it was. */
export function transition(definition: ProcessDefinition, run: Run, emission: Emission): Accepted | Refused {
  const { event, payload, emitter, expectedRevision } = emission
  const refuse = refusing(run)
  const end = endOf(definition, run)
  if (end !== null) return refuse('RUN_FINISHED', end)
  if (expectedRevision !== null && expectedRevision !== run.revision) {
    return refuse(
      'REVISION_CONFLICT',
      `Expected revision ${expectedRevision}, but current is ${run.revision}`,
    )
  }
  const possible = candidates(definition, run.state, event)
  if (possible.length === 0) return refuse('INVALID_EVENT', invalidEvent(definition, run, event))
  const refusal = forbidden(definition, event, emitter)
  if (refusal !== null) return { ...refuse('FORBIDDEN', refusal.reason), fix: refusal.fix }
  const permitted = possible.filter(({ allowedRoles }) => permits(allowedRoles, emitter.role))
  if (permitted.length === 0) {
    return refuse('FORBIDDEN', `Role "${emitter.role ?? 'none'}" may not emit "${event}" in "${run.state}".`)
  }
  const schema = eventNamed(definition, event)?.payloadSchema ?? null
  const problems = schema === null ? [] : schemaProblems(schema, payload)
  if (problems.length > 0) {
    return {
      ...refuse('INVALID_PAYLOAD', `The payload does not fit "${event}".`),
      validationErrors: problems,
    }
  }
  return choose(definition, run, { emission, permitted })
}

function choose(
  definition: ProcessDefinition,
  run: Run,
  {
    emission,
    permitted,
  }: { readonly emission: Emission; readonly permitted: readonly TransitionDefinition[] },
): Accepted | Refused {
  const judged = permitted.map((candidate) => ({
    candidate,
    ...judgePassage(definition, run, { transition: candidate, emission }),
  }))
  const open = judged.find(({ satisfied }) => satisfied)
  if (open) return take(definition, run, { emission, taken: open.candidate })
  const missing = judged
    .flatMap((entry) => entry.missing)
    .filter(({ name }, at, all) => all.findIndex((other) => other.name === name) === at)
  if (!judged.some(({ candidate }) => candidate.whenBlocked === 'record')) {
    return { ...refusing(run)('GUARD_FAILED', 'Guard conditions not satisfied'), missing }
  }
  const stayed = {
    ...run,
    revision: run.revision + 1,
    artifacts: handedIn(run.artifacts, recorded(run, emission)),
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

function take(
  definition: ProcessDefinition,
  run: Run,
  { emission, taken }: { readonly emission: Emission; readonly taken: TransitionDefinition },
): Accepted | Refused {
  const context = assignedContext(taken, run.context, emission.payload)
  const problems = contextProblems(definition, context)
  if (problems.length > 0) {
    const message = `What "${emission.event}" assigns does not fit the context's schema.`
    return { ...refusing(run)('INVALID_PAYLOAD', message), validationErrors: problems }
  }
  const revision = run.revision + 1
  const after: Run = {
    state: taken.to,
    revision,
    context,
    artifacts: handedIn(run.artifacts, recorded(run, emission)),
    visits: entered(run.visits, taken.to, revision),
  }
  return { accepted: true, run: after, from: run.state, to: taken.to, stateChanged: true, unsatisfied: [] }
}

function refusing(run: Run): (code: RefusalCode, message: string) => Refused {
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
    return `There is no event "${event}".${didYouMean(event, names)} "${state}" knows ${eventsFrom(definition, state)}.`
  }
  const where = definition.transitions.filter((each) => each.event === event).map(({ from }) => `"${from}"`)
  const only = where.length === 0 ? 'no state' : [...new Set(where)].join(', ')
  return `"${event}" cannot be emitted in "${state}", only in ${only}; "${state}" knows ${eventsFrom(definition, state)}.`
}

function eventsFrom(definition: ProcessDefinition, state: string): string {
  const names = definition.events
    .map(({ name }) => name)
    .filter((name) => candidates(definition, state, name).length > 0)
  return names.length === 0 ? 'no event' : names.join(', ')
}
