import type { Actor } from '../../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../../kernel/failure.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { speakerOf } from '../../../track/domain/task.ts'
import { entryRevision, type RunEvent, type RunRecord } from '../../domain/run.ts'
import type { LoadedRun, RunSubject } from '../../ports/run-reads.ts'

const otherRuns = hintOf`Use ${callTo('state_gate_list_runs')} to see the runs of this project, or ${callTo('state_gate_create_run')} to start one.`

/** A run by its id; without one the project's only active run. Fails with RUN_NOT_FOUND, or names the runs to choose from. */
export async function findRun(reads: Reads, id: string | undefined): Promise<RunRecord> {
  if (id !== undefined) {
    const run = await reads.runs.find(id)
    if (run) return run
    throw new Failure('RUN_NOT_FOUND', `run not found: ${id}`, { missing: 'run', hint: otherRuns })
  }
  const { items, total } = await reads.runs.list({ status: 'active' }, { limit: 5 })
  const [only] = items
  if (only && total === 1) return only.item
  if (total === 0)
    throw new Failure('RUN_NOT_FOUND', 'No run is active, and none was named.', {
      reason: 'no_active_run',
      hint: otherRuns,
    })
  const names = items.map(({ item }) => `${item.id} (${item.process.id}, in "${item.state}")`)
  throw new Failure('INVALID_INPUT', `${total} runs are active: choose one with run_id.`, {
    reason: 'run_ambiguous',
    hint: `They are ${names.join(', ')}${total > items.length ? ' and more' : ''}.`,
  })
}

/** The same with all that its engine looks at. */
export async function loadRun(reads: Reads, runId: string | undefined): Promise<LoadedRun> {
  const id = runId ?? (await findRun(reads, undefined)).id
  const loaded = await reads.runs.load(id)
  if (loaded) return loaded
  throw new Failure('RUN_NOT_FOUND', `run not found: ${id}`, { missing: 'run', hint: otherRuns })
}

export const runField = identifier('Run ID; default: the only active run').optional()

/** The actor on a run: an agent by the name of its open attempt at the run's task, a person by their own name. */
export async function callerOfRun(
  { tasks }: Reads,
  taskId: RunRecord['taskId'],
  actor: Actor,
): Promise<string> {
  if (taskId === null || actor.kind === 'person') return actor.name
  return speakerOf(await tasks.openAttempt(taskId), actor)
}

/** The event that brought a run to its state; null in the initial state. */
export function entryEvent(
  { runs }: Reads,
  { record: { id, state }, visits }: Pick<LoadedRun, 'record' | 'visits'>,
): Promise<RunEvent | null> {
  return runs.eventAt(id, entryRevision(visits, state))
}

/** The subject of a run: its task, else its mission; null for a run without one. */
export function subjectOf({ missionId, taskId }: RunRecord): RunSubject | null {
  if (taskId !== null) return { missionId: null, taskId }
  return missionId === null ? null : { missionId, taskId: null }
}
