import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import {
  type AttemptChanges,
  maxAttempts,
  type RunReads,
  type RunSubject,
} from '../../gate/ports/run-reads.ts'
import { guardedSnapshots } from '../../gate/tables/guarded-command.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import { isLeaseRunning } from '../../kernel/lease.ts'
import type { ListPart } from '../../kernel/page.ts'
import { releaseLines } from '../../lines/tables/released-lines.ts'
import { serverProject } from '../../people/domain/identity.ts'
import { claimDurationMs } from '../../plan/domain/claims.ts'
import { type ClaimColumns, claimColumns, touchTask, unclaimed } from '../../plan/tables/claim.ts'
import { aroundTask, changeTask } from '../../plan/tables/task.ts'
import { fingerprint } from '../../store/fingerprint.ts'
import {
  cachedQuery,
  insertRows,
  isSqlite,
  nonEmptyValues,
  parseColumn,
  parseColumnOrNull,
  prepareByIds,
  prepareQuery,
  splitIntoBatches,
} from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import { countChanges, ownLines, type ReportedChange } from '../domain/changes.ts'
import { deniedFiles } from '../domain/claimed-paths.ts'
import type { RecordLocation } from '../domain/records.ts'
import { type Attempt, type SnapshotLocation, staleAfter, type TaskOutcome, treeOf } from '../domain/task.ts'
import type {
  AttemptEnd,
  AttemptReads,
  AttemptStatement,
  FileChangeCounts,
  RecentAttempt,
  UncertainHolder,
} from '../ports/attempt-reads.ts'
import { addToMission, addToPhase, countedFiles, filesOf } from './mission-change.ts'
import { snapshotsBeforeWrites } from './tree-write.ts'
import { insertVerdict, recordAmendedEnd, tokenColumns } from './verdict.ts'

export interface AttemptTable {
  project_id: string
  id: string
  seq: number
  task_id: string
  mission_id: string | null
  phase_id: string | null
  number: number
  agent_name: string | null
  caller_type: string | null
  actor: string
  areas: string
  status: string
  /** The work tree of `snapshot`, identified across machines. */
  tree_top: string
  snapshot: string
  end_snapshot: string | null
  files_added: number | null
  files_modified: number | null
  files_deleted: number | null
  files_renamed: number | null
  scope_matches: number | null
  opened_at: number
  last_call_at: number
  closed_at: number | null
  /** The actor of the completion. */
  completed_by: string | null
}

export interface AttemptEndTable {
  project_id: string
  attempt_id: string
  outcome: string
  evidence: string
  input_hash: string
  answer: string
  /** Copied from the evidence and the outcome for lists and cards. */
  measurement: string
  out_of_scope: number
  /** Of all changes; null if no file's lines could be counted. */
  added_lines: number | null
  deleted_lines: number | null
  /** The number of changed files whose lines could not be counted. */
  uncounted_files: number
  tokens_input: number | null
  tokens_output: number | null
  summary: string
  /** The last verdict in one word; null for a failed attempt. */
  verdict: string | null
}

/** Corrections of an attempt after its end. */
export interface AttemptCorrectionTable {
  project_id: string
  seq: number
  attempt_id: string
  task_id: string
  text: string
  agent_name: string | null
  author: string
  created_at: number
}

export interface AttemptChangeTable {
  project_id: string
  attempt_id: string
  /** 0 for the first, out of scope first, then by path. */
  position: number
  path: string
  body: string
  /** Copied from the body for counting. */
  scope: string | null
  added_lines: number | null
  deleted_lines: number | null
}

