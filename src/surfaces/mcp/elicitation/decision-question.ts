import { type InputRequest, inputRequired } from '@modelcontextprotocol/server'
import type { HoldRequest } from '../../../domain/track/records.ts'

export type DecisionRequest = Extract<HoldRequest, { readonly kind: 'decision' }>

/** Under which name the answer comes back. */
export const questionKey = 'decision'

/** The word for leaving a question to the inbox. */
export const later = 'decide later'

/** The question that an agent's client puts to its person: which event, and why. */
export function decisionQuestion(reason: string, { events }: DecisionRequest): InputRequest {
  return inputRequired.elicit({
    message: `${reason}\nYour decision goes into the journal, as yours by way of this client.`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: [...events, later] },
        reason: { type: 'string', title: 'Reason', description: 'The agent is told' },
      },
      required: ['decision'],
    },
  })
}
