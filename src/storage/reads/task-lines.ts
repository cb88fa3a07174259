import type { Placed } from '../../ports/reads/page.ts'
import type { TaskLine } from '../../ports/reads/task-reads.ts'
import { attemptOf, countsOf, scopeMatchesOf } from '../rows/attempt-row.ts'
import { taskOf } from '../rows/task-row.ts'
import type { ReadScope } from './scope.ts'

/** Tasks with their last attempts and phase numbers, newest first: three queries whatever the number. */
export async function taskLines(
  { db, projectId }: ReadScope,
  taskIds: readonly string[],
): Promise<readonly Placed<TaskLine>[]> {
  if (taskIds.length === 0) return []
  const tasks = await db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', [...taskIds])
    .orderBy('seq', 'desc')
    .execute()
  const attempts = await db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', some(tasks.map((task) => task.last_attempt_id)))
    .execute()
  const phases = await db
    .selectFrom('phase')
    .select(['id', 'number'])
    .where('project_id', '=', projectId)
    .where('id', 'in', some([...tasks, ...attempts].map((row) => row.phase_id)))
    .execute()
  const attemptById = new Map(attempts.map((attempt) => [attempt.id, attempt]))
  const numberOf = new Map(phases.map((phase) => [phase.id, phase.number]))
  return tasks.map((row) => {
    const attempt = attemptById.get(row.last_attempt_id ?? '') ?? null
    const phaseId = attempt?.phase_id ?? row.phase_id
    return {
      seq: row.seq,
      item: {
        task: taskOf(row),
        phaseNumber: numberOf.get(phaseId ?? '') ?? null,
        attempt: attempt && attemptOf(attempt),
        counts: attempt && countsOf(attempt),
        scopeMatches: attempt && scopeMatchesOf(attempt),
      },
    }
  })
}

function some(ids: readonly (string | null)[]): string[] {
  const named = [...new Set(ids.filter((id) => id !== null))]
  return named.length > 0 ? named : [''] // no row has an empty id, and `in ()` is no portable SQL
}
