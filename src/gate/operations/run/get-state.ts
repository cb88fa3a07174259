import { z } from 'zod'
import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { waitForProjectEvent } from '../../../events/operations/follow.ts'
import { itemKinds } from '../../../inbox/domain/inbox-item.ts'
import { instant } from '../../../kernel/instant.ts'
import { list, strings } from '../../../kernel/operations/list-answer.ts'
import { requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { type CommandContext, defineOperation } from '../../../kernel/operations/operation.ts'
import { reviewInMission, reviewOfTask, taskReviewFields } from '../../../review/operations/agent-reviews.ts'
import { countedArtifacts } from '../../domain/artifacts.ts'
import { stateNamed } from '../../domain/definition.ts'
import type { MissingGuard } from '../../domain/expression.ts'
import { json, MessageEntry, runStatus, VisitEntry } from '../run-answer.ts'
import { findRun, runField } from './find-run.ts'
import { MeasurementQuestions, type RunMeasurements, runMeasurements } from './run-measurements.ts'
import { fittingContext, prepareSituation, type RunSituation } from './situation.ts'
import { statePrompt } from './state-prompt.ts'

const maxWaitSeconds = 25

export const getState = defineOperation({
  name: 'state_gate_get_state',
  tool: 'state_gate_get_state',
  command: 'run show',
  toolset: 'gate',
  audience: 'both',
  title: 'Show the state of a run',
  description: 'Get the state of a run, what blocks it, and the events that can be emitted',
  kind: 'query',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runField,
    since_revision: z.int().min(0).describe('With wait_seconds: the known revision').optional(),
    wait_seconds: z
      .int()
      .min(0)
      .max(maxWaitSeconds)
      .describe('Wait up to this long for the run to move past since_revision, or for its evidence to change')
      .optional(),
  }),
  output: z.object({
    run_id: z.string(),
    process_id: z.string(),
    process_version: z.string(),
    status: runStatus,
    current_state: z.string(),
    revision: z.int(),
    prompt: z.string().optional(),
    messages: list(MessageEntry).optional(),
    context: json,
    /** The variables of the context whose values were shortened. */
    context_cut: strings.optional(),
    missing_guards: list(
      z.object({
        guard_name: z.string(),
        description: z.string(),
        current_status: z.string(),
        fix: z.string(),
        is_known: z.literal(false).optional(),
      }),
    ),
    required_artifacts: list(
      z.object({
        type: z.string(),
        description: z.string(),
        status: z.enum(['missing', 'present']),
        paths: strings.optional(),
        min_bytes: z.int().optional(),
        files: strings.optional(),
        not_counted: strings.optional(),
      }),
    ),
    allowed_events: list(
      z.object({
        event_name: z.string(),
        description: z.string(),
        payload_schema: json.optional(),
        would_transition_to: z.string().nullable(),
      }),
    ),
    waits_for: list(z.object({ item_id: z.string(), kind: z.enum(itemKinds), reason: z.string() })),
    ...taskReviewFields,
    mission_id: z.string().nullable(),
    task_id: z.string().nullable(),
    visited: list(VisitEntry),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  listedOutput: [
    'run_id',
    'process_id',
    'process_version',
    'current_state',
    'revision',
    'context',
    'missing_guards',
    'required_artifacts',
    'allowed_events',
    'updated_at',
  ],
})
  .measure(runMeasurements)
  .prepare(async (reads, input, context, measured, taken) => {
    const { wait_seconds: seconds = 0, run_id: runId } = input
    if (seconds > 0 && context.isContinued !== true && !taken.has(waiting)) {
      const { id, revision } = await findRun(reads, runId)
      const waited = { past: input.since_revision ?? revision, milliseconds: seconds * 1000 }
      const first = { name: waiting, take: ({ store }: CommandContext) => waitForRun(store, id, waited) }
      return { briefs: {}, found: null, first }
    }
    const questions = new MeasurementQuestions<RunMeasurements>(measured)
    const situation = await prepareSituation(reads, questions, { context, runId })
    const { briefs } = questions
    if (situation === null) return { briefs, found: null }
    const { taskId, missionId } = situation.record
    const ofMission = missionId === null ? {} : await reviewInMission(reads, missionId)
    const review = taskId === null ? ofMission : await reviewOfTask(reads, taskId)
    return { briefs, found: { situation, review } }
  })
  .answer(async ({ reads, found }) => {
    const { situation, review } = requireMeasured(found ?? undefined)
    return { ...stateAnswer(situation, await statePrompt(reads, situation)), ...review }
  })

const waiting = 'wait'

function stateAnswer(situation: RunSituation, prompt: string | null) {
  const { record, definition, events, run, items, remarks: messages } = situation
  const state = stateNamed(definition, record.state)
  return {
    run_id: record.id,
    process_id: record.process.id,
    process_version: record.process.version,
    status: record.status,
    current_state: record.state,
    revision: record.revision,
    ...(prompt !== null && { prompt }),
    ...(messages.length > 0 && { messages }),
    ...fittingContext(record.context),
    missing_guards: missingGuards(situation),
    required_artifacts: (state?.requiredArtifacts ?? []).map((type) => requiredArtifact(situation, type)),
    allowed_events: events
      .filter(({ isAllowed }) => isAllowed)
      .map(({ event, wouldTransitionTo }) => ({
        event_name: event.name,
        description: event.description ?? '',
        ...(event.payloadSchema !== null && { payload_schema: event.payloadSchema }),
        would_transition_to: wouldTransitionTo,
      })),
    waits_for: items.map(({ id, kind, reason }) => ({ item_id: id, kind, reason })),
    mission_id: record.missionId,
    task_id: record.taskId,
    visited: run.visits.map(({ state: name, count }) => ({ state: name, times: count })),
    created_at: instant(record.createdAt),
    updated_at: instant(record.updatedAt),
  }
}

/** The guards that block a transition out of the state, for any emitter. */
function missingGuards({ events }: RunSituation) {
  const missing = events.flatMap(({ transitions }) => transitions.flatMap((step) => step.missing))
  const first = missing.filter(
    ({ name }, index) => missing.findIndex((other) => other.name === name) === index,
  )
  return first.map((guard) => guardAnswer(guard))
}

function guardAnswer({ name, description, status, reason, fix }: MissingGuard) {
  return {
    guard_name: name,
    description,
    current_status: reason,
    fix,
    ...(status === 'unknown' && { is_known: false as const }),
  }
}

function requiredArtifact({ definition, run, observed }: RunSituation, type: string) {
  const { counted, passedOver } = countedArtifacts(type, {
    dialect: definition.dialect,
    context: run.context,
    payload: {},
    artifacts: run.artifacts,
    declared: definition.artifacts,
    visits: run.visits,
    observed,
  })
  const declared = definition.artifacts.find((artifact) => artifact.type === type)
  const status: 'present' | 'missing' = counted.length > 0 ? 'present' : 'missing'
  return {
    type,
    description: declared?.description ?? '',
    status,
    ...(declared !== undefined && declared.paths.length > 0 && { paths: declared.paths }),
    ...(declared !== undefined && declared.minBytes !== null && { min_bytes: declared.minBytes }),
    ...(counted.length > 0 && { files: counted.slice(0, 20).map(({ path }) => path) }),
    ...(passedOver.length > 0 && { not_counted: passedOver.slice(0, 10) }),
  }
}

/**
 * Waits until a run is past a revision, or until an event that may affect its guards: an approval, an answer to an inbox
 * item, the end of a command. Gives up after `milliseconds`.
 */
async function waitForRun(
  store: CommandContext['store'],
  runId: string,
  { past, milliseconds }: { readonly past: number; readonly milliseconds: number },
): Promise<void> {
  const begin = await store.view(async ({ runs, eventLog: log }) => ({
    revision: (await runs.find(runId))?.revision ?? 0,
    head: await log.head(),
  }))
  if (begin.revision > past) return
  await waitForProjectEvent(store, {
    after: begin.head,
    milliseconds,
    until: (projectEvent) => isAboutRun(projectEvent, runId),
  })
}

function isAboutRun(projectEvent: NewProjectEvent, runId: string): boolean {
  if (projectEvent.kind === 'inbox.closed' || projectEvent.kind === 'command.ended') return true
  return projectEvent.kind !== 'run.refused' && 'runId' in projectEvent && projectEvent.runId === runId
}
