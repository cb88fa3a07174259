import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import type { InboxItem } from '../../../inbox/domain/inbox-item.ts'
import { type Actor, type Author, identityOf } from '../../../kernel/actor.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import type { PreparationStep } from '../../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { ChangeSet, Idempotency, Reads } from '../../../store/ports/store.ts'
import { isEnded } from '../../../track/domain/mission.ts'
import { isForPeople, isSentBack, runItem } from '../../domain/decisions.ts'
import { eventNamed, interpolatePrompt, type ProcessDefinition, stateNamed } from '../../domain/definition.ts'
import { type AcceptedTransition, type RefusedTransition, transition } from '../../domain/engine.ts'
import type { Emitter, EventRequest } from '../../domain/event-request.ts'
import { nothingObserved, type Observations } from '../../domain/evidence.ts'
import { type AdvancedRun, advanceRun } from '../../domain/lifecycle.ts'
import { type AttemptedEvent, entryRevision, type RunApproval, type RunRecord } from '../../domain/run.ts'
import { isRolePermitted, transitionsFor } from '../../domain/transitions.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import type { AcceptedEntry } from '../run-answer.ts'
import { changesQuestion } from './accepted-changes.ts'
import { type ApprovalInput, type ApprovalSet, giveApprovals, withdrawApprovals } from './approvals.ts'
import { commandRuns, prepareCommandRuns, runOwner } from './commands.ts'
import { emitterOf } from './emitter.ts'
import { engineRun, observeRun, requestAuthor } from './evidence.ts'
import {
  assertSubmittedLocally,
  type ExternalState,
  nothingMeasured,
  prepareState,
} from './external-state.ts'
import { callerOfRun, loadRun } from './find-run.ts'
import { landings, prepareLandings, withLandings } from './measure-landings.ts'
import { prepareRecordedForApproval } from './recorded-approvals.ts'
import { guardLine } from './refusal.ts'
import { promptWithWords, type RunRemark, remarksWithEvent, runRemarks } from './remarks.ts'
import type { MeasurementQuestions, RunMeasurements } from './run-measurements.ts'
import type { EvidenceFileInput, SubmittedArtifact } from './submitted-files.ts'
import { acceptanceQuestions } from './unproven-tasks.ts'

/** An event as the caller sent it. */
interface EventInput {
  readonly event: string
  readonly payload: JsonObject
  readonly files: readonly EvidenceFileInput[]
  /** Null: any revision. */
  readonly expectedRevision: number | null
}

export interface SendEventRequest {
  /** Without one, the project's only active run. */
  readonly runId: string | undefined
  readonly sent: EventInput
  readonly dryRun: boolean
  /** The role that a person chose; an agent has the role of its connection. */
  readonly role?: string | undefined
  /** The caller's key in the run; null for people's operations, whose keys belong to the project. */
  readonly idempotency: Omit<Idempotency, 'run'> | null
  /** Approvals that the sender gives first, in the same transaction. */
  readonly approvals?: readonly ApprovalInput[]
  /** Reads the submitted files; null until they were measured. */
  readonly readFiles?: (definition: ProcessDefinition) => Pick<ExternalState, 'submitted' | 'unusable'> | null
}

export type SendEventResult =
  | {
      readonly kind: 'repeated'
      readonly answer: AcceptedEntry
      readonly eventId: string
      readonly run: RunRecord
    }
  | {
      readonly kind: 'accepted'
      readonly accepted: AcceptedTransition
      readonly answer: AcceptedEntry
      readonly eventId: string
      readonly run: RunRecord
      readonly already: readonly RunApproval[]
    }
  | {
      readonly kind: 'refused'
      readonly refused: RefusedTransition
      readonly run: RunRecord
      readonly itemId: string | null
      /** Approvals sent with it that the same person had given before. */
      readonly already: readonly RunApproval[]
    }

/** Measured for an event beside the state of its run. */
export const eventMeasurements = { ran: commandRuns, landings }
type EventQuestions = Pick<MeasurementQuestions<RunMeasurements & typeof eventMeasurements>, 'ask'>

/** An event with everything needed to decide it; or the stored answer to a repeated one. */
export type PreparedEvent =
  | { readonly kind: 'repeated'; readonly result: SendEventResult }
  | {
      readonly kind: 'sent'
      readonly loaded: LoadedRun
      readonly external: ExternalState
      readonly caller: string
      readonly observed: Observations
      readonly landed: readonly NewProjectEvent[]
      readonly requester: Author | null
      readonly items: readonly InboxItem[]
      readonly remarks: readonly RunRemark[]
    }

