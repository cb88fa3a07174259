import { type ExpressionBuilder, sql } from 'kysely'
import type { Measured } from '../../domain/fact.ts'
import type { ProcessDefinition } from '../../domain/gate/definition.ts'
import type { KeptArtifact, RunRecord } from '../../domain/gate/run.ts'
import type { AttemptId, MissionId } from '../../domain/id.ts'
import type { ReportedChange } from '../../domain/track/changes.ts'
import type { AttemptChanges, LoadedRun, RunReads } from '../../ports/reads.ts'
import { attemptOf } from './attempt.ts'
import { idsLike, parsed, prepared, remembered } from './query.ts'
import { repeatOf, runEventOf, runOf } from './run.ts'
import { approvalOf, artifactOf, commandResults, refusalOf, settingsOf, triedText } from './run-evidence.ts'
import type { ReadScope } from './scope.ts'
import type { Tables } from './tables.ts'

// A key of before keys had owners is its name's: that of who emitted the event.
const eventsOfKey = prepared((db, projectId: string, runId: string, key: string) =>
  db
    .selectFrom('run_event')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .where('idempotency_key', '=', key),
)

export function runReads(scope: ReadScope): RunReads {
  const { db, projectId } = scope
  return {
    ...runPages(scope),
    ...commandResults(scope),
    ...subjectWork(scope),
    async find(id) {
      const [row] = await runById(db, projectId, id)
      return row ? runOf(row) : null
    },
    load: (id) => loadRun(scope, id),
    gating: (missionId) => gatingRuns(scope, missionId),
    lost: (missionId) => lostRuns(scope, missionId),
    definition: (hash) => keptDefinition(scope, hash),
    async eventAt(runId, revision) {
      const row = await db
        .selectFrom('run_event')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .where('revision', '=', revision)
        .executeTakeFirst()
      return row ? runEventOf(row) : null
    },
    async repeat(runId, { key, owner }) {
      const rows = await eventsOfKey(db, projectId, runId, key)
      const row =
        rows.find(({ key_owner }) => key_owner === owner) ??
        rows.find(({ key_owner, by_name }) => key_owner === null && owner.endsWith(` ${by_name}`))
      return row ? repeatOf(row) : null
    },
    async refusalsAlike(runId, { event, code, since, tried }) {
      const { total } = await db
        .selectFrom('run_refusal')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .where('event', '=', event)
        .where('code', '=', code)
        .where('revision', '>=', since)
        .$if(tried !== undefined, (query) => query.where('tried', 'is', triedText(tried)))
        .executeTakeFirstOrThrow()
      return total
    },
    async approvals(runId) {
      const rows = await db
        .selectFrom('run_approval')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .orderBy('seq')
        .limit(1000)
        .execute()
      return rows.map(approvalOf)
    },
    settings: () => settingsOf(scope),
    idsLike: (prefix, limit) => idsLike(scope, 'run', { prefix, limit }),
  }
}

type Gathered = Pick<LoadedRun, 'visits' | 'artifacts'>

const runById = prepared((db, projectId: string, id: string) =>
  db.selectFrom('run').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

const visitsOf = prepared((db, projectId: string, runId: string) =>
  db
    .selectFrom('run_visit')
    .select(['state', 'count', 'first', 'last'])
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .limit(sql.lit(1000)),
)

const artifactsOf = prepared((db, projectId: string, runId: string) =>
  db
    .selectFrom('run_artifact')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .limit(sql.lit(20_000)),
)

// An event asks for its run three times, and a run may hold a thousand files.
const gathered = remembered<Gathered>(10)

/** A run with what its engine looks at: its states and files are bounded, however many events moved it. */
async function loadRun(scope: ReadScope, id: string): Promise<LoadedRun | null> {
  const { db, projectId } = scope
  const [row] = await runById(db, projectId, id)
  if (!row) return null
  const record = runOf(row)
  const definition = await keptDefinition(scope, record.process.hash)
  if (definition === null) throw new Error(`run ${id} names a definition that is not kept`)
  // States are entered and files handed in by what makes a revision, and by nothing else.
  const wanted = { key: `${projectId} ${id}`, version: `${record.revision} ${record.updatedAt}` }
  const { visits, artifacts } = (await gathered(db, wanted, () => gather(scope, id))) ?? nothing
  return { record, definition, visits, artifacts }
}

const nothing: Gathered = { visits: [], artifacts: [] }

async function gather({ db, projectId }: ReadScope, id: string): Promise<Gathered> {
  const visits = await visitsOf(db, projectId, id)
  const artifacts = await artifactsOf(db, projectId, id)
  return {
    visits: visits.toSorted((one, other) => one.first - other.first),
    artifacts: artifacts.map(artifactOf).toSorted(inOrder),
  }
}

function inOrder(one: KeptArtifact, other: KeptArtifact): number {
  if (one.revision !== other.revision) return one.revision - other.revision
  return `${one.path}\n${one.type}` < `${other.path}\n${other.type}` ? -1 : 1
}

const definitions = remembered<ProcessDefinition>(100)

/** A hash names its content for ever: parsed once, it need not be read again. */
function keptDefinition({ db, projectId }: ReadScope, hash: string): Promise<ProcessDefinition | null> {
  return definitions(db, { key: `${projectId} ${hash}`, version: '' }, async () => {
    const row = await db
      .selectFrom('process')
      .select('definition')
      .where('project_id', '=', projectId)
      .where('hash', '=', hash)
      .executeTakeFirst()
    return row ? parsed<ProcessDefinition>(row.definition) : null
  })
}

/** The lists of runs and of what happened to one, newest first, a page at a time. */
function runPages({ db, projectId }: ReadScope): Pick<RunReads, 'list' | 'history' | 'refusals'> {
  return {
    async list({ status, missionId, taskId, processId }, { limit, before }) {
      const matching = db
        .selectFrom('run')
        .where('project_id', '=', projectId)
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
        .$if(missionId !== undefined, (query) => query.where('mission_id', '=', missionId ?? ''))
        .$if(taskId !== undefined, (query) => query.where('task_id', '=', taskId ?? ''))
        .$if(processId !== undefined, (query) => query.where('process_id', '=', processId ?? ''))
      const rows = await matching
        .selectAll()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ seq: row.seq, item: runOf(row) })), total }
    },
    async history(runId, { limit, before }) {
      const matching = db
        .selectFrom('run_event')
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
      const rows = await matching
        .selectAll()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('revision', 'desc')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ seq: row.seq, item: runEventOf(row) })), total }
    },
    async refusals(runId, { limit, before }) {
      const matching = db
        .selectFrom('run_refusal')
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
      const rows = await matching
        .selectAll()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ seq: row.seq, item: refusalOf(row) })), total }
    },
  }
}

