import {
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import { eventFor } from '../../gate/domain/decisions.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import {
  measureShown,
  prepareShownItem,
  prepareStored,
  type ShownQuestions,
} from '../../inbox/operations/shown-content.ts'
import { Failure } from '../../kernel/failure.ts'
import { invoke } from '../../kernel/operations/invoke.ts'
import { type Answer, accessOf, type Context, type Operation } from '../../kernel/operations/operation.ts'
import { hasAccess } from '../../people/domain/access.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { InboxItem, InboxItemRequest } from '../../track/domain/records.ts'
import { refusedResult } from './tools/tool-result.ts'

export interface ElicitationContext {
  readonly catalog: () => Promise<readonly Operation[]>
  readonly context: Context
  /** Whether the client can put a question to its person. */
  readonly canAsk: boolean
  /** What came back for questions of an earlier round of this very call. */
  readonly responses: Record<string, unknown> | undefined
}

/**
 * Puts what an agent was refused, because only people decide it, to the person behind its client. The question waits as
 * an inbox item already, so a lost dialog loses nothing. Null where it is not to be asked: the project does not allow it, the
 * client cannot, its token lets nobody decide, or the person said neither yes nor no. A client can answer by itself: it
 * is never asked whether a command may run.
 */
export async function elicitDecision(
  failure: Failure,
  asking: ElicitationContext,
): Promise<CallToolResult | InputRequiredResult | null> {
  // Whoever answers there is the command itself.
  if (asking.context.actor.insideCommand) return null
  const itemId = failure.details?.['item_id']
  if (failure.code !== 'FORBIDDEN' || typeof itemId !== 'string' || !asking.canAsk) return null
  if (!(await canDecide(asking))) return null
  const item = await elicitableItem(asking.context, itemId)
  if (item === null) return null
  const [question] = questionsIn(asking.responses)
  if (question === undefined) {
    const { context } = asking
    const look = async (reads: Reads, questions: ShownQuestions) => {
      const shown = await prepareShownItem(reads, questions, { context, item: item })
      return shown && prepareStored(questions, shown)
    }
    const content = await measureShown(context, eventOperation, look)
    if (content === null) return null
    const key = questionKey(content)
    return inputRequired({ inputRequests: { [key]: decisionQuestion(item.reason, item.request) } })
  }
  const response = inputResponse(asking.responses, question.key)
  if (response.kind !== 'elicit' || response.action !== 'accept') return null
  const { decision, reason } = { decision: undefined, reason: undefined, ...response.content }
  if (typeof decision !== 'string' || decision === later) return null
  return decideByElicitation(asking, item, {
    decision,
    reason: typeof reason === 'string' && reason !== '' ? reason : null,
    content: question.content,
  })
}

/** At a server that knows its people, an agent's token lets nobody decide: the answer would be refused. */
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
  // A yes gives the approvals that the state asks for, too.
  const isYes = decision === eventFor('approve', request.events)
  const said = { event: decision, content, ...(reason !== null && { reason }) }
  const [name, input] = isYes ? ['approve', { id: runId, ...said }] : ['decide', { run_id: runId, ...said }]
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

/** What the event that the agent sent declares may be measured on its machine, and nothing else. */
function measuredAsEvent(context: Context): Context {
  const { measurer } = context
  if (measurer === undefined) return context
  return {
    ...context,
    measurer: ({ measurements }, asked, input) =>
      measurer({ name: eventOperation, measurements }, asked, input),
  }
}

/** What the person's decision came to, as the result of the call that asked for it. */
function decisionResult(answer: Answer): CallToolResult {
  const content = {
    success: answer['decided'] === true,
    decided_by: 'a person, by elicitation',
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

/** Under which name the answer comes back: with what was shown, so that the answer is about that. */
function questionKey(content: string): string {
  return `decision-${content.slice(0, 16)}`
}

/** The names of the questions that were answered, each with what it showed. */
function questionsIn(
  responses: Record<string, unknown> | undefined,
): readonly { readonly key: string; readonly content: string }[] {
  return Object.keys(responses ?? {}).flatMap((key) => {
    const content = questionName.exec(key)?.[1]
    return content === undefined ? [] : [{ key, content }]
  })
}

/** The word for leaving a question to the inbox. */
const later = 'decide later'

/** The question that an agent's client puts to its person: which event, and why. */
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
