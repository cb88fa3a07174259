import type { Milestone, PlannedTask, PlanOwner, PlanSpan } from '../../plan/domain/plan.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Mission, Phase } from '../../track/domain/mission.ts'
import type { Attempt, Task } from '../../track/domain/task.ts'
import { callTo, Failure, hintOf } from '../failure.ts'
import type { MissionId } from '../id.ts'

/** A recorded session or turn where another entity is expected: it has its own commands. */
export function refuseRecordedId(id: string): void {
  if (!/^(?:cs|tn)-/.test(id)) return
  const isTurn = id.startsWith('tn-')
  const lines = isTurn ? `, waymark sessions diff ${id} its lines` : ''
  throw new Failure('NOT_FOUND', `${id} is a ${isTurn ? 'turn' : 'session'}, not a task or mission.`, {
    reason: 'captured_id',
    hint: `waymark sessions show ${id} shows it${lines}.`,
  })
}

/** Finds an entity, or fails with NOT_FOUND and the call that lists the existing ones. */
export async function findMission(reads: Reads, id: string): Promise<Mission> {
  const mission = await reads.missions.find(id)
  if (mission) return mission
  refuseRecordedId(id)
  throw new Failure('NOT_FOUND', `mission not found: ${id}`, {
    missing: 'mission',
    hint: hintOf`Use ${callTo('list_missions')} to see the missions of this project, or ${callTo('start_mission')} to start one.`,
  })
}

export async function findTask(reads: Reads, id: string): Promise<Task> {
  const task = await reads.tasks.find(id)
  if (task) return task
  refuseRecordedId(id)
  throw new Failure('NOT_FOUND', `task not found: ${id}`, {
    missing: 'task',
    hint: hintOf`Use ${callTo('get_context', { mission_id: undefined, include: ['tasks'] })} to see the tasks of a mission, or ${callTo('start_task')} to start one.`,
  })
}

export async function findAttempt(reads: Reads, id: string): Promise<Attempt> {
  const attempt = await reads.tasks.attempt(id)
  if (attempt) return attempt
  throw new Failure('NOT_FOUND', `attempt not found: ${id}`, {
    missing: 'attempt',
    hint: 'Omit attempt_id to use the open attempt of the task.',
  })
}

/** Finds an entity of a plan, or fails with taskman's words and the call that lists the existing ones. */
/** A phase by its id, or by its name in an open plan. */
export async function findPhase(reads: Reads, idOrName: string, missionId?: MissionId): Promise<Phase> {
  const phase = await reads.plan.phase(idOrName)
  if (phase && (missionId === undefined || phase.missionId === missionId)) return phase
  const open = await reads.plan.phases(missionId ?? 'open')
  const named = open.filter(({ name }) => name.toLowerCase() === idOrName.toLowerCase())
  const [only] = named
  if (only && named.length === 1) return only
  if (only) {
    const ids = named.slice(0, 5).map(({ id }) => id)
    throw new Failure('CONFLICT', `${named.length} phases are named "${idOrName}": ${ids.join(', ')}.`, {
      reason: 'phase_name_ambiguous',
      hint: 'Name one by its id.',
    })
  }
  throw new Failure('NOT_FOUND', `phase not found: ${idOrName}`, {
    missing: 'phase',
    hint: hintOf`${callTo('taskman_phase_list')} lists the phases; ${callTo('taskman_phase_add')} adds one.`,
  })
}

export async function findMilestone(reads: Reads, id: string): Promise<Milestone> {
  const milestone = await reads.plan.milestone(id)
  if (milestone) return milestone
  throw new Failure('NOT_FOUND', `milestone not found: ${id}`, {
    missing: 'milestone',
    hint: hintOf`${callTo('taskman_milestone_list')} lists the milestones; ${callTo('taskman_milestone_add')} adds one.`,
  })
}

export async function findPlanned(reads: Reads, id: string): Promise<PlannedTask> {
  const planned = await reads.plan.task(id)
  if (planned) return planned
  throw new Failure('NOT_FOUND', `task not found: ${id}`, {
    missing: 'task',
    hint: hintOf`${callTo('taskman_task_list')} lists the tasks; ${callTo('taskman_task_add')} adds one.`,
  })
}

/** The plans to read: default all open plans; "none" is the project's own. */
export async function spanOf(reads: Reads, mission: string | undefined): Promise<PlanSpan> {
  if (mission === undefined) return 'open'
  return mission === 'none' ? null : ownerOf(reads, mission)
}

/** The mission whose plan is meant; null for the project's own. */
export async function ownerOf(reads: Reads, mission: string | undefined): Promise<PlanOwner> {
  return mission === undefined ? null : (await findMission(reads, mission)).id
}
