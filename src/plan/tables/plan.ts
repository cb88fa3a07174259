import { type RawBuilder, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import { isLeaseRunning } from '../../kernel/lease.ts'
import { fingerprint } from '../../store/fingerprint.ts'
import { lateralLookup, nonEmptyValues, prepareQuery } from '../../store/tables/query.ts'
import { newestWithWords } from '../../store/tables/search.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import { claimDurationMs } from '../domain/claims.ts'
import type { PlannedTask, PlanSpan } from '../domain/plan.ts'
import { taskMark } from '../domain/readiness.ts'
import type {
  GraphTaskRow,
  NamedTask,
  OrderedTask,
  PlanLink,
  PlannedHome,
  PlanReads,
  TaskStateRow,
} from '../ports/plan-reads.ts'
import { endedClaimCondition, taskById, tasksByIds } from './claim.ts'
import { dependencyChain } from './dependency.ts'
import { notesOf, notesWithIds } from './note.ts'
import { awaitedBy, longestChain, outlineCounts } from './outline.ts'
import { planPlaceReads } from './phase.ts'
import {
  dependenciesOf,
  hasOwner,
  inOpenPlan,
  isInOpenPlan,
  listColumns,
  listOrder,
  ownerCondition,
  plannedTasks,
  planPage,
  selectFirstTasks,
} from './plan-list.ts'
import { hasOpenItems, type TaskTable } from './task.ts'

/** A role that the project declared. */
export interface RoleTable {
  project_id: string
  role: string
  seq: number
}

const maxExpired = 100
const maxLinks = 1000

const undoneIn = prepareQuery((db, projectId: string, phaseId: string) =>
  db
    .selectFrom('task_count')
    .select(({ fn }) => fn.sum<number>('tasks').as('tasks'))
    .where('project_id', '=', projectId)
    .where('kind', '=', 'home_phase')
    .where('place', '=', phaseId)
    .where('status', 'in', ['ready', 'blocked', 'in_progress']),
)

const openTasksOf = prepareQuery((db, projectId: string, phaseId: string) =>
  db
    .selectFrom('task')
    .leftJoin('attempt as last', (join) =>
      join.onRef('last.project_id', '=', 'task.project_id').onRef('last.id', '=', 'task.last_attempt_id'),
    )
    .select(['task.id', 'task.name', 'task.status', 'last.status as last'])
    .where('task.project_id', '=', projectId)
    .where('task.phase_id', '=', phaseId)
    .where('task.status', 'in', ['to_do', 'in_progress'])
    .orderBy('task.status')
    .orderBy('task.order_own')
    .orderBy('task.seq')
    .limit(40),
)

export function planReads(scope: ReadScope): PlanReads {
  const { db, projectId } = scope
  const tasks = () => db.selectFrom('task').selectAll().where('project_id', '=', projectId)
  return {
    ...planPlaceReads(scope),
    async task(id) {
      const [task] = await plannedTasks(scope, await taskById(db, projectId, id))
      return task ?? null
    },
    async tasksWithIds(ids) {
      return ids.length === 0 ? [] : plannedTasks(scope, await tasksByIds(scope, [...new Set(ids)]))
    },
    tasks: (filter, request) => planPage(scope, filter, request),
    async undoneInPhase(phaseId) {
      const [row] = await undoneIn(db, projectId, phaseId)
      return Number(row?.tasks ?? 0)
    },
    async openInPhase(phaseId) {
      const rows = await openTasksOf(db, projectId, phaseId)
      return rows.map(({ id, name, status, last }) => ({
        id: id as TaskId, // a brand
        name,
        hasFailed: status === 'to_do' && last === 'failed',
      }))
    },
    next: (filter) => nextTask(scope, filter),
    async dependsOn(taskId, dependsOnId) {
      const link = await db
        .selectFrom('task_dependency')
        .select('seq')
        .where('project_id', '=', projectId)
        .where('task_id', '=', taskId)
        .where('depends_on_id', '=', dependsOnId)
        .executeTakeFirst()
      return link !== undefined
    },
    chain: (from, to) => dependencyChain(scope, from, to),
    async taskOfToken(token) {
      // The first claim of an attempt has a token derived from the attempt's id.
      const attempt = await db
        .selectFrom('attempt')
        .select('task_id')
        .where('project_id', '=', projectId)
        .where('id', '=', token)
        .executeTakeFirst()
      if (attempt) return attempt.task_id as TaskId // a brand
      const claimed = await db
        .selectFrom('claim_token')
        .select('task_id')
        .where('project_id', '=', projectId)
        .where('token_hash', '=', fingerprint(token))
        .executeTakeFirst()
      return claimed ? (claimed.task_id as TaskId) : null // a brand
    },
    async expiredClaims(now) {
      const expired = tasks().where(endedClaimCondition(now)).orderBy('claim_expires_at').limit(maxExpired)
      return plannedTasks(scope, await expired.execute())
    },
    notes: (taskId, request) => notesOf(scope, taskId, request),
    notesWithIds: (ids) => notesWithIds(scope, ids),
    newest: (request) => newestTasks(scope, request),
    graph: (owner, limit, now) => planGraph(scope, owner, { limit, now }),
    neighbors: (owner, limit, now) => {
      const owned = owner === 'open' ? inOpenPlan : ownerCondition(owner)
      const inside = sql`(select id from task where project_id = ${projectId} and ${owned})`
      return neighborsOf(scope, inside, { limit, now })
    },
    graphOf: (ids, now) => graphOf(scope, ids, now),
    neighborsOf: async (ids, limit, now) =>
      ids.length === 0 ? [] : neighborsOf(scope, sql`(${sql.join([...ids])})`, { limit, now }),
    outlineCounts: (span) => outlineCounts(scope, span),
    outlineTasks: (home, request) => outlineTasks(scope, home, request),
    longestChain: (span, limit) => longestChain(scope, span, limit),
    links: (taskId, now) => linkedTasks(scope, taskId, now),
    siblings: (home, nearest) => siblingsIn(scope, home, nearest),
    async roles() {
      const rows = await db
        .selectFrom('role')
        .select('role')
        .where('project_id', '=', projectId)
        .orderBy('seq')
        .limit(1000)
        .execute()
      return rows.map(({ role }) => role)
    },
  }
}

type NextFilter = Parameters<PlanReads['next']>[0]

/** A task without a role fits every role. The task with the longest chain of dependents comes first. */
async function nextTask(scope: ReadScope, filter: NextFilter): Promise<PlannedTask | null> {
  const { owner, role, roleless, assignees, now } = filter
  const forRole = role === undefined ? sql`` : sql`and (role is null or role = ${role} or assignee = ${role})`
  const forAssignees = assignees
    ? sql`and (assignee is null or assignee in (${sql.join(nonEmptyValues(assignees))}))`
    : sql``
  const isAny = owner === undefined || owner === 'open'
  // A mission's own index leads its tasks.
  const withoutRole = isAny ? sql`and role is null` : sql`and coalesce(role, '') = ''`
  const fits = sql`${forRole} ${roleless ? withoutRole : sql``} ${forAssignees}`
  const ready = sql`project_id = ${scope.projectId} and readiness = 'ready'
    ${isAny ? sql`` : sql`and ${ownerCondition(owner)}`} ${fits} and ${inOpenPlan}`
  const expired = sql`project_id = ${scope.projectId} and ${endedClaimCondition(now)} and open_dependencies = 0
    ${isAny ? sql`` : sql`and ${hasOwner(owner)}`} ${fits} and ${isInOpenPlan}`
  // One after the other: the many new tasks are read in the order of their index, the few tried ones from their own.
  for (const { condition, height } of priorities) {
    const order = sql`${height} desc, ${listOrder}`
    const parts = [sql`${ready} and ${condition}`, sql`${expired} and ${condition}`]
    const [next] = await plannedTasks(scope, await selectFirstTasks(scope, parts, { order, limit: 1 }))
    if (next) return next
  }
  return null
}

const lastStatus = sql`coalesce((select last.status from attempt as last
  where last.project_id = task.project_id and last.id = task.last_attempt_id), '')`

/** Work that was done and sent back comes first, tasks whose last attempt failed come last. */
const priorities = [
  {
    condition: sql`last_attempt_id is not null and ${lastStatus} in ('success', 'partial_success')`,
    height: sql`height + 0`,
  },
  {
    condition: sql`(last_attempt_id is null or ${lastStatus} not in ('success', 'partial_success', 'failed'))`,
    height: sql`height`,
  },
  {
    condition: sql`last_attempt_id is not null and ${lastStatus} = 'failed'`,
    height: sql`height + 0`,
  },
]

type TaskPlanColumns = Pick<
  TaskTable,
  | 'id'
  | 'name'
  | 'phase_id'
  | 'milestone_id'
  | 'parent_task_id'
  | 'role'
  | 'status'
  | 'resolution'
  | 'open_items'
  | 'claim_expires_at'
  | 'sort_order'
  | 'seq'
  | 'mission_id'
  | 'assignee'
> & { readonly last_status: string | null }

const graphColumns = sql.raw(
  `id, name, phase_id, milestone_id, parent_task_id, role, status, resolution, open_items, claim_expires_at, sort_order, seq, mission_id, assignee,
  case when status = 'to_do' and last_attempt_id is not null then
    (select last.status from attempt last where last.project_id = task.project_id and last.id = task.last_attempt_id) end as last_status`,
)

/** An expired claim holds nothing: its task is to do. */
async function planGraph(
  scope: ReadScope,
  owner: PlanSpan,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<readonly GraphTaskRow[]> {
  const owned = owner === 'open' ? inOpenPlan : ownerCondition(owner)
  const { rows } = await sql<TaskPlanColumns>`
    select ${graphColumns} from task where project_id = ${scope.projectId} and ${owned}
    order by ${listOrder} limit ${limit}`.execute(scope.db)
  const dependencies = await dependenciesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => graphTask(row, dependencies.get(row.id) ?? [], now))
}

async function graphOf(
  scope: ReadScope,
  ids: readonly TaskId[],
  now: number,
): Promise<readonly GraphTaskRow[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<TaskPlanColumns>`
    select ${graphColumns} from task where project_id = ${scope.projectId} and id in (${sql.join([...ids])})
    order by ${listOrder}`.execute(scope.db)
  const dependencies = await dependenciesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => graphTask(row, dependencies.get(row.id) ?? [], now))
}

