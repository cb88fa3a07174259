import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { type Actor, identityOf } from '../../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../../kernel/failure.ts'
import type { RunId, TransactionContext } from '../../../kernel/id.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import type { CommandContext } from '../../../kernel/operations/operation.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { ChangeSet, Idempotency, Reads } from '../../../store/ports/store.ts'
import type { InboxItem } from '../../../track/domain/records.ts'
import { isForPeople, runItem } from '../../domain/decisions.ts'
import { eventNamed, interpolatePrompt, type ProcessDefinition, stateNamed } from '../../domain/definition.ts'
import { type AcceptedTransition, type RefusedTransition, transition } from '../../domain/engine.ts'
import type { Emitter, EventRequest } from '../../domain/event-request.ts'
import { nothingObserved, type Observations } from '../../domain/evidence.ts'
import { type AdvancedRun, advanceRun } from '../../domain/lifecycle.ts'
import type { AttemptedEvent, RunApproval, RunRecord } from '../../domain/run.ts'
import { candidates } from '../../domain/transitions.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import type { AcceptedEntry } from '../run-answer.ts'
import { type ApprovalInput, type ApprovalSet, giveApprovals } from './approvals.ts'
import { runCommands } from './commands.ts'
import { emitterOf } from './emitter.ts'
import { engineRun, observeRun, requestAuthor } from './evidence.ts'
import {
  assertSubmittedLocally,
  type EvidenceFileInput,
  type ExternalState,
  gatherState,
  readSubmittedFiles,
  type SubmittedArtifact,
} from './external-state.ts'
import { callerOfRun, loadRun } from './find-run.ts'
import { guardLine } from './refusal.ts'
import { promptWithWords, type RunRemark, runStatements, statementsWithEvent } from './statements.ts'

/** An event as it is sent. */
interface EventInput {
  readonly event: string
  readonly payload: JsonObject
  readonly files: readonly EvidenceFileInput[]
  /** Null: wherever the run is. */
  readonly expectedRevision: number | null
}

interface SendEventRequest {
  /** Without one, the project's only active run. */
  readonly runId: string | undefined
  readonly sent: EventInput
  readonly dryRun: boolean
  /** The role that a person asks for; an agent's is the connection's. */
  readonly role?: string | undefined
  /** The caller's key, which is of the run; null for people's verbs, whose keys are the project's. */
  readonly idempotency: Omit<Idempotency, 'run'> | null
  /** Approvals that the sender gives first, in the same transaction. */
  readonly approvals?: readonly ApprovalInput[]
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
      readonly holdId: string | null
      /** Approvals that came with it and that the same person had given before. */
      readonly already: readonly RunApproval[]
    }

const mostRounds = 5

/**
 * Sends an event: reads its files, gathers what its guards look at, runs the commands they ask for (waiting for them at
 * most 25 seconds), and decides in one transaction. Gathers again where the run moved meanwhile. Fails with
 * IDEMPOTENCY_KEY_REUSED.
 */
export async function sendEvent(
  handling: CommandContext,
  sending: SendEventRequest,
): Promise<SendEventResult> {
  let runId = sending.runId
  for (let round = 0; round < mostRounds; round += 1) {
    const { loaded, repeated } = await handling.store.view(async (reads) => {
      const run = await loadRun(reads, sending.runId)
      return { loaded: run, repeated: await repeatedEvent(reads, run, sending) }
    })
    if (repeated) return repeated
    runId = loaded.record.id
    const external = await gather(handling, loaded, sending)
    if (!sending.dryRun && external.commands.length > 0) await runCommands(handling, loaded.record, external)
    const deciding = { handling, sending: { ...sending, runId: loaded.record.id }, external }
    const sent = sending.dryRun ? await decideDry(deciding) : await decideUnderLock(deciding)
    if (sent !== 'moved') return sent
  }
  throw new Failure('CONFLICT', `Run ${runId} keeps changing: it never stayed the same for long enough.`, {
    reason: 'run_keeps_changing',
    hint: hintOf`Look at it with ${callTo('state_gate_get_state', { run_id: runId })} and try again.`,
  })
}

