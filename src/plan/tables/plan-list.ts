import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { TaskId } from '../../kernel/id.ts'
import { prepareByIds } from '../../store/tables/query.ts'
import { containsIndexedText, containsText, hasSeq, possibleTasks } from '../../store/tables/search.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { PlannedTask, PlanOwner } from '../domain/plan.ts'
import type { PlanFilter, PlanPage, PlanRequest } from '../ports/plan-reads.ts'
import { claimOf, endedClaimCondition } from './claim.ts'
import type { TaskDependencyTable } from './dependency.ts'
import { hasOpenItems, missionHasNotEnded, type TaskTable, taskOfRow, workflowEndedByItself } from './task.ts'
import { type HomeState, ownPlan } from './task-lists.ts'

/** Nothing comes after a missing task. */
export async function planPage(
  scope: ReadScope,
  request: PlanFilter,
  { limit, after, countTo }: PlanRequest,
): Promise<PlanPage> {
  const filter = { ...request, among: await possibleTasks(scope, wordsOf(request.search)) }
  const behind = after === undefined ? null : await listPlaceOf(scope, after)
  const parts = behind === undefined || limit === 0 ? [] : planParts(scope.projectId, filter, behind)
  const rows = await selectFirstTasks(scope, parts, { order: listOrder, limit })
  const tasks = await plannedTasks(scope, rows)
  if (after === undefined && rows.length < limit) return { tasks, total: rows.length }
  return { tasks, ...(await planTotal(scope, filter, { countTo, read: rows.length })) }
}

interface SearchFilter extends PlanFilter {
  /** The only tasks that may have the words of the search, if they are few. */
  readonly among: readonly number[] | null
}

async function listPlaceOf({ db, projectId }: ReadScope, taskId: TaskId): Promise<ListPosition | undefined> {
  return db
    .selectFrom('task')
    .select(['order_phase', 'order_phase_seq', 'order_own', 'seq'])
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .executeTakeFirst()
}

/** Tasks with their dependencies, in the given order: one more query. */
export async function plannedTasks(
  scope: ReadScope,
  rows: readonly Selectable<TaskTable>[],
): Promise<readonly PlannedTask[]> {
  const dependencies = await dependenciesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    task: taskOfRow(row),
    dependsOn: dependencies.get(row.id) ?? [],
    unsettled: hasOpenItems(row),
    blocked: row.status !== 'done' && row.open_dependencies > 0,
    claim: claimOf(row),
  }))
}

// One statement takes 32,766 values on SQLite.
const maxIds = 30_000