/**
 * Prepares an event: its files, the state that its guards need, the results of its commands. `found` is null until
 * everything was measured. Fails with IDEMPOTENCY_KEY_REUSED.
 */
export async function prepareEvent(
  reads: Reads,
  questions: EventQuestions,
  { context, sending }: { readonly context: RecordContext; readonly sending: SendEventRequest },
): Promise<{ readonly found: PreparedEvent | null; readonly first?: PreparationStep | undefined }> {
  const { runId, approvals, sent, dryRun } = sending
  const loaded = await loadRun(reads, runId)
  const { record } = loaded
  const result = await repeatedEvent(reads, loaded, sending)
  if (result) return { found: { kind: 'repeated', result } }
  const { event } = sent
  const isEarly = isRefusedEarly(context, loaded, sending)
  const nothing = { ...nothingMeasured, folder: context.folder }
  const state = isEarly
    ? nothing
    : await prepareState(reads, questions, { context, loaded, event, approvals, runs: !dryRun })
  const submission = isEarly || !sending.readFiles ? nothing : sending.readFiles(loaded.definition)
  // A person decides about the files as they were submitted, wherever they are.
  if (submission && !isEarly && sending.readFiles)
    await assertSubmittedLocally(reads, context, { loaded, event, submitted: submission.submitted })
  const isRecorded =
    isEarly || (await prepareRecordedForApproval(reads, questions, { context, loaded, event }))
  if (state === null || submission === null || !isRecorded) return { found: null }
  const external = { ...state, submitted: submission.submitted, unusable: submission.unusable }
  const commands = dryRun
    ? undefined
    : await prepareCommandRuns(reads, questions, { context, owner: runOwner(record), external })
  const asking = { context, needs: dryRun ? [] : external.needs }
  const landed = await prepareLandings(reads, questions, asking)
  if (commands === null || landed === null) return { found: null }
  const sources = { ...sourcesOf(reads, { context, external }), landed: landed.byTask }
  return {
    first: dryRun ? undefined : withLandings(context, external.needs, commands),
    found: {
      kind: 'sent',
      loaded,
      external,
      caller: await callerOfRun(reads, record.taskId, context.actor),
      observed: await observeRun(sources, loaded),
      landed: landed.events,
      requester: await requestAuthor(reads, loaded),
      items: await reads.inboxItems.ofRun(record.id),
      remarks: await runRemarks(reads, record),
    },
  }
}

/** Whether an event is refused regardless of its guards: then nothing is measured for it. */
function isRefusedEarly(
  context: RecordContext,
  loaded: LoadedRun,
  { sent, role }: SendEventRequest,
): boolean {
  const { definition } = loaded
  const emitter = emitterOf(context, definition, sent.event, role)
  const eventRequest = {
    ...eventRequestOf(sent, { emitter, observed: nothingObserved, submitted: [] }),
    assumed: ['*'],
  }
  const result = transition(definition, engineRun(loaded, new Map()), eventRequest)
  return !result.accepted && !isGuardRefusal(result)
}

function isGuardRefusal({ code }: RefusedTransition): boolean {
  return code === 'GUARD_FAILED'
}

interface EventDecisionContext {
  readonly reads: Reads
  readonly context: RecordContext
  readonly setting: TransactionContext
}

/** Decides an event inside the write transaction. */
export async function decideEvent(
  deciding: EventDecisionContext,
  sending: SendEventRequest,
  prepared: PreparedEvent,
): Promise<ChangeSet<SendEventResult>> {
  if (prepared.kind === 'repeated') return { events: [], answer: prepared.result }
  const change = await decideSent(deciding, sending, prepared)
  return { ...change, events: [...prepared.landed, ...change.events] }
}

