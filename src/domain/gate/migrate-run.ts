import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import { didYouMean } from '../nearest-word.ts'
import type { Hold } from '../track/records.ts'
import { statusIn } from './advance-run.ts'
import { contextProblems } from './assign.ts'
import { movedByHand } from './cancel-run.ts'
import { type ProcessDefinition, stateNamed } from './definition.ts'
import { decisionHold, endQuestions } from './run-holds.ts'
import type { RunRecord } from './run-record.ts'

export interface Migration {
  readonly definition: ProcessDefinition
  readonly hash: string
  readonly isKept: boolean
  /** From states of the old definition to states of the new one, where their names differ. */
  readonly stateMap: ReadonlyMap<string, string>
  readonly holds: readonly Hold[]
  readonly by: string
}

export interface MigratedRun {
  readonly record: RunRecord
  readonly happenings: readonly Happening[]
}

/**
 * Moves a run to another version of its process. Fails with REFUSED when the run has ended, its state has no counterpart,
 * or its context does not fit.
 */
export function migrateRun(run: RunRecord, migration: Migration, setting: Setting): MigratedRun {
  const { definition, hash, stateMap, holds, by } = migration
  if (run.status !== 'active') {
    throw new Failure(
      'RUN_FINISHED',
      `Run ${run.id} has ended (${run.status}): it keeps the version that it ended with.`,
    )
  }
  const state = stateMap.get(run.state) ?? run.state
  assertState(definition, state, run)
  const [problem] = contextProblems(definition, run.context)
  if (problem) {
    throw new Failure(
      'REFUSED',
      `The context of run ${run.id} does not fit version ${definition.version}: ${problem.path} ${problem.message}.`,
      { hint: 'Change the context_schema of the new version so that it takes what running runs hold.' },
    )
  }
  const process = { hash, id: definition.id, version: definition.version, name: definition.name }
  const event = movedByHand(
    run,
    { kind: 'migration', event: `version ${run.process.version} → ${definition.version}`, to: state, by },
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
  const hold = decisionHold(definition, record, setting)
  return {
    record,
    happenings: [
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
      ...endQuestions(holds, 'The run was moved to another version of its process.'),
      ...(hold === null ? [] : [{ kind: 'hold.opened', hold } as const]),
    ],
  }
}

function assertState(definition: ProcessDefinition, state: string, run: RunRecord): void {
  if (stateNamed(definition, state)) return
  const names = definition.states.map(({ name }) => name)
  throw new Failure(
    'REFUSED',
    `Version ${definition.version} of ${definition.id} has no state "${state}", where run ${run.id} would be.${didYouMean(state, names)}`,
    { hint: `Say where it goes: --state-map ${run.state}=<one of ${names.join(', ')}>.` },
  )
}
