import { type RawBuilder, sql } from 'kysely'
import type { Outcome } from '../../events/domain/project-event.ts'
import type { ProjectEventTable } from '../../events/log/event-log.ts'
import { inboxItemOf } from '../../inbox/tables/item.ts'
import type { AttemptId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest, SequencedItem } from '../../kernel/page.ts'
import {
  actorOfRow,
  cachedQuery,
  idsByPrefix,
  nonEmptyValues,
  parseColumn,
  prepareByIds,
  prepareByLimit,
  prepareQuery,
} from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import {
  type AuthoredText,
  type Correction,
  type Dependency,
  outcomeAuthorOf,
  type PastAttempt,
  type Task,
  type TaskHistory,
} from '../../track/domain/task.ts'
import { isDoubted } from '../../track/domain/verdict.ts'
import {
  type AttemptCorrectionTable,
  attemptOf,
  attemptReads,
  countsOf,
  scopeMatchesOf,
} from '../../track/tables/attempt.ts'
import { workOfTasks } from '../../track/tables/task-work.ts'
import { acceptancesOf, verdictReads } from '../../track/tables/verdict-reads.ts'
import { isHeld } from '../domain/claims.ts'
import type { TaskFilter, TaskLine, TaskReads } from '../ports/task-reads.ts'
import { measuredAttempts, taskCards, triedAgain } from './card.ts'
import { taskById, tasksByIds } from './claim.ts'
import { plannedTasks } from './plan-list.ts'
import { taskOfRow } from './task.ts'
import type { TaskListTable } from './task-lists.ts'

export function taskReads(scope: ReadScope): TaskReads {
  const { db, projectId } = scope
  const tasks = () => db.selectFrom('task').selectAll().where('project_id', '=', projectId)
  return {
    async find(id) {
      const [row] = await taskById(db, projectId, id)
      return row ? taskOfRow(row) : null
    },
    async withIds(ids) {
      return ids.length === 0 ? [] : (await tasksByIds(scope, [...new Set(ids)])).map(taskOfRow)
    },
    async names(ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('task')
        .select(['id', 'name'])
        .where('project_id', '=', projectId)
        .where('id', 'in', ids.slice(0, 200))
        .execute()
      return new Map(rows.map(({ id, name }) => [id as TaskId, name])) // a brand
    },
    ...attemptReads(scope),
    ...verdictReads(scope),
    measurementTotals: (ids) => measuredAttempts(scope, ids),
    cards: (ids) => taskCards(scope, ids),
    past: (taskId, limit) => pastAttempts(scope, taskId, limit),
    corrections: (attemptId) => correctionsOf(scope, attemptId),
    dependencies: (taskId) => dependenciesOfTask(scope, taskId),
    histories: (ids, now) => taskHistories(scope, ids, now),
    subtasks: async (taskId) =>
      (await subtaskIds(scope.db, scope.projectId, taskId)).map(({ id }) => id as TaskId), // a brand
    openSubtasks: cachedQuery((taskId: TaskId) => openSubtasks(scope, taskId)),
    ancestors: cachedQuery((taskIds: readonly TaskId[]) => ancestors(scope, taskIds)),
    list: (filter, request) => listTasks(scope, filter, request),
    async unfinishedOf(missionId) {
      const rows = await tasks()
        .where('mission_id', '=', missionId)
        .where('readiness', 'in', ['ready', 'blocked', 'in_progress'])
        .orderBy('seq')
        .limit(100)
        .execute()
      return rows.map(taskOfRow)
    },
    idsLike: (prefix, limit) => idsByPrefix(scope, 'task', { prefix, limit }),
  }
}

interface TaskListKey {
  readonly kind: TaskListTable['kind']
  readonly place: string
}

/** Finds the page's task ids in one index first, then reads their rows. */
async function listTasks(
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
  const total = isCounted ? await countPlace(scope, places[0]) : await countOf(scope, matching)
  return { items: await taskLines(scope, ids), total }
}

/** The project counts as a place, so that unfiltered lists use the same index. The smallest place leads. */
function placesOf(
  projectId: string,
  { missionId, phaseId, agent }: TaskFilter,
): readonly [TaskListKey, ...TaskListKey[]] {
  const named = [
    { kind: 'phase' as const, place: phaseId },
    { kind: 'agent' as const, place: agent },
    { kind: 'mission' as const, place: missionId },
  ]
  const [first, ...more] = named.flatMap(({ kind, place }) => (place === undefined ? [] : [{ kind, place }]))
  return first ? [first, ...more] : [{ kind: 'project', place: projectId }]
}

