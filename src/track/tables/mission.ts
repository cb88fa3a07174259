import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import type { Page } from '../../kernel/page.ts'
import type { DoneWhen } from '../../plan/domain/done-when.ts'
import { openPhases, phaseOf, phaseTallies } from '../../plan/tables/phase.ts'
import { doneWhenColumn, phaseById, recountOpenPlan } from '../../plan/tables/task.ts'
import {
  actorOfRow,
  cachedQuery,
  idsByPrefix,
  nonEmptyValues,
  pageOf,
  parseColumn,
  prepareByIds,
  prepareByLimit,
  prepareQuery,
} from '../../store/tables/query.ts'
import { containsText, newestWithWords, searchText } from '../../store/tables/search.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { MissionChange } from '../domain/changes.ts'
import type { Mission } from '../domain/mission.ts'
import type { Task } from '../domain/task.ts'
import type {
  DoubtedTasks,
  MissionCounts,
  MissionListing,
  MissionOverview,
  MissionReads,
  MissionTotals,
  MissionTree,
} from '../ports/mission-reads.ts'
import { attemptOf } from './attempt.ts'
import { linesOfMissions, noMissionLines } from './mission-change.ts'
import { acceptingItem, acceptingReview } from './verdict-reads.ts'

export interface MissionTable {
  project_id: string
  id: string
  seq: number
  kind: string
  name: string
  objective: string | null
  description: string | null
  profile: string | null
  total_phases: number
  scope: string | null
  constraints: string | null
  /** The promises of its tasks as JSON. */
  done_when: string | null
  status: string
  summary: string | null
  achievements: string
  limitations: string
  files_changed: number
  tokens_input: number
  tokens_output: number
  created_at: number
  completed_at: number | null
  /** Name, objective and description, for the search. */
  search: string
}

function missionRow({ projectId, seq }: RowKey, mission: Mission): Insertable<MissionTable> {
  return {
    project_id: projectId,
    id: mission.id,
    seq,
    kind: mission.kind,
    name: mission.name,
    objective: mission.objective,
    description: mission.description,
    profile: mission.profile,
    total_phases: mission.totalPhases,
    scope: mission.scope,
    constraints: mission.constraints,
    done_when: doneWhenColumn(mission.doneWhen),
    status: mission.status,
    summary: mission.summary,
    achievements: JSON.stringify(mission.achievements),
    limitations: JSON.stringify(mission.limitations),
    files_changed: 0,
    tokens_input: 0,
    tokens_output: 0,
    created_at: mission.createdAt,
    completed_at: mission.completedAt,
    search: searchText(mission.name, mission.objective, mission.description),
  }
}

function missionOf(row: Selectable<MissionTable>): Mission {
  return {
    id: row.id as MissionId, // a brand
    kind: row.kind as Mission['kind'], // as it was written
    name: row.name,
    objective: row.objective,
    description: row.description,
    profile: row.profile as Mission['profile'], // as it was written
    totalPhases: row.total_phases,
    scope: row.scope,
    constraints: row.constraints,
    ...(row.done_when !== null && { doneWhen: parseColumn<DoneWhen>(row.done_when) }),
    status: row.status as Mission['status'], // as it was written
    summary: row.summary,
    achievements: parseColumn(row.achievements),
    limitations: parseColumn(row.limitations),
    createdAt: row.created_at,
    completedAt: row.completed_at,
  }
}

export async function applyMissionStarted(
  projecting: ProjectionContext,
  { mission }: ProjectEventOf<'mission.started'>,
): Promise<void> {
  await projecting.db.insertInto('mission').values(missionRow(projecting, mission)).execute()
}

export async function applyMissionEnded(
  projecting: ProjectionContext,
  ended: ProjectEventOf<'mission.ended'>,
): Promise<void> {
  await update(projecting, ended.missionId, {
    status: ended.status,
    summary: ended.summary,
    achievements: JSON.stringify(ended.achievements),
    limitations: JSON.stringify(ended.limitations),
    completed_at: projecting.at,
  })
  await recountOpenPlan(projecting, ended.missionId)
  if (ended.status === 'failed') await failPhases(projecting, ended.missionId)
}

/** An open phase of a failed mission fails with it. */
async function failPhases({ db, projectId }: ProjectionContext, missionId: string): Promise<void> {
  await db
    .updateTable('phase')
    .set({ status: 'failed' })
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('status', 'in', ['pending', 'in_progress'])
    .execute()
}

