import { Failure } from '../failure.ts'
import type { Whereabouts } from './records.ts'
import type { Attempt, Task } from './task.ts'

/**
 * Where a record about a task belongs: the attempt it names, else the open one, else the task alone.
 * A closed attempt is refused, so that a late agent cannot speak for its successor.
 */
export function whereabouts(
  task: Task,
  attempts: { readonly open: Attempt | null; readonly named: Attempt | null },
): Whereabouts {
  const { open, named } = attempts
  if (named) assertOpen(task, named)
  const attempt = named ?? open
  return {
    taskId: task.id,
    attemptId: attempt?.id ?? null,
    missionId: attempt ? attempt.missionId : task.missionId,
    phaseId: attempt ? attempt.phaseId : task.phaseId,
    agentName: attempt?.agentName ?? null,
  }
}

export function assertOpen(task: Task, attempt: Attempt): void {
  if (attempt.taskId !== task.id) {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} is an attempt at task ${attempt.taskId}, not at ${task.id}.`,
      {
        hint: 'Leave attempt_id out to speak of the task’s open attempt.',
      },
    )
  }
  if (attempt.status !== 'open') {
    throw new Failure('CONFLICT', `Attempt ${attempt.id} is closed (${attempt.status}).`, {
      hint: `Leave attempt_id out, or begin anew with start_task { planned_task_id: "${task.id}" }.`,
    })
  }
}
