import { z } from 'zod'
import { type Failure, fieldName, inputFailure, messageOf, sentenceOf } from '../../../kernel/failure.ts'
import { freeObject, text, texts } from '../../../kernel/operations/input/fields.ts'
import { list, strings } from '../../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { type SimulatedEvent, type SimulatedStep, type Simulation, simulate } from '../../domain/simulate.ts'
import { json, MissingEntry, missingEntry, RunProgressEntry } from '../run-answer.ts'
import { namedProcess, prepareProcess, processField, soundProcess } from './processes.ts'

const StepEntry = z.object({
  event: z.string(),
  role: z.string().nullable(),
  accepted: z.boolean(),
  transition: z.object({ from_state: z.string(), to_state: z.string() }).optional(),
  state_changed: z.boolean().optional(),
  new_revision: z.int().optional(),
  missing: list(MissingEntry),
  /** The sender withdraws the approvals that they gave before. */
  withdraws_approvals: z.literal(true).optional(),
  /** Only for a refused event. */
  code: z.string().optional(),
  message: z.string().optional(),
  validation_errors: list(z.object({ path: z.string(), message: z.string() })).optional(),
})

export const processSimulate = defineOperation({
  name: 'process_simulate',
  command: 'process simulate',
  toolset: 'gate',
  audience: 'both',
  title: 'Simulate events on a process',
  description:
    'Show what each event would do, from the start: accepted or refused, why, and what is missing. Reads no files and records nothing.',
  kind: 'query',
  positional: ['process'],
  input: z.strictObject({
    process: processField,
    events: text(
      'Names, comma-separated, or a JSON list of names and of {event, payload, artifacts, role, satisfied}',
    ).optional(),
    satisfied: texts(
      'Guards and artifact types to count as satisfied where a step names none; * for all; "not x" for a guard that fails',
    ).optional(),
    context: freeObject('Variables of the run at the start').optional(),
  }),
  output: z.object({
    process_id: z.string(),
    steps: list(StepEntry),
    current_state: z.string(),
    revision: z.int(),
    finished: z.boolean(),
    context: json,
    prompt: z.string().optional(),
    progress: RunProgressEntry,
    allowed_events: list(
      z.object({
        event_name: z.string(),
        description: z.string().nullable(),
        would_transition_to: z.string().nullable(),
        transitions: list(
          z.object({
            to_state: z.string(),
            guard: z.string().optional(),
            guard_status: z.enum(['satisfied', 'unsatisfied', 'no_guard']),
            missing_requirements: strings,
          }),
        ),
      }),
    ),
  }),
})
  .measure({ process: namedProcess })
  .prepare(prepareProcess)
  .answer(async ({ found }, input) => {
    const { definition } = soundProcess(found)
    const events = simulatedEvents(input.events ?? '')
    const simulation = simulate(definition, events, {
      satisfied: (input.satisfied ?? []).flatMap((names) =>
        names.split(',').flatMap((name) => name.trim() || []),
      ),
      context: input.context ?? {},
    })
    return { process_id: definition.id, ...simulationAnswer(simulation) }
  })

function simulationAnswer({ steps, run, finished, progress, prompt, next }: Simulation) {
  return {
    steps: steps.map(stepAnswer),
    current_state: run.state,
    revision: run.revision,
    finished,
    context: run.context,
    ...(prompt !== null && !finished && { prompt }),
    progress: {
      completed_states: progress.completedStates,
      current_state: progress.currentState,
      remaining_states: progress.remainingStates,
      fewest_steps_to_end: progress.fewestStepsToEnd,
    },
    allowed_events: next.map(({ event, transitions, wouldTransitionTo }) => ({
      event_name: event.name,
      description: event.description,
      would_transition_to: wouldTransitionTo,
      transitions: transitions.map(({ to, guard, guardStatus, missing }) => ({
        to_state: to,
        ...(guard !== null && { guard }),
        guard_status: guardStatus,
        missing_requirements: missing.map(({ name, reason }) => `${name}: ${reason}`),
      })),
    })),
  }
}

function stepAnswer({ event, role, result, withdraws }: SimulatedStep): z.output<typeof StepEntry> {
  const entry = { event, role, accepted: result.accepted }
  if (result.accepted) {
    return {
      ...entry,
      transition: { from_state: result.from, to_state: result.to },
      state_changed: result.stateChanged,
      new_revision: result.run.revision,
      missing: result.unsatisfied.map(missingEntry),
      ...(withdraws && { withdraws_approvals: true as const }),
    }
  }
  return {
    ...entry,
    code: result.code,
    message: result.message,
    missing: result.missing.map(missingEntry),
    validation_errors: result.validationErrors,
  }
}

/** Most events of one simulation. */
const maxEvents = 1000

const definitionText = z
  .array(
    z.union([
      z.string().min(1),
      z.strictObject({
        event: z.string().min(1),
        payload: z.record(z.string(), z.unknown()).optional(),
        artifacts: z.array(z.string().min(1)).optional(),
        role: z.string().min(1).optional(),
        satisfied: z.array(z.string().min(1)).optional(),
      }),
    ]),
  )
  .max(maxEvents)

/** `a,b,c`, or a JSON list of names and of events with their payload. */
function simulatedEvents(text: string): readonly SimulatedEvent[] {
  const trimmed = text.trim()
  const list = trimmed.startsWith('[') ? parseEventsJson(trimmed) : trimmed.split(',').flatMap(nameIn)
  const parsed = definitionText.safeParse(list)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalidEventsFailure(
      `event ${String(issue?.path.join('.') ?? '')}: ${issue?.message ?? 'it is no event'}`,
    )
  }
  return parsed.data.map((entry) => {
    if (typeof entry === 'string') return { event: entry, payload: {}, artifacts: [], role: null }
    const { event, payload = {}, artifacts = [], role = null, satisfied } = entry
    return { event, payload, artifacts, role, ...(satisfied !== undefined && { satisfied }) }
  })
}

function nameIn(part: string): readonly string[] {
  const name = part.trim()
  return name === '' ? [] : [name]
}

function parseEventsJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidEventsFailure(messageOf(error))
  }
}

function invalidEventsFailure(problem: string): Failure {
  return inputFailure(
    'process_simulate',
    sentenceOf`${fieldName('events')} is not a list of events: ${problem}`,
    {
      reason: 'events_invalid',
      hint: `Examples: submit_plan,approve or [{"event":"submit_plan","payload":{"summary":"…"},"artifacts":["docs/plan.md"]},"approve"]`,
    },
  )
}
