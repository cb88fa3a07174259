import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { type InboxItem, type InboxItemRequest, openInboxItem } from '../../inbox/domain/inbox-item.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { isOfChanges } from './approved-content.ts'
import {
  type EventDefinition,
  eventNamed,
  type NamedGuard,
  type ProcessDefinition,
  stateNamed,
} from './definition.ts'
import type { EvidenceNeed } from './evidence.ts'
import { guardNames, needsOfState } from './expression.ts'
import type { RunEvent, RunRecord } from './run.ts'
import { reachableStates, transitionsFor } from './transitions.ts'

/** The decisions of people that a run needs in a state. */
interface AwaitedDecision {
  /** Events that only people may send, in the order of the definition. */
  readonly events: readonly string[]
  /** Approvals that guards of the state need. */
  readonly approvals: readonly { readonly role: string; readonly artifact: string | null }[]
}

/** The decisions of people that a run waits for; null if none. Escapes do not count. */
export function awaitedDecision(definition: ProcessDefinition, state: string): AwaitedDecision | null {
  if (stateNamed(definition, state)?.isFinal) return null
  const events = definition.events.filter((event) => isForPeople(definition, event))
  const possible = events.filter(({ name }) => transitionsFor(definition, state, name).length > 0)
  const waits = possible.some(({ name }) =>
    transitionsFor(definition, state, name).some((transition) => !transition.escape),
  )
  const needed = needsOfState(definition, state).flatMap((need) => approvalOf(need))
  // Guards that only differ in their count need the same approval.
  const approvals = needed.filter(
    ({ role, artifact }, index) =>
      needed.findIndex((other) => other.role === role && other.artifact === artifact) === index,
  )
  if (!waits && approvals.length === 0) return null
  return { events: possible.map(({ name }) => name), approvals }
}

/** Whether only people may send an event. */
export function isForPeople({ roles }: ProcessDefinition, { allowedRoles }: EventDefinition): boolean {
  const human = new Set(roles.filter(({ kind }) => kind === 'human').map(({ name }) => name))
  return allowedRoles.length > 0 && allowedRoles.every((role) => human.has(role))
}

function approvalOf(need: EvidenceNeed): AwaitedDecision['approvals'] {
  return need.kind === 'approvals' ? [{ role: need.role, artifact: need.artifact }] : []
}

/** An event that a person may choose, and its meaning. */
interface DecisionChoice {
  readonly event: string
  readonly description: string | null
  /** `yes` and `no` are the events of approve and reject; `other` is sent by its name. */
  readonly answer: 'yes' | 'no' | 'other'
  /** It leads back, or to a failed end: it needs a reason. */
  readonly sendsBack: boolean
  /** A guard of it needs an approval, so that sending it is an approval. */
  readonly approves: boolean
  /** Required fields of its payload besides a reason. */
  readonly asksFor: readonly string[]
}

/** The meaning of each event in a state, in the given order. */
export function decisionChoices(
  definition: ProcessDefinition,
  state: string,
  events: readonly string[],
): readonly DecisionChoice[] {
  const [yes, no] = [eventFor('approve', events), eventFor('reject', events)]
  return events.map((event) => {
    const transitions = transitionsFor(definition, state, event)
    const guards = transitions.flatMap(({ guard }) => guardNames(guard))
    const required = requiredFieldNames(eventNamed(definition, event)?.payloadSchema?.['required'])
    return {
      event,
      description: eventNamed(definition, event)?.description ?? null,
      answer: event === yes ? 'yes' : event === no ? 'no' : 'other',
      sendsBack:
        event !== yes &&
        (event === no ||
          required.includes('reason') ||
          transitions.every(({ to }) => isBackwardMove(definition, state, to))),
      approves: guards.some((name) => definition.guards.some((guard) => isApproval(guard, name))),
      asksFor: required.filter((name) => name !== 'reason'),
    }
  })
}

/**
 * Whether a move by a person sends a run back: by a rejecting event, a rejecting decision, or to an earlier state. An
 * approving event does not, nor does an agent's event that stays in the state.
 */
export function isSentBack(
  definition: ProcessDefinition,
  { event, from, to }: { readonly event: string; readonly from: string; readonly to: string },
): boolean {
  if (eventFor('reject', [event]) !== null) return true
  const [choice] = decisionChoices(definition, from, [event])
  const named = eventNamed(definition, event)
  if (choice === undefined || named === undefined || choice.answer === 'yes' || choice.approves) return false
  const isBack = isBackwardMove(definition, from, to)
  return isForPeople(definition, named) ? choice.sendsBack || isBack : isBack && to !== from
}

