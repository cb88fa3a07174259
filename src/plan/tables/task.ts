import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import { parseColumn, prepareQuery } from '../../store/tables/query.ts'
import { searchText } from '../../store/tables/search.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import { isCompleted, type Task } from '../../track/domain/task.ts'
import { type DoneWhen, isEmptyDoneWhen } from '../domain/done-when.ts'
import { claimColumns, keepToken, taskById, touchTask, unclaimed } from './claim.ts'
import {
  countDependents,
  linksOf,
  lowerPrerequisites,
  restoreHeight,
  type TaskDependencies,
} from './dependency.ts'
import type { PhaseTable } from './phase.ts'
import {
  moveTaskHome,
  placeNewTask,
  placesOfTask,
  placeTask,
  type TaskListKeys,
  type TaskListRow,
  updateHomeCounts,
} from './task-lists.ts'

export interface TaskTable {
  project_id: string
  id: string
  seq: number
  mission_id: string | null
  phase_id: string | null
  milestone_id: string | null
  parent_task_id: string | null
  name: string
  goal: string | null
  step: string | null
  role: string | null
  /** The assignee: an agent's name, or a role. */
  assignee: string | null
  areas: string
  /** Its own promises as JSON. */
  done_when: string | null
  status: string
  resolution: string | null
  sort_order: number | null
  creator: string | null
  last_attempt_id: string | null
  claim_agent: string | null
  claim_actor: string | null
  /** The connection that claimed it. */
  claim_connection: string | null
  claim_token_hash: string | null
  claimed_at: number | null
  claim_expires_at: number | null
  /** The number of open inbox items that block its dependents, by the project's setting. */
  open_items: number
  /** The number of dependencies that are not done, or done and not settled. */
  open_dependencies: number
  /** The status, and whether it is blocked, for lists of ready and blocked tasks. */
  readiness: 'ready' | 'blocked' | 'in_progress' | 'done'
  /** The length of the longest chain of unfinished dependents, itself included; 0 when done. */
  height: number
  /** The list position: order of its phase, its phase, its own order, then `seq`. */
  order_phase: number
  order_phase_seq: number
  order_own: number
  created_at: number
  updated_at: number
  /** Name and goal, for the search. */
  search: string
  /** 1 for tasks of the project's own plan and of missions that accept them, else 0. */
  in_open_plan: number
}

/** A new task: without dependencies and dependents. */
function taskRow(
  { projectId, seq }: RowKey,
  task: Task,
  place: ReturnType<typeof placeByPhase>,
): Omit<Selectable<TaskTable>, 'in_open_plan'> {
  return {
    project_id: projectId,
    id: task.id,
    seq,
    mission_id: task.missionId,
    phase_id: task.phaseId,
    milestone_id: task.milestoneId,
    parent_task_id: task.parentTaskId,
    name: task.name,
    goal: task.goal,
    step: task.step,
    role: task.role,
    assignee: task.assignee ?? null,
    areas: JSON.stringify(task.areas),
    done_when: doneWhenColumn(task.doneWhen),
    status: task.status,
    resolution: task.resolution,
    sort_order: task.sortOrder,
    creator: task.creator,
    last_attempt_id: null,
    ...unclaimed,
    open_items: 0,
    open_dependencies: 0,
    readiness: readinessOf(task.status, 0),
    height: task.status === 'done' ? 0 : 1,
    ...place,
    order_own: ownOrder(task.sortOrder),
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    search: searchText(task.name, task.goal),
  }
}

export function doneWhenColumn(doneWhen: DoneWhen | null | undefined): string | null {
  return doneWhen && !isEmptyDoneWhen(doneWhen) ? JSON.stringify(doneWhen) : null
}

