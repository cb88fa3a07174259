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
  const places = placesOf(scope.projectId, filter)
  const matching = tasksOf(scope.projectId, places, filter)
  const older = before === undefined ? sql`` : sql`and listed.task_seq < ${before}`
  const page = await sql<{ task_id: string }>`
    select listed.task_id ${matching} ${older} order by listed.task_seq desc limit ${limit}`.execute(scope.db)
  const ids = page.rows.map(({ task_id }) => task_id)
  const isCounted = places.length === 1 && filter.since === undefined
  const total = isCounted ? await counted(scope, places[0]) : await countOf(scope, matching)
  return { items: await taskLines(scope, ids), total }
}

/** The project itself is a place too: a list without a filter reads the same index. The smallest place leads. */
function placesOf(
  projectId: string,
  { missionId, phaseId, agent }: TaskFilter,
): readonly [Place, ...Place[]] {
  const named = [
    { kind: 'phase' as const, place: phaseId },
    { kind: 'agent' as const, place: agent },
    { kind: 'mission' as const, place: missionId },
  ]
  const [first, ...more] = named.flatMap(({ kind, place }) => (place === undefined ? [] : [{ kind, place }]))
  return first ? [first, ...more] : [{ kind: 'project', place: projectId }]
}

// `cross join` reads the tables in the order written: few tasks changed lately, many are in a place.
function tasksOf(
  projectId: string,
  [first, ...more]: readonly [Place, ...Place[]],
  { since }: TaskFilter,
): RawBuilder<unknown> {
  const others = more.map(
    ({ kind, place }) => sql`and exists (select 1 from task_place as other
      where other.project_id = listed.project_id and other.kind = ${kind} and other.place = ${place}
        and other.task_seq = listed.task_seq)`,
  )
  const listed = sql`listed.project_id = ${projectId} and listed.kind = ${first.kind}
    and listed.place = ${first.place} ${sql.join(others, sql` `)}`
  if (since === undefined) return sql`from task_place as listed where ${listed}`
  return sql`from task cross join task_place as listed
    where task.project_id = ${projectId} and task.updated_at >= ${since} and listed.task_seq = task.seq and ${listed}`
}

async function counted({ db, projectId }: ReadScope, { kind, place }: Place): Promise<number> {
  const { total } = await db
    .selectFrom('task_count')
    .select(sql<number>`coalesce(sum(tasks), 0)`.as('total'))
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .where('place', '=', place)
    .executeTakeFirstOrThrow()
  return total
}

async function countOf({ db }: ReadScope, matching: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*) as total ${matching}`.execute(db)
  return rows[0]?.total ?? 0
}
