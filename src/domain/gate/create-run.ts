import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import type { MissionId, Setting, TaskId } from '../id.ts'
import { contextProblems } from './assign.ts'
import type { ProcessDefinition } from './definition.ts'
import type { JsonObject } from './json.ts'
import { beginRun } from './run.ts'
import { decisionHold } from './run-holds.ts'
import type { RunRecord } from './run-record.ts'

export interface RunBeginning {
  readonly definition: ProcessDefinition
  /** Hash of the definition. */
  readonly hash: string
  /** Whether an earlier run keeps this definition already. */
  readonly isKept: boolean
  readonly context: JsonObject
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
  readonly by: string
}

/** Begins a run in the initial state. Fails with INVALID_PAYLOAD when the context does not fit the process. */
export function createRun(
  beginning: RunBeginning,
  setting: Setting,
): { readonly run: RunRecord; readonly happenings: readonly Happening[] } {
  const { definition, hash } = beginning
  const { state, revision, context } = beginRun(definition, beginning.context)
  const problems = contextProblems(definition, context)
  if (problems.length > 0) {
    const first = problems[0] ?? { path: '', message: '' }
    throw new Failure(
      'INVALID_PAYLOAD',
      `The context does not fit process ${definition.id}: ${first.path} ${first.message}.`,
      {
        hint: `waymark process show ${definition.id} shows what it asks for.`,
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
    createdBy: beginning.by,
    createdAt: setting.at,
    updatedAt: setting.at,
    endedAt: null,
  }
  const hold = decisionHold(definition, run, setting)
  return {
    run,
    happenings: [
      ...(beginning.isKept ? [] : [{ kind: 'process.kept', hash, definition } as const]),
      { kind: 'run.created', run },
      ...(hold === null ? [] : [{ kind: 'hold.opened', hold } as const]),
    ],
  }
}
