import { type RawBuilder, sql } from 'kysely'
import type { RecordFilter } from '../../ports/reads/record-reads.ts'

interface Columns {
  readonly table: string
  readonly agent: string
  readonly time: string
}

/** What a filter asks of a table of things said: mission, task, phase, agent, time. */
export function recordConditions(
  projectId: string,
  filter: RecordFilter,
  columns: Columns,
): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${columns.table}.${name}`)
  const equal = (name: string, value: string | undefined) =>
    value === undefined ? [] : [sql`${column(name)} = ${value}`]
  const conditions = [
    sql`${column('project_id')} = ${projectId}`,
    ...equal('mission_id', filter.missionId),
    ...equal('task_id', filter.taskId),
    ...equal('phase_id', filter.phaseId),
    ...equal(columns.agent, filter.agent),
    ...(filter.since === undefined ? [] : [sql`${column(columns.time)} >= ${filter.since}`]),
  ]
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}
