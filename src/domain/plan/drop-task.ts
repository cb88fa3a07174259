import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import type { Attempt } from '../track/task.ts'
import { assertFree, type Claimant, nameOf } from './claim-task.ts'
import type { PlanHappening } from './happening.ts'
import type { Note, PlannedTask } from './plan.ts'

/** Gives a task up, with a note that says why. Refused while somebody works on it. */
export function dropTask(
  { planned, openAttempt }: { readonly planned: PlannedTask; readonly openAttempt: Attempt | null },
  { reason, by }: { readonly reason: string; readonly by: Claimant },
  setting: Setting,
): readonly PlanHappening[] {
  const { task } = planned
  if (task.status === 'done') {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" is already done (${task.resolution}).`, {
      hint: `Set it back first with taskman_task_edit { id: "${task.id}", status: "to_do" }.`,
    })
  }
  if (openAttempt) {
    const holder = openAttempt.agentName ?? openAttempt.actor.name
    throw new Failure(
      'REFUSED',
      `Task ${task.id} cannot be dropped: attempt ${openAttempt.id} of ${holder} is open.`,
      {
        hint: `Complete it first with complete_task { task_id: "${task.id}", status: "failed" }.`,
      },
    )
  }
  if (by.actor.kind === 'agent') assertFree(planned, by, setting.at)
  const note: Note = {
    id: setting.ids.next('note'),
    taskId: task.id,
    content: `Dropped: ${reason}`,
    kind: 'completion',
    role: null,
    author: nameOf(by),
    createdAt: setting.at,
  }
  return [
    { kind: 'task.dropped', taskId: task.id, reason },
    { kind: 'note.added', note },
  ]
}
