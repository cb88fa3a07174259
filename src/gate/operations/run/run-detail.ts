import { z } from 'zod'
import { itemKinds } from '../../../inbox/domain/inbox-item.ts'
import {
  prepareShownRun,
  prepareStored,
  type ShownQuestions,
  shownMeasurements,
} from '../../../inbox/operations/approval-content.ts'
import { ChoiceEntry, choiceEntries } from '../../../inbox/operations/subject.ts'
import { instant } from '../../../kernel/instant.ts'
import { measuredList as upTo } from '../../../kernel/operations/fields.ts'
import { list, Named, strings } from '../../../kernel/operations/list-answer.ts'
import { measurement } from '../../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { awaitedDecision } from '../../domain/decisions.ts'
import { type ProcessDefinition, stateNamed } from '../../domain/definition.ts'
import { expressionWords, hasAlternatives } from '../../domain/expression.ts'
import { type PossibleEvent, transitionChecks } from '../../domain/possible-events.ts'
import type { RunRecord, StoredArtifact } from '../../domain/run.ts'
import { transitionsFor } from '../../domain/transitions.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import {
  ArtifactEntry,
  json,
  MachineAnswer,
  RunEntry,
  runEntry,
  stateMachine,
  VisitEntry,
} from '../run-answer.ts'
import { awaitedApprovalRefusal } from './approvals.ts'
import { type ExternalState, prepareFreshness } from './external-state.ts'
import { entryEvent, loadRun } from './find-run.ts'
import type { MeasurementQuestions } from './run-measurements.ts'
import { fittingContext, prepareSituation, type RunSituation } from './situation.ts'
import { statePrompt } from './state-prompt.ts'

/** A transition out of the state, with all its requirements. */
const TransitionEntry = z.object({
  event: z.string(),
  to: z.string(),
  description: z.string().nullable(),
  guard: z.string().nullable(),
  /** The guard has an `any`: not every check must be satisfied. */
  has_alternatives: z.boolean(),
  satisfied: z.boolean(),
  escape: z.boolean(),
  when_blocked: z.enum(['reject', 'record']),
  allowed_roles: strings,
  /** The caller may send it, as far as roles go. */
  is_allowed: z.boolean(),
  blocked_reason: z.string().nullable(),
  for_people: z.boolean(),
  payload_schema: json.nullable(),
  checks: list(
    z.object({
      name: z.string(),
      description: z.string(),
      status: z.enum(['holds', 'fails', 'unknown']),
      satisfied: z.boolean(),
      /** The event measures it again: it may be sent although this is not satisfied yet. */
      measured_by_event: z.boolean(),
      reason: z.string(),
      fix: z.string(),
    }),
  ),
})

/** A run with all its requirements, without its history. */
export const RunDetail = z.object({
  kind: z.literal('run'),
  run: RunEntry,
  description: z.string().nullable(),
  outcome: z.enum(['succeeded', 'failed']).nullable(),
  entered_at: z.string(),
  mission: Named.nullable(),
  task: Named.nullable(),
  /** The current version of the process, if the run has another. */
  present_version: z.string().nullable(),
  machine: MachineAnswer,
  prompt: z.string().nullable(),
  context: json,
  context_cut: strings.optional(),
  /** Approvals that people give without an event of their own: an agent's event waits for them. */
  approvals: list(z.object({ role: z.string(), artifact: z.string().nullable() })),
  /** Why the caller cannot give the approvals that it waits for, such as their own work; null if they can. */
  cannot_approve: z.string().nullable(),
  /** The hash to answer with, so that only the reviewed content is decided. */
  content: z.string().nullable(),
  choices: list(ChoiceEntry),
  transitions: list(TransitionEntry),
  artifacts: list(
    ArtifactEntry.extend({
      revision: z.int(),
      author: z.string(),
      status: z.enum(['current', 'changed', 'deleted']),
    }),
  ),
  artifacts_total: z.int(),
  visited: list(VisitEntry),
  waits_for: list(
    z.object({
      item_id: z.string(),
      kind: z.enum(itemKinds),
      reason: z.string(),
      opened_at: z.string(),
    }),
  ),
})

/** The version that a process has by now. Null: its file is gone, or cannot be read. */
const processVersions = measurement({
  brief: upTo(z.string().max(4_096), 1),
  measured: upTo(z.string().nullable(), 1),
  fits: (briefs, versions) => briefs.length === versions.length,
  measure: ({ processFiles }, ids) =>
    Promise.all(
      ids.map(async (id) => {
        const loaded = await processFiles.load(id).catch(() => null)
        return loaded?.definition?.version ?? null
      }),
    ),
})

export const runDetailMeasurements = { ...shownMeasurements, versions: processVersions }
type DetailQuestions = Pick<MeasurementQuestions<typeof runDetailMeasurements>, 'ask'>

/** A run with all that was measured for it. */
interface PreparedRunDetail {
  readonly situation: RunSituation
  readonly content: string | null
  readonly version: string | null
  readonly artifacts: readonly StoredArtifact[]
  readonly fileFreshness: ExternalState['fileFreshness']
  readonly cannotApprove: string | null
}

