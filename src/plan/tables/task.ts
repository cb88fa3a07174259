import type { Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import { parseColumn, prepareQuery } from '../../store/tables/query.ts'
import { searchText } from '../../store/tables/search.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { Task } from '../../track/domain/task.ts'
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
  placesOf,
  placeTask,
  type TaskListKeys,
  type TaskListRow,
  updateHomeCounts,
} from './task-place.ts'

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
  /** Whom it is for: an agent's name, or a role. */
  assignee: string | null
  areas: string
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
  /** Open inbox items about it that hold up what depends on it, by the project's setting. */
  open_items: number
  /** How many of its dependencies are not done, or done and not settled. */
  open_dependencies: number
  /** Its status, and whether it waits: what lists of ready and of blocked tasks ask for. */
  readiness: 'ready' | 'blocked' | 'in_progress' | 'done'
  /** Tasks in the longest chain of unfinished ones that wait for it, itself included; 0 when it is done. */
  height: number
  /** Its place in lists: the order of its phase, its phase, its own order, then `seq`. */
  order_phase: number
  order_phase_seq: number
  order_own: number
  created_at: number
  updated_at: number
  /** Name and goal, as they are searched. */
  search: string
}

/** A task as it is planned: it depends on nothing yet, and nothing on it. */
function taskRow(
  { projectId, seq }: RowKey,
  task: Task,
  place: ReturnType<typeof placeByPhase>,
): Selectable<TaskTable> {
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

export function taskOf(row: Selectable<TaskTable>): Task {
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
    status: row.status as Task['status'], // as it was written
    resolution: row.resolution as Task['resolution'], // as it was written
    sortOrder: row.sort_order,
    creator: row.creator,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** A task to do is ready, or blocked by dependencies that are not done. */
function readinessOf(status: Task['status'], openDependencies: number): TaskTable['readiness'] {
  if (status !== 'to_do') return status
  return openDependencies === 0 ? 'ready' : 'blocked'
}

type TaskSettlement = Pick<TaskTable, 'status' | 'resolution' | 'open_items'>

/** Done, and a person has yet to say something: what depends on it waits. What was given up holds nothing up. */
export function hasOpenItems({ status, resolution, open_items }: TaskSettlement): boolean {
  return status === 'done' && resolution !== 'dropped' && open_items > 0
}

/** Whether what depends on a task need not wait for it. */
function isReleased(task: TaskSettlement): boolean {
  return task.status === 'done' && !hasOpenItems(task)
}

type TaskOrder = Pick<TaskTable, 'order_phase' | 'order_phase_seq' | 'order_own'>
type OrderedPhase = Pick<PhaseTable, 'sort_order' | 'number' | 'seq'>

/** Behind every number that anyone could name: what has no order comes last. */
const last = Number.MAX_SAFE_INTEGER

/** More phases than a mission has. */
const maxNumbers = 1_000_000

/** Where people put a phase, then its number in the mission; phases without either follow in order of creation. */
export function phaseOrder({ sort_order, number }: Omit<OrderedPhase, 'seq'>): number {
  return sort_order ?? (number === null ? last : last - maxNumbers + number)
}

/** The phase's part of a task's place in lists; a task without a phase comes after all phases. */
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
  await projecting.db.insertInto('task').values(row).execute()
  await placeNewTask(
    projecting,
    { id: task.id, seq: projecting.seq, status: task.status },
    { mission_id: task.missionId, phase_id: task.phaseId, status: task.status },
  )
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
  const { name, goal, role, assignee, creator, milestoneId, phaseId, sortOrder } = changes
  const before = await taskBefore(projecting, taskId)
  const moves = phaseId !== undefined && phaseId !== before.phase_id
  if (moves) await moveTask(projecting, before, phaseId)
  // A milestone is of its phase: a task that moves without it leaves it behind.
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
    ...(creator !== undefined && { creator }),
    ...(milestone !== undefined && { milestone_id: milestone }),
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

/** Gives a task another phase, and with it the phase's mission, its place in lists and in the counts. */
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
    .set({ ...home, ...placeByPhase(phase), updated_at: updatedAt })
    .where('project_id', '=', projectId)
    .where('id', '=', before.id)
    .execute()
  await updateHomeCounts(projecting, before, { ...home, status: before.status })
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
  done: { status: 'done', resolution: 'claimed' },
  to_do: { status: 'to_do', resolution: null },
} as const

export async function applyTaskMarked(
  projecting: ProjectionContext,
  { taskId, as }: ProjectEventOf<'task.marked'>,
): Promise<void> {
  await changeTask(projecting, await aroundTask(projecting, taskId), { ...marked[as], ...unclaimed })
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
  const around = await aroundTask(projecting, taskId)
  await changeTask(projecting, around, { status: 'in_progress', resolution: null, ...claimColumns(claim) })
  await keepToken(projecting, taskId, claim.tokenHash)
}

/** The task is to do again, unless an open attempt holds it. */
export async function applyClaimEnded(
  projecting: ProjectionContext,
  { taskId }: ProjectEventOf<'claim.ended'>,
): Promise<void> {
  const around = await aroundTask(projecting, taskId)
  const { before } = around
  if (before.status !== 'in_progress' || before.claim_expires_at === null) return
  await changeTask(projecting, around, { status: 'to_do', resolution: null, ...unclaimed })
}

export type TaskBefore = Selectable<TaskTable>

export async function taskBefore({ db, projectId }: ReadScope, taskId: string): Promise<TaskBefore> {
  const [task] = await taskById(db, projectId, taskId)
  if (!task) throw new Error(`task ${taskId} is not there`)
  return task
}

/** A task and what follows it when it changes, looked at before anything is written. */
export interface TaskNeighborhood {
  readonly before: TaskBefore
  readonly placed: readonly TaskListRow[]
  readonly links: TaskDependencies
}

export async function aroundTask(scope: ReadScope, taskId: string): Promise<TaskNeighborhood> {
  const [before, placed, links] = await Promise.all([
    taskBefore(scope, taskId),
    placesOf(scope.db, scope.projectId, taskId),
    linksOf(scope, taskId),
  ])
  return { before, placed, links }
}

/** Changes a task, and what follows from its status: where it is listed and counted, and what waits for it. */
export async function changeTask(
  projecting: ProjectionContext,
  { before, placed, links }: TaskNeighborhood,
  changed: Partial<TaskTable> & Pick<Task, 'status' | 'resolution'>,
  places: TaskListKeys = {},
): Promise<void> {
  const { db, projectId, at: updatedAt } = projecting
  await db
    .updateTable('task')
    .set({
      ...changed,
      readiness: readinessOf(changed.status, before.open_dependencies),
      ...(changed.status === 'done' && { height: 0 }),
      updated_at: updatedAt,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', before.id)
    .execute()
  const task = { id: before.id, seq: before.seq, status: changed.status }
  await placeTask(projecting, task, { placed, places, homeBefore: before })
  // Between given up and done, both of them ended, what waits for it may change as well.
  if (links.hasDependents) await recountDependents(projecting, before, { ...before, ...changed })
  if (changed.status === before.status) return
  if (changed.status === 'done') await lowerPrerequisites(projecting, links)
  else if (before.status === 'done') await restoreHeight(projecting, before.id)
}

type SettlementTask = Parameters<typeof isReleased>[0] & Pick<TaskTable, 'id'>

/** What depends on a task waits for it no longer, or again. */
export async function recountDependents(
  projecting: ProjectionContext,
  before: SettlementTask,
  after: SettlementTask,
): Promise<void> {
  const [was, is] = [isReleased(before), isReleased(after)]
  if (was !== is) await countDependents(projecting, after.id, is ? -1 : 1)
}
