import { type ExpressionBuilder, type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { MissionId, RunId, TaskId } from '../../kernel/id.ts'
import { settingsOf } from '../../project/tables/setting.ts'
import {
  cachedQuery,
  createVersionedCache,
  idsByPrefix,
  nonEmptyValues,
  pageOf,
  parseColumn,
  prepareQuery,
} from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey, Tables } from '../../store/tables/tables.ts'
import { subjectWork } from '../../track/tables/attempt.ts'
import type { RunEvent, RunRecord } from '../domain/run.ts'
import type { LoadedRun, RunReads } from '../ports/run-reads.ts'
import { commandResults } from './command-result.ts'
import { storedDefinition } from './process.ts'
import { artifactsOfRun, keepArtifacts, runEventReads, runEventRow } from './run-event.ts'

export interface RunTable {
  project_id: string
  id: string
  seq: number
  process_hash: string
  process_id: string
  process_version: string
  process_name: string
  mission_id: string | null
  task_id: string | null
  status: string
  state: string
  revision: number
  context: string
  created_by: string
  created_at: number
  updated_at: number
  ended_at: number | null
}

export interface RunVisitTable {
  project_id: string
  run_id: string
  state: string
  count: number
  first: number
  last: number
}

function runRow({ projectId, seq }: RowKey, run: RunRecord): Insertable<RunTable> {
  return {
    project_id: projectId,
    id: run.id,
    seq,
    process_hash: run.process.hash,
    process_id: run.process.id,
    process_version: run.process.version,
    process_name: run.process.name,
    mission_id: run.missionId,
    task_id: run.taskId,
    status: run.status,
    state: run.state,
    revision: run.revision,
    context: JSON.stringify(run.context),
    created_by: run.createdBy,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    ended_at: run.endedAt,
  }
}

function runOf(row: Selectable<RunTable>): RunRecord {
  return {
    id: row.id as RunId, // a brand
    process: {
      hash: row.process_hash,
      id: row.process_id,
      version: row.process_version,
      name: row.process_name,
    },
    missionId: row.mission_id as MissionId | null, // a brand
    taskId: row.task_id as TaskId | null, // a brand
    status: row.status as RunRecord['status'], // as it was written
    state: row.state,
    revision: row.revision,
    context: parseColumn(row.context),
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
  }
}

export async function applyRunCreated(
  projecting: ProjectionContext,
  { run }: ProjectEventOf<'run.created'>,
): Promise<void> {
  await projecting.db.insertInto('run').values(runRow(projecting, run)).execute()
  const { id, state, revision } = run
  await recordStateVisit(projecting, { runId: id, to: state, revision, stateChanged: true })
}

export async function applyRunAdvanced(
  projecting: ProjectionContext,
  { event, status, context }: ProjectEventOf<'run.advanced'>,
): Promise<void> {
  const changed = {
    state: event.to,
    status,
    ...(context !== null && { context: JSON.stringify(context) }),
    ...(status !== 'active' && { ended_at: projecting.at }),
  }
  await moveRun(projecting, event, changed)
  await keepArtifacts(projecting, event)
  await recordStateVisit(projecting, event)
}

export async function applyRunMigrated(
  projecting: ProjectionContext,
  { event, process, status }: ProjectEventOf<'run.migrated'>,
): Promise<void> {
  const changed = {
    process_hash: process.hash,
    process_id: process.id,
    process_version: process.version,
    process_name: process.name,
    state: event.to,
    status,
    ...(status !== 'active' && { ended_at: projecting.at }),
  }
  await moveRun(projecting, event, changed)
  await recordStateVisit(projecting, event)
}

export function applyRunCancelled(
  projecting: ProjectionContext,
  { event }: ProjectEventOf<'run.cancelled'>,
): Promise<void> {
  const changed = { status: 'cancelled', ended_at: projecting.at }
  return moveRun(projecting, event, changed)
}

/** Stores an event and the changed run. */
async function moveRun(
  projecting: ProjectionContext,
  event: RunEvent,
  changed: Partial<RunTable>,
): Promise<void> {
  const { db, projectId, at: updatedAt } = projecting
  await db
    .updateTable('run')
    .set({ ...changed, revision: event.revision, updated_at: updatedAt })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db.insertInto('run_event').values(runEventRow(projecting, event)).execute()
}