export function taskOfRow(row: Selectable<TaskTable>): Task {
  return {
    id: row.id as TaskId, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    milestoneId: row.milestone_id as MilestoneId | null, // a brand
    parentTaskId: row.parent_task_id as TaskId | null, // a brand
    name: row.name,
    goal: row.goal,
    step: row.step,
    role: row.role,
    ...(row.assignee !== null && { assignee: row.assignee }),
    areas: parseColumn(row.areas),
    ...(row.done_when !== null && { doneWhen: parseColumn<DoneWhen>(row.done_when) }),
    status: row.status as Task['status'], // as it was written
    resolution: row.resolution as Task['resolution'], // as it was written
    sortOrder: row.sort_order,
    creator: row.creator,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** A task to do is ready, or blocked by open dependencies. */
function readinessOf(status: Task['status'], openDependencies: number): TaskTable['readiness'] {
  if (status !== 'to_do') return status
  return openDependencies === 0 ? 'ready' : 'blocked'
}

export const missionHasNotEnded = sql`around.status in ('pending', 'in_progress')`

/** A workflow that ended by itself still accepts tasks. */
export const workflowEndedByItself = sql`around.kind = 'workflow' and around.summary is null`

function openPlanColumn(
  { projectId }: Pick<ProjectionContext, 'projectId'>,
  missionId: string | null,
  status: string | RawBuilder<unknown>,
): 1 | RawBuilder<number> {
  if (missionId === null) return 1
  return sql<number>`(select case
      when ${missionHasNotEnded} or ${workflowEndedByItself} and ${status} <> 'done' then 1 else 0 end
    from mission as around where around.project_id = ${projectId} and around.id = ${missionId})`
}

/** A mission ended or was reopened: its tasks leave the open plan, or return. */
export async function recountOpenPlan(projecting: ProjectionContext, missionId: string): Promise<void> {
  const { db, projectId } = projecting
  const column = openPlanColumn(projecting, missionId, sql`task.status`)
  await sql`update task set in_open_plan = ${column}
    where project_id = ${projectId} and mission_id = ${missionId}`.execute(db)
}

type TaskSettlement = Pick<TaskTable, 'status' | 'resolution' | 'open_items'>

/** Done, but an inbox item is open: its dependents wait. A dropped task blocks nothing. */
export function hasOpenItems({ status, resolution, open_items }: TaskSettlement): boolean {
  return isCompleted({ status, resolution }) && open_items > 0
}

/** Whether a task no longer blocks its dependents. */
function isReleased(task: TaskSettlement): boolean {
  return task.status === 'done' && !hasOpenItems(task)
}

type TaskOrder = Pick<TaskTable, 'order_phase' | 'order_phase_seq' | 'order_own'>
type OrderedPhase = Pick<PhaseTable, 'sort_order' | 'number' | 'seq'>

/** Larger than any number that a user may choose: tasks without an order come last. */
const last = Number.MAX_SAFE_INTEGER

/** More than the phases of a mission. */
const maxNumbers = 1_000_000

/** The order that people gave a phase, then its number; phases without either follow in order of creation. */
export function phaseOrder({ sort_order, number }: Omit<OrderedPhase, 'seq'>): number {
  return sort_order ?? (number === null ? last : last - maxNumbers + number)
}

/** The phase's part of a task's list position; a task without a phase comes last. */
function placeByPhase(phase: OrderedPhase | null): Omit<TaskOrder, 'order_own'> {
  if (phase === null) return { order_phase: last, order_phase_seq: last }
  return { order_phase: phaseOrder(phase), order_phase_seq: phase.seq }
}

function ownOrder(sortOrder: number | null): number {
  return sortOrder ?? last
}

export async function applyTaskPlanned(
  projecting: ProjectionContext,
  { task }: ProjectEventOf<'task.planned'>,
): Promise<void> {
  const phase = task.phaseId === null ? null : await phaseRowOf(projecting, task.phaseId)
  const row = taskRow(projecting, task, placeByPhase(phase))
  const in_open_plan = openPlanColumn(projecting, task.missionId, task.status)
  await projecting.db
    .insertInto('task')
    .values({ ...row, in_open_plan })
    .execute()
  await placeNewTask(projecting, { id: task.id, seq: projecting.seq, status: task.status }, row)
}

export const phaseById = prepareQuery((db, projectId: string, id: string) =>
  db.selectFrom('phase').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

async function phaseRowOf(
  { db, projectId }: ProjectionContext,
  phaseId: string,
): Promise<Selectable<PhaseTable>> {
  const [phase] = await phaseById(db, projectId, phaseId)
  if (!phase) throw new Error(`phase ${phaseId} is not there`)
  return phase
}

export async function applyTaskEdited(
  projecting: ProjectionContext,
  { taskId, changes }: ProjectEventOf<'task.edited'>,
): Promise<void> {
  const { db, projectId } = projecting
  const { name, goal, role, assignee, areas, creator, milestoneId, phaseId } = changes
  const { parentTaskId, sortOrder, doneWhen } = changes
  const before = await taskBefore(projecting, taskId)
  const moves = phaseId !== undefined && phaseId !== before.phase_id
  if (moves) await moveTask(projecting, before, phaseId)
  // A milestone belongs to a phase: a task that changes its phase loses it.
  const milestone = moves && milestoneId === undefined ? null : milestoneId
  await touchTask(projecting, taskId)
  const changed = {
    ...(name !== undefined && { name }),
    ...(goal !== undefined && { goal }),
    ...((name !== undefined || goal !== undefined) && {
      search: searchText(name ?? before.name, goal === undefined ? before.goal : goal),
    }),
    ...(role !== undefined && { role }),
    ...(assignee !== undefined && { assignee }),
    ...(areas !== undefined && { areas: JSON.stringify(areas) }),
    ...(creator !== undefined && { creator }),
    ...(milestone !== undefined && { milestone_id: milestone }),
    ...(parentTaskId !== undefined && { parent_task_id: parentTaskId }),
    ...(doneWhen !== undefined && { done_when: doneWhenColumn(doneWhen) }),
    ...(sortOrder !== undefined && { sort_order: sortOrder, order_own: ownOrder(sortOrder) }),
  }
  if (Object.keys(changed).length === 0) return
  await db
    .updateTable('task')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .execute()
}

/** Moves a task to another phase and its mission, and updates its list position and counts. */
export async function moveTask(
  projecting: ProjectionContext,
  before: TaskBefore,
  phaseId: string,
): Promise<void> {
  const { db, projectId, at: updatedAt } = projecting
  const phase = await phaseRowOf(projecting, phaseId)
  const home = { mission_id: phase.mission_id, phase_id: phase.id }
  await db
    .updateTable('task')
    .set({
      ...home,
      ...placeByPhase(phase),
      in_open_plan: openPlanColumn(projecting, home.mission_id, before.status),
      updated_at: updatedAt,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', before.id)
    .execute()
  await updateHomeCounts(projecting, [[before, { ...before, ...home }]])
  const status = before.status as Task['status'] // as it was written
  await moveTaskHome(
    projecting,
    { id: before.id, seq: before.seq, status },
    {
      before: { mission: before.mission_id, phase: before.phase_id },
      now: { mission: phase.mission_id, phase: phase.id },
    },
  )
}

const marked = {
  done: { status: 'done', resolution: 'unmeasured' },
  to_do: { status: 'to_do', resolution: null },
} as const

export async function applyTaskMarked(
  projecting: ProjectionContext,
  { taskId, status }: ProjectEventOf<'task.marked'>,
): Promise<void> {
  await changeTask(projecting, await aroundTask(projecting, taskId), { ...marked[status], ...unclaimed })
}

export async function applyTaskDropped(
  projecting: ProjectionContext,
  { taskId }: ProjectEventOf<'task.dropped'>,
): Promise<void> {
  const dropped = { status: 'done', resolution: 'dropped', ...unclaimed } as const
  await changeTask(projecting, await aroundTask(projecting, taskId), dropped)
}

export async function applyTaskClaimed(
  projecting: ProjectionContext,
  { taskId, claim }: ProjectEventOf<'task.claimed'>,
): Promise<void> {
  const taskContext = await aroundTask(projecting, taskId)
  await changeTask(projecting, taskContext, {
    status: 'in_progress',
    resolution: null,
    ...claimColumns(claim),
  })
  await keepToken(projecting, taskId, claim.tokenHash)
}

/** Sets the task to do again, unless an open attempt holds it. */
export async function applyClaimEnded(
  projecting: ProjectionContext,
  { taskId }: ProjectEventOf<'claim.ended'>,
): Promise<void> {
  const taskContext = await aroundTask(projecting, taskId)
  const { before } = taskContext
  if (before.status !== 'in_progress' || before.claim_expires_at === null) return
  await changeTask(projecting, taskContext, { status: 'to_do', resolution: null, ...unclaimed })
}

export type TaskBefore = Selectable<TaskTable>

export async function taskBefore({ db, projectId }: ReadScope, taskId: string): Promise<TaskBefore> {
  const [task] = await taskById(db, projectId, taskId)
  if (!task) throw new Error(`task ${taskId} is not there`)
  return task
}

/** A task and its related rows, read before anything is written. */
export interface TaskNeighborhood {
  readonly before: TaskBefore
  readonly listedRows: readonly TaskListRow[]
  readonly links: TaskDependencies
}

export async function aroundTask(scope: ReadScope, taskId: string): Promise<TaskNeighborhood> {
  const [before, listedRows, links] = await Promise.all([
    taskBefore(scope, taskId),
    placesOfTask(scope.db, scope.projectId, taskId),
    linksOf(scope, taskId),
  ])
  return { before, listedRows, links }
}

/** Changes a task and everything derived from its status: places, counts and its dependents. */
export async function changeTask(
  projecting: ProjectionContext,
  { before, listedRows, links }: TaskNeighborhood,
  changed: Partial<TaskTable> & Pick<Task, 'status' | 'resolution'>,
  places: TaskListKeys = {},
): Promise<void> {
  const { db, projectId, at: updatedAt } = projecting
  const readiness = readinessOf(changed.status, before.open_dependencies)
  await db
    .updateTable('task')
    .set({
      ...changed,
      readiness,
      in_open_plan: openPlanColumn(projecting, before.mission_id, changed.status),
      ...(changed.status === 'done' && { height: 0 }),
      updated_at: updatedAt,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', before.id)
    .execute()
  const task = { id: before.id, seq: before.seq, status: changed.status }
  const homes = [before, { ...before, ...changed, readiness }] as const
  await placeTask(projecting, task, { listedRows, places, homes })
  // A change between dropped and done may also affect its dependents.
  if (links.hasDependents) await recountDependents(projecting, before, { ...before, ...changed })
  if (changed.status === before.status) return
  if (changed.status === 'done') await lowerPrerequisites(projecting, links)
  else if (before.status === 'done') await restoreHeight(projecting, before.id)
}

type SettlementTask = Parameters<typeof isReleased>[0] & Pick<TaskTable, 'id'>

/** A task blocks its dependents again, or no longer. */
export async function recountDependents(
  projecting: ProjectionContext,
  before: SettlementTask,
  after: SettlementTask,
): Promise<void> {
  const [was, is] = [isReleased(before), isReleased(after)]
  if (was !== is) await countDependents(projecting, after.id, is ? -1 : 1)
}