/** Whether an event sent a run back. One that only added evidence decided nothing. */
export function isReturn(definition: ProcessDefinition | null, item: RunEvent): boolean {
  const isDecided = item.kind === 'event' && item.unsatisfied.length === 0
  return isDecided && definition !== null && isSentBack(definition, item)
}

/** Whether a move goes to an earlier state, the same state, or a failed end. */
function isBackwardMove(definition: ProcessDefinition, state: string, to: string): boolean {
  if (stateNamed(definition, to)?.outcome === 'failed') return true
  const steps = reachableStates(definition, definition.initialState)
  return (steps.get(to) ?? Infinity) <= (steps.get(state) ?? 0) && !stateNamed(definition, to)?.isFinal
}

function isApproval({ name, guard }: NamedGuard, guardName: string): boolean {
  return name === guardName && guard.type === 'approval'
}

function requiredFieldNames(required: unknown): readonly string[] {
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : []
}

/** The event of approve or reject; null if the process has none by a usual name. */
export function eventFor(action: 'approve' | 'reject', events: readonly string[]): string | null {
  return words[action].find((word) => events.includes(word)) ?? null
}

const words = {
  approve: ['approve', 'accept', 'confirm', 'sign_off'],
  reject: ['reject', 'send_back', 'request_changes', 'decline', 'deny'],
} as const

/** The inbox item for the decisions of a state; null if it waits for no one. */
export function decisionItem(
  definition: ProcessDefinition,
  run: RunRecord,
  setting: TransactionContext,
): InboxItem | null {
  const awaited = awaitedDecision(definition, run.state)
  if (awaited === null) return null
  const { state, revision } = run
  const request: InboxItemRequest = { kind: 'decision', state, revision, ...awaited }
  return runItem(
    run,
    { kind: 'approval', request, reason: decisionReason(definition, run, request) },
    setting,
  )
}

/** Closes the approval items of a run. */
export function endDecisions(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return closeOpenItems(items, ['approval'], answer)
}

/** Closes the items of a state that the run left. */
export function endQuestionsOfState(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return closeOpenItems(items, ['approval', 'scope'], answer)
}

/** Closes all items of a run that ended, including those about its commands. */
export function endQuestions(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return closeOpenItems(items, ['approval', 'scope', 'command'], answer)
}

function closeOpenItems(
  items: readonly InboxItem[],
  kinds: readonly InboxItem['kind'][],
  answer: string,
): readonly NewProjectEvent[] {
  return items
    .filter(({ kind, status }) => kinds.includes(kind) && status === 'open')
    .map(({ id, missionId, taskId }) => ({
      kind: 'inbox.closed',
      itemId: id,
      missionId,
      taskId,
      status: 'resolved',
      answer,
    }))
}

/** Opens an inbox item about a run. */
export function runItem(
  run: Pick<RunRecord, 'id' | 'missionId' | 'taskId'>,
  about: {
    readonly kind: 'approval' | 'scope'
    readonly request: InboxItemRequest
    readonly reason: string
    readonly paths?: readonly string[]
  },
  setting: TransactionContext,
): InboxItem {
  const subject = { missionId: run.missionId, phaseId: null, taskId: run.taskId, attemptId: null }
  const opened = openInboxItem(
    { kind: about.kind, reason: about.reason, openedBy: 'waymark' },
    subject,
    setting,
  )
  return { ...opened, runId: run.id, request: about.request, paths: about.paths ?? [] }
}

function decisionReason(
  definition: ProcessDefinition,
  run: RunRecord,
  { events, approvals }: Extract<InboxItemRequest, { kind: 'decision' }>,
): string {
  const description = stateNamed(definition, run.state)?.description
  const wanted = approvals.flatMap(({ artifact }) =>
    artifact === null ? [] : [`An approval is for ${approvedWords(definition, artifact)}.`],
  )
  const detail = description === null || description === undefined ? '' : ` (${description})`
  const choices = events.map((event) => event.replaceAll(/[_-]+/g, ' '))
  return [
    `${definition.name} waits for your decision at "${run.state}"${detail}${choices.length === 0 ? '' : `: ${choices.join(' or ')}`}.`,
    ...wanted,
  ].join(' ')
}

function approvedWords(definition: ProcessDefinition, of: string): string {
  return isOfChanges(definition, of) ? 'the measured changes' : of
}