async function decideSent(
  { reads, context, setting }: EventDecisionContext,
  sending: SendEventRequest,
  prepared: Extract<PreparedEvent, { kind: 'sent' }>,
): Promise<ChangeSet<SendEventResult>> {
  const { loaded, external, caller, observed, requester } = prepared
  const { record, definition } = loaded
  const run = engineRun(loaded, external.fileFreshness)
  const priorApprovals = sending.approvals === undefined ? [] : await reads.runs.approvals(record.id)
  const given = await giveApprovals(
    { reads, loaded, run, external, handling: context, requester, priorApprovals },
    sending.approvals ?? [],
    setting,
  )
  const eventRequest = eventRequestOf(sending.sent, {
    emitter: emitterOf(context, definition, sending.sent.event, sending.role),
    observed: { ...observed, approvals: [...observed.approvals, ...given.observed] },
    submitted: external.submitted,
  })
  const result = withUsableFiles(transition(definition, run, eventRequest), record, external)
  const approves = given.recorded.length > 0 || given.already.length > 0
  if (!result.accepted && approves && result.code === 'GUARD_FAILED') {
    // The approval counts and others are missing: that is no refusal.
    const question = sending.dryRun
      ? null
      : await askAboutChanges(
          reads,
          { context, prepared, refused: result, eventRequest, author: caller },
          setting,
        )
    const unproven = sending.dryRun ? [] : await askAboutUnproven(reads, prepared, result, setting)
    return {
      events: [...given.recorded, ...(question?.events ?? []), ...unproven],
      answer: {
        kind: 'refused',
        refused: result,
        run: record,
        itemId: question?.id ?? null,
        already: given.already,
      },
    }
  }
  if (!result.accepted) {
    const refusal = await refusalEvents(
      reads,
      {
        context,
        prepared,
        refused: result,
        eventRequest,
        isDry: sending.dryRun,
        tried: triedSubmission(sending.sent, external),
        author: { kind: context.actor.kind, name: caller },
      },
      setting,
    )
    return {
      events: [...given.recorded, ...refusal.events],
      agentName: caller,
      answer: { kind: 'refused', refused: result, run: record, itemId: refusal.itemId, already: [] },
    }
  }
  const change = await accept(
    reads,
    { prepared, accepted: result, eventRequest, given, sending, actor: context.actor },
    setting,
  )
  if (!isRejection(prepared, result, sending.sent.event)) return change
  const withdrawn = await withdrawApprovals(reads, record, { actor: context.actor, setting })
  return { ...change, events: [...change.events, ...withdrawn] }
}

function isRejection(
  { loaded }: Extract<PreparedEvent, { kind: 'sent' }>,
  { from, to, unsatisfied }: AcceptedTransition,
  event: string,
): boolean {
  // An event that only added evidence decided nothing.
  return unsatisfied.length === 0 && isSentBack(loaded.definition, { event, from, to })
}

const maxTriedFiles = 20
const maxTriedLength = 500

/** The files and payload of a refused event, shortened for the log; null if it had none. */
function triedSubmission({ files, payload }: EventInput, { unusable }: ExternalState): AttemptedEvent | null {
  const triedFiles = files.slice(0, maxTriedFiles).map((file, index) => {
    const problem = unusable.find(({ path }) => path === `/artifact_paths/${index}`)
    return {
      path: excerpt(typeof file === 'string' ? file : file.path, maxTriedLength),
      reason: problem === undefined ? null : excerpt(problem.message, maxTriedLength),
    }
  })
  const isEmpty = Object.keys(payload).length === 0
  if (triedFiles.length === 0 && isEmpty) return null
  return { files: triedFiles, payload: isEmpty ? null : excerpt(JSON.stringify(payload), maxTriedLength) }
}

/** Refuses an event with unusable files before its guards are reported. */
function withUsableFiles(
  result: AcceptedTransition | RefusedTransition,
  { revision }: RunRecord,
  { unusable }: ExternalState,
): AcceptedTransition | RefusedTransition {
  if (unusable.length === 0 || !(result.accepted || result.code === 'GUARD_FAILED')) return result
  return {
    accepted: false,
    code: 'INVALID_PAYLOAD',
    message: unusable
      .slice(0, 5)
      .map(({ message }) => message)
      .join(' '),
    currentRevision: revision,
    missing: [],
    validationErrors: unusable,
  }
}

interface AcceptEventContext {
  readonly prepared: Extract<PreparedEvent, { kind: 'sent' }>
  readonly accepted: AcceptedTransition
  readonly eventRequest: EventRequest
  readonly given: ApprovalSet
  readonly sending: SendEventRequest
  readonly actor: Actor
}