function attemptRow({ projectId, seq }: RowKey, attempt: Attempt): Insertable<AttemptTable> {
  return {
    project_id: projectId,
    id: attempt.id,
    seq,
    task_id: attempt.taskId,
    mission_id: attempt.missionId,
    phase_id: attempt.phaseId,
    number: attempt.number,
    agent_name: attempt.agentName,
    caller_type: attempt.callerType,
    actor: JSON.stringify(attempt.actor),
    areas: JSON.stringify(attempt.areas),
    status: attempt.status,
    tree_top: treeOf(attempt.snapshot),
    snapshot: JSON.stringify(attempt.snapshot),
    end_snapshot: attempt.endSnapshot === null ? null : JSON.stringify(attempt.endSnapshot),
    files_added: null,
    files_modified: null,
    files_deleted: null,
    files_renamed: null,
    scope_matches: null,
    opened_at: attempt.openedAt,
    last_call_at: attempt.lastCallAt,
    closed_at: attempt.closedAt,
    completed_by: null,
  }
}

export function attemptOf(row: Selectable<AttemptTable>): Attempt {
  return {
    id: row.id as AttemptId, // a brand
    taskId: row.task_id as TaskId, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    number: row.number,
    agentName: row.agent_name,
    callerType: row.caller_type as Attempt['callerType'], // as it was written
    actor: parseColumn(row.actor),
    areas: parseColumn(row.areas),
    status: row.status as Attempt['status'], // as it was written
    snapshot: parseColumn(row.snapshot),
    endSnapshot: parseColumnOrNull(row.end_snapshot),
    openedAt: row.opened_at,
    lastCallAt: row.last_call_at,
    closedAt: row.closed_at,
    ...(row.completed_by !== null && { completedBy: parseColumn<Actor>(row.completed_by) }),
  }
}

/** Null until the attempt was measured. */
export function countsOf(row: Selectable<AttemptTable>): FileChangeCounts | null {
  if (row.files_added === null) return null
  return {
    added: row.files_added,
    modified: row.files_modified ?? 0,
    deleted: row.files_deleted ?? 0,
    renamed: row.files_renamed ?? 0,
  }
}

export function scopeMatchesOf(row: Selectable<AttemptTable>): boolean | null {
  return row.scope_matches === null ? null : row.scope_matches === 1
}

/** Sets the task, its phase and its mission in progress. */
export async function applyOpened(
  projecting: ProjectionContext,
  { attempt }: ProjectEventOf<'attempt.opened'>,
): Promise<void> {
  const taskContext = await aroundTask(projecting, attempt.taskId)
  await beginMission(projecting, attempt)
  await beginPhase(projecting, attempt)
  await projecting.db.insertInto('attempt').values(attemptRow(projecting, attempt)).execute()
  await changeTask(
    projecting,
    taskContext,
    {
      status: 'in_progress',
      resolution: null,
      last_attempt_id: attempt.id,
      ...claimAfterStart(attempt, taskContext.before, projecting.at),
    },
    { mission: attempt.missionId, phase: attempt.phaseId, agent: displayName(attempt) },
  )
}

/** An attempt takes over a running claim with its token, or gets its opener's claim. */
function claimAfterStart(attempt: Attempt, before: ClaimColumns, now: number): ClaimColumns {
  const { claim_agent, claim_actor, claim_connection, claim_token_hash, claimed_at, claim_expires_at } =
    before
  const isClaimRunning =
    claim_token_hash !== null &&
    (claim_expires_at === null || isLeaseRunning(claim_expires_at, { now, length: claimDurationMs }))
  if (isClaimRunning) {
    return {
      claim_agent,
      claim_actor,
      claim_connection,
      claim_token_hash,
      claimed_at,
      claim_expires_at: null,
    }
  }
  return claimColumns({
    agent: displayName(attempt),
    actor: attempt.actor.name,
    ...(attempt.actor.connection !== undefined && { connection: attempt.actor.connection }),
    tokenHash: fingerprint(attempt.id),
    claimedAt: attempt.openedAt,
    expiresAt: null,
  })
}