async function recordStateVisit(
  { db, projectId }: ProjectionContext,
  { runId, to: state, revision, stateChanged }: Pick<RunEvent, 'runId' | 'to' | 'revision' | 'stateChanged'>,
): Promise<void> {
  if (!stateChanged) return
  await db
    .insertInto('run_visit')
    .values({ project_id: projectId, run_id: runId, state, count: 1, first: revision, last: revision })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'run_id', 'state']).doUpdateSet((eb) => ({
        count: eb('run_visit.count', '+', 1),
        last: eb.ref('excluded.last'),
      })),
    )
    .execute()
}

export function runReads(scope: ReadScope): RunReads {
  const { db, projectId } = scope
  return {
    ...runEventReads(scope),
    ...commandResults(scope),
    ...subjectWork(scope),
    async find(id) {
      const [row] = await runById(db, projectId, id)
      return row ? runOf(row) : null
    },
    load: (id) => loadRun(scope, id),
    list({ status, missionId, taskId, processId }, request) {
      const matching = db
        .selectFrom('run')
        .where('project_id', '=', projectId)
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
        .$if(missionId !== undefined, (query) => query.where('mission_id', '=', missionId ?? ''))
        .$if(taskId !== undefined, (query) => query.where('task_id', '=', taskId ?? ''))
        .$if(processId !== undefined, (query) => query.where('process_id', '=', processId ?? ''))
      return pageOf(matching, request, runOf)
    },
    async approvedBy(identity, { taskIds, missionIds }) {
      const rows = await db
        .selectFrom('run')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('status', '=', 'active')
        .where((eb) =>
          eb.or([
            eb('task_id', 'in', nonEmptyValues(taskIds)),
            eb.and([eb('task_id', 'is', null), eb('mission_id', 'in', nonEmptyValues(missionIds))]),
          ]),
        )
        .where((eb) =>
          eb.exists(
            eb
              .selectFrom('run_approval')
              .select('run_approval.seq')
              .whereRef('run_approval.project_id', '=', 'run.project_id')
              .whereRef('run_approval.run_id', '=', 'run.id')
              .where('run_approval.identity', '=', identity)
              .where('run_approval.withdrawn_at', 'is', null),
          ),
        )
        .orderBy('seq')
        .limit(100)
        .execute()
      return rows.map(runOf)
    },
    gating: async (subject) =>
      ('missionId' in subject
        ? await gatingMission(db, projectId, subject.missionId)
        : await gatingPhase(db, projectId, subject.phaseId)
      ).map(runOf),
    lostRuns: async (subject) =>
      ('missionId' in subject
        ? await lostInMission(db, projectId, subject.missionId)
        : await lostInPhase(db, projectId, subject.phaseId)
      ).map(runOf),
    definition: (hash) => storedDefinition(scope, hash),
    settings: cachedQuery(() => settingsOf(scope)),
    async idsLike(typed, limit) {
      const whole = await idsByPrefix(scope, 'run', { prefix: typed, limit })
      const end = typed.slice('run-'.length)
      // The ids of runs begin with the time: people see their ends.
      if (whole.length > 0 || !/^[0-9a-f]{6,12}$/.test(end)) return whole
      const rows = await db
        .selectFrom('run')
        .select('id')
        .where('project_id', '=', projectId)
        .where('id', 'like', `%${end}`)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },
  }
}

type RunDetails = Pick<LoadedRun, 'visits' | 'artifacts'>