async function accept(
  reads: Reads,
  { prepared, accepted, eventRequest, given, sending, actor }: AcceptEventContext,
  setting: TransactionContext,
): Promise<ChangeSet<SendEventResult>> {
  const { loaded, external, items, remarks, caller } = prepared
  const { record, definition } = loaded
  const advanced = advanceRun(
    {
      record,
      definition,
      accepted,
      eventRequest,
      artifacts: external.submitted,
      items,
      author: caller,
      identity: identityOf(actor),
    },
    setting,
  )
  const next = await missionLeft(reads, advanced.record, actor)
  const answer = {
    ...acceptedAnswer(definition, advanced, accepted, remarks),
    ...(next !== null && { next }),
  }
  return {
    events: [...given.recorded, ...advanced.events],
    agentName: caller,
    ...(sending.idempotency && {
      binds: { idempotency: { ...sending.idempotency, run: record.id }, answer },
    }),
    answer: {
      kind: 'accepted',
      accepted,
      answer,
      eventId: advanced.event.id,
      run: advanced.record,
      already: given.already,
    },
  }
}

/** The stored answer of an event with the same key. Fails if that event had other content. */
async function repeatedEvent(
  reads: Reads,
  { record }: LoadedRun,
  { idempotency }: SendEventRequest,
): Promise<SendEventResult | null> {
  if (idempotency === null) return null
  const stored = await reads.keys.answerOf({ ...idempotency, run: record.id })
  if (stored === null) return null
  const answer = stored.answer as AcceptedEntry & { readonly event_id: string } // as it was answered then
  return { kind: 'repeated', answer, eventId: answer.event_id, run: record }
}

function sourcesOf(
  reads: Reads,
  { context, external }: { readonly context: RecordContext; readonly external: ExternalState },
) {
  const { fingerprint, clock, commandRunner, actor } = context
  const isAlive = (runner: string) => commandRunner.isAlive(runner)
  return { reads, external, fingerprint, now: clock.now(), actor, isAlive }
}

/** The observations for an event, its files and its emitter. */
interface EventSources {
  readonly emitter: Emitter
  readonly observed: Observations
  readonly submitted: readonly SubmittedArtifact[]
}

function eventRequestOf(sent: EventInput, { emitter, observed, submitted }: EventSources): EventRequest {
  return {
    event: sent.event,
    payload: sent.payload,
    artifacts: submitted.map((file) => {
      const { stamp: _, ...artifact } = file
      return { ...artifact, status: 'current' }
    }),
    emitter,
    expectedRevision: sent.expectedRevision,
    observed,
    assumed: [],
  }
}

function acceptedAnswer(
  definition: ProcessDefinition,
  { record, event }: AdvancedRun,
  { unsatisfied, stateChanged }: AcceptedTransition,
  before: readonly RunRemark[],
): AcceptedEntry {
  const statePrompt = stateNamed(definition, record.state)?.prompt ?? null
  const prompt = promptWithWords(
    statePrompt === null ? null : interpolatePrompt(statePrompt, definition.dialect, record.context),
    record.state,
    remarksWithEvent(event, before),
  )
  const next = definition.events
    .filter(({ allowedRoles }) => isRolePermitted(allowedRoles, event.role))
    .filter(({ name }) => transitionsFor(definition, record.state, name).length > 0)
    .map(({ name }) => name)
  return {
    event_id: event.id,
    accepted: true,
    transition: { from_state: event.from, to_state: event.to },
    new_revision: event.revision,
    state_changed: stateChanged,
    ...(unsatisfied.length > 0 && { unsatisfied_guards: unsatisfied.map(guardLine) }),
    status: record.status,
    ...(stateChanged && prompt !== null && { prompt }),
    ...(stateChanged && { next_events: next }),
  }
}

/** What is left after the last run of a mission succeeded; null while another one keeps it open, or if it ended before. */
async function missionLeft(
  { missions, runs }: Reads,
  { id, missionId, taskId, status, process }: RunRecord,
  { kind }: Actor,
): Promise<string | null> {
  if (status !== 'succeeded' || missionId === null || taskId !== null) return null
  const mission = await missions.find(missionId)
  if (mission === null || isEnded(mission)) return null
  if ((await runs.gating({ missionId })).some((other) => other.id !== id)) return null
  // A success of the same process makes up for a lost run.
  if ((await runs.lostRuns({ missionId })).some((lost) => lost.process.hash !== process.hash)) return null
  const call =
    kind === 'person'
      ? `waymark mission complete ${missionId} --status completed --summary "<what was done>"`
      : `complete_mission { mission_id: "${missionId}", status: "completed", summary }`
  return `Mission "${excerpt(mission.name, 120)}" is still in progress. When its tasks are done, complete it: ${call}`
}

