import type { Actor } from '../actor.ts'
import type { Happening } from '../fact.ts'
import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import type { Attempt, Task } from './task.ts'
import type { Correction } from './task-history.ts'

/** Adds words to an attempt that was completed. The same words again add nothing. */
export function correctAttempt(
  {
    task,
    attempt,
    before,
  }: {
    readonly task: Task
    readonly attempt: Attempt | null
    readonly before: readonly Correction[]
  },
  { text, actor }: { readonly text: string; readonly actor: Actor },
  setting: Setting,
): { readonly attempt: Attempt; readonly happenings: readonly Happening[]; readonly at: number } {
  const ended = assertCompleted(task, attempt)
  const said = before.find((correction) => correction.text === text)
  if (said) return { attempt: ended, happenings: [], at: said.at }
  const happening: Happening = {
    kind: 'attempt.corrected',
    attemptId: ended.id,
    taskId: task.id,
    missionId: ended.missionId,
    text,
    agentName: ended.actor.name === actor.name ? ended.agentName : null,
  }
  return { attempt: ended, happenings: [happening], at: setting.at }
}

function assertCompleted(task: Task, attempt: Attempt | null): Attempt {
  if (attempt === null) {
    throw new Failure(
      'CONFLICT',
      `Task ${task.id} "${task.name}" was never started: there is nothing to correct.`,
      {
        hint: `Say it with taskman_task_note_add { task: "${task.id}" }, or begin with start_task { planned_task_id: "${task.id}" }.`,
      },
    )
  }
  if (attempt.taskId !== task.id) {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} is an attempt at task ${attempt.taskId}, not at ${task.id}.`,
      {
        hint: 'Leave attempt_id out to correct the last one.',
      },
    )
  }
  if (attempt.status === 'open') {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} at task ${task.id} is open: there is nothing to correct yet.`,
      {
        hint: 'Say it in the outcome of complete_task, or name the ended attempt with attempt_id.',
      },
    )
  }
  if (attempt.status === 'abandoned') {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} at task ${task.id} was abandoned: nothing was said at its end.`,
      {
        hint: `Begin again with start_task { planned_task_id: "${task.id}" }, or add a note with taskman_task_note_add.`,
      },
    )
  }
  return attempt
}
