import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import type { Hold } from '../track/records.ts'
import { type ProcessDefinition, stateNamed } from './definition.ts'
import type { Emission } from './emission.ts'
import type { EmissionRepeat } from './happening.ts'
import { sameJson } from './json.ts'
import { decisionHold, endDecisions, endQuestions } from './run-holds.ts'
import type { KeptArtifact, RunEvent, RunRecord, RunStatus } from './run-record.ts'
import type { Accepted } from './transition.ts'

export interface Advancing {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly accepted: Accepted
  readonly emission: Emission
  /** The files of the event, with their stamps. */
  readonly artifacts: readonly Omit<KeptArtifact, 'revision' | 'by' | 'author'>[]
  /** Open holds of the run. */
  readonly holds: readonly Hold[]
  readonly by: string
  /** The identity of whoever emitted it. */
  readonly author: string
}

export interface AdvancedRun {
  readonly record: RunRecord
  readonly event: RunEvent
  /** What happened, once the answer that a repeat gets is known. */
  happenings(repeat: Omit<EmissionRepeat, 'eventId'> | null): readonly Happening[]
}

/** What an accepted event makes of a run: its revision, and in another state what people are asked there. */
export function advanceRun(advancing: Advancing, setting: Setting): AdvancedRun {
  const { record, definition, accepted, emission, holds, by, author } = advancing
  const { run, from, to, stateChanged, unsatisfied } = accepted
  const event: RunEvent = {
    id: setting.ids.next('runEvent'),
    runId: record.id,
    revision: run.revision,
    kind: 'event',
    event: emission.event,
    payload: emission.payload,
    from,
    to,
    stateChanged,
    artifacts: advancing.artifacts.map((artifact) => ({ ...artifact, revision: run.revision, by, author })),
    unsatisfied: unsatisfied.map(({ name, reason }) => `${name}: ${reason}`),
    role: emission.emitter.role,
    by,
    author,
    at: setting.at,
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
  const opened = stateChanged ? decisionHold(definition, after, setting) : null
  return {
    record: after,
    event,
    happenings: (repeat) => [
      {
        kind: 'run.advanced',
        runId: record.id,
        missionId: record.missionId,
        taskId: record.taskId,
        event,
        status,
        context: sameJson(record.context, run.context) ? null : run.context,
        repeat: repeat === null ? null : { ...repeat, eventId: event.id },
      },
      ...(status !== 'active'
        ? endQuestions(holds, `${emission.event}, by ${by}`)
        : stateChanged
          ? endDecisions(holds, `${emission.event}, by ${by}`)
          : []),
      ...(opened === null ? [] : [{ kind: 'hold.opened', hold: opened } as const]),
    ],
  }
}

export function statusIn(definition: ProcessDefinition, state: string): RunStatus {
  const found = stateNamed(definition, state)
  if (!found?.isFinal) return 'active'
  return found.outcome === 'failed' ? 'failed' : 'succeeded'
}