/** Limits while a run stays in a state: recorded refusals that are alike, and of one event in total. */
const maxAlike = 20
const maxOfEvent = 200

interface RefuseEventContext {
  readonly context: RecordContext
  readonly isDry: boolean
  readonly prepared: Extract<PreparedEvent, { kind: 'sent' }>
  readonly refused: RefusedTransition
  readonly eventRequest: EventRequest
  readonly tried: AttemptedEvent | null
  readonly author: Pick<Actor, 'kind' | 'name'>
}

/** Records a refused event. If an agent sent an event that only people decide, it opens an inbox item. */
async function refusalEvents(
  reads: Reads,
  refusing: RefuseEventContext,
  setting: TransactionContext,
): Promise<{ readonly events: readonly NewProjectEvent[]; readonly itemId: string | null }> {
  const { prepared, refused, eventRequest, tried, author } = refusing
  const { record, visits } = prepared.loaded
  const { code, message, missing } = refused
  const since = entryRevision(visits, record.state)
  const about = { event: eventRequest.event, code, since }
  const alike = await reads.runs.refusalsAlike(record.id, { ...about, tried })
  const ofEvent = await reads.runs.refusalsAlike(record.id, about)
  const projectEvents: NewProjectEvent[] = []
  if (alike < maxAlike && ofEvent < maxOfEvent) {
    projectEvents.push({
      kind: 'run.refused',
      runId: record.id,
      missionId: record.missionId,
      taskId: record.taskId,
      refusal: {
        runId: record.id,
        event: eventRequest.event,
        code,
        message,
        missing: missing.map(guardLine),
        ...(tried !== null && { tried }),
        state: record.state,
        revision: record.revision,
        role: eventRequest.emitter.role,
        author: author.name,
        createdAt: setting.at,
      },
    })
  }
  const decision = question(refusing, setting)
  if (decision?.isNew) projectEvents.push({ kind: 'inbox.opened', item: decision.item })
  const changes = decision
    ? null
    : await askAboutChanges(reads, { ...refusing, author: author.name }, setting)
  const unproven = await askAboutUnproven(reads, prepared, refused, setting)
  projectEvents.push(...(changes?.events ?? []), ...unproven)
  // A dry run records no item, so there is nothing to answer.
  const isRecorded = !refusing.isDry || !(decision?.isNew || changes?.events.length)
  return { events: projectEvents, itemId: isRecorded ? (decision?.item.id ?? changes?.id ?? null) : null }
}

function askAboutUnproven(
  reads: Reads,
  { loaded, observed }: Extract<PreparedEvent, { kind: 'sent' }>,
  { missing }: RefusedTransition,
  setting: TransactionContext,
) {
  return acceptanceQuestions(reads, { guards: loaded.definition.guards, missing, observed }, setting)
}

function askAboutChanges(
  reads: Reads,
  {
    context,
    prepared: { loaded, external, items: open },
    refused,
    eventRequest,
    author,
  }: Pick<RefuseEventContext, 'context' | 'prepared' | 'refused' | 'eventRequest'> & {
    readonly author: string
  },
  setting: TransactionContext,
) {
  const { missing } = refused
  const { acceptable } = external
  const asking = {
    context,
    record: loaded.record,
    event: eventRequest.event,
    author,
    missing,
    acceptable,
    open,
  }
  return changesQuestion(reads, asking, setting)
}

function question(
  { prepared: { loaded, items: open }, refused, eventRequest, author }: RefuseEventContext,
  setting: TransactionContext,
): { readonly item: InboxItem; readonly isNew: boolean } | null {
  const { record, definition } = loaded
  const event = eventNamed(definition, eventRequest.event)
  if (refused.code !== 'FORBIDDEN' || author.kind === 'person' || !event || !isForPeople(definition, event))
    return null
  const existing = open.find(
    ({ request }) => request?.kind === 'decision' && request.events.includes(event.name),
  )
  if (existing) return { item: existing, isNew: false }
  const { state, revision } = record
  const item = runItem(
    record,
    {
      kind: 'approval',
      request: { kind: 'decision', state, revision, events: [event.name], approvals: [] },
      reason: `${author.name} asks for "${event.name}" of run ${record.id} (${definition.name}), which is in "${state}".`,
    },
    setting,
  )
  return { item, isNew: true }
}
