import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
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

/** The rows that an edit depends on, read under the lock. */
export interface EditSituation {
  readonly planned: PlannedTask
  /** The last attempt, if the edit sets a status. */
  readonly lastAttempt: Attempt | null
  /** The milestone named by the edit. */
  readonly milestone: Milestone | null
  /** The open inbox item about the verdict of its last completion. */
  readonly verdictItem: InboxItem | null
}

/** The events of an edit; none when it changes nothing. */
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

/** A milestone of another phase is refused; one of the former phase is cleared. */
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
  requested: TaskStatus | null,
  { planned, lastAttempt, verdictItem }: EditSituation,
  claimant: Claimant,
  setting: TransactionContext,
): readonly NewPlanEvent[] {
  const now = planStatus(planned, setting.at)
  if (requested === null) return []
  // Claiming a task that another agent holds is refused, even if it is in progress already.
  if (requested === 'in_progress') assertUnclaimed(planned, claimant, setting.at)
  if (requested === now) return []
  const { task } = planned
  if (lastAttempt?.status === 'open') throw attemptOpenFailure(requested, planned, lastAttempt)
  if (requested === 'done' && claimant.actor.kind === 'agent') {
    refuseOpenVerdict('set', planned, verdictItem)
    refuseUnjudged(planned, lastAttempt)
  }
  // A person may take a task back from an agent that claimed but did not start it.
  const takesBack = requested === 'to_do' && claimant.actor.kind === 'person'
  if (!takesBack) assertUnclaimed(planned, claimant, setting.at)
  const released = releaseClaim(planned, setting.at)
  switch (requested) {
    case 'in_progress': {
      const reopened: readonly NewPlanEvent[] =
        now === 'done' ? [{ kind: 'task.marked', taskId: task.id, status: 'to_do' }] : []
      return [...reopened, ...claimTask(planned, claimant, setting).events]
    }
    case 'to_do':
      return now === 'done' ? [{ kind: 'task.marked', taskId: task.id, status: 'to_do' }] : released
    case 'done':
      return [...released, { kind: 'task.marked', taskId: task.id, status: 'done' }]
  }
}

/** While a person is asked about a verdict, no agent takes the task out of their sight. */
function refuseOpenVerdict(verb: 'drop' | 'set', { task }: PlannedTask, item: InboxItem | null): void {
  if (item === null) return
  const what = verb === 'drop' ? `drop task ${task.id}` : `set task ${task.id} to done`
  throw new Failure('REFUSED', `Cannot ${what}: a person must decide about its last completion first.`, {
    reason: 'verdict_open',
    hint: hintOf`Or complete it again, with what is true: ${callTo('complete_task', { task_id: task.id, status: undefined, outcome: undefined })}. A person decides with waymark review ${task.id}.`,
    details: { item_id: item.id },
  })
}

/** An agent completes what it promised, or tried in vain, only by a completion that is measured and judged. */
function refuseUnjudged({ task }: PlannedTask, last: Attempt | null): void {
  const isTriedInVain = last?.status === 'failed' || last?.status === 'abandoned'
  if (task.doneWhen === undefined && !isTriedInVain) return
  const why = isTriedInVain
    ? `attempt ${last.id} ${last.status === 'failed' ? 'failed' : 'was abandoned'}`
    : 'it has promises (done_when)'
  throw new Failure('REFUSED', `Cannot set task ${task.id} to done: ${why}, so its completion is measured.`, {
    reason: 'completion_needed',
    hint: hintOf`Start it with ${callTo('start_task', { planned_task_id: task.id })}, and complete it with ${callTo('complete_task', { task_id: task.id })}; or ask a person to set or drop it (waymark task drop ${task.id}).`,
  })
}

function attemptOpenFailure(requested: TaskStatus, { task }: PlannedTask, attempt: Attempt): Failure {
  const holder = displayName(attempt)
  return new Failure(
    'REFUSED',
    `Cannot set task ${task.id} to ${requested}: attempt ${attempt.id} of ${holder} is open.`,
    {
      reason: 'attempt_open',
      hint: hintOf`Complete it with ${callTo('complete_task', { task_id: task.id })}, which measures its changes.`,
    },
  )
}

/** Drops a task, with a note about the reason. Refused while an attempt is open. */
export function dropTask(
  {
    planned,
    openAttempt,
    verdictItem,
  }: Pick<EditSituation, 'planned' | 'verdictItem'> & { readonly openAttempt: Attempt | null },
  { reason, author }: { readonly reason: string; readonly author: Claimant },
  setting: TransactionContext,
): readonly NewPlanEvent[] {
  const { task } = planned
  if (author.actor.kind === 'agent') refuseOpenVerdict('drop', planned, verdictItem)
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
        hint: hintOf`Complete it first with ${callTo('complete_task', { task_id: task.id, status: 'failed', outcome: undefined })}.`,
      },
    )
  }
  if (author.actor.kind === 'agent') assertUnclaimed(planned, author, setting.at)
  const note: Note = {
    id: setting.ids.next('note'),
    taskId: task.id,
    content: `Dropped: ${reason}`,
    kind: 'completion',
    role: null,
    author: displayName(author),
    createdAt: setting.at,
  }
  return [
    { kind: 'task.dropped', taskId: task.id, reason },
    { kind: 'note.added', note },
  ]
}

/** The rows that a new dependency depends on, read under the lock. */
export interface DependencySituation {
  readonly exists: boolean
  /** The chain of dependencies from the new dependency back to the task; null when there is none. */
  readonly returnPath: readonly TaskId[] | null
}

/** Refuses a task that would depend on itself, directly or in a cycle. */
export function addDependency(
  taskId: TaskId,
  dependsOnId: TaskId,
  { exists, returnPath }: DependencySituation,
): NewPlanEvent {
  if (taskId === dependsOnId) {
    throw new Failure('CONFLICT', `a task cannot depend on itself: ${taskId}`, {
      reason: 'dependency_on_itself',
      hint: 'Name another task.',
    })
  }
  if (exists) {
    throw new Failure('CONFLICT', `dependency already exists: ${taskId} → ${dependsOnId}`, {
      reason: 'dependency_exists',
      hint: 'The dependency is already there; nothing changes.',
    })
  }
  if (returnPath) {
    const cycle = [taskId, ...returnPath]
    throw new Failure('CONFLICT', `circular dependency: ${cycleText(cycle)}`, {
      reason: 'dependency_circular',
      hint: hintOf`Remove one of them with ${callTo('taskman_task_dep_remove')}, or omit this one.`,
      details: { cycle },
    })
  }
  return { kind: 'dependency.added', taskId, dependsOnId }
}
