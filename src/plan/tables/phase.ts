import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { MilestoneId, MissionId, PhaseId } from '../../kernel/id.ts'
import { prepareByIds, prepareByLimit, prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { Phase, PhaseWithWork } from '../../track/domain/mission.ts'
import type { PhaseCounts } from '../../track/ports/mission-reads.ts'
import type { Milestone } from '../domain/plan.ts'
import type { PlanReads } from '../ports/plan-reads.ts'
import { ownerCondition, phaseOfOpenMission } from './plan-list.ts'
import { moveTask, phaseOrder } from './task.ts'

export interface PhaseTable {
  project_id: string
  id: string
  seq: number
  mission_id: string | null
  number: number | null
  name: string
  status: string
  sort_order: number | null
  first_start: number | null
  last_end: number | null
  created_at: number
  completed_at: number | null
}

export interface MilestoneTable {
  project_id: string
  id: string
  seq: number
  phase_id: string
  name: string | null
  criterion: string | null
  reached: number
  created_at: number
}

function phaseRow({ projectId, seq }: RowKey, phase: Phase): Insertable<PhaseTable> {
  return {
    project_id: projectId,
    id: phase.id,
    seq,
    mission_id: phase.missionId,
    number: phase.number,
    name: phase.name,
    status: phase.status,
    sort_order: phase.sortOrder,
    first_start: null,
    last_end: null,
    created_at: phase.createdAt,
    completed_at: phase.completedAt,
  }
}

export function phaseOf(row: Selectable<PhaseTable>): Phase {
  return {
    id: row.id as PhaseId, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    number: row.number,
    name: row.name,
    status: row.status as Phase['status'], // as it was written
    sortOrder: row.sort_order,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  }
}

export async function applyPhaseCreated(
  projecting: ProjectionContext,
  { phase }: ProjectEventOf<'phase.created'>,
): Promise<void> {
  await retireId(projecting, phase.id)
  const number = await numberOf(projecting, phase)
  await projecting.db
    .insertInto('phase')
    .values(phaseRow(projecting, { ...phase, number }))
    .execute()
}

/** A phase of the project's own plan has none. */
async function numberOf(
  projecting: ProjectionContext,
  { missionId, number: requestedNumber }: Phase,
): Promise<number | null> {
  if (missionId === null) return null
  const { db, projectId } = projecting
  const rows = await db
    .selectFrom('phase')
    .select(['id', 'number'])
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .execute()
  const usedNumbers = new Map(
    rows.flatMap(({ id, number }) => (number === null ? [] : [[number, id] as const])),
  )
  const { number, moved } = numbering(usedNumbers, requestedNumber)
  if (moved) await reorderTasks(projecting, await update(projecting, moved.id, { number: moved.number }))
  return number
}

/** A phase of an ended mission is renamed to `P1@m-…`, so that a new phase can have its id. */
async function retireId(projecting: ProjectionContext, id: string): Promise<void> {
  const { db, projectId } = projecting
  const phase = await db
    .selectFrom('phase')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (phase === undefined || phase.mission_id === null) return
  const retiredId = `${id}@${phase.mission_id}`
  await update(projecting, id, { number: null })
  await db
    .insertInto('phase')
    .values({ ...phase, id: retiredId })
    .execute()
  for (const table of [
    'task',
    'milestone',
    'attempt',
    'decision',
    'issue',
    'progress',
    'inbox_item',
  ] as const) {
    await sql`update ${sql.table(table)} set phase_id = ${retiredId}
      where project_id = ${projectId} and phase_id = ${id}`.execute(db)
  }
  await sql`update task_place set place = ${retiredId}
    where project_id = ${projectId} and kind = 'phase' and place = ${id}`.execute(db)
  await sql`update task_count set place = ${retiredId}
    where project_id = ${projectId} and kind in ('phase', 'home_phase') and place = ${id}`.execute(db)
  await db.deleteFrom('phase').where('project_id', '=', projectId).where('id', '=', id).execute()
}

export async function applyPhaseReopened(
  projecting: ProjectionContext,
  { phaseId }: ProjectEventOf<'phase.reopened'>,
): Promise<void> {
  await update(projecting, phaseId, { status: 'in_progress', completed_at: null })
}

export async function applyPhaseCompleted(
  projecting: ProjectionContext,
  { phaseId }: ProjectEventOf<'phase.completed'>,
): Promise<void> {
  await update(projecting, phaseId, { status: 'completed', completed_at: projecting.at })
}

export async function applyPhaseEdited(
  projecting: ProjectionContext,
  { phaseId, changes }: ProjectEventOf<'phase.edited'>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  const { name, status, sortOrder } = changes
  const ended = status === 'completed' ? projecting.at : null
  const phase = await update(projecting, phaseId, {
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status, completed_at: ended }),
    ...(sortOrder !== undefined && { sort_order: sortOrder }),
  })
  if (sortOrder !== undefined) await reorderTasks(projecting, phase)
}

