import { type InputRequest, inputRequired } from '@modelcontextprotocol/server'
import type { HoldRequest } from '../../../domain/track/records.ts'

export type DecisionRequest = Extract<HoldRequest, { readonly kind: 'decision' }>

const questionName = /^decision-([0-9a-z]{2,16})$/

/** Under which name the answer comes back: with what was shown, so that the answer is about that. */
export function questionKey(content: string): string {
  return `decision-${content.slice(0, 16)}`
}

/** The names of the questions that were answered, each with what it showed. */
export function questionsIn(
  responses: Record<string, unknown> | undefined,
): readonly { readonly key: string; readonly content: string }[] {
  return Object.keys(responses ?? {}).flatMap((key) => {
    const content = questionName.exec(key)?.[1]
    return content === undefined ? [] : [{ key, content }]
  })
}

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
