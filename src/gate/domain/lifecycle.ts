import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { Failure } from '../../kernel/failure.ts'
import type { MissionId, TaskId, TransactionContext } from '../../kernel/id.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { decisionItem, endQuestions, endQuestionsOfState } from './decisions.ts'
import { type ProcessDefinition, stateNamed } from './definition.ts'
import { type AcceptedTransition, contextProblems } from './engine.ts'
import type { EventRequest } from './event-request.ts'
import { isSameJson } from './json.ts'
import { beginRun, type RunEvent, type RunRecord, type RunStatus, type StoredArtifact } from './run.ts'

interface RunStart {
  readonly definition: ProcessDefinition
  /** Hash of the definition. */
  readonly hash: string
  /** Whether an earlier run stored this definition already. */
  readonly isKept: boolean
  readonly context: JsonObject
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
  readonly author: string
}

/** Begins a run in the initial state. Fails with INVALID_PAYLOAD when the context does not fit the process. */
export function startRun(
  beginning: RunStart,
  setting: TransactionContext,
): { readonly run: RunRecord; readonly events: readonly NewProjectEvent[] } {
  const { definition, hash } = beginning
  const { state, revision, context } = beginRun(definition, beginning.context)
  const problems = contextProblems(definition, context)
  if (problems.length > 0) {
    const first = problems[0] ?? { path: '', message: '' }
    throw new Failure(
      'INVALID_PAYLOAD',
      `The context does not match process ${definition.id}: ${first.path} ${first.message}.`,
      {
        reason: 'context_invalid',
        hint: `waymark process show ${definition.id} shows its context.`,
        details: { validation_errors: problems },
      },
    )
  }
  const run: RunRecord = {
    id: setting.ids.next('run'),
    process: { hash, id: definition.id, version: definition.version, name: definition.name },
    missionId: beginning.missionId,
    taskId: beginning.taskId,
    status: 'active',
    state,
    revision,
    context,
    createdBy: beginning.author,
    createdAt: setting.at,
    updatedAt: setting.at,
    endedAt: null,
  }
  const item = decisionItem(definition, run, setting)
  return {
    run,
    events: [
      ...(beginning.isKept ? [] : [{ kind: 'process.kept', hash, definition } as const]),
      { kind: 'run.created', run },
      ...(item === null ? [] : [{ kind: 'inbox.opened', item } as const]),
    ],
  }
}

interface AdvanceContext {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly accepted: AcceptedTransition
  readonly eventRequest: EventRequest
  /** The files of the event, with their stamps. */
  readonly artifacts: readonly Omit<StoredArtifact, 'revision' | 'author' | 'identity'>[]
  /** Open items of the run. */
  readonly items: readonly InboxItem[]
  readonly author: string
  /** The emitter's identity. */
  readonly identity: string
}

export interface AdvancedRun {
  readonly record: RunRecord
  readonly event: RunEvent
  readonly events: readonly NewProjectEvent[]
}

/** Applies an accepted event to a run: its revision, and in a new state the items for people. */
export function advanceRun(advancing: AdvanceContext, setting: TransactionContext): AdvancedRun {
  const { record, definition, accepted, eventRequest, items, author, identity } = advancing
  const { run, from, to, stateChanged, unsatisfied } = accepted
  const event: RunEvent = {
    id: setting.ids.next('runEvent'),
    runId: record.id,
    revision: run.revision,
    kind: 'event',
    event: eventRequest.event,
    payload: eventRequest.payload,
    from,
    to,
    stateChanged,
    artifacts: advancing.artifacts.map((artifact) => ({
      ...artifact,
      revision: run.revision,
      author,
      identity,
    })),
    unsatisfied: unsatisfied.map(({ name, reason }) => `${name}: ${reason}`),
    role: eventRequest.emitter.role,
    author,
    identity,
    createdAt: setting.at,
  }
  const status = statusIn(definition, to)
  const after: RunRecord = {
    ...record,
    status,
    state: to,
    revision: run.revision,
    context: run.context,
    updatedAt: setting.at,
    endedAt: status === 'active' ? null : setting.at,
  }
  const opened = stateChanged ? decisionItem(definition, after, setting) : null
  return {
    record: after,
    event,
    events: [
      {
        kind: 'run.advanced',
        runId: record.id,
        missionId: record.missionId,
        taskId: record.taskId,
        event,
        status,
        context: isSameJson(record.context, run.context) ? null : run.context,
      },
      ...(status !== 'active'
        ? endQuestions(items, eventRequest.event)
        : stateChanged
          ? endQuestionsOfState(items, eventRequest.event)
          : []),
      ...(opened === null ? [] : [{ kind: 'inbox.opened', item: opened } as const]),
    ],
  }
}

