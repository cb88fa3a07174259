import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { callTo, Failure, type Hint, hintOf } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { currentPhaseOf, isEnded, type Mission, nextNumber, type Phase } from './mission.ts'
import type { TaskRequest, TaskSituation } from './start-task.ts'
import type { Task } from './task.ts'

export interface PhasePlacement {
  readonly phase: Phase | null
  readonly created: boolean
  readonly events: readonly NewProjectEvent[]
  readonly notes: readonly string[]
}

const noPhase: PhasePlacement = { phase: null, created: false, events: [], notes: [] }

/** Finds or creates the phase of an attempt. A workflow only has phases that are named. */
export function placeInPhase(
  request: Pick<TaskRequest, 'phase' | 'phaseName'>,
  situation: TaskSituation,
  setting: TransactionContext,
): PhasePlacement {
  const { mission, phases, home } = situation
  // A planned task keeps its phase, unless it is moved to another mission.
  if (home && home.missionId === (mission?.id ?? null)) return placeInHomePhase(home, request)
  if (!mission) return request.phase === null ? noPhase : { ...noPhase, notes: [phaseWithoutMission] }
  const existing = existingPhase(request, situation)
  if (existing) return placeInExistingPhase(existing, request.phaseName)
  if (mission.kind === 'workflow' && request.phase === null && request.phaseName === null) return noPhase
  const number = request.phase ?? nextNumber(phases)
  const phase: Phase = {
    id: setting.ids.next('phase'),
    missionId: mission.id,
    number,
    name: request.phaseName ?? `Phase ${number}`,
    status: 'pending',
    sortOrder: null,
    createdAt: setting.at,
    completedAt: null,
  }
  const longer = extendMission(mission, number)
  return {
    phase,
    created: true,
    events: [{ kind: 'phase.created', phase }, ...longer.events],
    notes: longer.notes,
  }
}

const phaseWithoutMission = 'The phase number was ignored: phases by number need a mission_id.'

function placeInHomePhase(home: Phase, request: Pick<TaskRequest, 'phase' | 'phaseName'>): PhasePlacement {
  const placement = placeInExistingPhase(home, null)
  const hasOtherName = request.phaseName !== null && !isNamed(home, request.phaseName)
  const requestedNumber = request.phase !== null && request.phase !== home.number ? request.phase : null
  if (requestedNumber === null && !hasOtherName) return placement
  const ignored = requestedNumber === null ? `"${request.phaseName}"` : `phase ${requestedNumber}`
  return {
    ...placement,
    notes: [...placement.notes, `${ignored} was ignored: the task is planned in ${labelOf(home)}.`],
  }
}

/** The phase with the requested number, else name, else the parent's, else the current one. */
function existingPhase(
  request: Pick<TaskRequest, 'phase' | 'phaseName'>,
  { mission, phases, parent, parentAttempt }: TaskSituation,
): Phase | null {
  const { phase: number, phaseName } = request
  if (number !== null) return phases.find((phase) => phase.number === number) ?? null
  if (phaseName !== null) return phases.find((phase) => isNamed(phase, phaseName)) ?? null
  const homes = [parentAttempt?.phaseId, parent?.phaseId]
  const home = homes.map((id) => phases.find((phase) => phase.id === id)).find(Boolean)
  if (home) return home
  return mission?.kind === 'workflow' ? null : currentPhaseOf(phases)
}

function isNamed({ name }: Phase, requestedName: string): boolean {
  return name.toLowerCase() === requestedName.toLowerCase()
}

function labelOf({ id, number, name }: Phase): string {
  return `phase ${number ?? id} "${name}"`
}

function placeInExistingPhase(phase: Phase, requestedName: string | null): PhasePlacement {
  const notes =
    requestedName !== null && !isNamed(phase, requestedName)
      ? [`"${requestedName}" was ignored: phase ${phase.number} is named "${phase.name}".`]
      : []
  // A phase fails with its mission, which a person may have opened again.
  if (phase.status !== 'completed' && phase.status !== 'failed')
    return { phase, created: false, events: [], notes }
  return {
    phase: { ...phase, status: 'in_progress', completedAt: null },
    created: false,
    events: [{ kind: 'phase.reopened', phaseId: phase.id, missionId: phase.missionId }],
    notes: [
      ...notes,
      `Phase ${phase.number ?? phase.id} "${phase.name}" was ${phase.status}. It is open again.`,
    ],
  }
}

