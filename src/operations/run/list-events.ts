import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { runField } from './find-run.ts'
import { guardLine } from './refusal.ts'
import { type RunSituation, situationOf } from './situation.ts'

export const listEvents = defineOperation({
  name: 'state_gate_list_events',
  tool: 'state_gate_list_events',
  command: 'list-events',
  aliases: ['run events'],
  toolset: 'gate',
  audience: 'both',
  title: 'List the events of a run',
  description: 'The events that may be emitted now, where each leads, and what its guards still ask for',
  kind: 'query',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runField,
    include_blocked: z
      .boolean()
      .describe('Also events of other states and of other roles, with the reason')
      .optional(),
  }),
  output: z.looseObject({
    run_id: z.string(),
    current_state: z.string(),
    events: z.array(
      z.looseObject({
        event_name: z.string(),
        description: z.string(),
        transitions: z.array(
          z.looseObject({
            to_state: z.string(),
            guard_status: z.enum(['satisfied', 'unsatisfied', 'no_guard']),
          }),
        ),
        is_allowed: z.boolean(),
        blocked_reason: z.string().nullable(),
      }),
    ),
  }),
}).handler(async (handling, input) => {
  const { record, events } = await situationOf(handling, input.run_id)
  return {
    run_id: record.id,
    current_state: record.state,
    revision: record.revision,
    events: events
      .filter(({ isAllowed }) => isAllowed || input.include_blocked === true)
      .map((event) => eventAnswer(event, input.include_blocked === true)),
  }
})

/** Transitions that are for other roles are left out, or marked where everything is asked for. */
function eventAnswer(possible: RunSituation['events'][number], all: boolean) {
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