async function beginMission({ db, projectId }: ProjectionContext, attempt: Attempt): Promise<void> {
  if (attempt.missionId === null) return
  await db
    .updateTable('mission')
    .set({ status: 'in_progress' })
    .where('project_id', '=', projectId)
    .where('id', '=', attempt.missionId)
    .where('status', '=', 'pending')
    .execute()
}

async function beginPhase({ db, projectId }: ProjectionContext, attempt: Attempt): Promise<void> {
  if (attempt.phaseId === null) return
  await db
    .updateTable('phase')
    .set((eb) => ({
      status: 'in_progress',
      completed_at: null,
      first_start: eb.fn.coalesce('first_start', eb.val(attempt.openedAt)),
    }))
    .where('project_id', '=', projectId)
    .where('id', '=', attempt.phaseId)
    .execute()
}

/** Stores the outcome and the measurement; the task of a failed attempt is to do again. */
export async function applyClosed(
  projecting: ProjectionContext,
  closed: ProjectEventOf<'attempt.closed'>,
): Promise<void> {
  const { db, projectId } = projecting
  // One round trip, before anything is written: the project is locked meanwhile.
  const [taskContext, [attempt]] = await Promise.all([
    aroundTask(projecting, closed.taskId),
    openAttemptAt(db, projectId, closed.taskId),
  ])
  if (attempt?.id !== closed.attemptId) throw new Error(`attempt ${closed.attemptId} is not open`)
  const counted = await countedFiles(projecting, attempt, filesOf(closed))
  await closeAttempt(projecting, closed)
  await insertEnd(projecting, closed)
  await insertChanges(projecting, closed.attemptId, closed.evidence.changes)
  await releaseLines(projecting, closed.attemptId, closed.evidence.released ?? [])
  await addToPhase(projecting, attempt.phase_id)
  await addToMission(projecting, { ...attempt, counted }, closed)
  await changeTask(projecting, taskContext, { ...taskAfter[closed.status], ...unclaimed })
}

const taskAfter = {
  success: { status: 'done', resolution: 'success' },
  partial_success: { status: 'done', resolution: 'partial_success' },
  failed: { status: 'to_do', resolution: null },
} as const satisfies Record<TaskOutcome, object>

async function closeAttempt(
  { db, projectId, at, actor }: ProjectionContext,
  { attemptId, status, evidence }: ProjectEventOf<'attempt.closed'>,
): Promise<void> {
  await db
    .updateTable('attempt')
    .set({
      status: status satisfies Attempt['status'],
      end_snapshot: evidence.endSnapshot === null ? null : JSON.stringify(evidence.endSnapshot),
      ...countColumns(evidence.changes),
      scope_matches: evidence.scope.matches === null ? null : Number(evidence.scope.matches),
      last_call_at: at,
      closed_at: at,
      completed_by: JSON.stringify(actor),
    })
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .execute()
}

export function countColumns(changes: readonly ReportedChange[]) {
  const { added, modified, deleted, renamed } = countChanges(changes)
  return { files_added: added, files_modified: modified, files_deleted: deleted, files_renamed: renamed }
}

export function lineColumns(
  changes: readonly ReportedChange[],
): Pick<AttemptEndTable, 'added_lines' | 'deleted_lines' | 'uncounted_files'> {
  const own = changes.map(ownLines)
  return {
    added_lines: sumOfCounted(own.map(({ addedLines }) => addedLines)),
    deleted_lines: sumOfCounted(own.map(({ deletedLines }) => deletedLines)),
    uncounted_files: own.filter(({ addedLines }) => addedLines === null).length,
  }
}

function sumOfCounted(counts: readonly (number | null)[]): number | null {
  const counted = counts.filter((count) => count !== null)
  return counted.length === 0 ? null : counted.reduce((sum, count) => sum + count, 0)
}