/** `inside` is the set of ids in parentheses. "union all", because for "union" SQLite reads every dependency in order. */
async function neighborsOf(
  scope: ReadScope,
  inside: RawBuilder<unknown>,
  { limit, now }: { readonly limit: number; readonly now: number },
) {
  const { db, projectId } = scope
  const { rows } = await sql<TaskMarkColumns>`
    select ${graphColumns}, open_dependencies from task where project_id = ${projectId}
      and id not in ${inside}
      and id in (
        select depends_on_id from task_dependency where project_id = ${projectId} and task_id in ${inside}
        union all
        select task_id from task_dependency where project_id = ${projectId} and depends_on_id in ${inside})
    order by ${listOrder} limit ${limit}`.execute(db)
  const dependencies = await dependenciesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const task = graphTask(row, dependencies.get(row.id) ?? [], now)
    return { ...task, mark: markOfRow(task, row) }
  })
}

async function outlineTasks(
  scope: ReadScope,
  home: PlannedHome,
  { after, limit, now }: Parameters<PlanReads['outlineTasks']>[1],
): Promise<readonly TaskStateRow[]> {
  const { db, projectId } = scope
  const isAfter =
    after === null
      ? sql``
      : sql`and (${listOrder}) > (select ${listOrder} from task where project_id = ${projectId} and id = ${after})`
  const { rows } = await sql<TaskMarkColumns>`
    select ${graphColumns}, open_dependencies from task
      where project_id = ${projectId} and ${homeCondition(home)} ${isAfter}
      order by ${listOrder} limit ${limit}`.execute(db)
  const ids = rows.map(({ id }) => id)
  const [dependencies, awaited] = [await dependenciesOf(scope, ids), await awaitedBy(scope, ids)]
  return rows.map((row) => {
    const task = graphTask(row, dependencies.get(row.id) ?? [], now)
    const waitsFor = task.status === 'done' ? [] : (awaited.get(row.id) ?? [])
    return { ...task, mark: markOfRow(task, row), waitsFor }
  })
}

