import { sql } from 'kysely'
import type { AttemptId, TaskId } from '../../kernel/id.ts'
import { parseColumn, parseColumnOrNull, prepareByIds, prepareQuery } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { type RelatedAttempt, taskChange } from '../domain/task-work.ts'
import type { Verdict, VerdictValue } from '../domain/verdict.ts'
import type { VerdictReads, VerdictRecord } from '../ports/verdict-reads.ts'
import { type AttemptTable, attemptOf } from './attempt.ts'

const verdictsOf = prepareQuery((db, projectId: string, attemptId: string) =>
  db
    .selectFrom('attempt_verdict')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('seq')
    .limit(sql.lit(100)),
)

const verdictsOfAttempts = prepareByIds((db, projectId, attemptIds) =>
  db
    .selectFrom('attempt_verdict')
    .select(['attempt_id', 'body'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptIds)
    .orderBy('seq'),
)

/** Whether a question about the last completion of a task is open, or was asked after a time. */
const isAskedSince = (time: string) => sql<boolean>`exists (select 1 from inbox_item as asked
  where asked.project_id = task.project_id and asked.attempt_id = task.last_attempt_id
    and asked.kind = 'verdict' and (asked.status = 'open' or asked.opened_at > ${sql.ref(time)}))`

/** Whether a check of it failed after a time: where others are at work, nobody is asked yet. */
const hasFailedSince = (time: string) => sql<boolean>`exists (select 1 from attempt_verdict as later
  where later.project_id = task.project_id and later.attempt_id = task.last_attempt_id
    and later.cause = 'check' and later.created_at > ${sql.ref(time)} and later.rules like '%check_failed%')`

/**
 * An inbox item whose answer accepts the last completion of a task: about its verdict, or, where nothing is asked about
 * that, about the review that its agent asked for.
 */
export const acceptingItem = sql<boolean>`item.project_id = task.project_id
  and item.attempt_id = task.last_attempt_id
  and (item.kind = 'verdict' and item.action in ('approved', 'answered')
    or item.kind = 'review' and item.action = 'approved' and not ${hasFailedSince('item.closed_at')})
  and not ${isAskedSince('item.closed_at')}`

/** A review that accepts the last completion of a task: of the task itself, or of its mission. */
export const acceptingReview = sql<boolean>`review.project_id = task.project_id and review.action = 'approve'
  and (review.subject = task.id
    or (review.mission_id = task.mission_id and review.accepted like '%"' || task.id || '"%'))
  and review.created_at >= (select closed_at from attempt
    where attempt.project_id = task.project_id and attempt.id = task.last_attempt_id)
  and not ${isAskedSince('review.created_at')} and not ${hasFailedSince('review.created_at')}`

const acceptedTasks = prepareByIds((db, projectId, taskIds) => ({
  compile: () =>
    sql<{ readonly id: string; readonly author: string | null }>`
      select task.id, coalesce(
        (select item.closed_by from inbox_item as item where ${acceptingItem} order by item.seq desc limit 1),
        (select review.author_name from review where ${acceptingReview} order by review.seq desc limit 1)
      ) as author
      from task where task.project_id = ${projectId} and task.id in (${sql.join([...taskIds])})`.compile(db),
}))

type RelatedRow = AttemptTable & { readonly evidence: string | null; readonly verdict: string | null }

// Joined in this order, and with the condition of its index: otherwise SQLite reads every task and attempt.
const relatedAttempts = prepareQuery((db, projectId: string, taskId: string, attemptId: string) => ({
  compile: () =>
    sql<RelatedRow>`
      with recursive below (id) as (
        select id from task where project_id = ${projectId} and id = ${taskId}
        union
        select task.id from below cross join task
          where task.project_id = ${projectId} and task.parent_task_id = below.id
            and task.parent_task_id is not null
      )
      select attempt.*, attempt_end.evidence, attempt_end.verdict from below cross join attempt
        left join attempt_end
          on attempt_end.project_id = attempt.project_id and attempt_end.attempt_id = attempt.id
        where attempt.project_id = ${projectId} and attempt.task_id = below.id and attempt.id <> ${attemptId}
        order by attempt.seq limit 1000`.compile(db),
}))

const changesOfAttempts = prepareByIds((db, projectId, attemptIds) =>
  db
    .selectFrom('attempt_change')
    .select(['attempt_id', 'body'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptIds)
    .orderBy('attempt_id')
    .orderBy('position')
    .limit(20_000),
)

export function verdictReads(scope: ReadScope): VerdictReads {
  const { db, projectId } = scope
  return {
    async verdicts(attemptId) {
      return (await verdictsOf(db, projectId, attemptId)).map((row) => ({
        verdict: parseColumnOrNull<Verdict>(row.body),
        cause: row.cause as VerdictRecord['cause'], // as it was written
        summary: row.summary,
        author: row.author,
        createdAt: row.created_at,
      }))
    },
    async lastVerdicts(attemptIds) {
      const rows = attemptIds.length === 0 ? [] : await verdictsOfAttempts(scope, attemptIds)
      const last = new Map(rows.map(({ attempt_id: id, body }) => [id as AttemptId, body])) // a brand
      return new Map(
        [...last].flatMap(([id, body]) => {
          const verdict = parseColumnOrNull<Verdict>(body)
          return verdict === null ? [] : [[id, verdict] as const]
        }),
      )
    },
    acceptances: (taskIds) => acceptancesOf(scope, taskIds),
    async attemptsWithContent(content) {
      const rows = await db
        .selectFrom('attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('attempt_verdict')
            .select('attempt_id')
            .where('project_id', '=', projectId)
            .where('content', '=', content),
        )
        .orderBy('seq', 'desc')
        .limit(20)
        .execute()
      return rows.map(attemptOf)
    },
    relatedAttempts: (attempt) => relatedTo(scope, attempt),
  }
}

/** Who accepted the last completions of tasks: one query, or none. */
export async function acceptancesOf(
  scope: ReadScope,
  taskIds: readonly TaskId[],
): Promise<ReadonlyMap<TaskId, string>> {
  const rows = taskIds.length === 0 ? [] : await acceptedTasks(scope, taskIds)
  return new Map(
    rows.flatMap(({ id, author }) => (author === null ? [] : [[id as TaskId, author] as const])), // a brand
  )
}

async function relatedTo(
  scope: ReadScope,
  { taskId, id }: { readonly taskId: TaskId; readonly id: AttemptId },
): Promise<readonly RelatedAttempt[]> {
  const rows = await relatedAttempts(scope.db, scope.projectId, taskId, id)
  if (rows.length === 0) return []
  const changes = Map.groupBy(
    await changesOfAttempts(
      scope,
      rows.map((row) => row.id),
    ),
    ({ attempt_id }) => attempt_id,
  )
  return rows.map((row) => ({
    attempt: attemptOf(row),
    measured: parseColumnOrNull<NonNullable<RelatedAttempt['measured']>>(row.evidence),
    changes: (changes.get(row.id) ?? []).map(({ body }) => taskChange(parseColumn<ReportedChange>(body))),
    verdict: row.verdict as VerdictValue | null, // as it was written
  }))
}
