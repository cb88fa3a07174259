import type { Actor } from '../../../kernel/actor.ts'
import type { MissionId, PhaseId } from '../../../kernel/id.ts'
import type { CommandContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { Attempt } from '../../../track/domain/task.ts'
import { isForPeople } from '../../domain/decisions.ts'
import {
  type GatingRun,
  isPhaseCompletionAllowed,
  refuseAfterLoss,
  refuseWhileGated,
} from '../../domain/gating-run.ts'
import type { RunRecord } from '../../domain/run.ts'
import { candidates } from '../../domain/transitions.ts'
import { guardLine } from './refusal.ts'
import { eventsFor, type RunSituation, situationOf } from './situation.ts'

/** Refuses a mission's end while a run that gates it, or one of its tasks, is not at an end. */
export async function refuseGatedMission(handling: CommandContext, missionId: MissionId): Promise<void> {
  const runs = await handling.store.view((reads) => reads.runs.gating(missionId))
  if (runs.length === 0) return
  refuseWhileGated(`mission ${missionId}`, await describeGatingRuns(handling, runs))
}

/** Refuses a phase's end while its mission's run forbids it, or a run of a task in it is not at an end. */
export async function refuseGatedPhase(
  handling: CommandContext,
  { missionId, phaseId }: Pick<Attempt, 'missionId' | 'phaseId'>,
): Promise<void> {
  if (missionId === null || phaseId === null) return
  const runs = await handling.store.view(async (reads) =>
    blockingRuns(reads, await reads.runs.gating(missionId), phaseId),
  )
  if (runs.length === 0) return
  refuseWhileGated(`phase ${phaseId}`, await describeGatingRuns(handling, runs))
}

/** The same under the lock: a run may have been begun since. What a lost run shuts, a person may open. */
export async function assertPhaseFree(
  reads: Reads,
  { missionId, phaseId }: Pick<Attempt, 'missionId' | 'phaseId'>,
  by: Actor['kind'],
): Promise<void> {
  if (missionId === null || phaseId === null) return
  const runs = await blockingRuns(reads, await reads.runs.gating(missionId), phaseId)
  refuseWhileGated(
    `phase ${phaseId}`,
    runs.map((record) => ({ record, ways: [] })),
  )
  if (by === 'person') return
  const lost = await blockingRuns(reads, await reads.runs.lost(missionId), phaseId)
  refuseAfterLoss(
    `phase ${phaseId}`,
    lost,
    'Or complete the task without phase_complete: a person may end the phase.',
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
  const found: RunRecord[] = []
  for (const record of runs) {
    if (record.missionId !== null) {
      const definition = await reads.runs.definition(record.process.hash)
      if (definition !== null && !isPhaseCompletionAllowed(definition, record)) found.push(record)
      continue
    }
    const task = record.taskId === null ? null : await reads.tasks.find(record.taskId)
    if (task?.phaseId === phaseId) found.push(record)
  }
  return found
}

async function describeGatingRuns(
  handling: CommandContext,
  runs: readonly RunRecord[],
): Promise<readonly GatingRun[]> {
  return Promise.all(
    runs.slice(0, 3).map(async ({ id }) => {
      const situation = await situationOf(handling, id)
      const { record } = situation
      const ways = eventsFor(handling, situation)
        .filter(({ event }) => isForwardEvent(situation, event.name))
        .map(({ event, transitions }) => ({
          event: event.name,
          roles: event.allowedRoles,
          forPeople: isForPeople(situation.definition, event),
          missing: [...new Set(transitions.flatMap(({ missing }) => missing.map(guardLine)))],
        }))
      return { record, ways }
    }),
  )
}

function isForwardEvent({ definition, record }: RunSituation, event: string): boolean {
  return candidates(definition, record.state, event).some((way) => !way.escape)
}