/** Written so that the index of the phase leads, or that of the plan. */
function homeCondition(home: PlannedHome) {
  return home.phaseId === null
    ? sql`${ownerCondition(home.missionId)} and coalesce(phase_id, '') = ''`
    : sql`phase_id = ${home.phaseId}`
}

type TaskMarkColumns = TaskPlanColumns & Pick<TaskTable, 'open_dependencies'>

function markOfRow({ held, ...task }: GraphTaskRow, { open_dependencies: open }: TaskMarkColumns) {
  return taskMark({ ...task, claimed: held }, open === 0)
}

/** Found by the indexes of dependencies and parents. */
async function linkedTasks(scope: ReadScope, taskId: TaskId, now: number): Promise<readonly PlanLink[]> {
  const { db, projectId } = scope
  const on = sql`task.project_id = ${projectId} and task.id = linked.other`
  const { rows } = await sql<TaskMarkColumns & Pick<PlanLink, 'link'>>`
    with linked as (
      select 'depends_on' as link, depends_on_id as other from task_dependency
        where project_id = ${projectId} and task_id = ${taskId}
      union all select 'blocks', task_id from task_dependency
        where project_id = ${projectId} and depends_on_id = ${taskId}
      union all select 'subtask', id from task
        where project_id = ${projectId} and parent_task_id = ${taskId}
      union all select 'parent', parent_task_id from task
        where project_id = ${projectId} and id = ${taskId} and parent_task_id is not null)
    select link, ${graphColumns}, open_dependencies
      from linked ${lateralLookup(db, { table: 'task', as: 'task', on })}
      order by ${listOrder} limit ${maxLinks}`.execute(db)
  return rows.map((row) => {
    const task = graphTask(row, [], now)
    return {
      link: row.link,
      id: task.id,
      name: task.name,
      mark: markOfRow(task, row),
      hasFailed: task.hasFailed,
    }
  })
}