async function reorderTasks(
  { db, projectId }: ProjectionContext,
  phase: Pick<Selectable<PhaseTable>, 'id' | 'sort_order' | 'number'>,
): Promise<void> {
  await db
    .updateTable('task')
    .set({ order_phase: phaseOrder(phase) })
    .where('project_id', '=', projectId)
    .where('phase_id', '=', phase.id)
    .execute()
}

async function update(
  { db, projectId }: ProjectionContext,
  phaseId: string,
  changed: Partial<PhaseTable>,
): Promise<Selectable<PhaseTable>> {
  return db
    .updateTable('phase')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', phaseId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The number of a phase in its mission, and the phase that has to make room for it. */
export interface PhaseNumbering {
  readonly number: number
  readonly moved: { readonly id: string; readonly number: number } | null
}

/** Assigns a phase number. Phases of early log entries have none: they get the next one, and make room for a later entry that names it. */
function numbering(usedNumbers: ReadonlyMap<number, string>, number: number | null): PhaseNumbering {
  const next = Math.max(0, ...usedNumbers.keys()) + 1
  if (number === null) return { number: next, moved: null }
  const holder = usedNumbers.get(number)
  return { number, moved: holder === undefined ? null : { id: holder, number: next } }
}

function milestoneRow({ projectId, seq }: RowKey, milestone: Milestone): Insertable<MilestoneTable> {
  return {
    project_id: projectId,
    id: milestone.id,
    seq,
    phase_id: milestone.phaseId,
    name: milestone.name,
    criterion: milestone.criterion,
    reached: milestone.reached ? 1 : 0,
    created_at: milestone.createdAt,
  }
}

function milestoneOf(row: Selectable<MilestoneTable>): Milestone {
  return {
    id: row.id as MilestoneId, // a brand
    phaseId: row.phase_id as PhaseId, // a brand
    name: row.name,
    criterion: row.criterion,
    reached: row.reached === 1,
    createdAt: row.created_at,
  }
}

export async function applyMilestoneCreated(
  projecting: ProjectionContext,
  { milestone }: ProjectEventOf<'milestone.created'>,
): Promise<void> {
  await projecting.db.insertInto('milestone').values(milestoneRow(projecting, milestone)).execute()
}

export async function applyMilestoneEdited(
  projecting: ProjectionContext,
  { milestoneId, changes }: ProjectEventOf<'milestone.edited'>,
): Promise<void> {
  const { name, criterion, reached, phaseId } = changes
  const changed = {
    ...(name !== undefined && { name }),
    ...(criterion !== undefined && { criterion }),
    ...(reached !== undefined && { reached: reached ? 1 : 0 }),
    ...(phaseId !== undefined && { phase_id: phaseId }),
  }
  if (Object.keys(changed).length === 0) return
  await projecting.db
    .updateTable('milestone')
    .set(changed)
    .where('project_id', '=', projecting.projectId)
    .where('id', '=', milestoneId)
    .execute()
  if (phaseId !== undefined) await moveTasks(projecting, milestoneId, phaseId)
}

/** Done tasks keep their milestone. */
async function moveTasks(projecting: ProjectionContext, milestoneId: string, phaseId: string): Promise<void> {
  const tasks = await projecting.db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projecting.projectId)
    .where('milestone_id', '=', milestoneId)
    .where('status', '<>', 'done')
    .where((eb) => eb.or([eb('phase_id', 'is', null), eb('phase_id', '<>', phaseId)]))
    .execute()
  for (const task of tasks) await moveTask(projecting, task, phaseId)
}

type PhaseReads = Pick<
  PlanReads,
  'phases' | 'phase' | 'phasesWithIds' | 'phaseIdsLike' | 'milestones' | 'milestone'
>

const maxPhases = 1000

/** The project's own plan comes first. */
const missionSeq = sql`coalesce((select seq from mission
  where mission.project_id = phase.project_id and mission.id = phase.mission_id), 0)`

const phasesByIds = prepareByIds((db, projectId, ids) =>
  db.selectFrom('phase').selectAll().where('project_id', '=', projectId).where('id', 'in', ids),
)