async function insertEnd(
  projecting: ProjectionContext,
  closed: ProjectEventOf<'attempt.closed'>,
): Promise<void> {
  const { db, projectId } = projecting
  const { changes: _, mission: __, ...evidence } = closed.evidence // these have tables of their own
  await db
    .insertInto('attempt_end')
    .values({
      project_id: projectId,
      attempt_id: closed.attemptId,
      outcome: JSON.stringify(closed.outcome),
      evidence: JSON.stringify(evidence),
      input_hash: closed.inputHash,
      answer: JSON.stringify(closed.answer),
      measurement: evidence.measurement,
      out_of_scope: evidence.scope.unexpected.length,
      ...lineColumns(closed.evidence.changes),
      ...tokenColumns(closed.outcome),
      summary: closed.outcome.summary,
      verdict: closed.verdict?.is ?? null,
    })
    .execute()
  const { attemptId, outcome, verdict } = closed
  await insertVerdict(projecting, { attemptId, outcome, verdict, cause: 'completion' })
}

export async function insertChanges(
  { db, projectId }: ProjectionContext,
  attemptId: AttemptId,
  changes: readonly ReportedChange[],
): Promise<void> {
  const rows = changes.toSorted(compareOutOfScopeFirst).map((change, position) => ({
    project_id: projectId,
    attempt_id: attemptId,
    position,
    path: change.path,
    body: JSON.stringify(change),
    scope: change.scope,
    added_lines: ownLines(change).addedLines,
    deleted_lines: ownLines(change).deletedLines,
  }))
  await insertRows(db, 'attempt_change', rows)
}

function compareOutOfScopeFirst(a: ReportedChange, b: ReportedChange): number {
  const rank = (change: ReportedChange): number => (change.scope === 'out' ? 0 : 1)
  return rank(a) - rank(b) || (a.path < b.path ? -1 : Number(a.path > b.path))
}

/** The task of an abandoned attempt is to do again, with its history. */
export async function applyAbandoned(
  projecting: ProjectionContext,
  { attemptId, taskId }: ProjectEventOf<'attempt.abandoned'>,
): Promise<void> {
  const taskContext = await aroundTask(projecting, taskId)
  await projecting.db
    .updateTable('attempt')
    .set({ status: 'abandoned', closed_at: projecting.at })
    .where('project_id', '=', projecting.projectId)
    .where('id', '=', attemptId)
    .execute()
  await changeTask(projecting, taskContext, { status: 'to_do', resolution: null, ...unclaimed })
}

export async function applyCorrected(
  projecting: ProjectionContext,
  { attemptId, taskId, text, agentName }: ProjectEventOf<'attempt.corrected'>,
): Promise<void> {
  const { db, projectId, seq, at: createdAt, actor } = projecting
  await db
    .insertInto('attempt_correction')
    .values({
      project_id: projectId,
      seq,
      attempt_id: attemptId,
      task_id: taskId,
      text,
      agent_name: agentName,
      author: actor.name,
      created_at: createdAt,
    })
    .execute()
  await touchTask(projecting, taskId)
}

/** Its agent changed the outcome: the task's status follows it. */
export async function applyAmended(
  projecting: ProjectionContext,
  amended: ProjectEventOf<'attempt.amended'>,
): Promise<void> {
  const taskContext = await aroundTask(projecting, amended.taskId)
  await recordAmendedEnd(projecting, amended)
  await changeTask(projecting, taskContext, taskAfter[amended.status])
}

/** A call of its agent keeps the attempt from becoming stale. */
export async function touchAttempt(
  { db, projectId, at }: ProjectionContext,
  { attemptId }: Pick<RecordLocation, 'attemptId'>,
): Promise<void> {
  if (attemptId !== null) await touched(db, at, projectId, attemptId)
}

const touched = prepareQuery((db, lastCallAt: number, projectId: string, id: string) =>
  db
    .updateTable('attempt')
    .set({ last_call_at: lastCallAt })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('status', '=', 'open'),
)

const attemptById = prepareQuery((db, projectId: string, id: string) =>
  db.selectFrom('attempt').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

const attemptsAt = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .orderBy('number')
    .limit(100),
)

