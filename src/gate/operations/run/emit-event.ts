import { z } from 'zod'
import { shownMeasurements } from '../../../inbox/operations/approval-content.ts'
import { keyOwner } from '../../../kernel/actor.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import { requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../../kernel/operations/operation.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import { AcceptedEntry, json } from '../run-answer.ts'
import {
  decideEvent,
  eventMeasurements,
  prepareEvent,
  type SendEventRequest,
  type SendEventResult,
} from './decide-event.ts'
import { runField } from './find-run.ts'
import { refusalFailure } from './refusal.ts'
import { MeasurementQuestions } from './run-measurements.ts'
import { type EvidenceFileInput, prepareSubmittedFiles, submittedFiles } from './submitted-files.ts'

const namedFile = z.union([
  z.string().min(1).max(4096),
  z.strictObject({ path: z.string().min(1).max(4096), type: z.string().min(1).max(200) }),
])

const maxPayload = 100_000

const EmitEventAnswer = z.object({
  success: z.boolean(),
  /** Nothing was done. */
  dry_run: z.literal(true).optional(),
  result: AcceptedEntry.optional(),
  /** Only for an event that would be refused. */
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

const EmitEventInput = z.strictObject({
  run_id: runField,
  event_name: identifier('One of allowed_events'),
  payload: z
    .record(z.string(), z.unknown())
    .refine(
      (value) => JSON.stringify(value).length <= maxPayload,
      'it is longer than 100,000 characters as JSON',
    )
    .describe("Payload, as the event's payload_schema defines it")
    .optional(),
  expected_revision: z.int().min(1).describe('Revision from state_gate_get_state'),
  idempotency_key: identifier('A new key for each event; the same key only to repeat a call'),
  artifact_paths: z
    .array(namedFile)
    .max(1000)
    .describe('Evidence: files in the project, "docs/plan.md" or { path, type }')
    .optional(),
  dry_run: z.boolean().describe('Only show what would happen').optional(),
})
type EmitEventInput = z.output<typeof EmitEventInput>

/** Also with the content shown to a person who is asked through the client. */
const emitMeasurements = { ...shownMeasurements, submitted: submittedFiles, ...eventMeasurements }

export const emitEvent = defineOperation({
  name: 'state_gate_emit_event',
  tool: 'state_gate_emit_event',
  command: 'run emit',
  toolset: 'gate',
  audience: 'both',
  title: 'Emit an event on a run',
  description:
    'Emit an event on a run, with its payload and evidence. A refusal says what is missing and who can supply it; a refused event changes nothing',
  kind: 'command',
  idempotent: true,
  positional: ['run_id', 'event_name'],
  input: EmitEventInput,
  output: EmitEventAnswer,
  listedOutput: ['success'],
})
  .measure(emitMeasurements)
  .prepare(async (reads, input, context, measured) => {
    const questions = new MeasurementQuestions<typeof emitMeasurements>(measured)
    const sending = {
      ...requestIn(input, context),
      readFiles: (definition: ProcessDefinition) =>
        prepareSubmittedFiles(questions, definition, input.artifact_paths ?? []),
    }
    const prepared = await prepareEvent(reads, questions, { context, sending })
    return { briefs: questions.briefs, ...prepared }
  })
  .record(
    async ({ reads, found, context, setting }, input) => {
      const prepared = requireMeasured(found ?? undefined)
      const { answer: sent, ...decided } = await decideEvent(
        { reads, context, setting },
        requestIn(input, context),
        prepared,
      )
      if (input.dry_run) return { events: [], answer: dryAnswer(sent) }
      if (sent.kind === 'refused') return { ...decided, refused: refusalOf(sent) }
      return { ...decided, answer: answerOf(sent) }
    },
    { only: ({ dry_run: isDry }) => isDry === true, isKeyed: false },
  )

function requestIn(input: EmitEventInput, { fingerprint, actor }: RecordContext): SendEventRequest {
  const files: readonly EvidenceFileInput[] = input.artifact_paths ?? []
  const payload = (input.payload ?? {}) as JsonObject // a record, as its schema says
  const { event_name: event, idempotency_key: key } = input
  return {
    runId: input.run_id,
    sent: { event, payload, files, expectedRevision: input.expected_revision },
    dryRun: input.dry_run ?? false,
    idempotency: {
      key,
      owner: keyOwner(actor),
      connection: actor.connection ?? null,
      operation: 'state_gate_emit_event',
      inputHash: fingerprint([event, payload, files]),
    },
  }
}

function answerOf(sent: Exclude<SendEventResult, { kind: 'refused' }>): EmitEventAnswer {
  if (sent.kind === 'accepted') return { success: true, result: sent.answer }
  return {
    success: true,
    result: { ...sent.answer, replayed: true },
    info: {
      code: 'IDEMPOTENT_REPLAY',
      message: `This event was already accepted as ${sent.eventId}. Nothing changed.`,
    },
  }
}

/** The answer that the event would get, without an id, since nothing was recorded. */
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
  return refusalFailure(sent.run, sent.refused, sent.itemId)
}
