import type { AttemptId, TaskId } from '../../kernel/id.ts'
import { nonEmptyValues } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { TaskWork } from '../../track/domain/changes.ts'
import type { AttemptMeasurementTotals } from '../../track/ports/attempt-reads.ts'
import { acceptedOutOfScope } from '../../track/tables/accepted-scope.ts'
import { attemptOf, countsOf, scopeMatchesOf } from '../../track/tables/attempt.ts'
import { workOfTasks } from '../../track/tables/task-work.ts'
import { acceptancesOf } from '../../track/tables/verdict-reads.ts'
import type { TaskCard } from '../ports/task-reads.ts'
import { claimOf } from './claim.ts'
import { taskOfRow } from './task.ts'

/** Tasks for cards, in the given order: four queries, and one each for several attempts and unproven ones. */
export async function taskCards(scope: ReadScope, ids: readonly string[]): Promise<readonly TaskCard[]> {
  if (ids.length === 0) return []
  const { db, projectId } = scope
  const tasks = await db
    .selectFrom('task')
    .leftJoin('mission', (join) =>
      join.onRef('mission.project_id', '=', 'task.project_id').onRef('mission.id', '=', 'task.mission_id'),
    )
    .leftJoin('landing', (join) =>
      join.onRef('landing.project_id', '=', 'task.project_id').onRef('landing.task_id', '=', 'task.id'),
    )
    .selectAll('task')
    .select(['mission.name as mission_name', 'landing.state as landed'])
    .where('task.project_id', '=', projectId)
    .where('task.id', 'in', ids)
    .execute()
  const attemptIds = tasks.flatMap(({ last_attempt_id: id }) => id ?? [])
  const attempts = await db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', nonEmptyValues(attemptIds))
    .execute()
  const measured = await measuredAttempts(scope, attemptIds)
  const work = await workOfTasks(scope, triedAgain(attempts))
  const progress = await lastProgress(scope, ids)
  const unproven = tasks.filter(
    ({ status, last_attempt_id: id }) =>
      status === 'done' && measured.get(id as AttemptId)?.verdict !== 'proven', // a brand
  )
  const accepted = await acceptancesOf(
    scope,
    unproven.map(({ id }) => id as TaskId), // a brand
  )
  const attemptById = new Map(attempts.map((row) => [row.id, attemptOf(row)]))
  const cards = tasks.map((row): TaskCard => {
    const task = taskOfRow(row)
    const attempt = attemptById.get(row.last_attempt_id ?? '') ?? null
    return {
      task,
      missionName: row.mission_name,
      landed: row.landed,
      claim: claimOf(row),
      attempt,
      progress: progress.get(task.id) ?? null,
      measured: (attempt && withWork(measured.get(attempt.id), work.get(task.id))) ?? null,
      acceptedBy: accepted.get(task.id) ?? null,
    }
  })
  const byId = new Map<string, TaskCard>(cards.map((card) => [card.task.id, card]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** The tasks with several attempts, by their last ones. */
export function triedAgain(
  attempts: readonly { readonly task_id: string; readonly number: number }[],
): readonly string[] {
  return attempts.flatMap(({ task_id, number }) => (number > 1 ? [task_id] : []))
}

/** The last measurement of a task, with the files and lines of all its attempts. */
function withWork(
  measured: AttemptMeasurementTotals | undefined,
  work: TaskWork | undefined,
): AttemptMeasurementTotals | undefined {
  if (!measured || measured.files === null || work === undefined) return measured
  const { files, addedLines, deletedLines } = work
  return { ...measured, files, addedLines, deletedLines }
}

/** The measured totals of attempts, without the changes: one query, and two more where files are out of scope. */
export async function measuredAttempts(
  scope: ReadScope,
  ids: readonly string[],
): Promise<ReadonlyMap<AttemptId, AttemptMeasurementTotals>> {
  if (ids.length === 0) return new Map()
  const { db, projectId } = scope
  const ends = await db
    .selectFrom('attempt_end as end')
    .innerJoin('attempt', (join) =>
      join.onRef('attempt.project_id', '=', 'end.project_id').onRef('attempt.id', '=', 'end.attempt_id'),
    )
    .selectAll('attempt')
    .select(['end.measurement', 'end.out_of_scope', 'end.verdict', 'end.added_lines', 'end.deleted_lines'])
    .where('end.project_id', '=', projectId)
    .where('end.attempt_id', 'in', ids)
    .execute()
  const accepted = await acceptedOutOfScope(
    scope,
    ends.flatMap((row) => (row.out_of_scope > 0 ? [row.id as AttemptId] : [])), // a brand
  )
  return new Map(
    ends.map((row) => {
      const { added = 0, modified = 0, deleted = 0, renamed = 0 } = countsOf(row) ?? {}
      const files = added + modified + deleted + renamed
      const isUnknown = row.measurement === 'unknown'
      const measured: AttemptMeasurementTotals = {
        measurement: row.measurement as AttemptMeasurementTotals['measurement'], // as it was written
        verdict: row.verdict as AttemptMeasurementTotals['verdict'], // as it was written
        scopeMatches: scopeMatchesOf(row),
        outOfScope: row.out_of_scope,
        outOfScopeAccepted: accepted.get(row.id as AttemptId) ?? 0, // a brand
        attempt: row.number,
        files: isUnknown ? null : files,
        addedLines: isUnknown ? null : sumOf(files, row.added_lines),
        deletedLines: isUnknown ? null : sumOf(files, row.deleted_lines),
      }
      return [row.id as AttemptId, measured] // a brand
    }),
  )
}

/** No files means zero lines; files without any counted line mean unknown. */
function sumOf(files: number, sum: number | null): number | null {
  return files === 0 ? 0 : sum
}

/** The last logged progress of each task; absent if there is none. */
async function lastProgress(
  { db, projectId }: ReadScope,
  ids: readonly string[],
): Promise<ReadonlyMap<TaskId, number | null>> {
  const rows = await db
    .selectFrom('progress')
    .select(['task_id', 'progress'])
    .where('project_id', '=', projectId)
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('progress')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .where('project_id', '=', projectId)
        .where('task_id', 'in', ids)
        .groupBy('task_id'),
    )
    .execute()
  return new Map(rows.map(({ task_id, progress }) => [task_id as TaskId, progress])) // a brand
}
