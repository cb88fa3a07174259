import { z } from 'zod'
import { decisionChoices } from '../../gate/domain/decisions.ts'
import { type EventDefinition, eventNamed } from '../../gate/domain/definition.ts'
import { candidates } from '../../gate/domain/transitions.ts'
import { type ApprovalInput, priorApprovalsNote } from '../../gate/operations/run/approvals.ts'
import { assertFilesAreHere } from '../../gate/operations/run/external-state.ts'
import { loadRun } from '../../gate/operations/run/find-run.ts'
import { guardLine, refusalFailure } from '../../gate/operations/run/refusal.ts'
import { sendEvent } from '../../gate/operations/run/send-event.ts'
import { wordsForReason } from '../../gate/operations/run/statements.ts'
import { AcceptedEntry } from '../../gate/operations/run-answer.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { isJsonObject, type JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { freeObject, identifier } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import { assertContentSeen, shownContentOfRun } from './shown-content.ts'
import { contentField, reasonField, requireAnswerText, roleField } from './subject.ts'

const Approved = z.object({ role: z.string(), of: z.string().nullable() })

/** What was decided about a run, beside what the event that it sent is answered with. */
export const RunDecided = z.object({
  run_id: z.string(),
  decided: z.boolean(),
  /** Null where a no sends no event. */
  event: z.string().nullable().optional(),
  approvals: list(Approved).optional(),
  already_approved: list(Approved.extend({ by: z.string(), at: z.string() })).optional(),
  still_missing: strings.optional(),
  note: z.string().optional(),
  ...AcceptedEntry.partial().shape,
})

export const decide = defineOperation({
  name: 'decide',
  command: 'decide',
  toolset: 'gate',
  audience: 'person',
  title: 'Send an event as a person',
  description: 'Sends any event of a run, at whatever revision it is, with a reason.',
  kind: 'command',
  positional: ['run_id', 'event', 'reason'],
  input: z.strictObject({
    run_id: identifier('The run'),
    event: identifier('The event'),
    reason: reasonField,
    payload: freeObject('What else the event asks for').optional(),
    role: roleField,
    content: contentField,
  }),
  output: RunDecided,
}).handler(async (handling, input) => {
  const loaded = await handling.store.view((reads) => loadRun(reads, input.run_id))
  const { event } = input
  const command = `waymark decide ${loaded.record.id} ${event}`
  await assertFilesAreHere(handling, loaded, { event, approvals: [], command })
  const about = { id: loaded.record.id, seen: input.content }
  const seen = await assertContentSeen(handling, about, () => shownContentOfRun(handling, loaded))
  return decideRun(handling, loaded, {
    event: input.event,
    reason: input.reason ?? null,
    payload: (input.payload ?? null) as JsonObject | null, // a record, as its schema says
    role: input.role,
    approvals: [],
    seen: seen !== null,
  })
})

/** What a person decides about a run. */
export interface RunDecision {
  readonly event: string
  readonly reason: string | null
  readonly payload: JsonObject | null
  readonly role: string | undefined
  readonly approvals: readonly ApprovalInput[]
  /** What they saw was looked at again: the run must not move meanwhile. */
  readonly seen: boolean
}

/**
 * Sends a person's event, with the approvals that they give first. An approval stays given where the event still lacks
 * something, such as a second one; the answer says so. Anything else that refuses the event fails.
 */
export async function decideRun(
  handling: CommandContext,
  { record, definition }: LoadedRun,
  decision: RunDecision,
) {
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
  const hasWords = wordsForReason.some((name) => Object.hasOwn(decision.payload ?? {}, name))
  if (
    record.status === 'active' &&
    choice?.sendsBack &&
    !hasWords &&
    candidates(definition, record.state, event.name).length > 0
  ) {
    requireAnswerText(decision.reason ?? undefined, {
      what: `To send run ${record.id} ${event.name}`,
      command: `waymark decide ${record.id} ${event.name} "<reason>"`,
    })
  }
  const sent = await sendEvent(handling, {
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
  })
  const given = decision.approvals.map(({ role, of }) => ({ role, of }))
  if (sent.kind !== 'refused') {
    return {
      run_id: record.id,
      decided: true,
      event: event.name,
      ...sent.answer,
      approvals: given,
      still_missing: [],
      ...(sent.kind === 'accepted' && priorApprovalsNote(sent.already)),
    }
  }
  if (given.length === 0 || sent.refused.code !== 'GUARD_FAILED') throw refusalFailure(sent.run, sent.refused)
  return {
    run_id: record.id,
    decided: false,
    event: event.name,
    approvals: given,
    still_missing: sent.refused.missing.map(guardLine),
    ...priorApprovalsNote(sent.already),
  }
}

/** A reason goes where the event has a place for it, else beside what its payload holds unless nothing else may. */
function reasonIn({ payloadSchema }: EventDefinition, reason: string | null): JsonObject {
  if (reason === null) return {}
  const properties = payloadSchema?.['properties']
  const known = isJsonObject(properties) ? properties : {}
  const place = wordsForReason.find((word) => Object.hasOwn(known, word))
  if (place !== undefined) return { [place]: reason }
  return payloadSchema?.['additionalProperties'] === false ? {} : { reason }
}
