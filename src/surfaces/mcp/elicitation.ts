import {
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import { eventFor } from '../../gate/domain/decisions.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import type { InboxItem, InboxItemRequest } from '../../inbox/domain/inbox-item.ts'
import {
  measureShown,
  prepareShownItem,
  prepareStored,
  type ShownQuestions,
} from '../../inbox/operations/approval-content.ts'
import { Failure } from '../../kernel/failure.ts'
import { invoke } from '../../kernel/operations/invoke.ts'
import { type Answer, accessOf, type Context, type Operation } from '../../kernel/operations/operation.ts'
import { hasAccess } from '../../people/domain/access.ts'
import type { Reads } from '../../store/ports/store.ts'
import { refusedResult } from './tools/tool-result.ts'

export interface ElicitationContext {
  readonly catalog: () => Promise<readonly Operation[]>
  readonly context: Context
  /** Whether the client can ask its person. */
  readonly canAsk: boolean
  /** The answers to questions of an earlier round of this call. */
  readonly responses: Record<string, unknown> | undefined
}

/**
 * Asks the person behind the client about a refused call that only people decide. The question is already in the inbox, so
 * a lost dialog loses nothing. Null if the project or client does not allow it, if its token may not decide, or if the
 * person left it open. A client could answer by itself, so it is never asked to approve a command.
 */
export async function elicitDecision(
  failure: Failure,
  elicitation: ElicitationContext,
): Promise<CallToolResult | InputRequiredResult | null> {
  // Inside a command the command itself would answer.
  if (elicitation.context.actor.insideCommand) return null
  const itemId = failure.details?.['item_id']
  if (failure.code !== 'FORBIDDEN' || typeof itemId !== 'string' || !elicitation.canAsk) return null
  if (!(await canDecide(elicitation))) return null
  const item = await elicitableItem(elicitation.context, itemId)
  if (item === null) return null
  const [question] = questionsIn(elicitation.responses)
  if (question === undefined) {
    const { context } = elicitation
    const look = async (reads: Reads, questions: ShownQuestions) => {
      const content = await prepareShownItem(reads, questions, { context, item })
      return content && prepareStored(questions, content)
    }
    const content = await measureShown(context, eventOperation, look)
    if (content === null) return null
    const key = questionKey(content)
    return inputRequired({ inputRequests: { [key]: decisionQuestion(item.reason, item.request) } })
  }
  const response = inputResponse(elicitation.responses, question.key)
  if (response.kind !== 'elicit' || response.action !== 'accept') return null
  const { decision, reason } = { decision: undefined, reason: undefined, ...response.content }
  if (typeof decision !== 'string' || decision === later) return null
  return decideByElicitation(elicitation, item, {
    decision,
    reason: typeof reason === 'string' && reason !== '' ? reason : null,
    content: question.content,
  })
}

/** On a server with people the agent's token may not decide: the answer would be refused. */
async function canDecide({ catalog, context: { permissions } }: ElicitationContext): Promise<boolean> {
  if (!permissions) return true
  const operation = (await catalog()).find(({ name }) => name === 'approve')
  return operation !== undefined && hasAccess(permissions, accessOf(operation))
}

type AnswerableInboxItem = InboxItem & { readonly request: DecisionRequest }

async function elicitableItem({ store }: Context, itemId: string): Promise<AnswerableInboxItem | null> {
  return store.view(async ({ runs, inboxItems }) => {
    if (settingOf(await runs.settings(), 'elicitation') !== 'on') return null
    const item = await inboxItems.find(itemId)
    if (item?.status !== 'open' || item.request?.kind !== 'decision') return null
    return { ...item, request: item.request }
  })
}

async function decideByElicitation(
  { catalog, context }: ElicitationContext,
  { runId, request }: AnswerableInboxItem,
  {
    decision,
    reason,
    content,
  }: { readonly decision: string; readonly reason: string | null; readonly content: string },
): Promise<CallToolResult> {
  const { actor } = context
  const person: Context = {
    ...measuredAsEvent(context),
    actor: {
      name: `person at ${actor.name}`,
      kind: 'person',
      role: null,
      channel: 'elicitation',
      ...(actor.identity !== undefined && { identity: actor.identity }),
    },
  }
  // A yes also gives the approvals that the state requires.
  const isYes = decision === eventFor('approve', request.events)
  const decided = { event: decision, content, ...(reason !== null && { reason }) }
  const [name, input] = isYes
    ? ['approve', { id: runId, ...decided }]
    : ['decide', { run_id: runId, ...decided }]
  try {
    const operation = (await catalog()).find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`The catalog has no operation "${name}", by which people decide.`)
    return decisionResult(await invoke(operation, person, input))
  } catch (error) {
    if (error instanceof Failure) return refusedResult(error)
    throw error
  }
}

const eventOperation = 'state_gate_emit_event'

/** Allows only the measurements of the agent's event on its machine. */
function measuredAsEvent(context: Context): Context {
  const { measurer } = context
  if (measurer === undefined) return context
  return {
    ...context,
    measurer: ({ measurements }, requests, input) =>
      measurer({ name: eventOperation, measurements }, requests, input),
  }
}

/** The result of the agent's call after the person's decision. */
function decisionResult(answer: Answer): CallToolResult {
  const content = {
    success: answer['decided'] === true,
    decided_by: 'a person, in this client',
    result: answer,
  }
  return {
    content: [{ type: 'text', text: JSON.stringify(content) }],
    structuredContent: content,
    isError: false,
  }
}

export type DecisionRequest = Extract<InboxItemRequest, { readonly kind: 'decision' }>

const questionName = /^decision-([0-9a-z]{2,16})$/

/** The key of a question with the shown content, so that the answer applies to that content. */
function questionKey(content: string): string {
  return `decision-${content.slice(0, 16)}`
}

/** The answered questions with their shown contents. */
function questionsIn(
  responses: Record<string, unknown> | undefined,
): readonly { readonly key: string; readonly content: string }[] {
  return Object.keys(responses ?? {}).flatMap((key) => {
    const content = questionName.exec(key)?.[1]
    return content === undefined ? [] : [{ key, content }]
  })
}

/** The choice that leaves a question to the inbox. */
const later = 'decide later'

/** The question for the person: which event, and why. */
function decisionQuestion(reason: string, { events }: DecisionRequest): InputRequest {
  return inputRequired.elicit({
    message: `${reason}\nYour decision is recorded in the log under your name, through this client.`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: [...events, later] },
        reason: { type: 'string', title: 'Reason', description: 'Message to the agent' },
      },
      required: ['decision'],
    },
  })
}
