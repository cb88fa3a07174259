import { z } from 'zod'
import { list, strings } from '../../../kernel/operations/list-answer.ts'
import { requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { json } from '../run-answer.ts'
import { runField } from './find-run.ts'
import { guardLine } from './refusal.ts'
import { MeasurementQuestions, type RunMeasurements, runMeasurements } from './run-measurements.ts'
import { prepareSituation, type RunSituation } from './situation.ts'

const PossibleEntry = z.object({
  event_name: z.string(),
  description: z.string(),
  allowed_roles: strings,
  payload_schema: json.optional(),
  transitions: list(
    z.object({
      to_state: z.string(),
      guard: z.string().optional(),
      guard_status: z.enum(['satisfied', 'unsatisfied', 'no_guard']),
      missing_requirements: strings.optional(),
      only_for_roles: strings.optional(),
    }),
  ),
  would_transition_to: z.string().nullable(),
  is_allowed: z.boolean(),
  blocked_reason: z.string().nullable(),
})

export const listEvents = defineOperation({
  name: 'state_gate_list_events',
  tool: 'state_gate_list_events',
  command: 'run events',
  toolset: 'gate',
  audience: 'both',
  title: 'List the events of a run',
  description: 'List the events that can be emitted now, where each leads, and what its guards still need',
  kind: 'query',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runField,
    include_blocked: z
      .boolean()
      .describe('Also events of other states and roles, with the reason')
      .optional(),
  }),
  output: z.object({
    run_id: z.string(),
    current_state: z.string(),
    revision: z.int(),
    events: list(PossibleEntry),
  }),
  listedOutput: ['run_id', 'current_state', 'events'],
})
  .measure(runMeasurements)
  .prepare(async (reads, { run_id: runId }, context, measured) => {
    const questions = new MeasurementQuestions<RunMeasurements>(measured)
    const situation = await prepareSituation(reads, questions, { context, runId })
    return { briefs: questions.briefs, found: situation }
  })
  .answer(async ({ found }, input) => {
    const { record, events } = requireMeasured(found ?? undefined)
    return {
      run_id: record.id,
      current_state: record.state,
      revision: record.revision,
      events: events
        .filter(({ isAllowed }) => isAllowed || input.include_blocked === true)
        .map((event) => eventAnswer(event, input.include_blocked === true)),
    }
  })

/** Leaves out transitions for other roles, or marks them if all are listed. */
function eventAnswer(possible: RunSituation['events'][number], all: boolean): z.output<typeof PossibleEntry> {
  const { event, transitions, elsewhere, isAllowed, blockedReason, wouldTransitionTo } = possible
  return {
    event_name: event.name,
    description: event.description ?? '',
    allowed_roles: event.allowedRoles,
    ...(event.payloadSchema !== null && { payload_schema: event.payloadSchema }),
    transitions: [...transitions, ...elsewhere]
      .filter(({ onlyFor }) => all || onlyFor === null)
      .map(({ to, guard, guardStatus, missing, onlyFor }) => ({
        to_state: to,
        ...(guard !== null && { guard }),
        guard_status: guardStatus,
        ...(missing.length > 0 && { missing_requirements: missing.map(guardLine) }),
        ...(onlyFor !== null && { only_for_roles: onlyFor }),
      })),
    would_transition_to: wouldTransitionTo,
    is_allowed: isAllowed,
    blocked_reason: blockedReason,
  }
}