function statusIn(definition: ProcessDefinition, state: string): RunStatus {
  const found = stateNamed(definition, state)
  if (!found?.isFinal) return 'active'
  return found.outcome === 'failed' ? 'failed' : 'succeeded'
}

interface Migration {
  readonly definition: ProcessDefinition
  readonly hash: string
  readonly isKept: boolean
  /** From states of the old definition to states of the new one, where their names differ. */
  readonly stateMap: ReadonlyMap<string, string>
  readonly items: readonly InboxItem[]
  readonly author: string
}

interface MigratedRun {
  readonly record: RunRecord
  readonly events: readonly NewProjectEvent[]
}

/**
 * Moves a run to another version of its process. Fails with REFUSED when the run has ended, its state has no counterpart,
 * or its context does not fit.
 */
export function migrateRun(run: RunRecord, migration: Migration, setting: TransactionContext): MigratedRun {
  const { definition, hash, stateMap, items, author } = migration
  if (run.status !== 'active') {
    throw new Failure('RUN_FINISHED', `Cannot migrate run ${run.id}: it has ended (${run.status}).`, {
      reason: 'run_finished',
    })
  }
  const state = stateMap.get(run.state) ?? run.state
  assertState(definition, state, run)
  const [problem] = contextProblems(definition, run.context)
  if (problem) {
    throw new Failure(
      'REFUSED',
      `The context of run ${run.id} does not match version ${definition.version}: ${problem.path} ${problem.message}.`,
      {
        reason: 'context_invalid',
        hint: 'Change the context_schema of the new version so that it accepts the contexts of active runs.',
      },
    )
  }
  const process = { hash, id: definition.id, version: definition.version, name: definition.name }
  const event = manualMove(
    run,
    { kind: 'migration', event: `version ${run.process.version} → ${definition.version}`, to: state, author },
    setting,
  )
  const status = statusIn(definition, state)
  const record: RunRecord = {
    ...run,
    process,
    state,
    status,
    revision: event.revision,
    updatedAt: setting.at,
  }
  const item = decisionItem(definition, record, setting)
  return {
    record,
    events: [
      ...(migration.isKept ? [] : [{ kind: 'process.kept', hash, definition } as const]),
      {
        kind: 'run.migrated',
        runId: run.id,
        missionId: run.missionId,
        taskId: run.taskId,
        event,
        process,
        status,
      },
      ...endQuestions(items, 'The run was moved to another version of its process.'),
      ...(item === null ? [] : [{ kind: 'inbox.opened', item } as const]),
    ],
  }
}

function assertState(definition: ProcessDefinition, state: string, run: RunRecord): void {
  if (stateNamed(definition, state)) return
  const names = definition.states.map(({ name }) => name)
  throw new Failure(
    'REFUSED',
    `Version ${definition.version} of ${definition.id} has no state "${state}", the current state of run ${run.id}.${didYouMean(state, names)}`,
    {
      reason: 'state_unknown',
      hint: `Map it to a state: --state-map ${run.state}=<one of ${names.join(', ')}>`,
    },
  )
}

/** Ends a run in its current state. */
export function cancelRun(
  run: RunRecord,
  {
    items,
    reason,
    author,
  }: { readonly items: readonly InboxItem[]; readonly reason: string; readonly author: string },
  setting: TransactionContext,
): { readonly events: readonly NewProjectEvent[]; readonly revision: number } {
  const event = manualMove(run, { kind: 'cancellation', event: reason, to: run.state, author }, setting)
  return {
    revision: event.revision,
    events: [
      { kind: 'run.cancelled', runId: run.id, missionId: run.missionId, taskId: run.taskId, event },
      ...endQuestions(items, `The run was canceled: ${reason}`),
    ],
  }
}

/** The entry in a run's history for a move without an event of its process. */
function manualMove(
  run: RunRecord,
  about: Pick<RunEvent, 'kind' | 'event' | 'to' | 'author' | 'identity'>,
  setting: TransactionContext,
): RunEvent {
  return {
    id: setting.ids.next('runEvent'),
    runId: run.id,
    revision: run.revision + 1,
    kind: about.kind,
    event: about.event,
    payload: {},
    from: run.state,
    to: about.to,
    stateChanged: about.to !== run.state,
    artifacts: [],
    unsatisfied: [],
    role: null,
    author: about.author,
    ...(about.identity !== undefined && { identity: about.identity }),
    createdAt: setting.at,
  }
}