const openAttemptAt = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .where('status', '=', 'open'),
)

const lastAttemptAt = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .orderBy('number', 'desc')
    .limit(1),
)

const otherOpenOf = prepareQuery((db, projectId: string, missionId: string, besides: string) =>
  db
    .selectFrom('attempt')
    .select('id')
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('status', '=', 'open')
    .where('id', '<>', besides)
    .limit(1),
)

export function attemptReads(scope: ReadScope): AttemptReads {
  const { db, projectId } = scope
  const attempts = () => db.selectFrom('attempt').selectAll().where('project_id', '=', projectId)
  return {
    async attempt(id) {
      const [row] = await attemptById(db, projectId, id)
      return row ? attemptOf(row) : null
    },
    async attempts(taskId) {
      return (await attemptsAt(db, projectId, taskId)).map(attemptOf)
    },
    async openAttempt(taskId) {
      const [row] = await openAttemptAt(db, projectId, taskId)
      return row ? attemptOf(row) : null
    },
    async lastAttempt(taskId) {
      const [row] = await lastAttemptAt(db, projectId, taskId)
      return row ? attemptOf(row) : null
    },
    async lastAttempts(taskIds) {
      const rows = await db
        .selectFrom('task')
        .innerJoin('attempt', (join) =>
          join
            .onRef('attempt.project_id', '=', 'task.project_id')
            .onRef('attempt.id', '=', 'task.last_attempt_id'),
        )
        .selectAll('attempt')
        .where('task.project_id', '=', projectId)
        .where('task.id', 'in', nonEmptyValues(taskIds))
        .execute()
      return new Map(rows.map(attemptOf).map((attempt) => [attempt.taskId, attempt]))
    },
    async isOtherOpen(missionId, besides) {
      return (await otherOpenOf(db, projectId, missionId, besides)).length > 0
    },
    async openAttempts(missionId) {
      const rows = await attempts()
        .where('status', '=', 'open')
        .$if(missionId !== undefined, (query) => query.where('mission_id', '=', missionId ?? null))
        .orderBy('seq')
        .limit(10_000)
        .execute()
      return rows.map(attemptOf)
    },
    async atWork(limit) {
      const rows = await attempts()
        .where('status', '=', 'open')
        .orderBy('last_call_at', 'desc')
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      const { total } = await db
        .selectFrom('attempt')
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .where('project_id', '=', projectId)
        .where('status', '=', 'open')
        .executeTakeFirstOrThrow()
      return { attempts: rows.toSorted((one, other) => one.seq - other.seq).map(attemptOf), total }
    },
    end: (attemptId) => attemptEnd(scope, attemptId),
    changes: (attemptId, request) => changesOf(scope, attemptId, request),
    changedBy: (paths) => attemptsThatChanged(scope, paths),
    statements: (attemptIds) => statementsOf(scope, attemptIds),
    uncertainHolders: (paths) => uncertainHolders(scope, paths),
    silentAttempts: (now) => staleAttempts(scope, now),
    attemptsInTree: cachedQuery((top: string, since: number) => attemptsInTree(scope, top, since)),
    async openInTree(top) {
      const rows = await db
        .selectFrom('attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('tree_top', '=', top)
        .where(sql<boolean>`status = 'open'`)
        .orderBy('last_call_at', 'desc')
        .limit(200)
        .execute()
      return rows.map(attemptOf)
    },
    recentAttempts: (since) => recentAttempts(scope, since),
    keptSnapshots: (since) => referencedSnapshots(scope, since),
  }
}

const noChanges = { added: 0, modified: 0, deleted: 0, renamed: 0 }

/** Null for an open or abandoned attempt, which has no outcome. */
async function attemptEnd({ db, projectId }: ReadScope, attemptId: AttemptId): Promise<AttemptEnd | null> {
  const row = await db
    .selectFrom('attempt_end as end')
    .innerJoin('attempt', (join) =>
      join.onRef('attempt.project_id', '=', 'end.project_id').onRef('attempt.id', '=', 'end.attempt_id'),
    )
    .selectAll('attempt')
    .select(['end.outcome', 'end.evidence', 'end.input_hash', 'end.answer'])
    .where('end.project_id', '=', projectId)
    .where('end.attempt_id', '=', attemptId)
    .executeTakeFirst()
  if (!row) return null
  return {
    outcome: parseColumn(row.outcome),
    evidence: parseColumn(row.evidence),
    inputHash: row.input_hash,
    answer: parseColumn(row.answer),
    counts: countsOf(row) ?? noChanges,
  }
}

async function changesOf(
  { db, projectId }: ReadScope,
  attemptId: AttemptId,
  { limit, offset }: ListPart,
): Promise<readonly ReportedChange[]> {
  const rows = await db
    .selectFrom('attempt_change')
    .select('body')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .where('position', '>=', offset)
    .orderBy('position')
    .limit(limit)
    .execute()
  return rows.map(({ body }) => parseColumn<ReportedChange>(body))
}

/** What the agents of ended attempts say about files. */
async function statementsOf(
  scope: ReadScope,
  attemptIds: readonly string[],
): Promise<ReadonlyMap<string, AttemptStatement>> {
  const rows = attemptIds.length === 0 ? [] : await endsOfAttempts(scope, attemptIds)
  return new Map(
    rows.map(({ attempt_id, outcome, evidence }) => {
      const claimed = parseColumn<AttemptEnd['outcome']>(outcome)
      const measured = parseColumn<Pick<AttemptMeasurement, 'denied' | 'uncertain'>>(evidence)
      const { uncertain = [] } = measured
      return [attempt_id, { claimed, denied: deniedFiles(claimed, measured), uncertain }]
    }),
  )
}

const endsOfAttempts = prepareByIds((db, projectId, attemptIds) =>
  db
    .selectFrom('attempt_end')
    .select(['attempt_id', 'outcome', 'evidence'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptIds)
    .limit(1000),
)

async function uncertainHolders(
  scope: ReadScope,
  paths: readonly string[],
): Promise<readonly UncertainHolder[]> {
  const holders = (await attemptsThatChanged(scope, paths)).map(({ attemptId }) => attemptId)
  if (holders.length === 0) return []
  const rows = await scope.db
    .selectFrom('attempt_change as change')
    .innerJoin('attempt', (join) =>
      join
        .onRef('attempt.project_id', '=', 'change.project_id')
        .onRef('attempt.id', '=', 'change.attempt_id'),
    )
    .selectAll('attempt')
    .select('change.body')
    .where('change.project_id', '=', scope.projectId)
    .where('change.attempt_id', 'in', [...new Set(holders)].slice(0, 500))
    .where('change.path', 'in', paths.slice(0, 500))
    .execute()
  return rows.flatMap(({ body, ...row }) => {
    const change = parseColumn<ReportedChange>(body)
    return change.attribution === 'certain' ? [] : [{ attempt: attemptOf(row), change }]
  })
}

/** The newest attempts of each path, so that one busy path leaves room for others. */
const maxOfPath = 20

async function attemptsThatChanged(
  { db, projectId }: ReadScope,
  paths: readonly string[],
): Promise<readonly { readonly path: string; readonly attemptId: AttemptId }[]> {
  const found: { readonly path: string; readonly attemptId: AttemptId }[] = []
  for (const batch of splitIntoBatches([...new Set(paths)])) {
    const numbered = db
      .selectFrom('attempt_change')
      .innerJoin('attempt', (join) =>
        join
          .onRef('attempt.project_id', '=', 'attempt_change.project_id')
          .onRef('attempt.id', '=', 'attempt_change.attempt_id'),
      )
      .select(({ fn }) => [
        'attempt_change.path',
        'attempt_change.attempt_id',
        'attempt.seq',
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('attempt_change.path').orderBy('attempt.seq', 'desc'))
          .as('number'),
      ])
      .where('attempt_change.project_id', '=', projectId)
      .where('attempt_change.path', 'in', batch)
    const rows = await db
      .selectFrom(numbered.as('changed'))
      .select(['path', 'attempt_id'])
      .where('number', '<=', maxOfPath)
      .orderBy('seq', 'desc')
      .execute()
    found.push(...rows.map(({ path, attempt_id }) => ({ path, attemptId: attempt_id as AttemptId }))) // a brand
  }
  return found
}

/** Without attempts that were stale by then: nobody was at work on them. */
async function attemptsInTree(
  { db, projectId }: ReadScope,
  top: string,
  since: number,
): Promise<readonly Attempt[]> {
  const inTree = db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('tree_top', '=', top)
  const wasCalled = sql<boolean>`last_call_at > ${since - staleAfter}`
  // Each half of the union has an index of its own: for open attempts by literal text, as it is a partial one.
  const rows = await db
    .selectFrom(
      inTree
        .where(sql<boolean>`status = 'open'`)
        .where(wasCalled)
        .unionAll(
          inTree
            .where('closed_at', '>=', since)
            .where(sql<boolean>`(status not in ('open', 'abandoned') or ${wasCalled})`),
        )
        .as('there'),
    )
    .selectAll()
    .orderBy(sql`seq + 0`, 'desc') // sorted after reading: by an index, SQLite would scan every open attempt
    .limit(200)
    .execute()
  return rows.map(attemptOf).toReversed()
}

async function recentAttempts(
  { db, projectId }: ReadScope,
  since: number,
): Promise<readonly RecentAttempt[]> {
  const all = db
    .selectFrom('attempt')
    .innerJoin('task', (join) =>
      join.onRef('task.project_id', '=', 'attempt.project_id').onRef('task.id', '=', 'attempt.task_id'),
    )
    .selectAll('attempt')
    .select('task.name as task_name')
    .where('attempt.project_id', '=', projectId)
  const rows = await db
    .selectFrom(
      all
        .where('attempt.status', '=', 'open')
        .unionAll(all.where('attempt.closed_at', '>=', since))
        .as('recent'),
    )
    .selectAll()
    .orderBy('seq', 'desc')
    .limit(500)
    .execute()
  return rows.map((row) => {
    const counts = countsOf(row)
    const files = counts && counts.added + counts.modified + counts.deleted + counts.renamed
    return { attempt: attemptOf(row), taskName: row.task_name, files: files ?? null }
  })
}

async function staleAttempts({ db, projectId }: ReadScope, now: number): Promise<readonly Attempt[]> {
  const rows = await db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', 'open')
    .where((call) =>
      call.or([
        call('last_call_at', '<=', now - staleAfter),
        call('last_call_at', '>=', now + staleAfter),
        isWithoutAccess(db, now),
      ]),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('inbox_item')
            .select('inbox_item.id')
            .whereRef('inbox_item.project_id', '=', 'attempt.project_id')
            .whereRef('inbox_item.attempt_id', '=', 'attempt.id')
            .where('inbox_item.kind', '=', 'stale_attempt')
            // A dismissed item is opened again only after the agent called and became stale once more.
            .where((item) =>
              item.or([
                item('inbox_item.status', '=', 'open'),
                item('inbox_item.opened_at', '>=', item.ref('attempt.last_call_at')),
              ]),
            ),
        ),
      ),
    )
    .orderBy('seq')
    .limit(50)
    .execute()
  return rows.map(attemptOf)
}