async function siblingsIn(
  { db, projectId }: ReadScope,
  home: Parameters<PlanReads['siblings']>[0],
  nearest: Parameters<PlanReads['siblings']>[1],
): Promise<readonly OrderedTask[]> {
  const inHome = homeCondition(home)
  const before = nearest?.before ?? null
  const isBefore =
    before === null
      ? sql``
      : sql`and (${listOrder}) < (select ${listOrder} from task where project_id = ${projectId} and id = ${before})`
  const order = nearest ? sql.raw(`${listColumns.join(' desc, ')} desc limit ${nearest.limit}`) : listOrder
  const { rows } = await sql<Pick<TaskTable, 'id' | 'sort_order'>>`
    select id, sort_order from task where project_id = ${projectId} and ${inHome} ${isBefore}
    order by ${order}`.execute(db)
  return rows.map(({ id, sort_order: sortOrder }) => ({ id: id as TaskId, sortOrder })) // a brand
}

/** The status of a task at a time. */
function statusAt(
  { status, claim_expires_at: until }: Pick<TaskPlanColumns, 'status' | 'claim_expires_at'>,
  now: number,
): GraphTaskRow['status'] {
  const expired = until !== null && !isLeaseRunning(until, { now, length: claimDurationMs })
  return expired ? 'to_do' : (status as GraphTaskRow['status']) // as it was written
}

async function newestTasks(
  scope: ReadScope,
  { now, ...request }: Parameters<PlanReads['newest']>[0],
): Promise<readonly NamedTask[]> {
  const rows = await newestWithWords<
    Pick<TaskPlanColumns, 'id' | 'name' | 'status' | 'resolution' | 'claim_expires_at'>
  >(scope, 'task', {
    ...request,
    columns: ['id', 'name', 'status', 'resolution', 'claim_expires_at'],
    order: sql`seq + 0`,
  })
  return rows.map((row) => ({
    id: row.id as TaskId, // a brand
    name: row.name,
    status: statusAt(row, now),
    dropped: row.resolution === 'dropped',
  }))
}

function graphTask(row: TaskPlanColumns, dependsOn: readonly TaskId[], now: number): GraphTaskRow {
  const status = statusAt(row, now)
  return {
    id: row.id as TaskId, // a brand
    name: row.name,
    phaseId: row.phase_id as PhaseId | null, // a brand
    milestoneId: row.milestone_id as MilestoneId | null, // a brand
    parentTaskId: row.parent_task_id as TaskId | null, // a brand
    role: row.role,
    assignee: row.assignee,
    status,
    dropped: row.resolution === 'dropped',
    hasFailed: row.last_status === 'failed',
    unsettled: hasOpenItems(row),
    held: status === 'in_progress',
    sortOrder: row.sort_order,
    seq: row.seq,
    missionId: row.mission_id as MissionId | null, // a brand
    dependsOn,
  }
}

export async function applyRoleDeclared(
  { db, projectId, seq }: ProjectionContext,
  { role }: ProjectEventOf<'role.declared'>,
): Promise<void> {
  await db
    .insertInto('role')
    .values({ project_id: projectId, role, seq })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
