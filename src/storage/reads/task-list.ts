import { type RawBuilder, sql } from 'kysely'
import type { Page, PageRequest } from '../../ports/reads/page.ts'
import type { TaskFilter, TaskLine } from '../../ports/reads/task-reads.ts'
import type { TaskPlaceTable } from '../schema/task-tables.ts'
import type { ReadScope } from './scope.ts'
import { taskLines } from './task-lines.ts'

interface Place {
  readonly kind: TaskPlaceTable['kind']
  readonly place: string
}

/** The page's tasks are found first, in one index, then their lines are read. */
export async function listTasks(
  scope: ReadScope,
  filter: TaskFilter,
  { before, limit }: PageRequest,
): Promise<Page<TaskLine>> {
  const matching = tasksOf(scope.projectId, filter)
  const older = before === undefined ? sql`` : sql`and listed.task_seq < ${before}`
  const page = await sql<{ task_id: string }>`
    select listed.task_id ${matching} ${older} order by listed.task_seq desc limit ${limit}`.execute(scope.db)
  const count = await sql<{ total: number }>`select count(*) as total ${matching}`.execute(scope.db)
  const ids = page.rows.map(({ task_id }) => task_id)
  return { items: await taskLines(scope, ids), total: count.rows[0]?.total ?? 0 }
}

function tasksOf(projectId: string, filter: TaskFilter): RawBuilder<unknown> {
  const [first, ...more] = placesOf(projectId, filter)
  const conditions = [
    sql`listed.project_id = ${projectId}`,
    sql`listed.kind = ${first.kind} and listed.place = ${first.place}`,
    ...more.map(
      ({ kind, place }) => sql`exists (select 1 from task_place as other
        where other.project_id = listed.project_id and other.kind = ${kind} and other.place = ${place}
          and other.task_seq = listed.task_seq)`,
    ),
    ...(filter.since === undefined
      ? []
      : [
          sql`exists (select 1 from task where task.project_id = listed.project_id
            and task.id = listed.task_id and task.updated_at >= ${filter.since})`,
        ]),
  ]
  return sql`from task_place as listed where ${sql.join(conditions, sql` and `)}`
}

/** At least the project itself, which is a place too: a list without a filter reads the same index. */
function placesOf(
  projectId: string,
  { missionId, phaseId, agent }: TaskFilter,
): readonly [Place, ...Place[]] {
  const named = [
    { kind: 'phase' as const, place: phaseId },
    { kind: 'mission' as const, place: missionId },
    { kind: 'agent' as const, place: agent },
  ]
  const [first, ...more] = named.flatMap(({ kind, place }) => (place === undefined ? [] : [{ kind, place }]))
  return first ? [first, ...more] : [{ kind: 'project', place: projectId }]
}