export function planPlaceReads(scope: ReadScope): PhaseReads {
  const { db, projectId } = scope
  const phases = () => db.selectFrom('phase').selectAll().where('project_id', '=', projectId)
  return {
    async phases(owner) {
      const rows = await phases()
        .where(sql<boolean>`${owner === 'open' ? phaseOfOpenMission(projectId) : ownerCondition(owner)}`)
        .orderBy(missionSeq)
        .orderBy(sql`sort_order is null`)
        .orderBy('sort_order')
        .orderBy(sql`coalesce(number, 0)`)
        .orderBy('seq')
        .limit(maxPhases)
        .execute()
      return rows.map(phaseOf)
    },
    async phasesWithIds(ids) {
      return ids.length === 0 ? [] : (await phasesByIds(scope, [...new Set(ids)])).map(phaseOf)
    },
    async phaseIdsLike(prefixes) {
      if (prefixes.length === 0) return []
      const rows = await db
        .selectFrom('phase')
        .select('id')
        .where('project_id', '=', projectId)
        .where((eb) =>
          eb.or(prefixes.map((prefix) => eb.and([eb('id', '>=', prefix), eb('id', '<', `${prefix}\uffff`)]))),
        )
        .limit(maxPhases)
        .execute()
      return rows.map(({ id }) => id)
    },
    async phase(id) {
      const row = await phases().where('id', '=', id).executeTakeFirst()
      return row ? phaseOf(row) : null
    },
    async milestones({ owner, phaseId }) {
      const rows = await db
        .selectFrom('milestone')
        .innerJoin('phase', (join) =>
          join
            .onRef('phase.project_id', '=', 'milestone.project_id')
            .onRef('phase.id', '=', 'milestone.phase_id'),
        )
        .selectAll('milestone')
        .where('milestone.project_id', '=', projectId)
        .$if(owner !== undefined, (query) =>
          query.where(
            sql<boolean>`${owner === 'open' ? phaseOfOpenMission(projectId) : ownerCondition(owner ?? null)}`,
          ),
        )
        .$if(phaseId !== undefined, (query) => query.where('milestone.phase_id', '=', phaseId ?? ''))
        .orderBy(missionSeq)
        .orderBy(sql`phase.sort_order is null`)
        .orderBy('phase.sort_order')
        .orderBy(sql`coalesce(phase.number, 0)`)
        .orderBy('phase.seq')
        .orderBy('milestone.seq')
        .limit(maxPhases)
        .execute()
      return rows.map(milestoneOf)
    },
    async milestone(id) {
      const row = await db
        .selectFrom('milestone')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? milestoneOf(row) : null
    },
  }
}

const phasesOfMissions = prepareByLimit((limit) =>
  prepareByIds((db, projectId, missionIds) =>
    db
      .selectFrom('phase')
      .selectAll()
      .select(
        sql<number>`case when exists (select 1 from task_count
        where task_count.project_id = phase.project_id and task_count.kind = 'phase'
          and task_count.place = phase.id and task_count.tasks > 0) then 1 else 0 end`.as('has_work'),
      )
      .where('project_id', '=', projectId)
      .where('mission_id', 'in', missionIds)
      .orderBy('mission_id')
      .orderBy(sql`sort_order is null`)
      .orderBy('sort_order')
      .orderBy('number')
      .limit(limit),
  ),
)

/** The phases of missions, in order. */
export async function openPhases(
  scope: ReadScope,
  missionIds: readonly MissionId[],
  limit: number,
): Promise<readonly PhaseWithWork[]> {
  const rows = await phasesOfMissions(limit)(scope, missionIds)
  return rows.map((row) => ({ ...phaseOf(row), hasWork: row.has_work === 1 }))
}

const talliesOfMission = prepareQuery((db, projectId: string, missionId: string) =>
  db
    .selectFrom('phase')
    .where('phase.project_id', '=', projectId)
    .where('phase.mission_id', '=', missionId)
    .select([
      'phase.id',
      'phase.first_start',
      'phase.last_end',
      sql<number>`(select coalesce(sum(tasks), 0) from task_count
        where task_count.project_id = phase.project_id and task_count.kind = 'phase'
          and task_count.place = phase.id)`.as('tasks'),
      sql<number>`(select count(*) from attempt
        where attempt.project_id = phase.project_id and attempt.phase_id = phase.id
          and attempt.status = 'open')`.as('open_attempts'),
    ])
    .orderBy('phase.number')
    .limit(1000),
)

/** In order of the phase numbers. A task counts in its home phase and where it was worked on. */
export async function phaseTallies(
  { db, projectId }: ReadScope,
  missionId: MissionId,
): Promise<readonly PhaseCounts[]> {
  const rows = await talliesOfMission(db, projectId, missionId)
  return rows.map((row) => ({
    phaseId: row.id as PhaseId, // a brand
    tasks: row.tasks,
    firstStart: row.first_start,
    lastEnd: row.last_end,
    openAttempts: row.open_attempts,
  }))
}