/** The dependencies of each task, in order of creation. */
export async function dependenciesOf(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, readonly TaskId[]>> {
  const found = new Map<string, TaskId[]>()
  for (let start = 0; start < taskIds.length; start += maxIds) {
    for (const edge of await dependencyEdges(scope, taskIds.slice(start, start + maxIds))) {
      const dependsOn = found.get(edge.task_id) ?? []
      dependsOn.push(edge.depends_on_id as TaskId) // a brand
      found.set(edge.task_id, dependsOn)
    }
  }
  return found
}

type DependencyRow = Pick<TaskDependencyTable, 'task_id' | 'depends_on_id' | 'seq'>

const edges = prepareByIds((db, projectId, taskIds) =>
  db
    .selectFrom('task_dependency')
    .select(['task_id', 'depends_on_id', 'seq'])
    .where('project_id', '=', projectId)
    .where('task_id', 'in', taskIds),
)

async function dependencyEdges(
  scope: ReadScope,
  taskIds: readonly string[],
): Promise<readonly DependencyRow[]> {
  if (taskIds.length === 0) return []
  return (await edges(scope, taskIds)).toSorted((one, other) => one.seq - other.seq)
}

/** The number of tasks that a filter matches: from stored counts where possible, else counted. */
async function planTotal(
  scope: ReadScope,
  filter: SearchFilter,
  {
    countTo = Number.POSITIVE_INFINITY,
    read,
  }: { readonly countTo: number | undefined; readonly read: number },
): Promise<Omit<PlanPage, 'tasks'>> {
  const { owner, phaseId, milestoneId, role, ready, blocked, unblocked, unassigned, search } = filter
  const { status, dropped } = filter
  const isOfHome = milestoneId === undefined && role === undefined && search === undefined
  // The counts of the project are by status, those of homes by state. No task of an ended mission is ready.
  const isByStatus = dropped === undefined && !ready && !blocked
  const isStored = owner === undefined && phaseId === undefined ? isByStatus : !ready || owner === 'open'
  if (!isOfHome || unblocked || unassigned || !isStored) {
    const total = read > countTo ? read : await countOf(scope, planParts(scope.projectId, filter), countTo)
    return total <= countTo ? { total } : { total: countTo, isMore: true }
  }
  const stored = await storedCount(scope, filter)
  if (stored === null) return { total: 0 }
  if (status !== 'in_progress' && !includesExpired(filter)) return { total: stored }
  const expired = await countOf(scope, [expiredPart(scope.projectId, filter)])
  return { total: status === 'in_progress' ? stored - expired : stored + expired }
}

/** Null if the filter matches no state. */
async function storedCount({ db, projectId }: ReadScope, filter: PlanFilter): Promise<number | null> {
  const { owner, phaseId, status } = filter
  const { kind, place } = placeOf(projectId, filter)
  const states = kind === 'project' ? status && [status] : homeStates(filter)
  if (states?.length === 0) return null
  const row = await db
    .selectFrom('task_count')
    .select(sql<number>`coalesce(sum(tasks), 0)`.as('total'))
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .where(place === null ? isOpenHome(projectId) : sql<boolean>`place = ${place}`)
    .$if(states !== undefined, (query) => query.where('status', 'in', states ?? []))
    .$if(phaseId !== undefined && owner !== undefined, (query) =>
      query.where(sql<boolean>`exists (select 1 from phase
        where phase.project_id = task_count.project_id and phase.id = task_count.place
          and ${owner === 'open' ? phaseOfOpenMission(projectId) : ownerCondition(owner ?? null)})`),
    )
    .executeTakeFirstOrThrow()
  return row.total
}

/** The place of null is every home of an open plan. */
function placeOf(projectId: string, { owner, phaseId }: PlanFilter) {
  if (phaseId !== undefined) return { kind: 'home_phase', place: phaseId } as const
  if (owner === undefined) return { kind: 'project', place: projectId } as const
  return { kind: 'home', place: owner === 'open' ? null : (owner ?? ownPlan) } as const
}

/** The homes of tasks in open plans, as `openPlanColumn` says it of a task. */
function isOpenHome(projectId: string): RawBuilder<boolean> {
  const missions = sql`select id from mission as around where around.project_id = ${projectId}`
  const open = sql`select ${ownPlan} union all ${missions} and ${missionHasNotEnded}`
  return sql<boolean>`(place in (${open} union all ${missions} and ${workflowEndedByItself})
    and (status not in ('done', 'dropped') or place in (${open})))`
}

const allStates = ['ready', 'blocked', 'in_progress', 'done', 'dropped'] as const satisfies HomeState[]

function homeStates(filter: PlanFilter): readonly HomeState[] {
  const { dropped } = filter
  const readiness = taskStandings(filter)
  return allStates.filter((state) => {
    if (dropped !== undefined && dropped !== (state === 'dropped')) return false
    return readiness.includes(null) || readiness.includes(state === 'dropped' ? 'done' : state)
  })
}

async function countOf(
  { db }: ReadScope,
  parts: readonly RawBuilder<unknown>[],
  countTo = Number.POSITIVE_INFINITY,
): Promise<number> {
  if (parts.length === 0) return 0
  const counts = parts.map((part) =>
    countTo === Number.POSITIVE_INFINITY
      ? sql`(select count(*) from task where ${part})`
      : sql`(select count(*) from (select 1 from task where ${part} limit ${countTo + 1}) as counted)`,
  )
  const { rows } = await sql<{ total: number }>`select ${sql.join(counts, sql` + `)} as total`.execute(db)
  return rows[0]?.total ?? 0
}

/** The first tasks of several disjoint parts: each is read in order from its own index, then merged. */
export async function selectFirstTasks(
  { db }: ReadScope,
  parts: readonly RawBuilder<unknown>[],
  { order, limit }: { readonly order: RawBuilder<unknown>; readonly limit: number },
): Promise<readonly Selectable<TaskTable>[]> {
  if (parts.length === 0) return []
  const firsts = parts.map((part) => sql`select * from task where ${part} order by ${order} limit ${limit}`)
  const [only] = firsts
  const parted = firsts.map((first, index) => sql`select * from (${first}) as ${sql.ref(`part${index}`)}`)
  const query =
    firsts.length === 1 && only
      ? only
      : sql`select * from (${sql.join(parted, sql` union all `)}) as merged order by ${order} limit ${limit}`
  const { rows } = await sql<Selectable<TaskTable>>`${query}`.execute(db)
  return rows
}

type PartCondition = RawBuilder<unknown>
type TaskReadiness = TaskTable['readiness']

/** A task's position in the list. */
export type ListPosition = Pick<TaskTable, 'order_phase' | 'order_phase_seq' | 'order_own' | 'seq'>

export const listColumns = ['order_phase', 'order_phase_seq', 'order_own', 'seq'] as const

export const listOrder = sql.raw(listColumns.join(', '))

/** The tasks of a filter, as disjoint parts with an index each, in list order. */
function planParts(
  projectId: string,
  filter: SearchFilter,
  behind: ListPosition | null = null,
): readonly PartCondition[] {
  const lead = leadingColumn(filter)
  const found = planConditions(projectId, filter, lead)
  const standings = taskStandings(filter).map((readiness) =>
    allConditions([
      ...found,
      ...readinessCondition(readiness, lead, filter),
      ...afterCursorCondition(behind, lead),
    ]),
  )
  return includesExpired(filter) ? [...standings, expiredPart(projectId, filter, behind)] : standings
}

/** Tasks with an expired claim: they are to do, whatever their row says. */
function expiredPart(
  projectId: string,
  filter: SearchFilter,
  behind: ListPosition | null = null,
): PartCondition {
  const lead = 'claim_expires_at'
  return allConditions([
    ...planConditions(projectId, filter, lead),
    endedClaimCondition(filter.now),
    ...(filter.ready ? [sql`open_dependencies = 0`] : []),
    ...(filter.blocked ? [sql`open_dependencies > 0`] : []),
    ...afterCursorCondition(behind, lead),
  ])
}

/** Null means any. */
function taskStandings({ status, ready, blocked }: PlanFilter): readonly (TaskReadiness | null)[] {
  if (!ready && !blocked) {
    if (status === undefined) return [null]
    return status === 'to_do' ? ['ready', 'blocked'] : [status]
  }
  if ((ready && blocked) || (status !== undefined && status !== 'to_do')) return []
  return ready ? ['ready'] : ['blocked']
}

function includesExpired({ status, ready, blocked }: PlanFilter): boolean {
  if (ready && blocked) return false
  return status === 'to_do' || (status === undefined && Boolean(ready || blocked))
}

// Literal text, not a parameter: otherwise no partial index matches.
const readinessText = {
  ready: sql`'ready'`,
  blocked: sql`'blocked'`,
  in_progress: sql`'in_progress'`,
  done: sql`'done'`,
} as const satisfies Record<TaskReadiness, PartCondition>

function readinessCondition(
  readiness: TaskReadiness | null,
  lead: IndexColumn,
  { now }: PlanFilter,
): readonly PartCondition[] {
  if (readiness === null) return []
  const indexed = lead === null || lead === 'mission_id'
  const column = indexed ? sql`readiness` : sql`coalesce(readiness, '')`
  const is = sql`${column} = ${readinessText[readiness]}`
  if (readiness !== 'in_progress') return [is]
  return [is, sql`(claim_expires_at is null or not ${endedClaimCondition(now)})`]
}

function afterCursorCondition(behind: ListPosition | null, lead: IndexColumn): readonly PartCondition[] {
  if (behind === null) return []
  const place = [behind.order_phase, behind.order_phase_seq, behind.order_own, behind.seq]
  const order =
    lead === 'claim_expires_at' || lead === 'seq'
      ? sql`order_phase + 0, order_phase_seq, order_own, seq`
      : listOrder
  return [sql`(${order}) > (${sql.join(place)})`]
}

function allConditions(conditions: readonly PartCondition[]): PartCondition {
  return sql.join(conditions, sql` and `)
}

type Condition = RawBuilder<unknown>

/** The column whose index finds the tasks. */
export type IndexColumn =
  | 'seq'
  | 'phase_id'
  | 'milestone_id'
  | 'mission_id'
  | 'role'
  | 'claim_expires_at'
  | null

/** The most selective column. The project's own plan may contain nearly all tasks. */
function leadingColumn(filter: SearchFilter): IndexColumn {
  const { phaseId, milestoneId, owner, role, unassigned, among } = filter
  if (among !== null) return 'seq'
  if (phaseId !== undefined) return 'phase_id'
  if (milestoneId !== undefined) return 'milestone_id'
  if (typeof owner === 'string' && owner !== 'open') return 'mission_id'
  if (role !== undefined || unassigned) return 'role'
  return owner === null ? 'mission_id' : null
}

/** The conditions of a filter, without the task's state. */
function planConditions(projectId: string, filter: SearchFilter, lead: IndexColumn): readonly Condition[] {
  const { owner, phaseId, milestoneId, role, unassigned, search, ready, unblocked, dropped, among } = filter
  return [
    sql`project_id = ${projectId}`,
    ...(lead === 'seq' && among ? [hasSeq(among)] : []),
    ...spanCondition(owner, lead),
    ...equalCondition('phase_id', phaseId, lead),
    ...equalCondition('milestone_id', milestoneId, lead),
    ...equalCondition('role', role, lead),
    ...(unassigned ? [lead === 'role' ? sql`role is null` : sql`coalesce(role, '') = ''`] : []),
    ...wordsOf(search).map((word) => (lead === null ? containsIndexedText(word) : containsText(word))),
    ...(ready && owner !== 'open' ? [openPlanCondition(lead)] : []),
    ...(dropped === undefined
      ? []
      : [sql`coalesce(resolution, '') ${sql.raw(dropped ? '=' : '<>')} 'dropped'`]),
    ...(unblocked ? [sql`(open_dependencies = 0 or status = 'done')`] : []),
  ]
}

function openPlanCondition(lead: IndexColumn): Condition {
  return lead === null || lead === 'role' ? inOpenPlan : isInOpenPlan
}

function spanCondition(owner: PlanFilter['owner'], lead: IndexColumn): readonly Condition[] {
  if (owner === undefined) return []
  if (owner === 'open') return [openPlanCondition(lead)]
  if (lead === 'mission_id') return [ownerCondition(owner)]
  // The project's own plan is always open, and the index of roles goes on with that.
  return [hasOwner(owner), ...(owner === null && lead === 'role' ? [inOpenPlan] : [])]
}

/** Tasks of the project's own plan and of open missions. Literal text, so that indexes match. */
export const inOpenPlan = sql`in_open_plan = 1`

/** The same, hidden from the indexes where another one is to lead. */
export const isInOpenPlan = sql`in_open_plan + 0 = 1`

/** The ids of missions that still accept tasks, each from an index of open missions. */
export function openMissions(projectId: string): Condition {
  const missions = sql`select id from mission as around where around.project_id = ${projectId}`
  return sql`${missions} and ${missionHasNotEnded} union all ${missions} and ${workflowEndedByItself}`
}

/** Phases of the project's own plan and of open missions. */
export function phaseOfOpenMission(projectId: string): Condition {
  return sql`(phase.mission_id is null or phase.mission_id in (${openMissions(projectId)}))`
}

export function ownerCondition(owner: PlanOwner): Condition {
  return owner === null ? sql`mission_id is null` : sql`mission_id = ${owner}`
}

/** Hides the column from the indexes: SQLite has no statistics here and might choose the wrong one. */
export function hasOwner(owner: PlanOwner): Condition {
  return sql`coalesce(mission_id, '') = ${owner ?? ownPlan}`
}

function equalCondition(column: string, value: string | undefined, lead: IndexColumn): readonly Condition[] {
  if (value === undefined) return []
  return [
    lead === column ? sql`${sql.ref(column)} = ${value}` : sql`coalesce(${sql.ref(column)}, '') = ${value}`,
  ]
}

function wordsOf(search: string | undefined): readonly string[] {
  return (search ?? '').split(/\s+/).filter((word) => word !== '')
}
