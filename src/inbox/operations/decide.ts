import { z } from 'zod'
import { decisionChoices } from '../../gate/domain/decisions.ts'
import { type EventDefinition, eventNamed } from '../../gate/domain/definition.ts'
import { transitionsFor } from '../../gate/domain/transitions.ts'
import { type ApprovalInput, priorApprovalsNote } from '../../gate/operations/run/approvals.ts'
import {
  decideEvent,
  eventMeasurements,
  type PreparedEvent,
  prepareEvent,
  type SendEventRequest,
} from '../../gate/operations/run/decide-event.ts'
import { assertFilesAreHere } from '../../gate/operations/run/external-state.ts'
import { loadRun } from '../../gate/operations/run/find-run.ts'
import { guardLine, refusalFailure } from '../../gate/operations/run/refusal.ts'
import { reasonFields } from '../../gate/operations/run/remarks.ts'
import { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import { AcceptedEntry } from '../../gate/operations/run-answer.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { isJsonObject, type JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { freeObject, identifier } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { type Measurements, requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type TransactionInput } from '../../kernel/operations/operation.ts'
import type { ChangeSet, RefusedChangeSet } from '../../store/ports/store.ts'
import { decideCommand } from '../domain/answers.ts'
import { prepareSeen, prepareShownRun, shownMeasurements } from './approval-content.ts'
import { contentField, deciderRoleField, reasonField, requireAnswerText } from './subject.ts'

const Approved = z.object({ role: z.string(), artifact: z.string().nullable() })

/** The result of a decision about a run, besides the answer to its event. */
export const RunDecided = z.object({
  run_id: z.string(),
  decided: z.boolean(),
  /** Null if a rejection sends no event. */
  event: z.string().nullable().optional(),
  approvals: list(Approved).optional(),
  already_approved: list(Approved.extend({ author: z.string(), created_at: z.string() })).optional(),
  still_missing: strings.optional(),
  note: z.string().optional(),
  ...AcceptedEntry.partial().shape,
})

/** The measurements for a decision about a run, whose commands may have to run. */
export const decisionMeasurements = { ...shownMeasurements, ...eventMeasurements }
export type DecisionMeasurements = typeof decisionMeasurements

export const decide = defineOperation({
  name: 'decide',
  command: 'decide',
  toolset: 'gate',
  audience: 'person',
  title: 'Send any event of a run',
  description: 'Send any event of a run as a person, at its current revision, with a reason.',
  kind: 'command',
  positional: ['run_id', 'event', 'reason'],
  input: z.strictObject({
    run_id: identifier('The run'),
    event: identifier('The event'),
    reason: reasonField,
    payload: freeObject('Payload, as the event defines it').optional(),
    role: deciderRoleField,
    content: contentField,
  }),
  output: RunDecided,
})
  .measure(decisionMeasurements)
  .prepare(async (reads, input, context, measured) => {
    const questions = new MeasurementQuestions<DecisionMeasurements>(measured)
    const loaded = await loadRun(reads, input.run_id)
    const { event, content, reason = null, role } = input
    const { id } = loaded.record
    const command = decideCommand(id, event)
    await assertFilesAreHere(reads, context, { loaded, event, approvals: [], command })
    const seen = await prepareSeen(questions, { id, seen: content }, () =>
      prepareShownRun(reads, questions, { context, loaded }),
    )
    if (seen === undefined) return { briefs: questions.briefs, found: null }
    const decision: RunDecision = {
      event,
      reason,
      payload: (input.payload ?? null) as JsonObject | null, // a record, as its schema says
      role,
      approvals: [],
      seen: seen !== null,
    }
    const sending = requestFor(loaded, decision)
    const { found, first } = await prepareEvent(reads, questions, { context, sending })
    return { briefs: questions.briefs, first, found: found && { sending, prepared: found } }
  })
  .record(async (deciding) => {
    const { sending, prepared } = requireMeasured(deciding.found ?? undefined)
    return recordDecision(deciding, sending, prepared)
  })

/** A person's decision about a run. */
export interface RunDecision {
  readonly event: string
  readonly reason: string | null
  readonly payload: JsonObject | null
  readonly role: string | undefined
  readonly approvals: readonly ApprovalInput[]
  /** The reviewed content was compared with the current one: the run must not move meanwhile. */
  readonly seen: boolean
}

/** A person's event. Fails if the process has no such event, or if it needs a reason that is missing. */
export function requestFor({ record, definition }: LoadedRun, decision: RunDecision): SendEventRequest {
  const event = eventNamed(definition, decision.event)
  if (!event) {
    const names = definition.events.map(({ name }) => name)
    throw new Failure(
      'INVALID_EVENT',
      `Process ${definition.id} has no event "${decision.event}".${didYouMean(decision.event, names)}`,
      { reason: 'event_unknown', hint: `It has ${names.join(', ')}.` },
    )
  }
  const [choice] = decisionChoices(definition, record.state, [event.name])
  const hasWords = reasonFields.some((name) => Object.hasOwn(decision.payload ?? {}, name))
  if (
    record.status === 'active' &&
    choice?.sendsBack &&
    !hasWords &&
    transitionsFor(definition, record.state, event.name).length > 0
  ) {
    requireAnswerText(decision.reason ?? undefined, {
      what: `To send run ${record.id} ${event.name}`,
      command: decideCommand(record.id, event.name),
    })
  }
  return {
    runId: record.id,
    sent: {
      event: event.name,
      payload: { ...reasonIn(event, decision.reason), ...decision.payload },
      files: [],
      expectedRevision: decision.seen ? record.revision : null,
    },
    dryRun: false,
    role: decision.role,
    idempotency: null,
    approvals: decision.approvals,
  }
}

/**
 * Records a person's event, with the approvals that they give first. The approvals stay recorded if the event is still
 * blocked, and the answer names the missing guards. Any other refusal fails.
 */
export async function recordDecision(
  deciding: Pick<TransactionInput<Measurements, unknown>, 'reads' | 'context' | 'setting'>,
  sending: SendEventRequest,
  prepared: PreparedEvent,
): Promise<ChangeSet<z.output<typeof RunDecided>> | RefusedChangeSet> {
  const { answer: sent, ...decided } = await decideEvent(deciding, sending, prepared)
  const approvals = (sending.approvals ?? []).map(({ role, artifact }) => ({ role, artifact }))
  const result = { run_id: sent.run.id, event: sending.sent.event, approvals }
  if (sent.kind !== 'refused') {
    const notes = sent.kind === 'accepted' ? priorApprovalsNote(sent.already) : {}
    return { ...decided, answer: { ...result, decided: true, ...sent.answer, still_missing: [], ...notes } }
  }
  if (approvals.length === 0 || sent.refused.code !== 'GUARD_FAILED') {
    return { ...decided, refused: refusalFailure(sent.run, sent.refused, sent.itemId) }
  }
  const missing = sent.refused.missing.map(guardLine)
  return {
    ...decided,
    answer: { ...result, decided: false, still_missing: missing, ...priorApprovalsNote(sent.already) },
  }
}

/** Puts a reason into the event's field for it, else into an extra field of the payload if that is allowed. */
function reasonIn({ payloadSchema }: EventDefinition, reason: string | null): JsonObject {
  if (reason === null) return {}
  const properties = payloadSchema?.['properties']
  const fields = isJsonObject(properties) ? properties : {}
  const field = reasonFields.find((word) => Object.hasOwn(fields, word))
  if (field !== undefined) return { [field]: reason }
  return payloadSchema?.['additionalProperties'] === false ? {} : { reason }
}
