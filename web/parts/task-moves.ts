import { denialReason } from '../api/session.ts'

/** What a change of a task's status does, or why it is refused. */
export type TaskMove =
  | { readonly does: string; readonly operation: string; readonly input: object }
  | { readonly refused: string }

/** Changes the status of a task. The guards of the server may still refuse it. */
export function statusMove(id: string, status: 'to_do' | 'in_progress' | 'done', does: string): TaskMove {
  const refused = denialReason('taskman_task_edit')
  if (refused !== null) return { refused }
  return { does, operation: 'taskman_task_edit', input: { id, status } }
}

export const moveWords = {
  claim: 'Take this task yourself',
  release: 'Give the task back: anyone can take it',
  reopen: 'Reopen the task',
  mark: 'Mark it done, not measured',
} as const

/** `lostAccess`: why the agent can end it no more. */
export function openAttemptText(agent: string | null, lostAccess?: string): string {
  const open = `An attempt of ${agent ?? 'an agent'} is open`
  if (lostAccess === undefined) return `${open}. The agent ends it with complete_task.`
  return `${open}, and cannot go on: ${lostAccess}. Abandon it in the inbox, or start the task with take_over.`
}
