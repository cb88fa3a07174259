import type { Happening } from '../fact.ts'

export interface About {
  readonly missionId: string | null
  readonly taskId: string | null
}

/** The mission and the task that something happened to; a task alone where its mission is not said. */
export function aboutOf(happening: Happening): About {
  if ('mission' in happening) return { missionId: happening.mission.id, taskId: null }
  if ('phase' in happening) return { missionId: happening.phase.missionId, taskId: null }
  if ('task' in happening) return { missionId: happening.task.missionId, taskId: happening.task.id }
  if ('attempt' in happening) return happening.attempt
  if ('decision' in happening) return happening.decision
  if ('issue' in happening) return happening.issue
  if ('progress' in happening) return happening.progress
  if ('hold' in happening) return happening.hold
  if (happening.kind === 'run.created') return happening.run
  if ('note' in happening) return { missionId: null, taskId: happening.note.taskId }
  return {
    missionId: 'missionId' in happening ? happening.missionId : null,
    taskId: 'taskId' in happening ? happening.taskId : null,
  }
}
