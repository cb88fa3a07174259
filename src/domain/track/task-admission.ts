import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import { isEnded, type Mission } from './mission.ts'
import type { Task } from './task.ts'
import type { TaskSituation } from './task-request.ts'

const deepest = 20

/** Whether work may begin here: the mission runs, the parent is of it, the planned task is not done. */
export function admitTask(situation: TaskSituation): {
  readonly happenings: readonly Happening[]
  readonly notes: readonly string[]
} {
  const { mission, parent, parentAttempt } = situation
  const planned = situation.planned?.task
  if (parent && situation.depth >= deepest) {
    throw new Failure(
      'REFUSED',
      `Task ${parent.id} is already ${deepest} levels deep; subtasks go no deeper.`,
      {
        hint: 'Start the work beside it, without parent_task_id or with a higher parent.',
      },
    )
  }
  const isOfParent = mission?.id === parent?.missionId || mission?.id === parentAttempt?.missionId
  if (parent && mission && !isOfParent) throw otherMission(parent, mission)
  if (planned?.status === 'done') {
    throw new Failure('CONFLICT', `Task ${planned.id} "${planned.name}" is already done.`, {
      hint: 'Start a new task with start_task { name, goal } for what is left.',
    })
  }
  const reopened = mission ? reopen(mission, planned ?? null) : []
  const notes =
    parent?.status === 'done'
      ? [`The parent task ${parent.id} is already done: its report does not include this subtask.`]
      : []
  return { happenings: reopened, notes }
}

/** A workflow that ended by itself goes on with its next task; what somebody ended stays ended. */
function reopen(mission: Mission, planned: Task | null): readonly Happening[] {
  if (!isEnded(mission)) return []
  if (mission.kind === 'workflow' && mission.summary === null) {
    return [{ kind: 'mission.reopened', missionId: mission.id }]
  }
  throw new Failure(
    'CONFLICT',
    `Cannot start a task in ${mission.kind} ${mission.id} "${mission.name}": it is ${mission.status}.`,
    { hint: planned?.missionId === mission.id ? planElsewhere(planned) : newMission },
  )
}

const newMission =
  'Start a new mission with start_mission, or leave mission_id out to work on the project’s own plan.'

/** Left alone, a planned task is worked on in its own mission. */
function planElsewhere({ id }: Task): string {
  return `Work on it in a running mission: start_task { planned_task_id: "${id}", mission_id: "m-…" }, after start_mission if there is none.`
}

function otherMission(parent: Task, mission: Mission): Failure {
  const home = parent.missionId === null ? 'no mission' : `mission ${parent.missionId}`
  return new Failure('CONFLICT', `The parent task ${parent.id} belongs to ${home}, not to ${mission.id}.`, {
    hint: 'Leave mission_id out: a subtask inherits the mission of its parent.',
  })
}
