import { unclaimed } from '../rows/claim-row.ts'
import type { Of, Projecting } from './projecting.ts'
import { changeTask, taskBefore } from './task-state.ts'

const marked = {
  done: { status: 'done', resolution: 'claimed' },
  to_do: { status: 'to_do', resolution: null },
} as const

export async function applyTaskMarked(
  projecting: Projecting,
  { taskId, as }: Of<'task.marked'>,
): Promise<void> {
  await changeTask(projecting, await taskBefore(projecting, taskId), { ...marked[as], ...unclaimed })
}

export async function applyTaskDropped(
  projecting: Projecting,
  { taskId }: Of<'task.dropped'>,
): Promise<void> {
  const dropped = { status: 'done', resolution: 'dropped', ...unclaimed } as const
  await changeTask(projecting, await taskBefore(projecting, taskId), dropped)
}
