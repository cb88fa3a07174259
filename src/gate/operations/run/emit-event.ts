import { z } from 'zod'
import { keyOwner } from '../../../kernel/actor.ts'
import { callTo, hintOf } from '../../../kernel/failure.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { AcceptedEntry, json } from '../run-answer.ts'
import type { EvidenceFileInput } from './external-state.ts'
import { runField } from './find-run.ts'
import { refusalFailure } from './refusal.ts'
import { type SendEventResult, sendEvent } from './send-event.ts'

const namedFile = z.union([
  z.string().min(1).max(4096),
  z.strictObject({ path: z.string().min(1).max(4096), type: z.string().min(1).max(200) }),
])

const mostPayload = 100_000

const EmitEventAnswer = z.object({
  success: z.boolean(),
  /** Nothing was done. */
  dry_run: z.literal(true).optional(),
  result: AcceptedEntry.optional(),
  /** Of an event that would be refused. */
  error: z
    .object({
      code: z.string(),
      reason: z.string().nullable(),
      message: z.string(),
      hint: z.string().nullable(),
      fix: z.object({ operation: z.string(), input: z.record(z.string(), z.unknown()) }).nullable(),
      details: json.nullable(),
    })
    .optional(),
  info: z.object({ code: z.literal('IDEMPOTENT_REPLAY'), message: z.string() }).optional(),
})
type EmitEventAnswer = z.output<typeof EmitEventAnswer>

export const emitEvent = defineOperation({
  name: 'state_gate_emit_event',
  tool: 'state_gate_emit_event',
  command: 'emit-event',
  aliases: ['run emit'],
  toolset: 'gate',
  audience: 'both',
  title: 'Emit an event',
  description:
    'Emit an event on a run, with its payload and evidence. A refusal says what is missing and who can supply it; nothing of a refused event is kept',
  kind: 'command',
  idempotent: true,
  positional: ['run_id', 'event_name'],
  input: z.strictObject({
    run_id: runField,
    event_name: identifier('One of allowed_events'),
    payload: z
      .record(z.string(), z.unknown())
      .refine(
        (value) => JSON.stringify(value).length <= mostPayload,
        'it is longer than 100,000 characters as JSON',
      )
      .describe("What the event's payload_schema asks for")
      .optional(),
    expected_revision: z.int().min(1).describe('The revision that state_gate_get_state answered'),
    idempotency_key: identifier('A new one for each event; the same one only to repeat a call'),
    artifact_paths: z
      .array(namedFile)
      .max(1000)
      .describe('Evidence: files in the project, "docs/plan.md" or { path, type }')
      .optional(),
    dry_run: z.boolean().describe('Answer what would happen, and do nothing').optional(),
  }),
  output: EmitEventAnswer,
  listedOutput: ['success'],
}).handler(async (handling, input) => {
  const files: readonly EvidenceFileInput[] = input.artifact_paths ?? []
  const payload = (input.payload ?? {}) as JsonObject // a record, as its schema says
  const inputHash = handling.fingerprint([input.event_name, payload, files])
  const sent = await sendEvent(handling, {
    runId: input.run_id,
    sent: { event: input.event_name, payload, files, expectedRevision: input.expected_revision },
    dryRun: input.dry_run ?? false,
    idempotency: {
      key: input.idempotency_key,
      owner: keyOwner(handling.actor),
      connection: handling.actor.connection ?? null,
      operation: 'state_gate_emit_event',
      inputHash,
    },
  })
  return input.dry_run ? dryAnswer(sent) : answerOf(sent)
})

function answerOf(sent: SendEventResult): EmitEventAnswer {
  if (sent.kind === 'refused') throw refusalOf(sent)
  if (sent.kind === 'accepted') return { success: true, result: sent.answer }
  return {
    success: true,
    result: { ...sent.answer, replayed: true },
    info: {
      code: 'IDEMPOTENT_REPLAY',
      message: `This event was already accepted as ${sent.eventId}; nothing happened a second time.`,
    },
  }
}

/** Exactly what would be answered, without its id: nothing was made. */
function dryAnswer(sent: SendEventResult): EmitEventAnswer {
  if (sent.kind !== 'refused') {
    const { event_id: _, ...result } = sent.answer
    const replayed = sent.kind === 'repeated' && { replayed: true as const, event_id: sent.eventId }
    return { success: true, dry_run: true, result: { ...result, ...replayed } }
  }
  const { code, message, reason, hint, fix, details } = refusalOf(sent)
  return {
    success: false,
    dry_run: true,
    error: { code, reason, message, hint: hint ?? null, fix, details: details ?? null },
  }
}

function refusalOf(sent: Extract<SendEventResult, { kind: 'refused' }>) {
  if (sent.holdId === null) return refusalFailure(sent.run, sent.refused)
  return refusalFailure(sent.run, sent.refused, {
    hint: hintOf`A person decides this; it waits for them as ${sent.holdId}: waymark approve ${sent.holdId}, or the dashboard (waymark serve). Use ${callTo('state_gate_get_state', { run_id: sent.run.id, wait_seconds: 25 })} to hear of it.`,
    details: { hold_id: sent.holdId },
  })
}