/** Whether the person of an attempt is disabled or no member any more, or its agent's token is revoked or expired: see `lostAccess`. */
function isWithoutAccess(db: ReadScope['db'], now: number) {
  const part = (name: 'kind' | 'person' | 'token') =>
    isSqlite(db) ? sql`attempt.actor ->> ${sql.lit(name)}` : sql`attempt.actor::json ->> ${sql.lit(name)}`
  return sql<boolean>`(
    exists (
      select 1 from person
      where person.project_id = ${serverProject} and person.id = ${part('person')} and (
        person.disabled_at is not null or person.admin = 0 and not exists (
          select 1 from member
          where member.project_id = attempt.project_id and member.person_id = person.id
        )
      )
    )
    or ${part('kind')} = 'agent' and exists (
      select 1 from token
      where token.project_id = ${serverProject} and token.id = ${part('token')}
        and (token.revoked_at is not null or token.expires_at <= ${now})
    )
  )`
}

/** Snapshots of attempts, turns, guarded commands, and of what commands of people replaced. Unlimited: an unlisted snapshot may be deleted. */
async function referencedSnapshots(
  { db, projectId }: ReadScope,
  since: number,
): Promise<readonly SnapshotLocation[]> {
  const snapshots = (table: 'attempt' | 'turn') => {
    const all = db.selectFrom(table).select(['snapshot', 'end_snapshot']).where('project_id', '=', projectId)
    return all.where('status', '=', 'open').unionAll(all.where('closed_at', '>=', since))
  }
  const rows = await snapshots('attempt').unionAll(snapshots('turn')).execute()
  const guarded = await guardedSnapshots({ db, projectId }, since)
  const replaced = await snapshotsBeforeWrites({ db, projectId }, since)
  const measured = rows.flatMap((row) => [row.snapshot, row.end_snapshot])
  const texts = new Set([...measured, ...guarded, ...replaced])
  return [...texts].filter((text) => text !== null).map((text) => parseColumn<SnapshotLocation>(text))
}