/** Null until everything was measured. */
export async function prepareRunDetail(
  reads: Reads,
  questions: DetailQuestions,
  { context, runId }: { readonly context: RecordContext; readonly runId: string },
): Promise<PreparedRunDetail | null> {
  const situation = await prepareSituation(reads, questions, { context, runId })
  const loaded = situation?.loaded ?? (await loadRun(reads, runId))
  const { record } = loaded
  const isActive = record.status === 'active'
  const content = isActive ? await prepareContent(reads, questions, { context, loaded }) : null
  const version = isActive ? questions.ask('versions', record.process.id) : null
  const artifacts = loaded.artifacts.toSorted((a, b) => b.revision - a.revision).slice(0, mostArtifacts)
  const fileFreshness = await prepareFreshness(reads, questions, { context, record, files: artifacts })
  if (situation === null || content === undefined || version === undefined || fileFreshness === null)
    return null
  const refusal = await awaitedApprovalRefusal(reads, loaded, context)
  return { situation, content, version, artifacts, fileFreshness, cannotApprove: refusal?.message ?? null }
}

async function prepareContent(
  reads: Reads,
  questions: ShownQuestions,
  wanted: { readonly context: RecordContext; readonly loaded: LoadedRun },
): Promise<string | undefined> {
  const shownRun = await prepareShownRun(reads, questions, wanted)
  return shownRun && prepareStored(questions, shownRun)
}

export async function runDetail(
  reads: Reads,
  { situation, content, version, artifacts, fileFreshness, cannotApprove }: PreparedRunDetail,
): Promise<z.output<typeof RunDetail>> {
  const { record, definition, run, items, loaded } = situation
  const isActive = record.status === 'active'
  const state = stateNamed(definition, record.state)
  return {
    kind: 'run',
    run: runEntry(record),
    description: definition.description,
    outcome: state?.outcome ?? null,
    entered_at: await stateEntryTime(reads, situation),
    ...(await subjectNames(reads, record)),
    // Null unless it differs from the run's version.
    present_version: version === record.process.version ? null : version,
    machine: stateMachine(definition),
    prompt: await statePrompt(reads, situation),
    ...fittingContext(record.context),
    approvals: isActive ? (awaitedDecision(definition, record.state)?.approvals ?? []) : [],
    cannot_approve: cannotApprove,
    content,
    choices: isActive ? personChoices(situation) : [],
    transitions: isActive ? outgoingTransitions(situation) : [],
    artifacts: artifacts.map(({ type, path, bytes, sha256, revision, author }) => ({
      type: type === '' ? null : type,
      path,
      bytes,
      sha256,
      revision,
      author,
      // Files of another machine count as unchanged.
      status: fileFreshness.get(path) ?? 'current',
    })),
    artifacts_total: loaded.artifacts.length,
    visited: run.visits.map(({ state: name, count }) => ({ state: name, times: count })),
    waits_for: items.map(({ id, kind, reason, openedAt }) => ({
      item_id: id,
      kind,
      reason: excerpt(reason, 300),
      opened_at: instant(openedAt),
    })),
  }
}

async function stateEntryTime(reads: Reads, { record, run }: RunSituation): Promise<string> {
  const event = await entryEvent(reads, { record, visits: run.visits })
  return instant(event?.createdAt ?? record.createdAt)
}

async function subjectNames({ missions, tasks }: Reads, { missionId, taskId }: RunRecord) {
  const mission = missionId === null ? null : await missions.find(missionId)
  const task = taskId === null ? null : await tasks.find(taskId)
  return {
    mission: mission && { id: mission.id, name: excerpt(mission.name, 160) },
    task: task && { id: task.id, name: excerpt(task.name, 160) },
  }
}

/** Each transition out of the state, with all its requirements. */
function outgoingTransitions(situation: RunSituation) {
  return situation.events.flatMap((possible) => {
    const { definition, run } = situation
    return transitionsFor(definition, run.state, possible.event.name).map((transition) => {
      const { event, to, guard, whenBlocked } = transition
      const eventRequest = { ...situation.eventRequestOf(event), event, expectedRevision: null }
      const checks = transitionChecks(definition, run, { transition, eventRequest })
      return {
        event,
        to,
        description: possible.event.description,
        guard: guard === null ? null : expressionWords(guard),
        has_alternatives: hasAlternatives(guard),
        satisfied: possible.transitions.some(
          (option) => option.to === to && option.missing.length === 0 && option.guardStatus !== 'unsatisfied',
        ),
        escape: transition.escape,
        when_blocked: whenBlocked,
        ...eventPermissions(definition, possible),
        checks: checks.map(({ measuredByEvent, ...check }) => ({
          ...check,
          measured_by_event: measuredByEvent,
        })),
      }
    })
  })
}

/** The events that the caller may send as a person, with their meaning. */
function personChoices({ definition, record, events }: RunSituation) {
  const sent = events.filter(
    (possible) => eventPermissions(definition, possible).for_people && possible.isAllowed,
  )
  return choiceEntries(
    definition,
    record.state,
    sent.map(({ event }) => event.name),
  )
}

function eventPermissions({ roles }: ProcessDefinition, { event, isAllowed, blockedReason }: PossibleEvent) {
  const human = new Set(roles.filter(({ kind }) => kind === 'human').map(({ name }) => name))
  return {
    allowed_roles: event.allowedRoles,
    is_allowed: isAllowed,
    blocked_reason: blockedReason,
    for_people: event.allowedRoles.some((role) => role === '*' || human.has(role)),
    payload_schema: event.payloadSchema,
  }
}

// Of more, the newest are looked at again.
const mostArtifacts = 500
