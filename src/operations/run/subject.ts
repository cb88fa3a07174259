import type { RunRecord } from '../../domain/gate/run-record.ts'
import type { RunSubject } from '../../ports/reads/run-reads.ts'

/** What a run is about: the task where it has one, else the mission. Null for a run on its own. */
export function subjectOf({ missionId, taskId }: RunRecord): RunSubject | null {
  if (taskId !== null) return { missionId: null, taskId }
  return missionId === null ? null : { missionId, taskId: null }
}
