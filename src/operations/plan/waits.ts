import type { PlannedTask } from '../../domain/plan/plan.ts'
import type { Reads } from '../../ports/store.ts'

/** Whether a task, as it will be, waits for one that is not done or not settled: for the answer, before it is stored. */
export async function waits(
  reads: Reads,
  { task, dependsOn }: Pick<PlannedTask, 'task' | 'dependsOn'>,
): Promise<boolean> {
  if (task.status === 'done') return false
  for (const id of dependsOn) {
    const dependency = await reads.plan.task(id)
    if (dependency !== null && (dependency.task.status !== 'done' || dependency.unsettled)) return true
  }
  return false
}
