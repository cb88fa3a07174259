import { Failure } from '../../kernel/failure.ts'
import type { MissionId } from '../../kernel/id.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Task } from '../../track/domain/task.ts'

/** Fails if an agent moves a begun task out of its mission, where its gates would not see the work any more. */
export async function assertStaysInMission(
  reads: Reads,
  tasks: readonly Task[],
  target: { readonly missionId: MissionId | null },
): Promise<void> {
  for (const { id, name, missionId } of tasks) {
    if (missionId === null || missionId === target.missionId) continue
    if ((await reads.tasks.lastAttempt(id)) === null) continue
    throw new Failure(
      'REFUSED',
      `Task ${id} "${excerpt(name, 80)}" was begun in mission ${missionId}: only a person can move it out.`,
      { reason: 'task_of_mission', hint: 'Plan a new task in the other one, or ask a person to move it.' },
    )
  }
}
