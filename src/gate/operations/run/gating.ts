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
import { transitionsFor } from '../../domain/transitions.ts'

/** Refuses to end a mission while a run of it, or of its tasks, is unfinished. */
export async function assertMissionFree(
  reads: Reads,
  missionId: MissionId,
  gating: readonly RunRecord[],
): Promise<void> {
  refuseWhileGated(`mission ${missionId}`, await describeGatingRuns(reads, gating))
}

/**
 * Refuses to end a phase while its mission's run forbids it, or a run of a task in it is unfinished. A person may end it
 * despite a lost run.
 */
export async function assertPhaseFree(
  reads: Reads,
  { missionId, phaseId }: Pick<Attempt, 'missionId' | 'phaseId'>,
  caller: Actor['kind'],
): Promise<void> {
  if (phaseId === null) return
  const subject = missionId === null ? { phaseId } : { missionId }
  const runs = await blockingRuns(reads, await reads.runs.gating(subject), phaseId)
  refuseWhileGated(`phase ${phaseId}`, await describeGatingRuns(reads, runs))
  if (caller === 'person') return
  const lost = await blockingRuns(reads, await reads.runs.lostRuns(subject), phaseId)
  refuseAfterLoss(
    `phase ${phaseId}`,
    lost,
    'Or complete the task without phase_complete. A person can complete the phase.',
  )
}

/** Whether no unfinished or lost run forbids ending the phase. */
export async function isPhaseFree(
  reads: Reads,
  { missionId, phaseId }: Pick<Attempt, 'missionId' | 'phaseId'>,
): Promise<boolean> {
  if (phaseId === null) return true
  const subject = missionId === null ? { phaseId } : { missionId }
  const runs = (await Promise.all([reads.runs.gating(subject), reads.runs.lostRuns(subject)])).flat()
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

/** The runs with their next steps. Guards are not evaluated here. */
async function describeGatingRuns(
  { runs: runReads }: Reads,
  runs: readonly RunRecord[],
): Promise<readonly GatingRun[]> {
  return Promise.all(
    runs.slice(0, maxDescribed).map(async (record) => {
      const definition = await runReads.definition(record.process.hash)
      return { record, nextSteps: definition === null ? [] : forwardEvents(definition, record.state) }
    }),
  )
}

/** The events of a state that lead forward. Guards are not evaluated. */
export function forwardEvents(definition: ProcessDefinition, state: string): GatingRun['nextSteps'] {
  return definition.events.flatMap((event) => {
    const forward = transitionsFor(definition, state, event.name).filter((transition) => !transition.escape)
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
