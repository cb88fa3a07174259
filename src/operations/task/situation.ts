import { Failure } from '../../domain/failure.ts'
import type { TaskId } from '../../domain/id.ts'
import type { PlannedTask } from '../../domain/plan/plan.ts'
import type { Mission } from '../../domain/track/mission.ts'
import type { Task } from '../../domain/track/task.ts'
import type { TaskSituation } from '../../domain/track/task-request.ts'
import type { Reads } from '../../ports/store.ts'
import { findMission, findTask } from '../find/entities.ts'
import { findPlanned } from '../plan/find.ts'

interface Containers {
  readonly workflow_id?: string | undefined
  readonly mission_id?: string | undefined
  readonly parent_task_id?: string | undefined
  readonly planned_task_id?: string | undefined
  readonly claim_token?: string | undefined
}

/** Reads what `startTask` rests on. Fails with NOT_FOUND for a container that does not exist. */
export async function loadSituation(reads: Reads, input: Containers): Promise<TaskSituation> {
  const planned = input.planned_task_id === undefined ? null : await findPlanned(reads, input.planned_task_id)
  const parentId = input.parent_task_id ?? planned?.task.parentTaskId ?? undefined
  const parent = parentId === undefined ? null : await findTask(reads, parentId)
  const parentAttempt = parent ? await reads.tasks.openAttempt(parent.id) : null
  const mission = await missionOf(reads, input, { planned: planned?.task ?? null, parent, parentAttempt })
  const last = planned ? await reads.tasks.lastAttempt(planned.task.id) : null
  return {
    mission,
    phases: mission ? await reads.missions.phases(mission.id) : [],
    home: planned?.task.phaseId ? await reads.missions.phaseById(planned.task.phaseId) : null,
    parent,
    parentAttempt,
    depth: parent ? 1 + (await reads.tasks.ancestors(parent.id)).length : 0,
    planned,
    last,
    holds: last ? await reads.holds.ofAttempt(last.id) : [],
    dependencies: planned ? await reads.tasks.dependencies(planned.task.id) : [],
    tokenOf: await tokenOf(reads, planned, input.claim_token),
  }
}

async function missionOf(
  reads: Reads,
  { mission_id, workflow_id }: Containers,
  around: { readonly planned: Task | null } & Pick<TaskSituation, 'parent' | 'parentAttempt'>,
): Promise<Mission | null> {
  if (mission_id !== undefined && workflow_id !== undefined && mission_id !== workflow_id) {
    throw new Failure(
      'INVALID_INPUT',
      `A task belongs to one of mission ${mission_id} and workflow ${workflow_id}, not to both.`,
      {
        hint: 'Give mission_id or workflow_id, not both.',
      },
    )
  }
  const named = mission_id ?? workflow_id
  if (named !== undefined) return findMission(reads, named)
  const inherited = around.planned?.missionId ?? around.parentAttempt?.missionId ?? around.parent?.missionId
  return inherited ? findMission(reads, inherited) : null
}

/** The task that a token was made for: the running claim says it of its own, the journal of one that ended. */
async function tokenOf(
  { plan }: Reads,
  planned: PlannedTask | null,
  token: string | undefined,
): Promise<TaskId | null> {
  if (planned === null || token === undefined) return null
  return planned.claim?.token === token ? planned.task.id : plan.taskOfToken(token)
}
