import type { Actor } from '../../../kernel/actor.ts'
import type { MissionId, PhaseId } from '../../../kernel/id.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { Attempt } from '../../../track/domain/task.ts'
import { isForPeople } from '../../domain/decisions.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import { guardNames } from '../../domain/expression.ts'
import {
  type GatingRun,
  isPhaseCompletionAllowed,
  refuseAfterLoss,
  refuseWhileGated,
} from '../../domain/gating-run.ts'
import type { RunRecord } from '../../domain/run.ts'
import { candidates } from '../../domain/transitions.ts'

/** Refuses a mission's end while a run that gates it, or one of its tasks, is not at an end. */
export async function assertMissionFree(
  reads: Reads,
  missionId: MissionId,
  gating: readonly RunRecord[],
): Promise<void> {
  refuseWhileGated(`mission ${missionId}`, await describeGatingRuns(reads, gating))
}

/**
 * Refuses a phase's end while its mission's run forbids it, or a run of a task in it is not at an end. What a lost run
 * shuts, a person may open.
 */
export async function assertPhaseFree(
  reads: Reads,
  { missionId, phaseId }: Pick<Attempt, 'missionId' | 'phaseId'>,
  by: Actor['kind'],
): Promise<void> {
  if (missionId === null || phaseId === null) return
  const runs = await blockingRuns(reads, await reads.runs.gating(missionId), phaseId)
  refuseWhileGated(`phase ${phaseId}`, await describeGatingRuns(reads, runs))
  if (by === 'person') return
  const lost = await blockingRuns(reads, await reads.runs.lost(missionId), phaseId)
  refuseAfterLoss(
    `phase ${phaseId}`,
    lost,
    'Or complete the task without phase_complete. A person can complete the phase.',
  )
}

/** Whether neither a run that goes on nor one that was lost forbids to end the phase. */
export async function isPhaseFree(
  reads: Reads,
  { missionId, phaseId }: Pick<Attempt, 'missionId' | 'phaseId'>,
): Promise<boolean> {
  if (missionId === null || phaseId === null) return true
  const runs = (await Promise.all([reads.runs.gating(missionId), reads.runs.lost(missionId)])).flat()
  return (await blockingRuns(reads, runs, phaseId)).length === 0
}

async function blockingRuns(
  reads: Reads,
  runs: readonly RunRecord[],
  phaseId: PhaseId,
): Promise<readonly RunRecord[]> {
  // A definition is read once per process.
  const hashes = new Set(runs.flatMap(({ missionId, process }) => (missionId === null ? [] : process.hash)))
  const definitions = new Map(
    await Promise.all([...hashes].map(async (hash) => [hash, await reads.runs.definition(hash)] as const)),
  )
  const tasks = await reads.tasks.withIds(
    runs.flatMap(({ missionId, taskId }) => (missionId === null && taskId !== null ? taskId : [])),
  )
  const inPhase = new Set(tasks.flatMap((task) => (task.phaseId === phaseId ? task.id : [])))
  return runs.filter((record) => {
    if (record.missionId === null) return record.taskId !== null && inPhase.has(record.taskId)
    const definition = definitions.get(record.process.hash) ?? null
    return definition !== null && !isPhaseCompletionAllowed(definition, record)
  })
}

const maxDescribed = 3

/** The runs with what leads on from where they are. Whether its guards hold is measured where they are asked for. */
async function describeGatingRuns(
  { runs: known }: Reads,
  runs: readonly RunRecord[],
): Promise<readonly GatingRun[]> {
  return Promise.all(
    runs.slice(0, maxDescribed).map(async (record) => {
      const definition = await known.definition(record.process.hash)
      return { record, ways: definition === null ? [] : forwardEvents(definition, record.state) }
    }),
  )
}

function forwardEvents(definition: ProcessDefinition, state: string): GatingRun['ways'] {
  return definition.events.flatMap((event) => {
    const forward = candidates(definition, state, event.name).filter((way) => !way.escape)
    if (forward.length === 0) return []
    return [
      {
        event: event.name,
        roles: event.allowedRoles,
        forPeople: isForPeople(definition, event),
        guards: [...new Set(forward.flatMap(({ guard }) => guardNames(guard)))],
      },
    ]
  })
}