function decideUnderLock(deciding: EventDecisionContext): Promise<SendEventResult | 'moved'> {
  return deciding.handling.recordAside((reads, setting) => decideEvent(reads, setting, deciding))
}

async function decideDry(deciding: EventDecisionContext): Promise<SendEventResult | 'moved'> {
  const { store, clock, ids } = deciding.handling
  const setting = { at: clock.now(), ids }
  return store.view(async (reads) => (await decideEvent(reads, setting, deciding)).answer)
}

async function gather(
  handling: CommandContext,
  loaded: LoadedRun,
  sending: SendEventRequest,
): Promise<ExternalState> {
  const { event, files } = sending.sent
  if (isRefusedEarly(handling, loaded, sending)) return emptyExternalState(handling, loaded)
  const external = await gatherState(handling, loaded, event, sending.approvals)
  const read =
    files.length === 0
      ? { handedIn: [], unusable: [] }
      : await readSubmittedFiles(handling, loaded.definition, files)
  await assertSubmittedLocally(handling, loaded, { event, handedIn: read.handedIn })
  return { ...external, ...read }
}

/** Whether something stands against an event whatever its guards say: then nothing need be gathered for it. */
function isRefusedEarly(
  handling: CommandContext,
  loaded: LoadedRun,
  { sent, role }: SendEventRequest,
): boolean {
  const { definition } = loaded
  const emitter = emitterOf(handling, definition, sent.event, role)
  const emission = {
    ...eventRequestOf(sent, { emitter, observed: nothingObserved, handedIn: [] }),
    assumed: ['*'],
  }
  const result = transition(definition, engineRun(loaded, new Map()), emission)
  return !result.accepted && !isGuardRefusal(result)
}

function isGuardRefusal({ code }: RefusedTransition): boolean {
  return code === 'GUARD_FAILED'
}

function emptyExternalState({ folder }: CommandContext, { record }: LoadedRun): ExternalState {
  return {
    revision: record.revision,
    needs: [],
    standings: new Map(),
    openChanges: new Map(),
    netChanges: new Map(),
    between: [],
    changes: null,
    tree: null,
    commit: null,
    approvedTree: null,
    stamps: [],
    commands: [],
    handedIn: [],
    unusable: [],
    folder,
  }
}

interface EventDecisionContext {
  readonly handling: CommandContext
  readonly sending: SendEventRequest & { readonly runId: RunId }
  readonly external: ExternalState
}

/** Decides about an event inside the one write transaction. `moved`: what was gathered is about another revision. */
async function decideEvent(
  reads: Reads,
  setting: TransactionContext,
  deciding: EventDecisionContext,
): Promise<ChangeSet<SendEventResult | 'moved'>> {
  const { handling, sending, external } = deciding
  const loaded = await loadRun(reads, sending.runId)
  const repeated = await repeatedEvent(reads, loaded, sending)
  if (repeated) return { facts: [], answer: repeated }
  if (hasRunMoved(loaded, deciding)) return { facts: [], answer: 'moved' }

  const { record, definition } = loaded
  const caller = await callerOfRun(reads, record.taskId, handling.actor)
  const run = engineRun(loaded, external.standings)
  const observed = await observeRun(sourcesOf(reads, deciding), loaded)
  const requester = await requestAuthor(reads, loaded)
  const known = sending.approvals === undefined ? [] : await reads.runs.approvals(record.id)
  const given = await giveApprovals(
    { reads, loaded, run, external, handling, requester, known },
    sending.approvals ?? [],
    setting,
  )
  const emission = eventRequestOf(sending.sent, {
    emitter: emitterOf(handling, definition, sending.sent.event, sending.role),
    observed: { ...observed, approvals: [...observed.approvals, ...given.observed] },
    handedIn: external.handedIn,
  })
  const result = withUsableFiles(transition(definition, run, emission), external)
  const approves = given.recorded.length > 0 || given.already.length > 0
  if (!result.accepted && approves && result.code === 'GUARD_FAILED') {
    // An approval was given, and others are still to come: no one was refused anything.
    return {
      facts: given.recorded,
      answer: { kind: 'refused', refused: result, run: record, holdId: null, already: given.already },
    }
  }
  if (!result.accepted) {
    const noticed = await refusalEvents(
      reads,
      {
        loaded,
        refused: result,
        emission,
        tried: triedSubmission(sending.sent, external),
        by: { kind: handling.actor.kind, name: caller },
      },
      setting,
    )
    return {
      facts: [...given.recorded, ...noticed.facts],
      agentName: caller,
      answer: { kind: 'refused', refused: result, run: record, holdId: noticed.holdId, already: [] },
    }
  }
  return accept({ reads, loaded, accepted: result, emission, given, caller }, deciding, setting)
}

