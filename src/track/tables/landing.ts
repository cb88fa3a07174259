import { type ExpressionBuilder, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { TaskId } from '../../kernel/id.ts'
import { taskOfRow } from '../../plan/tables/task.ts'
import { lateralLookup, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, Tables } from '../../store/tables/tables.ts'
import { type LandedState, notLandedStates } from '../domain/landed.ts'
import type { Attempt } from '../domain/task.ts'
import type { LandingReads, RecordedLanding } from '../ports/landing-reads.ts'
import { attemptOf } from './attempt.ts'

export interface LandingTable {
  project_id: string
  task_id: string
  state: LandedState
  branch: string | null
  lines: number
  total: number
  commit_id: string | null
  landed_at: number | null
  measured_at: number
}

export async function applyLandingMeasured(
  { db, projectId, at }: ProjectionContext,
  { taskId, landed }: ProjectEventOf<'landing.measured'>,
): Promise<void> {
  const { is: state, branch, lines, total, commit, landedAt } = landed
  const columns = { state, branch, lines, total, commit_id: commit, landed_at: landedAt, measured_at: at }
  await db
    .insertInto('landing')
    .values({ project_id: projectId, task_id: taskId, ...columns })
    .onConflict((conflict) => conflict.columns(['project_id', 'task_id']).doUpdateSet(columns))
    .execute()
}

/** A later attempt may have lines. */
function isChanged(eb: ExpressionBuilder<Tables, 'landing' | 'task'>) {
  return eb.exists(
    eb
      .selectFrom('attempt')
      .select('attempt.id')
      .whereRef('attempt.project_id', '=', 'task.project_id')
      .whereRef('attempt.task_id', '=', 'task.id')
      .whereRef('attempt.closed_at', '>', 'landing.measured_at'),
  )
}

export function landingReads({ db, projectId }: ReadScope): LandingReads {
  const doneTasks = () =>
    db
      .selectFrom('task')
      .leftJoin('landing', (join) =>
        join.onRef('landing.project_id', '=', 'task.project_id').onRef('landing.task_id', '=', 'task.id'),
      )
      .selectAll('task')
      .where('task.project_id', '=', projectId)
      .where('task.status', '=', 'done')
      .where('task.resolution', 'in', ['success', 'partial_success'])
  return {
    async of(taskIds) {
      const found = new Map<TaskId, RecordedLanding>()
      for (const batch of splitIntoBatches([...taskIds])) {
        const rows = await db
          .selectFrom('landing')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('task_id', 'in', batch)
          .execute()
        for (const row of rows) {
          const { state: is, branch, lines, total, commit_id: commit, landed_at: landedAt } = row
          const landed = { is, branch, lines, total, commit, landedAt, measuredAt: row.measured_at }
          found.set(row.task_id as TaskId, landed) // a brand
        }
      }
      return found
    },
    async toMeasure(most) {
      const rows = await doneTasks()
        .where((eb) =>
          eb.or([eb('landing.state', 'is', null), eb('landing.state', '!=', 'none'), isChanged(eb)]),
        )
        .orderBy((eb) =>
          eb
            .case()
            .when(eb.and([eb('landing.state', 'in', ['landed', 'replaced']), eb.not(isChanged(eb))]))
            .then(1)
            .else(0)
            .end(),
        )
        .orderBy('task.seq', 'desc')
        .limit(most)
        .execute()
      return rows.map(taskOfRow)
    },
    async withoutLines(most) {
      const rows = await doneTasks()
        .where((eb) => eb.and([eb('landing.state', '=', 'none'), eb.not(isChanged(eb))]))
        .orderBy('task.seq', 'desc')
        .limit(most)
        .execute()
      return rows.map(taskOfRow)
    },
    async lastEnd() {
      const row = await db
        .selectFrom('attempt')
        .select(({ fn }) => fn.max('closed_at').as('closed_at'))
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      return row?.closed_at == null ? null : Number(row.closed_at)
    },
    async attemptsOf(taskIds) {
      const found = new Map<TaskId, Attempt[]>()
      for (const batch of splitIntoBatches([...taskIds])) {
        const rows = await db
          .selectFrom('attempt')
          .innerJoin('task', (join) =>
            join.onRef('task.project_id', '=', 'attempt.project_id').onRef('task.id', '=', 'attempt.task_id'),
          )
          .selectAll('attempt')
          .select('task.parent_task_id')
          .where('attempt.project_id', '=', projectId)
          .where((eb) => eb.or([eb('attempt.task_id', 'in', batch), eb('task.parent_task_id', 'in', batch)]))
          .orderBy('attempt.opened_at')
          .execute()
        for (const row of rows) {
          for (const taskId of [row.task_id, row.parent_task_id]) {
            if (taskId === null || !batch.includes(taskId as TaskId)) continue
            found.set(taskId as TaskId, [...(found.get(taskId as TaskId) ?? []), attemptOf(row)]) // brands
          }
        }
      }
      return found
    },
    async counts() {
      const rows = await db
        .selectFrom('task')
        .innerJoin('landing', (join) =>
          join.onRef('landing.project_id', '=', 'task.project_id').onRef('landing.task_id', '=', 'task.id'),
        )
        .select(['landing.state', (eb) => eb.fn.countAll<number>().as('tasks')])
        .where('task.project_id', '=', projectId)
        .where('task.status', '=', 'done')
        .groupBy('landing.state')
        .execute()
      return new Map(rows.map(({ state, tasks }) => [state, Number(tasks)]))
    },
    async notLanded() {
      // Starts with these landings, which are few; tasks and landings in all are many.
      const on = sql`task.project_id = ${projectId} and task.id = landing.task_id and task.status = 'done'`
      const { rows } = await sql<{ readonly state: LandedState; readonly tasks: number }>`
        select landing.state, count(*) as tasks from landing ${lateralLookup(db, { table: 'task', as: 'task', on })}
        where landing.project_id = ${projectId} and landing.state in (${sql.join([...notLandedStates])})
        group by landing.state`.execute(db)
      return new Map(rows.map(({ state, tasks }) => [state, Number(tasks)]))
    },
    async ofMission(missionId, limit) {
      const landings = db
        .selectFrom('task')
        .innerJoin('landing', (join) =>
          join.onRef('landing.project_id', '=', 'task.project_id').onRef('landing.task_id', '=', 'task.id'),
        )
        .where('task.project_id', '=', projectId)
        .where('task.mission_id', '=', missionId)
        .where('task.status', '=', 'done')
      const rows = await landings
        .select(['landing.state', ({ fn }) => fn.countAll<number>().as('tasks')])
        .select(({ fn }) => fn.max('landing.measured_at').as('measured_at'))
        .groupBy('landing.state')
        .execute()
      const isGone = rows.some(({ state }) => state === 'reverted' || state === 'lost')
      const gone = isGone
        ? await landings
            .select(['task.id', 'task.name', 'landing.state'])
            .where('landing.state', 'in', ['reverted', 'lost'])
            .orderBy('landing.measured_at', 'desc')
            .orderBy('task.seq', 'desc')
            .limit(limit)
            .execute()
        : []
      return {
        counts: new Map(rows.map(({ state, tasks }) => [state, Number(tasks)])),
        measuredAt: rows.length === 0 ? null : Math.max(...rows.map((row) => Number(row.measured_at))),
        gone: gone.map(({ id, name, state: is }) => ({ id: id as TaskId, name, is })), // a brand
      }
    },
  }
}