// `cross join` keeps the table order: few tasks changed recently, many are in a place.
function tasksOf(
  projectId: string,
  [first, ...more]: readonly [TaskListKey, ...TaskListKey[]],
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

const countAt = prepareQuery((db, projectId: string, kind: string, place: string) =>
  db
    .selectFrom('task_count')
    .select(sql<number>`coalesce(sum(tasks), 0)`.as('total'))
    .where('project_id', '=', projectId)
    .where(sql<boolean>`kind = ${kind}`)
    .where('place', '=', place),
)

async function countPlace({ db, projectId }: ReadScope, { kind, place }: TaskListKey): Promise<number> {
  const [row] = await countAt(db, projectId, kind, place)
  return row?.total ?? 0
}

async function countOf({ db }: ReadScope, matching: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*) as total ${matching}`.execute(db)
  return rows[0]?.total ?? 0
}

const tasksById = prepareByIds((db, projectId, ids) =>
  db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .orderBy('seq', 'desc'),
)

const attemptsById = prepareByIds((db, projectId, ids) =>
  db.selectFrom('attempt').selectAll().where('project_id', '=', projectId).where('id', 'in', ids),
)

const phaseNumbers = prepareByIds((db, projectId, ids) =>
  db.selectFrom('phase').select(['id', 'number']).where('project_id', '=', projectId).where('id', 'in', ids),
)

/** Tasks with their last attempts and phase numbers, newest first: always three queries. */
async function taskLines(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<readonly SequencedItem<TaskLine>[]> {
  if (taskIds.length === 0) return []
  const tasks = await tasksById(scope, taskIds)
  const attempts = await attemptsById(scope, distinctIdsOf(tasks.map((task) => task.last_attempt_id)))
  const work = await workOfTasks(scope, triedAgain(attempts))
  const phases = await phaseNumbers(scope, distinctIdsOf([...tasks, ...attempts].map((row) => row.phase_id)))
  const attemptById = new Map(attempts.map((attempt) => [attempt.id, attempt]))
  const numberOf = new Map(phases.map((phase) => [phase.id, phase.number]))
  return tasks.map((row) => {
    const attempt = attemptById.get(row.last_attempt_id ?? '') ?? null
    const phaseId = attempt?.phase_id ?? row.phase_id
    return {
      seq: row.seq,
      item: {
        task: taskOfRow(row),
        phaseNumber: numberOf.get(phaseId ?? '') ?? null,
        attempt: attempt && attemptOf(attempt),
        counts: attempt && countsOf(attempt) && (work.get(row.id)?.counts ?? countsOf(attempt)),
        scopeMatches: attempt && scopeMatchesOf(attempt),
      },
    }
  })
}

function distinctIdsOf(ids: readonly (string | null)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== null))]
}

const maxFiles = 5

/** The ended attempts at a task, newest first. */
const closedAttempts = prepareByLimit((limit) =>
  prepareQuery((db, projectId: string, taskId: string) =>
    db
      .selectFrom('attempt')
      .leftJoin('attempt_end as end', (join) =>
        join.onRef('end.project_id', '=', 'attempt.project_id').onRef('end.attempt_id', '=', 'attempt.id'),
      )
      .selectAll('attempt')
      .select('end.outcome')
      .where('attempt.project_id', '=', projectId)
      .where('attempt.task_id', '=', taskId)
      .where('attempt.status', '<>', 'open')
      .orderBy('attempt.number', 'desc')
      .limit(limit),
  ),
)

async function pastAttempts(
  scope: ReadScope,
  taskId: TaskId,
  limit: number,
): Promise<readonly PastAttempt[]> {
  const { db, projectId } = scope
  const rows = await closedAttempts(limit)(db, projectId, taskId)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const files = await firstFiles(scope, ids)
  const allCorrections = await corrections(scope, [taskId])
  return rows.map((row) => ({
    attempt: attemptOf(row),
    outcome: row.outcome === null ? null : parseColumn<Outcome>(row.outcome),
    corrections: allCorrections.filter(({ attempt_id }) => attempt_id === row.id).map(correctionOf),
    files: files.get(row.id) ?? [],
  }))
}

function correctionRows(db: ReadScope['db'], projectId: string) {
  return db
    .selectFrom('attempt_correction')
    .innerJoin('project_event', (join) =>
      join
        .onRef('project_event.project_id', '=', 'attempt_correction.project_id')
        .onRef('project_event.seq', '=', 'attempt_correction.seq'),
    )
    .selectAll('attempt_correction')
    .select(['project_event.actor', 'project_event.channel'])
    .where('attempt_correction.project_id', '=', projectId)
}

/** The corrections of an attempt, in order. */
async function correctionsOf(
  { db, projectId }: ReadScope,
  attemptId: AttemptId,
): Promise<readonly Correction[]> {
  const rows = await correctionRows(db, projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('attempt_correction.seq')
    .limit(100)
    .execute()
  return rows.map(correctionOf)
}

const tasksDependedOn = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('task_dependency as edge')
    .innerJoin('task', (join) =>
      join.onRef('task.project_id', '=', 'edge.project_id').onRef('task.id', '=', 'edge.depends_on_id'),
    )
    .selectAll('task')
    .where('edge.project_id', '=', projectId)
    .where('edge.task_id', '=', taskId)
    .orderBy('edge.seq')
    .limit(100),
)

/** The dependencies of a task, in order of creation. */
async function dependenciesOfTask(scope: ReadScope, taskId: TaskId): Promise<readonly Dependency[]> {
  const { db, projectId } = scope
  const rows = await tasksDependedOn(db, projectId, taskId)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const ends = await lastAttemptEnds(scope, ids)
  const items = await db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', 'in', nonEmptyValues(ids))
    .where('status', '=', 'open')
    .orderBy('seq')
    .limit(100)
    .execute()
  const planned = await plannedTasks(scope, rows)
  return planned.map(({ task, unsettled }) => ({
    task,
    unsettled,
    summary: ends.get(task.id)?.summary?.text ?? null,
    files: ends.get(task.id)?.files ?? [],
    items: items.filter(({ task_id }) => task_id === task.id).map(inboxItemOf),
  }))
}

/** The additional list fields of tasks: a fixed number of queries, and one more if a verdict is in doubt. */
async function taskHistories(
  scope: ReadScope,
  taskIds: readonly TaskId[],
  now: number,
): Promise<ReadonlyMap<TaskId, TaskHistory>> {
  const rows = await tasksById(scope, taskIds)
  const ends = await lastAttemptEnds(scope, taskIds)
  const accepted = await acceptancesOf(
    scope,
    taskIds.filter((id) => isDoubted(ends.get(id)?.verdict)),
  )
  const allCorrections = await corrections(scope, taskIds)
  const planned = await plannedTasks(scope, rows)
  return new Map(
    planned.map(({ task, dependsOn, unsettled, blocked, claim }) => [
      task.id,
      {
        dependsOn,
        unsettled,
        blocked,
        claim: isHeld(claim, now) ? claim : null,
        summary: ends.get(task.id)?.summary ?? null,
        verdict: ends.get(task.id)?.verdict ?? null,
        acceptedBy: accepted.get(task.id) ?? null,
        correction: lastCorrection(allCorrections.findLast(({ task_id }) => task_id === task.id)),
        files: ends.get(task.id)?.files ?? [],
      },
    ]),
  )
}

function lastCorrection(row: AttemptCorrectionTable | undefined): AuthoredText | null {
  return row === undefined ? null : { text: row.text, author: row.agent_name ?? row.author }
}

interface TaskEnd {
  readonly summary: AuthoredText | null
  readonly verdict: TaskHistory['verdict']
  readonly files: readonly string[]
}

const lastEndsOf = prepareByIds((db, projectId, taskIds) =>
  db
    .selectFrom('attempt')
    .innerJoin('attempt_end as end', (join) =>
      join.onRef('end.project_id', '=', 'attempt.project_id').onRef('end.attempt_id', '=', 'attempt.id'),
    )
    .selectAll('attempt')
    .select(['end.summary', 'end.verdict'])
    .where('attempt.project_id', '=', projectId)
    .where('attempt.task_id', 'in', taskIds)
    .where(
      sql<boolean>`not exists (select 1 from attempt as later
        join attempt_end as ended on ended.project_id = later.project_id and ended.attempt_id = later.id
        where later.project_id = attempt.project_id and later.task_id = attempt.task_id
          and later.number > attempt.number)`,
    ),
)

/** The outcome of the last ended attempt of each task, and the first files of all its attempts. */
async function lastAttemptEnds(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, TaskEnd>> {
  const rows = await lastEndsOf(scope, taskIds)
  const files = await firstFilesOfTasks(
    scope,
    rows.map((row) => row.task_id),
  )
  return new Map(
    rows.map((row) => {
      const summary = { text: row.summary, author: outcomeAuthorOf(attemptOf(row)) }
      const verdict = row.verdict as TaskHistory['verdict'] // as it was written
      return [row.task_id, { summary, verdict, files: files.get(row.task_id) ?? [] }]
    }),
  )
}

const firstChanges = prepareByIds((db, projectId, attemptIds) =>
  db
    .selectFrom('attempt_change')
    .select(['attempt_id', 'path'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptIds)
    .where('position', '<', maxFiles)
    .orderBy('attempt_id')
    .orderBy('position'),
)

const attemptsOfTasks = prepareByIds((db, projectId, taskIds) =>
  db
    .selectFrom('attempt')
    .select(['id', 'task_id'])
    .where('project_id', '=', projectId)
    .where('task_id', 'in', taskIds)
    .orderBy('task_id')
    .orderBy('number', 'desc'),
)

/** The newest attempt's files first. */
async function firstFilesOfTasks(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (taskIds.length === 0) return new Map()
  // In two steps: joined, SQLite begins with the changes of all attempts.
  const attempts = await attemptsOfTasks(scope, taskIds)
  const files = await firstFiles(
    scope,
    attempts.map(({ id }) => id),
  )
  return new Map(
    [...Map.groupBy(attempts, ({ task_id }) => task_id)].map(([id, own]) => [
      id,
      [...new Set(own.flatMap((attempt) => files.get(attempt.id) ?? []))].slice(0, maxFiles),
    ]),
  )
}

async function firstFiles(
  scope: ReadScope,
  attemptIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (attemptIds.length === 0) return new Map()
  const rows = await firstChanges(scope, attemptIds)
  const found = new Map<string, string[]>()
  for (const { attempt_id, path } of rows) found.set(attempt_id, [...(found.get(attempt_id) ?? []), path])
  return found
}

const corrections = prepareByIds((db, projectId, taskIds) =>
  correctionRows(db, projectId).where('task_id', 'in', taskIds).orderBy('attempt_correction.seq').limit(1000),
)

function correctionOf(
  row: AttemptCorrectionTable & Pick<ProjectEventTable, 'actor' | 'channel'>,
): Correction {
  const { text, agent_name, author, created_at } = row
  return { text, agentName: agent_name, author, actor: actorOfRow(row), createdAt: created_at }
}

/** At most 100, nearest first. */
const parentChains = prepareByIds((db, projectId, ids) => ({
  compile: () =>
    sql<{ task_id: TaskId; id: TaskId }>`
      with recursive above (task_id, id, distance) as (
        select id, parent_task_id, 1 from task
          where project_id = ${projectId} and id in (${sql.join(ids)}) and parent_task_id is not null
        union all
        select above.task_id, task.parent_task_id, above.distance + 1 from above
          join task on task.project_id = ${projectId} and task.id = above.id
          where task.parent_task_id is not null and above.distance < 100
      )
      select task_id, id from above order by distance`.compile(db),
}))

async function ancestors(
  scope: ReadScope,
  taskIds: readonly TaskId[],
): Promise<ReadonlyMap<TaskId, readonly TaskId[]>> {
  if (taskIds.length === 0) return new Map()
  const rows = await parentChains(scope, [...new Set(taskIds)])
  const chains = Map.groupBy(rows, ({ task_id }) => task_id)
  return new Map([...chains].map(([taskId, chain]) => [taskId, chain.map(({ id }) => id)]))
}

const subtaskIds = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('task')
    .select('id')
    .where('project_id', '=', projectId)
    .where('parent_task_id', '=', taskId)
    .orderBy('seq')
    .limit(500),
)

/** A task whose last attempt failed may be tried again, but keeps no parent open. */
const unfinishedSubtasks = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('task')
    .selectAll('task')
    .leftJoin('attempt as last', (join) =>
      join.onRef('last.project_id', '=', 'task.project_id').onRef('last.id', '=', 'task.last_attempt_id'),
    )
    .where('task.project_id', '=', projectId)
    .where('task.parent_task_id', '=', taskId)
    .where((eb) =>
      eb.or([
        eb('task.status', '=', 'in_progress'),
        eb.and([
          eb('task.status', '=', 'to_do'),
          eb.or([eb('last.status', 'is', null), eb('last.status', '<>', 'failed')]),
        ]),
      ]),
    )
    .orderBy('task.seq')
    .limit(100),
)

async function openSubtasks({ db, projectId }: ReadScope, taskId: TaskId): Promise<readonly Task[]> {
  return (await unfinishedSubtasks(db, projectId, taskId)).map(taskOfRow)
}
