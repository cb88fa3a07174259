import { displayName } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import type { Attempt } from '../../track/domain/task.ts'
import { assertUnclaimed, type Claimant, claimTask, planStatus, releaseClaim } from './claims.ts'
import { cycleText } from './cycles.ts'
import type { Milestone, NewPlanEvent, Note, PlannedTask, TaskChanges, TaskStatus } from './plan.ts'

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
  setting: TransactionContext,
): readonly NewPlanEvent[] {
  const { task } = situation.planned
  const changes = resolveTaskChanges(edit.changes, situation)
  const edited: readonly NewPlanEvent[] =
    Object.keys(changes).length === 0 ? [] : [{ kind: 'task.edited', taskId: task.id, changes }]
  return [...edited, ...statusChange(edit.status, situation, claimant, setting)]
}

/** A task's milestone is of its phase: one of another phase is refused, one left behind is cleared. */
function resolveTaskChanges(changes: TaskChanges, { planned, milestone }: EditSituation): TaskChanges {
  const { task } = planned
  const phaseId = changes.phaseId ?? task.phaseId
  if (milestone && milestone.phaseId !== phaseId) throw milestonePhaseFailure(milestone, phaseId ?? 'none')
  const moves = changes.phaseId !== undefined && changes.phaseId !== task.phaseId
  const leaves = moves && task.milestoneId !== null && changes.milestoneId === undefined
  return leaves ? { ...changes, milestoneId: null } : changes
}

export function milestonePhaseFailure(milestone: Milestone, phaseId: string): Failure {
  return new Failure(
    'CONFLICT',
    `Milestone ${milestone.id} belongs to phase ${milestone.phaseId}, not to the task's phase ${phaseId}.`,
    {
      reason: 'milestone_of_other_phase',
      hint: hintOf`List those of phase ${phaseId} with ${callTo('taskman_milestone_list', { phase: phaseId })}.`,
    },
  )
}

function statusChange(
  asked: TaskStatus | null,
  { planned, openAttempt }: EditSituation,
  claimant: Claimant,
  setting: TransactionContext,
): readonly NewPlanEvent[] {
  const now = planStatus(planned, setting.at)
  if (asked === null) return []
  // To claim what someone else holds is no repeat of what is already so.
  if (asked === 'in_progress') assertUnclaimed(planned, claimant, setting.at)
  if (asked === now) return []
  const { task } = planned
  if (openAttempt) throw attemptOpenFailure(asked, planned, openAttempt)
  // A person may take a task back from whoever claimed it and did not begin.
  const takesBack = asked === 'to_do' && claimant.actor.kind === 'person'
  if (!takesBack) assertUnclaimed(planned, claimant, setting.at)
  const released = releaseClaim(planned, setting.at)
  switch (asked) {
    case 'in_progress': {
      const reopened: readonly NewPlanEvent[] =
        now === 'done' ? [{ kind: 'task.marked', taskId: task.id, as: 'to_do' }] : []
      return [...reopened, ...claimTask(planned, claimant, setting).events]
    }
    case 'to_do':
      return now === 'done' ? [{ kind: 'task.marked', taskId: task.id, as: 'to_do' }] : released
    case 'done':
      return [...released, { kind: 'task.marked', taskId: task.id, as: 'done' }]
  }
}

function attemptOpenFailure(asked: TaskStatus, { task }: PlannedTask, attempt: Attempt): Failure {
  const holder = displayName(attempt)
  return new Failure(
    'REFUSED',
    `Cannot set task ${task.id} to ${asked}: attempt ${attempt.id} of ${holder} is open.`,
    {
      reason: 'attempt_open',
      hint: hintOf`Complete it with ${callTo('complete_task', { task_id: task.id })}, which measures its changes.`,
    },
  )
}

/** Gives a task up, with a note that says why. Refused while someone works on it. */
export function dropTask(
  { planned, openAttempt }: { readonly planned: PlannedTask; readonly openAttempt: Attempt | null },
  { reason, by }: { readonly reason: string; readonly by: Claimant },
  setting: TransactionContext,
): readonly NewPlanEvent[] {
  const { task } = planned
  if (task.status === 'done') {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" is already done (${task.resolution}).`, {
      reason: 'task_completed',
      hint: hintOf`Set it back first with ${callTo('taskman_task_edit', { id: task.id, status: 'to_do' })}.`,
    })
  }
  if (openAttempt) {
    const holder = displayName(openAttempt)
    throw new Failure(
      'REFUSED',
      `Cannot drop task ${task.id}: attempt ${openAttempt.id} of ${holder} is open.`,
      {
        reason: 'attempt_open',
        hint: hintOf`Complete it first with ${callTo('complete_task', { task_id: task.id, status: 'failed' })}.`,
      },
    )
  }
  if (by.actor.kind === 'agent') assertUnclaimed(planned, by, setting.at)
  const note: Note = {
    id: setting.ids.next('note'),
    taskId: task.id,
    content: `Dropped: ${reason}`,
    kind: 'completion',
    role: null,
    author: displayName(by),
    createdAt: setting.at,
  }
  return [
    { kind: 'task.dropped', taskId: task.id, reason },
    { kind: 'note.added', note },
  ]
}

/** The rows that a new dependency rests on, read under the lock. */
export interface DependencySituation {
  readonly known: boolean
  /** The chain of dependencies that leads from the new dependency back to the task; null when there is none. */
  readonly wayBack: readonly TaskId[] | null
}

/** Refuses a task that would wait for itself, directly or around a circle. */
export function addDependency(
  taskId: TaskId,
  dependsOnId: TaskId,
  { known, wayBack }: DependencySituation,
): NewPlanEvent {
  if (taskId === dependsOnId) {
    throw new Failure('CONFLICT', `a task cannot depend on itself: ${taskId}`, {
      reason: 'dependency_on_itself',
      hint: 'Name another task as dep-id.',
    })
  }
  if (known) {
    throw new Failure('CONFLICT', `dependency already exists: ${taskId} → ${dependsOnId}`, {
      reason: 'dependency_exists',
      hint: 'The dependency is already there; nothing changes.',
    })
  }
  if (wayBack) {
    const cycle = [taskId, ...wayBack]
    throw new Failure('CONFLICT', `circular dependency: ${cycleText(cycle)}`, {
      reason: 'dependency_circular',
      hint: hintOf`Remove one of them with ${callTo('taskman_task_dep_remove')}, or omit this one.`,
      details: { cycle },
    })
  }
  return { kind: 'dependency.added', taskId, dependsOnId }
}
