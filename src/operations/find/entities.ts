import { Failure } from '../../domain/failure.ts'
import type { Mission } from '../../domain/track/mission.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'

/** Each finds an entity or fails with NOT_FOUND and the call that lists what there is. */
export async function findMission(reads: Reads, id: string): Promise<Mission> {
  const mission = await reads.missions.find(id)
  if (mission) return mission
  throw new Failure('NOT_FOUND', `mission not found: ${id}`, {
    hint: 'Call list_missions to see the missions of this project, or start_mission to begin one.',
  })
}

export async function findTask(reads: Reads, id: string): Promise<Task> {
  const task = await reads.tasks.find(id)
  if (task) return task
  throw new Failure('NOT_FOUND', `task not found: ${id}`, {
    hint: 'Call get_context { mission_id, include: ["tasks"] } to see the tasks of a mission, or start_task to begin one.',
  })
}

export async function findAttempt(reads: Reads, id: string): Promise<Attempt> {
  const attempt = await reads.tasks.attempt(id)
  if (attempt) return attempt
  throw new Failure('NOT_FOUND', `attempt not found: ${id}`, {
    hint: 'Leave attempt_id out to speak of the task’s open attempt.',
  })
}