export async function applyMissionExtended(
  projecting: ProjectionContext,
  { missionId, totalPhases }: ProjectEventOf<'mission.extended'>,
): Promise<void> {
  await update(projecting, missionId, { total_phases: totalPhases })
}

export async function applyMissionReopened(
  projecting: ProjectionContext,
  { missionId }: ProjectEventOf<'mission.reopened'>,
): Promise<void> {
  await update(projecting, missionId, { status: 'in_progress', completed_at: null })
  await recountOpenPlan(projecting, missionId)
}

async function update(
  { db, projectId }: ProjectionContext,
  missionId: string,
  changed: Partial<MissionTable>,
): Promise<void> {
  await db
    .updateTable('mission')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', missionId)
    .execute()
}

const missionById = prepareQuery((db, projectId: string, id: string) =>
  db.selectFrom('mission').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

const missionsByIds = prepareByIds((db, projectId, ids) =>
  db.selectFrom('mission').selectAll().where('project_id', '=', projectId).where('id', 'in', ids),
)

export function missionReads(scope: ReadScope): MissionReads {
  const { db, projectId } = scope
  const phases = () => db.selectFrom('phase').selectAll().where('project_id', '=', projectId)
  return {
    find: cachedQuery(async (id: string) => {
      const [row] = await missionById(db, projectId, id)
      return row ? missionOf(row) : null
    }),
    endedBy: (mission) => endedBy(scope, mission),
    async withIds(ids) {
      return ids.length === 0 ? [] : (await missionsByIds(scope, [...new Set(ids)])).map(missionOf)
    },
    async names(ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('mission')
        .select(['id', 'name'])
        .where('project_id', '=', projectId)
        .where('id', 'in', ids.slice(0, 200))
        .execute()
      return new Map(rows.map(({ id, name }) => [id as MissionId, name])) // a brand
    },
    async treesOf(missionId) {
      const rows = await db
        .selectFrom('attempt')
        .select('tree_top')
        .where('project_id', '=', projectId)
        .where('mission_id', '=', missionId)
        .groupBy('tree_top')
        .orderBy(({ fn }) => fn.min('seq'))
        .limit(50)
        .execute()
      return rows.map(({ tree_top }) => tree_top)
    },
    tree: (missionId, top) => missionTree(scope, missionId, top),
    async tasksInTree(missionId, top, among) {
      if (among.length === 0) return new Set()
      const rows = await attemptsInTree(db, projectId, missionId, top)
        .select('task_id')
        .distinct()
        .where('task_id', 'in', [...among])
        .execute()
      return new Set(rows.map(({ task_id }) => task_id as TaskId)) // a brand
    },
    lastEnded: (missionId, top) => lastEndedAttempt(scope, missionId, top),
    lines: async (id) => (await linesOfMissions(scope, [id])).get(id) ?? noMissionLines,
    async openNamed(name) {
      const rows = await db
        .selectFrom('mission')
        .select('id')
        .where('project_id', '=', projectId)
        .where('status', 'in', ['pending', 'in_progress'])
        .where('name', '=', name)
        .orderBy('seq', 'desc')
        .limit(3)
        .execute()
      return rows.map(({ id }) => ({ id: id as MissionId })) // a brand
    },
    list: (request) => listMissions(scope, request),
    newest: (request) => newestWithWords(scope, 'mission', { ...request, columns: ['id', 'name', 'status'] }),
    listings: (missions) => missionListEntries(scope, missions),
    glances: (ids) => missionGlances(scope, ids),
    async phases(missionId) {
      return openPhases(scope, [missionId], 1000)
    },
    async phase(missionId, number) {
      const row = await phases()
        .where('mission_id', '=', missionId)
        .where('number', '=', number)
        .executeTakeFirst()
      return row ? phaseOf(row) : null
    },
    async phaseById(id) {
      const [row] = await phaseById(db, projectId, id)
      return row ? phaseOf(row) : null
    },
    tallies: (missionId) => phaseTallies(scope, missionId),
    now: (missionId) => missionFigures(scope, missionId),
    totals: (missionId) => missionTotals(scope, missionId),
    doubtedTasks: (missionId, limit) => doubtedTasks(scope, missionId, limit),
    idsLike: (prefix, limit) => idsByPrefix(scope, 'mission', { prefix, limit }),
  }
}

/** How many log entries are searched for the end of a mission. Of an end after these it is not said whose it was. */
const maxSearched = 20_000

/** Read from the log: on from the last attempt before the end, because no index leads to the entry. */
async function endedBy(
  { db, projectId }: ReadScope,
  { id, completedAt }: Pick<Mission, 'id' | 'completedAt'>,
): Promise<string | null> {
  if (completedAt === null) return null
  const { before } = await db
    .selectFrom('attempt')
    .select(({ fn }) => fn.max('seq').as('before'))
    .where('project_id', '=', projectId)
    .where('mission_id', '=', id)
    .where('opened_at', '<', completedAt)
    .executeTakeFirstOrThrow()
  const row = await db
    .selectFrom('project_event')
    .select(['actor', 'channel'])
    .where('project_id', '=', projectId)
    .where('seq', '>', before ?? 0)
    .where('seq', '<=', Number(before ?? 0) + maxSearched)
    .where('kind', '=', 'mission.ended')
    .where('recorded_at', '=', completedAt)
    .where('body', 'like', `%"missionId":"${id}"%`)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return row ? displayName({ actor: actorOfRow(row) }) : null
}

type MissionListRequest = Parameters<MissionReads['list']>[0]

async function listMissions(
  { db, projectId }: ReadScope,
  request: MissionListRequest,
): Promise<Page<Mission>> {
  const { statuses, search } = request
  const matching = db
    .selectFrom('mission')
    .where('project_id', '=', projectId)
    .$if(statuses !== undefined, (query) => query.where('status', 'in', nonEmptyValues(statuses ?? [])))
    .$if(search !== undefined, (query) =>
      query.where(sql<boolean>`(${containsText(search ?? '')} or id = ${search})`),
    )
  return pageOf(matching, request, missionOf)
}

const nothing: MissionCounts = {
  openAttempts: 0,
  openBlockers: 0,
  openItems: 0,
  doneTasks: 0,
  toDoTasks: 0,
  left: { toDoAgain: 0, contradicted: 0 },
}

/** Of the tasks of an ended mission in a state. */
function leftTasks(condition: RawBuilder<unknown>) {
  return sql<number>`case when mission.completed_at is null then 0 else (select count(*) from task
    where task.project_id = mission.project_id and task.mission_id = mission.id and ${condition}) end`
}

async function missionFigures(scope: ReadScope, missionId: MissionId): Promise<MissionCounts> {
  return (await missionFiguresById(scope, [missionId])).get(missionId) ?? nothing
}

/** Missions with phases and current state, in the given order: always two queries. */
async function missionListEntries(
  scope: ReadScope,
  missions: readonly Mission[],
): Promise<readonly MissionListing[]> {
  if (missions.length === 0) return []
  const ids = missions.map(({ id }) => id)
  const now = await missionFiguresById(scope, ids)
  const phases = Map.groupBy(await openPhases(scope, ids, 10_000), ({ missionId }) => missionId)
  return missions.map((mission) => ({
    mission,
    now: now.get(mission.id) ?? nothing,
    phases: phases.get(mission.id) ?? [],
  }))
}

const standings = prepareByIds((db, projectId, missionIds) =>
  db
    .selectFrom('mission')
    .where('mission.project_id', '=', projectId)
    .where('mission.id', 'in', missionIds)
    .select([
      'mission.id',
      sql<number>`(select count(*) from attempt
        where attempt.project_id = mission.project_id and attempt.mission_id = mission.id
          and attempt.status = 'open')`.as('open_attempts'),
      sql<number>`(select count(*) from inbox_item
        where inbox_item.project_id = mission.project_id and inbox_item.mission_id = mission.id
          and inbox_item.status = 'open' and inbox_item.kind in ('blocker', 'review'))`.as('open_blockers'),
      sql<number>`(select count(*) from inbox_item
        where inbox_item.project_id = mission.project_id and inbox_item.mission_id = mission.id
          and inbox_item.status = 'open')`.as('open_items'),
      sql<number>`${tasksOf('done')} - (select count(*) from task
        where task.project_id = mission.project_id and task.mission_id = mission.id
          and task.resolution = 'dropped')`.as('done_tasks'),
      tasksOf('to_do').as('to_do_tasks'),
      tasksOf('in_progress').as('begun_tasks'),
      sql<number>`(select count(*) from attempt cross join task_place as place
        where attempt.project_id = mission.project_id and attempt.status = 'open'
          and place.project_id = attempt.project_id and place.task_id = attempt.task_id
          and place.kind = 'mission' and place.place = mission.id)`.as('running_tasks'),
      leftTasks(
        sql`task.readiness in ('ready', 'blocked') and exists (select 1 from attempt as last
          where last.project_id = task.project_id and last.id = task.last_attempt_id
            and last.status in ('success', 'partial_success'))`,
      ).as('again_tasks'),
      leftTasks(
        sql`task.readiness = 'done' and task.resolution <> 'dropped'
          and exists (select 1 from attempt_end as ended where ended.project_id = task.project_id
            and ended.attempt_id = task.last_attempt_id and ended.verdict = 'contradicted')
          and not exists (select 1 from inbox_item as item where ${acceptingItem})
          and not exists (select 1 from review where ${acceptingReview})`,
      ).as('contradicted_tasks'),
    ]),
)

// A task in progress without an open attempt is claimed, not started: it counts as to do.
async function missionFiguresById(
  scope: ReadScope,
  missionIds: readonly MissionId[],
): Promise<ReadonlyMap<string, MissionCounts>> {
  const rows = await standings(scope, missionIds)
  return new Map(
    rows.map((row) => [
      row.id,
      {
        openAttempts: row.open_attempts,
        openBlockers: row.open_blockers,
        openItems: row.open_items,
        doneTasks: row.done_tasks,
        toDoTasks: row.to_do_tasks + row.begun_tasks - row.running_tasks,
        left: { toDoAgain: Number(row.again_tasks), contradicted: Number(row.contradicted_tasks) },
      },
    ]),
  )
}

/** Agents, changes and inbox items of missions: one query each. */
async function missionGlances(
  scope: ReadScope,
  missionIds: readonly MissionId[],
): Promise<ReadonlyMap<string, MissionOverview>> {
  const ids = missionIds.slice(0, 200)
  if (ids.length === 0) return new Map()
  const { db, projectId } = scope
  const agents = await db
    .selectFrom('attempt')
    .where('project_id', '=', projectId)
    .where('mission_id', 'in', nonEmptyValues(ids))
    .select(({ fn }) => [
      'mission_id',
      'agent_name',
      'actor',
      fn.max('seq').as('last'),
      sql<number>`sum(case when status = 'open' then 1 else 0 end)`.as('open'),
    ])
    .groupBy(['mission_id', 'agent_name', 'actor'])
    .orderBy('last', 'desc')
    .limit(5_000)
    .execute()
  const lines = await linesOfMissions(scope, ids)
  const items = await db
    .selectFrom('inbox_item')
    .where('project_id', '=', projectId)
    .where('mission_id', 'in', nonEmptyValues(ids))
    .where('status', '=', 'open')
    .select(({ fn }) => ['mission_id', fn.countAll<number>().as('waiting')])
    .groupBy('mission_id')
    .execute()
  const waiting = new Map(items.map((row) => [row.mission_id, Number(row.waiting)]))
  const byMission = Map.groupBy(agents, (row) => row.mission_id)
  return new Map(
    ids.map((id) => [
      id,
      {
        agents: agentsOf(byMission.get(id) ?? []),
        ...(lines.get(id) ?? noMissionLines),
        waiting: waiting.get(id) ?? 0,
      },
    ]),
  )
}

interface AgentRow {
  readonly agent_name: string | null
  readonly actor: string
  readonly open: number
}

/** Each name once, in row order. */
function agentsOf(rows: readonly AgentRow[]): MissionOverview['agents'] {
  const working = new Map<string, boolean>()
  for (const { agent_name, actor, open } of rows) {
    const name = displayName({ agentName: agent_name, actor: parseColumn<Actor>(actor) })
    working.set(name, (working.get(name) ?? false) || Number(open) > 0)
  }
  return [...working].map(([name, isWorking]) => ({ name, working: isWorking }))
}

function tasksOf(status: Task['status']) {
  return sql<number>`coalesce((select tasks from task_count
    where task_count.project_id = mission.project_id and task_count.kind = 'mission'
      and task_count.place = mission.id and task_count.status = ${status}), 0)`
}

async function missionTotals({ db, projectId }: ReadScope, missionId: MissionId): Promise<MissionTotals> {
  const row = await db
    .selectFrom('mission')
    .select(['files_changed', 'tokens_input', 'tokens_output'])
    .select(
      sql<number>`(select coalesce(sum(tasks), 0) from task_count
      where task_count.project_id = mission.project_id and task_count.kind = 'mission'
        and task_count.place = mission.id)`.as('tasks'),
    )
    .where('project_id', '=', projectId)
    .where('id', '=', missionId)
    .executeTakeFirst()
  return {
    tasks: Number(row?.tasks ?? 0),
    distinctFilesChanged: row?.files_changed ?? 0,
    tokensInput: row?.tokens_input ?? 0,
    tokensOutput: row?.tokens_output ?? 0,
  }
}

const doubtedOfMission = prepareByLimit((limit) =>
  prepareQuery((db, projectId: string, missionId: string) =>
    db
      .selectFrom('task')
      .innerJoin('attempt_end as ended', (join) =>
        join
          .onRef('ended.project_id', '=', 'task.project_id')
          .onRef('ended.attempt_id', '=', 'task.last_attempt_id'),
      )
      .select(['task.id', 'task.name', 'ended.verdict'])
      .select([
        sql<number>`sum(case when ended.verdict = 'contradicted' then 1 else 0 end) over ()`.as(
          'contradicted',
        ),
        sql<number>`count(*) over ()`.as('total'),
      ])
      .where('task.project_id', '=', projectId)
      .where('task.mission_id', '=', missionId)
      .where('task.status', '=', 'done')
      .where('task.resolution', '<>', 'dropped')
      .where('ended.verdict', 'in', ['contradicted', 'unproven'])
      .where(sql<boolean>`not exists (select 1 from inbox_item as item where ${acceptingItem})`)
      .where(sql<boolean>`not exists (select 1 from review where ${acceptingReview})`)
      .orderBy('ended.verdict')
      .orderBy('task.seq')
      .limit(limit),
  ),
)

async function doubtedTasks(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  limit: number,
): Promise<DoubtedTasks> {
  const rows = await doubtedOfMission(limit)(db, projectId, missionId)
  const { contradicted = 0, total = 0 } = rows[0] ?? {}
  return {
    contradicted: Number(contradicted),
    unproven: Number(total) - Number(contradicted),
    tasks: rows.map(({ id, name, verdict }) => ({
      id: id as TaskId, // a brand
      name,
      verdict: verdict as DoubtedTasks['tasks'][number]['verdict'], // as the query selects
    })),
  }
}

function attemptsInTree(db: ReadScope['db'], projectId: string, missionId: string, top: string) {
  return db
    .selectFrom('attempt')
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('tree_top', '=', top)
}

const firstInTree = prepareQuery((db, projectId: string, missionId: string, top: string) =>
  attemptsInTree(db, projectId, missionId, top).selectAll().orderBy('opened_at').orderBy('seq').limit(1),
)

const lastEndedInTree = prepareQuery((db, projectId: string, missionId: string, top: string) =>
  attemptsInTree(db, projectId, missionId, top)
    .selectAll()
    .where('end_snapshot', 'is not', null)
    .orderBy('closed_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(1),
)

const openInTree = prepareQuery((db, projectId: string, missionId: string, top: string) =>
  attemptsInTree(db, projectId, missionId, top).select('opened_at').where('status', '=', 'open').limit(200),
)

const changesInTree = prepareQuery((db, projectId: string, missionId: string, top: string) =>
  db
    .selectFrom('mission_change')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('tree_top', '=', top),
)

async function lastEndedAttempt({ db, projectId }: ReadScope, missionId: MissionId, top: string) {
  const [last] = await lastEndedInTree(db, projectId, missionId, top)
  return last ? attemptOf(last) : null
}

async function missionTree(scope: ReadScope, missionId: MissionId, top: string): Promise<MissionTree> {
  const { db, projectId } = scope
  const [first] = await firstInTree(db, projectId, missionId, top)
  const open = await openInTree(db, projectId, missionId, top)
  const rows = await changesInTree(db, projectId, missionId, top)
  return {
    first: first ? attemptOf(first) : null,
    lastEnded: await lastEndedAttempt(scope, missionId, top),
    openSince: open.map(({ opened_at }) => opened_at),
    recorded: rows.map((row) => ({
      path: row.path,
      ...(row.from_path !== null && { from: row.from_path }),
      change: row.change as MissionChange['change'], // as it was written
      origin: row.origin as MissionChange['origin'], // as it was written
      addedLines: row.added_lines,
      deletedLines: row.deleted_lines,
      ...(row.others === 1 && { others: true }),
    })),
  }
}