const runById = prepareQuery((db, projectId: string, id: string) =>
  db.selectFrom('run').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

const visitsOf = prepareQuery((db, projectId: string, runId: string) =>
  db
    .selectFrom('run_visit')
    .select(['state', 'count', 'first', 'last'])
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .limit(sql.lit(1000)),
)

// An event loads its run three times, and a run may have a thousand files.
const gathered = createVersionedCache<RunDetails>(10)

/** A run with the input of its engine; its states and files are limited, however many events it has. */
async function loadRun(scope: ReadScope, id: string): Promise<LoadedRun | null> {
  const { db, projectId } = scope
  const [row] = await runById(db, projectId, id)
  if (!row) return null
  const record = runOf(row)
  const definition = await storedDefinition(scope, record.process.hash)
  if (definition === null) throw new Error(`run ${id} names a definition that is not kept`)
  // Only events that create a revision enter states and submit files.
  const wanted = { key: `${projectId} ${id}`, version: `${record.revision} ${record.updatedAt}` }
  const { visits, artifacts } = (await gathered(db, wanted, () => gather(scope, id))) ?? nothing
  return { record, definition, visits, artifacts }
}

const nothing: RunDetails = { visits: [], artifacts: [] }

async function gather(scope: ReadScope, id: string): Promise<RunDetails> {
  const [visits, artifacts] = await Promise.all([
    visitsOf(scope.db, scope.projectId, id),
    artifactsOfRun(scope, id),
  ])
  return { visits: visits.toSorted((one, other) => one.first - other.first), artifacts }
}

/** Active runs of a mission, of the tasks at home there, and of those with an attempt there; oldest first. */
const gatingMission = prepareQuery((db, projectId: string, missionId: string) =>
  activeRuns(db, projectId).where((eb) => isRunOfMission(eb, projectId, missionId)),
)

const gatingPhase = prepareQuery((db, projectId: string, phaseId: string) =>
  activeRuns(db, projectId).where((eb) => isRunOfPhase(eb, projectId, phaseId)),
)

const activeRuns = (db: Kysely<Tables>, projectId: string) =>
  db
    .selectFrom('run')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', 'active')
    .orderBy('seq')
    .limit(100)

const lostInMission = prepareQuery((db, projectId: string, missionId: string) =>
  lostRuns(db, projectId).where((eb) => isRunOfMission(eb, projectId, missionId)),
)

const lostInPhase = prepareQuery((db, projectId: string, phaseId: string) =>
  lostRuns(db, projectId).where((eb) => isRunOfPhase(eb, projectId, phaseId)),
)

/**
 * Failed or canceled runs without a later successful run of the same definition and subject; without those of dropped
 * tasks. Oldest first.
 */
const lostRuns = (db: Kysely<Tables>, projectId: string) =>
  db
    .selectFrom('run')
    .selectAll('run')
    .where('run.project_id', '=', projectId)
    .where('run.status', 'in', ['failed', 'cancelled'])
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('run as later')
            .select('later.id')
            .where('later.project_id', '=', projectId)
            .where('later.status', '=', 'succeeded')
            .whereRef('later.process_hash', '=', 'run.process_hash')
            .whereRef('later.seq', '>', 'run.seq')
            .where((inner) =>
              inner.or([
                inner('later.mission_id', '=', inner.ref('run.mission_id')),
                inner('later.task_id', '=', inner.ref('run.task_id')),
              ]),
            ),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('task')
            .select('task.id')
            .where('task.project_id', '=', projectId)
            .whereRef('task.id', '=', 'run.task_id')
            .where('task.resolution', '=', 'dropped'),
        ),
      ),
    )
    .orderBy('run.seq')
    .limit(100)

function isRunOfMission(eb: ExpressionBuilder<Tables, 'run'>, projectId: string, missionId: string) {
  // By the task of each run, of which there are few: not by all tasks of the mission.
  return eb.or([
    eb('run.mission_id', '=', missionId),
    eb.exists(
      eb
        .selectFrom('task')
        .select('task.id')
        .where('task.project_id', '=', projectId)
        .whereRef('task.id', '=', 'run.task_id')
        .where('task.mission_id', '=', missionId),
    ),
    eb.exists(
      eb
        .selectFrom('attempt')
        .select('attempt.task_id')
        .where('attempt.project_id', '=', projectId)
        .whereRef('attempt.task_id', '=', 'run.task_id')
        .where('attempt.mission_id', '=', missionId),
    ),
  ])
}

function isRunOfPhase(eb: ExpressionBuilder<Tables, 'run'>, projectId: string, phaseId: string) {
  return eb.exists(
    eb
      .selectFrom('task')
      .select('task.id')
      .where('task.project_id', '=', projectId)
      .whereRef('task.id', '=', 'run.task_id')
      .where('task.phase_id', '=', phaseId),
  )
}
