import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { type InboxItem, type InboxItemRequest, openInboxItem } from '../../track/domain/records.ts'
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
import type { RunRecord } from './run.ts'
import { candidates, reachableStates } from './transitions.ts'

/** What people decide about a run in a state. */
interface AwaitedDecision {
  /** Events that only people may send, in the order of the definition. */
  readonly events: readonly string[]
  /** Approvals that guards of the state ask for. */
  readonly approvals: readonly { readonly role: string; readonly of: string | null }[]
}

/** What a run in this state waits for people to decide; null when it does not. Ways out that are only escapes do not count. */
export function awaitedDecision(definition: ProcessDefinition, state: string): AwaitedDecision | null {
  if (stateNamed(definition, state)?.isFinal) return null
  const events = definition.events.filter((event) => isForPeople(definition, event))
  const here = events.filter(({ name }) => candidates(definition, state, name).length > 0)
  const waits = here.some(({ name }) => candidates(definition, state, name).some((way) => !way.escape))
  const asked = needsOfState(definition, state).flatMap((need) => approvalOf(need))
  // Guards that differ in how many they want ask for the same approval.
  const approvals = asked.filter(
    ({ role, of }, at) => asked.findIndex((other) => other.role === role && other.of === of) === at,
  )
  if (!waits && approvals.length === 0) return null
  return { events: here.map(({ name }) => name), approvals }
}

/** Whether only people may send an event. */
export function isForPeople({ roles }: ProcessDefinition, { allowedRoles }: EventDefinition): boolean {
  const human = new Set(roles.filter(({ kind }) => kind === 'human').map(({ name }) => name))
  return allowedRoles.length > 0 && allowedRoles.every((role) => human.has(role))
}

function approvalOf(need: EvidenceNeed): AwaitedDecision['approvals'] {
  return need.kind === 'approvals' ? [{ role: need.role, of: need.of }] : []
}

/** One event that a person may decide for, and what it means to decide so. */
interface DecisionChoice {
  readonly event: string
  readonly description: string | null
  /** `yes` and `no` are what a plain word means; `other` has a name of its own. */
  readonly answer: 'yes' | 'no' | 'other'
  /** It leads back, or to a failed end: whoever worked is told why. */
  readonly sendsBack: boolean
  /** A guard of it asks for an approval: to send it is to approve. */
  readonly approves: boolean
  /** What its payload must hold beside a reason. */
  readonly asksFor: readonly string[]
}

/** What each event means that a run in this state waits for, in the order given. */
export function decisionChoices(
  definition: ProcessDefinition,
  state: string,
  events: readonly string[],
): readonly DecisionChoice[] {
  const [yes, no] = [eventFor('approve', events), eventFor('reject', events)]
  return events.map((event) => {
    const ways = candidates(definition, state, event)
    const guards = ways.flatMap(({ guard }) => guardNames(guard))
    const required = requiredFieldNames(eventNamed(definition, event)?.payloadSchema?.['required'])
    return {
      event,
      description: eventNamed(definition, event)?.description ?? null,
      answer: event === yes ? 'yes' : event === no ? 'no' : 'other',
      sendsBack:
        event !== yes &&
        (event === no ||
          required.includes('reason') ||
          ways.every(({ to }) => isBackwardMove(definition, state, to))),
      approves: guards.some((name) => definition.guards.some((guard) => isApproval(guard, name))),
      asksFor: required.filter((name) => name !== 'reason'),
    }
  })
}

/**
 * Whether a person who moves a run so sends it back: by the word for a no, by a decision that is a no, or to an earlier
 * state. To send an event that approves is none, nor an agent's event that stays where it is.
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

/** Nearer to the beginning than where it is, the same again, or a failed end. */
function isBackwardMove(definition: ProcessDefinition, state: string, to: string): boolean {
  if (stateNamed(definition, to)?.outcome === 'failed') return true
  const steps = reachableStates(definition, definition.initialState)
  return (steps.get(to) ?? Infinity) <= (steps.get(state) ?? 0) && !stateNamed(definition, to)?.isFinal
}

function isApproval({ name, guard }: NamedGuard, wanted: string): boolean {
  return name === wanted && guard.type === 'approval'
}

function requiredFieldNames(required: unknown): readonly string[] {
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : []
}

/** The event that a plain yes or no means; null when the process has no word for it. */
export function eventFor(verdict: 'approve' | 'reject', events: readonly string[]): string | null {
  return words[verdict].find((word) => events.includes(word)) ?? null
}

const words = {
  approve: ['approve', 'accept', 'confirm', 'sign_off'],
  reject: ['reject', 'send_back', 'request_changes', 'decline', 'deny'],
} as const

/** What a run waits for in its state, as an inbox item for a person; null when it waits for no one. */
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

/** Ends what a run waited for, because it moved on. */
export function endDecisions(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return closeOpenItems(items, ['approval'], answer)
}

/** Ends what a run waited for in a state that it left. */
export function endQuestionsOfState(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return closeOpenItems(items, ['approval', 'scope'], answer)
}

/** Ends all that a run waited for, questions about its commands too, because it ended. */
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

/** An inbox item about a run, open from now on. */
export function runItem(
  run: Pick<RunRecord, 'id' | 'missionId' | 'taskId'>,
  about: {
    readonly kind: 'approval' | 'command' | 'scope'
    readonly request: InboxItemRequest
    readonly reason: string
    readonly paths?: readonly string[]
  },
  setting: TransactionContext,
): InboxItem {
  const where = { missionId: run.missionId, phaseId: null, taskId: run.taskId, attemptId: null }
  const opened = openInboxItem(
    { kind: about.kind, reason: about.reason, openedBy: 'waymark' },
    where,
    setting,
  )
  return { ...opened, runId: run.id, request: about.request, paths: about.paths ?? [] }
}

function decisionReason(
  definition: ProcessDefinition,
  run: RunRecord,
  { events, approvals }: Extract<InboxItemRequest, { kind: 'decision' }>,
): string {
  const what = stateNamed(definition, run.state)?.description
  const asked = [
    ...approvals.map(
      ({ role, of }) => `an approval${of === null ? '' : ` of ${approvedWords(definition, of)}`} by ${role}`,
    ),
    ...(events.length === 0 ? [] : [events.join(' or ')]),
  ]
  const described = what === null || what === undefined ? '' : ` (${what})`
  return `Run ${run.id} of ${definition.name} is in "${run.state}"${described} and needs ${asked.join(', ')}.`
}

function approvedWords(definition: ProcessDefinition, of: string): string {
  return isOfChanges(definition, of) ? 'the measured changes' : of
}