/** A phase with a task to do is not completed. */
export function reopenIfCompleted({ id, missionId, status }: Phase): readonly NewProjectEvent[] {
  return status === 'completed' ? [{ kind: 'phase.reopened', phaseId: id, missionId }] : []
}

function extendMission(mission: Mission, number: number): Pick<PhasePlacement, 'events' | 'notes'> {
  const before = mission.totalPhases
  // Nobody announced a number.
  if (before === 0 || number <= before) return { events: [], notes: [] }
  return {
    events: [{ kind: 'mission.extended', missionId: mission.id, totalPhases: number, before }],
    notes: [`The mission announced ${before} phases. It now has ${number}.`],
  }
}

const maxDepth = 20

/** Checks that the mission runs, the parent belongs to it and the planned task is not done. */
export function admitTask(situation: TaskSituation): {
  readonly events: readonly NewProjectEvent[]
  readonly notes: readonly string[]
} {
  const { mission, parent, parentAttempt } = situation
  const planned = situation.planned?.task
  if (parent && situation.aboveParent.length + 1 >= maxDepth) {
    throw new Failure(
      'REFUSED',
      `Cannot add a subtask to ${parent.id}: it is ${maxDepth} levels deep, the maximum.`,
      {
        reason: 'subtask_too_deep',
        hint: 'Start the task without parent_task_id, or with a higher parent.',
      },
    )
  }
  if (parent && planned && [parent.id, ...situation.aboveParent].includes(planned.id)) {
    throw new Failure(
      'CONFLICT',
      `Task ${planned.id} cannot be a subtask of ${parent.id}, which is its own subtask.`,
      {
        reason: 'parent_circular',
        hint: 'Omit parent_task_id, or name another parent.',
      },
    )
  }
  const isOfParent = mission?.id === parent?.missionId || mission?.id === parentAttempt?.missionId
  if (parent && mission && !isOfParent) throw otherMission(parent, mission)
  // An open verdict lets the agent do the work again.
  const isUnsettled = situation.items.some(({ kind, status }) => kind === 'verdict' && status === 'open')
  if (planned?.status === 'done' && !isUnsettled) {
    const isDropped = planned.resolution === 'dropped'
    throw new Failure(
      'CONFLICT',
      `Task ${planned.id} "${planned.name}" ${isDropped ? 'was dropped: it is not wanted any more' : 'is already done'}.`,
      {
        reason: 'task_completed',
        hint: isDropped
          ? hintOf`${callTo('taskman_task_get', { id: planned.id })} says why. Start another task.`
          : hintOf`Start a new task for further work with ${callTo('start_task', { name: undefined, goal: undefined })}, or reopen this one with ${callTo('taskman_task_edit', { id: planned.id, status: 'to_do' })}.`,
      },
    )
  }
  const reopened = mission ? reopen(mission, planned ?? null) : []
  const notes =
    parent?.status === 'done'
      ? [`The parent task ${parent.id} is already done: its report does not include this subtask.`]
      : []
  return { events: reopened, notes }
}

/** A workflow that ended by itself reopens with its next task; one that was completed explicitly stays ended. */
function reopen(mission: Mission, planned: Task | null): readonly NewProjectEvent[] {
  if (!isEnded(mission)) return []
  if (mission.kind === 'workflow' && mission.summary === null) {
    return [{ kind: 'mission.reopened', missionId: mission.id }]
  }
  throw new Failure(
    'CONFLICT',
    `Cannot start a task in ${mission.kind} ${mission.id} "${mission.name}": it is ${mission.status}.`,
    {
      reason: 'mission_ended',
      hint: planned?.missionId === mission.id ? otherMissionHint(planned) : newMission,
    },
  )
}

const newMission = hintOf`Start a new mission with ${callTo('start_mission')}, or omit mission_id to work on the project’s own plan.`

/** By default a planned task is worked on in its own mission. */
function otherMissionHint({ id }: Task): Hint {
  return hintOf`Work on it without a mission: ${callTo('start_task', { planned_task_id: id, mission_id: 'none' })}. Or in a running one: ${callTo('start_task', { planned_task_id: id, mission_id: undefined })}`
}

function otherMission(parent: Task, mission: Mission): Failure {
  const home = parent.missionId === null ? 'no mission' : `mission ${parent.missionId}`
  return new Failure('CONFLICT', `The parent task ${parent.id} belongs to ${home}, not to ${mission.id}.`, {
    reason: 'parent_of_other_mission',
    hint: 'Omit mission_id: a subtask inherits the mission of its parent.',
  })
}