const mostTried = 20
const longestTried = 500

/** What a refused event came with, as it is kept; null where it was nothing. */
function triedSubmission({ files, payload }: EventInput, { unusable }: ExternalState): AttemptedEvent | null {
  const shown = files.slice(0, mostTried).map((file, at) => {
    const problem = unusable.find(({ path }) => path === `/artifact_paths/${at}`)
    return {
      path: excerpt(typeof file === 'string' ? file : file.path, longestTried),
      reason: problem === undefined ? null : excerpt(problem.message, longestTried),
    }
  })
  const isEmpty = Object.keys(payload).length === 0
  if (shown.length === 0 && isEmpty) return null
  return { files: shown, payload: isEmpty ? null : excerpt(JSON.stringify(payload), longestTried) }
}

/** An event whose files cannot be evidence is refused for that before its guards are. */
function withUsableFiles(
  result: AcceptedTransition | RefusedTransition,
  { unusable, revision }: ExternalState,
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
  readonly reads: Reads
  readonly loaded: LoadedRun
  readonly accepted: AcceptedTransition
  readonly emission: EventRequest
  readonly given: ApprovalSet
  readonly caller: string
}

async function accept(
  { reads, loaded, accepted, emission, given, caller }: AcceptEventContext,
  { handling, sending, external }: EventDecisionContext,
  setting: TransactionContext,
): Promise<ChangeSet<SendEventResult>> {
  const { record, definition } = loaded
  const advanced = advanceRun(
    {
      record,
      definition,
      accepted,
      emission,
      artifacts: external.handedIn,
      holds: await reads.holds.ofRun(record.id),
      by: caller,
      author: identityOf(handling.actor),
    },
    setting,
  )
  const answer = acceptedAnswer(definition, advanced, accepted, await runStatements(reads, record))
  return {
    facts: [...given.recorded, ...advanced.facts],
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

/** The answer of the same event sent before with the same key. Fails when the key came with other content. */
async function repeatedEvent(
  reads: Reads,
  { record }: LoadedRun,
  { idempotency }: SendEventRequest,
): Promise<SendEventResult | null> {
  if (idempotency === null) return null
  const known = await reads.keys.answerOf({ ...idempotency, run: record.id })
  if (known === null) return null
  const answer = known.answer as AcceptedEntry & { readonly event_id: string } // as it was answered then
  return { kind: 'repeated', answer, eventId: answer.event_id, run: record }
}

/** What was gathered is worth nothing for another revision, unless that alone refuses the event. */
function hasRunMoved({ record }: LoadedRun, { sending, external }: EventDecisionContext): boolean {
  const { expectedRevision } = sending.sent
  if (record.revision === external.revision) return false
  return expectedRevision === null || expectedRevision === record.revision
}

function sourcesOf(reads: Reads, { handling, external }: EventDecisionContext) {
  const { fingerprint, clock, commandRunner } = handling
  return {
    reads,
    external,
    fingerprint,
    now: clock.now(),
    by: handling.actor,
    isAlive: (runner: string) => commandRunner.isAlive(runner),
  }
}

/** What was gathered for an event, and who sends it. */
interface EventSources {
  readonly emitter: Emitter
  readonly observed: Observations
  readonly handedIn: readonly SubmittedArtifact[]
}

function eventRequestOf(sent: EventInput, { emitter, observed, handedIn }: EventSources): EventRequest {
  return {
    event: sent.event,
    payload: sent.payload,
    artifacts: handedIn.map((file) => {
      const { stamp: _, ...artifact } = file
      return { ...artifact, standing: 'current' }
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
  said: readonly RunRemark[],
): AcceptedEntry {
  const own = stateNamed(definition, record.state)?.prompt ?? null
  const prompt = promptWithWords(
    own === null ? null : interpolatePrompt(own, definition.dialect, record.context),
    record.state,
    statementsWithEvent(event, said),
  )
  const next = definition.events
    .filter(({ name }) => candidates(definition, record.state, name).length > 0)
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

/** How many refusals that are alike are kept while a run stays in a state, and how many of an event in all. */
const mostAlike = 20
const mostOfEvent = 200

interface RefuseEventContext {
  readonly loaded: LoadedRun
  readonly refused: RefusedTransition
  readonly emission: EventRequest
  readonly tried: AttemptedEvent | null
  readonly by: Pick<Actor, 'kind' | 'name'>
}

/**
 * What is kept of a refused event: who was refused what and why. Where an agent asked for what only people decide, the
 * question waits for them as a hold.
 */
async function refusalEvents(
  reads: Reads,
  refusing: RefuseEventContext,
  setting: TransactionContext,
): Promise<{ readonly facts: readonly NewProjectEvent[]; readonly holdId: string | null }> {
  const { loaded, refused, emission, tried, by } = refusing
  const { record, visits } = loaded
  const { code, message, missing } = refused
  const since = visits.find(({ state }) => state === record.state)?.last ?? 1
  const about = { event: emission.event, code, since }
  const alike = await reads.runs.refusalsAlike(record.id, { ...about, tried })
  const ofEvent = await reads.runs.refusalsAlike(record.id, about)
  const facts: NewProjectEvent[] = []
  if (alike < mostAlike && ofEvent < mostOfEvent) {
    facts.push({
      kind: 'run.refused',
      runId: record.id,
      missionId: record.missionId,
      taskId: record.taskId,
      refusal: {
        runId: record.id,
        event: emission.event,
        code,
        message,
        missing: missing.map(guardLine),
        ...(tried !== null && { tried }),
        state: record.state,
        revision: record.revision,
        role: emission.emitter.role,
        by: by.name,
        at: setting.at,
      },
    })
  }
  const asked = await question(reads, refusing, setting)
  if (asked?.isNew) facts.push({ kind: 'hold.opened', hold: asked.hold })
  return { facts, holdId: asked?.hold.id ?? null }
}

async function question(
  reads: Reads,
  { loaded, refused, emission, by }: RefuseEventContext,
  setting: TransactionContext,
): Promise<{ readonly hold: InboxItem; readonly isNew: boolean } | null> {
  const { record, definition } = loaded
  const event = eventNamed(definition, emission.event)
  if (refused.code !== 'FORBIDDEN' || by.kind === 'person' || !event || !isForPeople(definition, event))
    return null
  const open = await reads.holds.ofRun(record.id)
  const known = open.find(
    ({ request }) => request?.kind === 'decision' && request.events.includes(event.name),
  )
  if (known) return { hold: known, isNew: false }
  const { state, revision } = record
  const hold = runItem(
    record,
    {
      kind: 'approval',
      request: { kind: 'decision', state, revision, events: [event.name], approvals: [] },
      reason: `${by.name} asks for "${event.name}" of run ${record.id} (${definition.name}), which is in "${state}".`,
    },
    setting,
  )
  return { hold, isNew: true }
}
