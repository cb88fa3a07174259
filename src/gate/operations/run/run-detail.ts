import { z } from 'zod'

import { prepareShownRun, prepareStored, shownByPorts } from '../../../inbox/operations/shown-content.ts'
import { ChoiceEntry, choiceEntries } from '../../../inbox/operations/subject.ts'
import { instant } from '../../../kernel/instant.ts'
import { list, Named, strings } from '../../../kernel/operations/list-answer.ts'
import type { QueryContext } from '../../../kernel/operations/operation.ts'
import { excerpt } from '../../../kernel/text.ts'
import { holdKinds } from '../../../track/domain/records.ts'
import { awaitedDecision } from '../../domain/decisions.ts'
import { interpolatePrompt, type ProcessDefinition, stateNamed } from '../../domain/definition.ts'
import { expressionWords } from '../../domain/expression.ts'
import { type PossibleEvent, transitionChecks } from '../../domain/possible-events.ts'
import type { RunRecord, StoredArtifact } from '../../domain/run.ts'
import { candidates } from '../../domain/transitions.ts'
import {
  ArtifactEntry,
  json,
  MachineAnswer,
  machineOf,
  RunEntry,
  runEntry,
  VisitEntry,
} from '../run-answer.ts'

import { prepareFreshness } from './external-state.ts'
import { measuredByPorts } from './measurements.ts'
import { fittingContext, type RunSituation, situationOf } from './situation.ts'
import { promptWithWords } from './statements.ts'

/** A transition out of the state, with everything that it asks for. */
const WayEntry = z.object({
  event: z.string(),
  to: z.string(),
  description: z.string().nullable(),
  guard: z.string().nullable(),
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
      truth: z.enum(['holds', 'fails', 'unknown']),
      satisfied: z.boolean(),
      reason: z.string(),
      fix: z.string(),
    }),
  ),
})

/** A run with all that it asks for, but its history. */
export const RunDetail = z.object({
  kind: z.literal('run'),
  run: RunEntry,
  description: z.string().nullable(),
  outcome: z.enum(['succeeded', 'failed']).nullable(),
  entered_at: z.string(),
  mission: Named.nullable(),
  task: Named.nullable(),
  /** The version that the process has by now, where the run has another. */
  present_version: z.string().nullable(),
  machine: MachineAnswer,
  prompt: z.string().nullable(),
  context: json,
  context_cut: strings.optional(),
  /** Approvals that people give without an event of their own: an agent's event waits for them. */
  approvals: list(z.object({ role: z.string(), of: z.string().nullable() })),
  /** To answer with: what is decided is what was shown. */
  content: z.string().nullable(),
  choices: list(ChoiceEntry),
  ways: list(WayEntry),
  artifacts: list(
    ArtifactEntry.extend({
      revision: z.int(),
      by: z.string(),
      standing: z.enum(['current', 'changed', 'deleted']),
    }),
  ),
  artifacts_total: z.int(),
  visited: list(VisitEntry),
  waits_for: list(
    z.object({
      hold_id: z.string(),
      kind: z.enum(holdKinds),
      reason: z.string(),
      opened_at: z.string(),
    }),
  ),
})

export async function runDetail(handling: QueryContext, runId: string): Promise<z.output<typeof RunDetail>> {
  const situation = await situationOf(handling, runId)
  const { record, definition, run, holds, loaded } = situation
  const state = stateNamed(definition, record.state)
  const own = state?.prompt ? interpolatePrompt(state.prompt, definition.dialect, record.context) : null
  return {
    kind: 'run',
    run: runEntry(record),
    description: definition.description,
    outcome: state?.outcome ?? null,
    entered_at: await stateEntryTime(handling, situation),
    ...(await subjectNames(handling, situation)),
    present_version: await presentVersion(handling, record),
    machine: machineOf(definition),
    prompt: promptWithWords(own, record.state, situation.said),
    ...fittingContext(record.context),
    approvals: record.status === 'active' ? (awaitedDecision(definition, record.state)?.approvals ?? []) : [],
    content:
      record.status === 'active'
        ? await shownByPorts(handling, async (reads, questions) => {
            const shown = await prepareShownRun(reads, questions, { context: handling, loaded })
            return shown && prepareStored(questions, shown)
          })
        : null,
    choices: record.status === 'active' ? personChoices(situation) : [],
    ways: record.status === 'active' ? outgoingTransitions(situation) : [],
    artifacts: await artifactEntries(handling, loaded.record, loaded.artifacts),
    artifacts_total: loaded.artifacts.length,
    visited: run.visits.map(({ state: name, count }) => ({ state: name, times: count })),
    waits_for: holds.map(({ id, kind, reason, openedAt }) => ({
      hold_id: id,
      kind,
      reason: excerpt(reason, 300),
      opened_at: instant(openedAt),
    })),
  }
}

/** The version that the process has by now, where the run has another. */
async function presentVersion(
  { processFiles }: QueryContext,
  { process, status }: RunRecord,
): Promise<string | null> {
  if (status !== 'active') return null
  const loaded = await processFiles.load(process.id).catch(() => null) // a file that has gone is no version
  const version = loaded?.definition?.version ?? null
  return version === process.version ? null : version
}

async function stateEntryTime({ store }: QueryContext, { record, run }: RunSituation): Promise<string> {
  const revision = run.visits.find(({ state }) => state === record.state)?.last ?? 1
  const event = await store.view((reads) => reads.runs.eventAt(record.id, revision))
  return instant(event?.at ?? record.createdAt)
}

function subjectNames({ store }: QueryContext, { record: { missionId, taskId } }: RunSituation) {
  return store.view(async ({ missions, tasks }) => {
    const mission = missionId === null ? null : await missions.find(missionId)
    const task = taskId === null ? null : await tasks.find(taskId)
    return {
      mission: mission && { id: mission.id, name: excerpt(mission.name, 160) },
      task: task && { id: task.id, name: excerpt(task.name, 160) },
    }
  })
}

/** Each transition out of the state, with everything that it asks for. */
function outgoingTransitions(situation: RunSituation) {
  return situation.events.flatMap((possible) => {
    const { definition, run } = situation
    return candidates(definition, run.state, possible.event.name).map((transition) => {
      const { event, to, guard, whenBlocked } = transition
      const emission = { ...situation.emissionOf(event), event, expectedRevision: null }
      const checks = transitionChecks(definition, run, { transition, emission })
      return {
        event,
        to,
        description: possible.event.description,
        guard: guard === null ? null : expressionWords(guard),
        satisfied: possible.transitions.some(
          (way) => way.to === to && way.missing.length === 0 && way.guardStatus !== 'unsatisfied',
        ),
        escape: transition.escape,
        when_blocked: whenBlocked,
        ...eventPermissions(definition, possible),
        checks,
      }
    })
  })
}

/** The events that the caller may send as a person, and what each means. */
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

async function artifactEntries(handling: QueryContext, record: RunRecord, kept: readonly StoredArtifact[]) {
  const shown = kept.toSorted((a, b) => b.revision - a.revision).slice(0, mostArtifacts)
  const standings = await measuredByPorts(handling, (reads, questions) =>
    prepareFreshness(reads, questions, { context: handling, record, files: shown }),
  )
  return shown.map(({ type, path, bytes, sha256, revision, by }) => ({
    type: type === '' ? null : type,
    path,
    bytes,
    sha256,
    revision,
    by,
    // Of another machine it is not known to be otherwise.
    standing: standings?.get(path) ?? 'current',
  }))
}
