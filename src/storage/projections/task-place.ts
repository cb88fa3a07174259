import type { TaskPlaceTable } from '../schema/task-tables.ts'
import type { Projecting } from './projecting.ts'

type Places = Readonly<Partial<Record<TaskPlaceTable['kind'], string | null>>>

/** Lists a task under a mission, a phase and an agent, once each. */
export async function placeTask(
  { db, projectId }: Projecting,
  task: { readonly id: string; readonly seq: number; readonly status: string },
  places: Places,
): Promise<void> {
  const rows = (['project', 'mission', 'phase', 'agent'] as const).flatMap((kind): TaskPlaceTable[] => {
    const place = places[kind] ?? null
    if (place === null) return []
    return [{ project_id: projectId, kind, place, task_seq: task.seq, task_id: task.id, status: task.status }]
  })
  if (rows.length === 0) return
  await db
    .insertInto('task_place')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
