import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded } from '../domain/mission.ts'
import type { Task } from '../domain/task.ts'

type Reopened = Extract<NewProjectEvent, { kind: 'mission.reopened' }>

/** A person wants these tasks done again: their missions that have ended go on. */
export async function reopenMissions(
  { missions }: Reads,
  tasks: readonly Pick<Task, 'missionId' | 'resolution'>[],
): Promise<readonly Reopened[]> {
  const wanted = tasks.filter(({ resolution }) => resolution !== 'dropped')
  const found = await missions.withIds([...new Set(wanted.flatMap(({ missionId }) => missionId ?? []))])
  return found.filter(isEnded).map(({ id }) => ({ kind: 'mission.reopened', missionId: id }))
}

export function reopenedNotes(missions: readonly Reopened[]): readonly string[] {
  return missions.map(({ missionId }) => `Mission ${missionId} had ended. It is open again.`)
}
