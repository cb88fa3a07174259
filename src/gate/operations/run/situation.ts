import type { InboxItem } from '../../../inbox/domain/inbox-item.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { EventRequest } from '../../domain/event-request.ts'
import { nothingObserved, type Observations } from '../../domain/evidence.ts'
import { type MissingGuard, needsOfState } from '../../domain/expression.ts'
import { type PossibleEvent, possibleEvent } from '../../domain/possible-events.ts'
import type { Run, RunRecord } from '../../domain/run.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { emitterOf } from './emitter.ts'
import { engineRun, hasObservationNeeds, observeRun } from './evidence.ts'
import { type ExternalState, isMeasuredNeed, prepareState } from './external-state.ts'
import { loadRun } from './find-run.ts'
import { forwardEvents } from './gating.ts'
import { type RunRemark, runRemarks } from './remarks.ts'
import type { MeasurementQuestions, RunMeasurements } from './run-measurements.ts'

/** The situation of a run for the caller: the evidence of its guards, and the possible events. */
export interface RunSituation {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly loaded: LoadedRun
  readonly external: ExternalState
  readonly run: Run
  readonly observed: Observations
  readonly events: readonly PossibleEvent[]
  /** Its open inbox items. */
  readonly items: readonly InboxItem[]
  /** The latest remarks of people on it. */
  readonly remarks: readonly RunRemark[]
  /** The request of an event that the caller sends now without a payload. */
  readonly eventRequestOf: (event: string) => Omit<EventRequest, 'event' | 'expectedRevision'>
}

/** Prepares the situation of a run. Null until all evidence was measured. */
export async function prepareSituation(
  reads: Reads,
  questions: Pick<MeasurementQuestions<RunMeasurements>, 'ask'>,
  { context, runId }: { readonly context: RecordContext; readonly runId: string | undefined },
): Promise<RunSituation | null> {
  const { clock, fingerprint, commandRunner, actor } = context
  const loaded = await loadRun(reads, runId)
  const external = await prepareState(reads, questions, { context, loaded })
  if (external === null) return null
  const items = await reads.inboxItems.ofRun(loaded.record.id)
  const remarks = await runRemarks(reads, loaded.record)
  const isAlive = (runner: string) => commandRunner.isAlive(runner)
  const observed = hasObservationNeeds(external)
    ? await observeRun({ reads, external, fingerprint, now: clock.now(), actor, isAlive }, loaded)
    : nothingObserved
  const { record, definition } = loaded
  const run = engineRun(loaded, external.fileFreshness)
  const eventRequestOf = eventRequestsBy(context, { observed, definition })
  const events = eventsFor(context, { run, observed, definition })
  return { record, definition, loaded, external, run, observed, events, items, remarks, eventRequestOf }
}

/** The guards that block all next events of a run, by the record alone; null if files decide, too. People's events do not count. */
export async function recordedObstacles(
  reads: Reads,
  context: RecordContext,
  { record, definition }: Pick<LoadedRun, 'record' | 'definition'>,
): Promise<readonly MissingGuard[] | null> {
  if (needsOfState(definition, record.state).some(isMeasuredNeed)) return null
  const situation = await prepareSituation(reads, { ask: () => undefined }, { context, runId: record.id })
  if (situation === null) return null
  const forward = forwardEvents(definition, record.state).filter(({ forPeople }) => !forPeople)
  const names = new Set(forward.map(({ event }) => event))
  const next = situation.events.filter(({ event }) => names.has(event.name))
  if (next.some(({ wouldTransitionTo: to }) => to !== null)) return []
  const missing = next.flatMap(({ transitions }) => transitions.flatMap((transition) => transition.missing))
  return [...new Map(missing.map((guard) => [guard.name, guard])).values()]
}

/** Each event in the role that the caller would emit it in. */
function eventsFor(
  handling: RecordContext,
  { run, observed, definition }: Pick<RunSituation, 'run' | 'observed' | 'definition'>,
): readonly PossibleEvent[] {
  const eventRequestOf = eventRequestsBy(handling, { observed, definition })
  return definition.events.map((event) =>
    possibleEvent(definition, run, { event, situation: eventRequestOf(event.name) }),
  )
}

function eventRequestsBy(
  handling: RecordContext,
  { observed, definition }: Pick<RunSituation, 'observed' | 'definition'>,
): RunSituation['eventRequestOf'] {
  return (event) => {
    const emitter = emitterOf(handling, definition, event)
    return { payload: {}, artifacts: [], emitter, observed, assumed: [] }
  }
}

const maxContextLength = 2_500
const maxValueLength = 200

/** A run's context for an answer; long values are shortened and named. */
export function fittingContext(context: JsonObject): {
  readonly context: Record<string, unknown>
  readonly context_cut?: readonly string[]
} {
  if (JSON.stringify(context).length <= maxContextLength) return { context: { ...context } }
  const cut: string[] = []
  const entries = Object.entries(context).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (text === undefined || text.length <= maxValueLength) return [name, value] as const
    cut.push(name)
    return [name, excerpt(text, maxValueLength)] as const
  })
  return { context: Object.fromEntries(entries.slice(0, 50)), context_cut: cut }
}