/** Active runs of a mission, of the tasks at home there, and of those with an attempt there; oldest first. */
async function gatingRuns({ db, projectId }: ReadScope, missionId: MissionId): Promise<readonly RunRecord[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', 'active')
    .where((eb) => ofMission(eb, projectId, missionId))
    .orderBy('seq')
    .limit(100)
    .execute()
  return rows.map(runOf)
}

/**
 * Runs of the same that failed or were cancelled, and that no later run of the same definition and subject made good;
 * those of dropped tasks are not asked for any more. Oldest first.
 */
async function lostRuns({ db, projectId }: ReadScope, missionId: MissionId): Promise<readonly RunRecord[]> {
  const rows = await db
    .selectFrom('run')
    .selectAll('run')
    .where('run.project_id', '=', projectId)
    .where('run.status', 'in', ['failed', 'cancelled'])
    .where((eb) => ofMission(eb, projectId, missionId))
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
    .execute()
  return rows.map(runOf)
}

function ofMission(eb: ExpressionBuilder<Tables, 'run'>, projectId: string, missionId: MissionId) {
  return eb.or([
    eb('run.mission_id', '=', missionId),
    eb(
      'run.task_id',
      'in',
      eb
        .selectFrom('task')
        .select('task.id')
        .where('task.project_id', '=', projectId)
        .where('task.mission_id', '=', missionId),
    ),
    eb(
      'run.task_id',
      'in',
      eb
        .selectFrom('attempt')
        .select('attempt.task_id')
        .where('attempt.project_id', '=', projectId)
        .where('attempt.mission_id', '=', missionId),
    ),
  ])
}

const mostChanges = 20_000

/** The work on what a run is about. */
function subjectWork({ db, projectId }: ReadScope): Pick<RunReads, 'attemptsOf' | 'changesOf'> {
  return {
    async attemptsOf({ missionId, taskId }) {
      if (missionId === null && taskId === null) return []
      const rows = await db
        .selectFrom('attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .$if(taskId !== null, (query) => query.where('task_id', '=', taskId ?? ''))
        .$if(missionId !== null, (query) => query.where('mission_id', '=', missionId ?? ''))
        .orderBy('seq')
        .limit(1000)
        .execute()
      return rows.map(attemptOf)
    },
    async changesOf(attemptIds) {
      if (attemptIds.length === 0) return []
      const ends = await db
        .selectFrom('attempt_end')
        .select(['attempt_id', 'evidence'])
        .where('project_id', '=', projectId)
        .where('attempt_id', 'in', [...attemptIds])
        .execute()
      const rows = await db
        .selectFrom('attempt_change')
        .select(['attempt_id', 'body'])
        .where('project_id', '=', projectId)
        .where('attempt_id', 'in', [...attemptIds])
        .orderBy('attempt_id')
        .orderBy('position')
        .limit(mostChanges + 1)
        .execute()
      const isWhole = rows.length <= mostChanges
      const changes = Map.groupBy(rows.slice(0, mostChanges), ({ attempt_id }) => attempt_id)
      const measured = new Map(ends.map(({ attempt_id, evidence }) => [attempt_id, evidence]))
      return attemptIds.map((attemptId) => {
        const found = changesOf(attemptId, measured.get(attemptId), changes.get(attemptId) ?? [])
        return isWhole ? found : { ...found, verification: 'unknown' as const }
      })
    },
  }
}

function changesOf(
  attemptId: AttemptId,
  evidence: string | undefined,
  rows: readonly { readonly body: string }[],
): AttemptChanges {
  return {
    attemptId,
    verification:
      evidence === undefined ? null : parsed<Pick<Measured, 'verification'>>(evidence).verification,
    changes: rows.map(({ body }) => parsed<ReportedChange>(body)),
  }
}