const maxChanges = 20_000

/** The attempts that a run is about. */
export function subjectWork({
  db,
  projectId,
}: ReadScope): Pick<RunReads, 'attemptsOf' | 'actorsOf' | 'changesOf'> {
  const attemptsAt = ({ missionId, taskId }: RunSubject) =>
    db
      .selectFrom('attempt')
      .where('project_id', '=', projectId)
      .$if(taskId !== null, (query) => query.where('task_id', '=', taskId ?? ''))
      .$if(missionId !== null, (query) => query.where('mission_id', '=', missionId ?? ''))
  const isNothing = ({ missionId, taskId }: RunSubject) => missionId === null && taskId === null
  return {
    async attemptsOf(subject) {
      if (isNothing(subject)) return []
      const rows = await attemptsAt(subject).selectAll().orderBy('seq').limit(maxAttempts).execute()
      return rows.map(attemptOf)
    },
    async actorsOf(subject) {
      if (isNothing(subject)) return []
      const rows = await attemptsAt(subject).select('actor').distinct().execute()
      return rows.map(({ actor }) => parseColumn<Actor>(actor))
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
        .limit(maxChanges + 1)
        .execute()
      const isWhole = rows.length <= maxChanges
      const changes = Map.groupBy(rows.slice(0, maxChanges), ({ attempt_id }) => attempt_id)
      const measured = new Map(ends.map(({ attempt_id, evidence }) => [attempt_id, evidence]))
      return attemptIds.map((attemptId) => {
        const found = measuredChanges(attemptId, measured.get(attemptId), changes.get(attemptId) ?? [])
        return isWhole ? found : { ...found, measurement: 'unknown' as const }
      })
    },
  }
}

function measuredChanges(
  attemptId: AttemptId,
  evidence: string | undefined,
  rows: readonly { readonly body: string }[],
): AttemptChanges {
  const { measurement, unreadable } =
    evidence === undefined
      ? { measurement: null }
      : parseColumn<Pick<AttemptMeasurement, 'measurement' | 'unreadable'>>(evidence)
  return {
    attemptId,
    measurement,
    ...(unreadable !== undefined && { unreadable }),
    changes: rows.map(({ body }) => parseColumn<ReportedChange>(body)),
  }
}
