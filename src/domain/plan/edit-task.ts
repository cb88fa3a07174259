import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import type { Attempt } from '../track/task.ts'
import { assertFree, type Claimant, claimTask, endClaim } from './claim-task.ts'
import type { PlanHappening, TaskChanges } from './happening.ts'
import { isHeld, type Milestone, type PlannedTask, type TaskStatus } from './plan.ts'
import { planStatus } from './task-status.ts'

export interface TaskEdit {
  /** Fields to set; a field that is null is cleared. */
  readonly changes: TaskChanges
  readonly status: TaskStatus | null
}

/** The rows that an edit rests on, read under the lock. */
export interface EditSituation {
  readonly planned: PlannedTask
  readonly openAttempt: Attempt | null
  /** The milestone that the edit names. */
  readonly milestone: Milestone | null
}

/** What an edit comes to. Nothing when it changes nothing. */
export function editTask(
  edit: TaskEdit,
  situation: EditSituation,
  claimant: Claimant,
  setting: Setting,
): readonly PlanHappening[] {
  const { task } = situation.planned
  const changes = settled(edit.changes, situation)
  const edited: readonly PlanHappening[] =
    Object.keys(changes).length === 0 ? [] : [{ kind: 'task.edited', taskId: task.id, changes }]
  return [...edited, ...statusChange(edit.status, situation, claimant, setting)]
}

/** A task's milestone is of its phase: one of another phase is refused, one left behind is cleared. */
function settled(changes: TaskChanges, { planned, milestone }: EditSituation): TaskChanges {
  const { task } = planned
  const phaseId = changes.phaseId ?? task.phaseId
  if (milestone && milestone.phaseId !== phaseId) throw notOfPhase(milestone, phaseId ?? 'none')
  const moves = changes.phaseId !== undefined && changes.phaseId !== task.phaseId
  const leaves = moves && task.milestoneId !== null && changes.milestoneId === undefined
  return leaves ? { ...changes, milestoneId: null } : changes
}

export function notOfPhase(milestone: Milestone, phaseId: string): Failure {
  return new Failure(
    'CONFLICT',
    `Milestone ${milestone.id} belongs to phase ${milestone.phaseId}, not to the task's phase ${phaseId}.`,
    {
      hint: `Name a milestone of phase ${phaseId}: taskman_milestone_list { phase: "${phaseId}" } lists them.`,
    },
  )
}

function statusChange(
  asked: TaskStatus | null,
  { planned, openAttempt }: EditSituation,
  claimant: Claimant,
  setting: Setting,
): readonly PlanHappening[] {
  const now = planStatus(planned, setting.at)
  if (asked === null) return []
  // To claim what somebody else holds is no repeat of what is already so.
  if (asked === 'in_progress') assertFree(planned, claimant, setting.at)
  if (asked === now) return []
  const { task, claim } = planned
  if (openAttempt) throw attemptOpen(asked, planned, openAttempt)
  // A person may take a task back from whoever claimed it and did not begin.
  const takesBack = asked === 'to_do' && claimant.actor.kind === 'person'
  if (!takesBack) assertFree(planned, claimant, setting.at)
  const why = isHeld(claim, setting.at) ? 'released' : 'expired'
  const released = claim === null ? [] : endClaim(task.id, claim, why)
  switch (asked) {
    case 'in_progress': {
      const reopened: readonly PlanHappening[] =
        now === 'done' ? [{ kind: 'task.marked', taskId: task.id, as: 'to_do' }] : []
      return [...reopened, ...claimTask(planned, claimant, setting).happenings]
    }
    case 'to_do':
      return now === 'done' ? [{ kind: 'task.marked', taskId: task.id, as: 'to_do' }] : released
    case 'done':
      return [...released, { kind: 'task.marked', taskId: task.id, as: 'done' }]
  }
}

function attemptOpen(asked: TaskStatus, { task }: PlannedTask, attempt: Attempt): Failure {
  const holder = attempt.agentName ?? attempt.actor.name
  return new Failure(
    'REFUSED',
    `Task ${task.id} cannot be set to ${asked}: attempt ${attempt.id} of ${holder} is open.`,
    { hint: `Complete it with complete_task { task_id: "${task.id}" }: then its changes are measured.` },
  )
}
