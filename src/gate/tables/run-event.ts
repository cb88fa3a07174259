import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { RunEventId, RunId } from '../../kernel/id.ts'
import { pageOf, parseColumn, prepareQuery, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { AttemptedEvent, RunApproval, RunEvent, RunRefusal, StoredArtifact } from '../domain/run.ts'
import type { RunReads } from '../ports/run-reads.ts'

export interface RunEventTable {
  project_id: string
  run_id: string
  revision: number
  id: string
  seq: number
  kind: string
  event: string
  payload: string
  from_state: string
  to_state: string
  state_changed: number
  artifacts: string
  unsatisfied: string
  role: string | null
  author: string
  identity: string | null
  created_at: number
}

export interface RunArtifactTable {
  project_id: string
  run_id: string
  type: string
  path: string
  bytes: number
  sha256: string
  stamp: string
  content: string | null
  revision: number
  author: string
  identity: string | null
}

export interface RunRefusalTable {
  project_id: string
  run_id: string
  seq: number
  event: string
  code: string
  message: string
  missing: string
  tried: string | null
  state: string
  revision: number
  role: string | null
  author: string
  created_at: number
}

export interface RunApprovalTable {
  project_id: string
  run_id: string
  seq: number
  role: string
  artifact_type: string | null
  content: string
  reason: string | null
  author: string
  identity: string | null
  created_at: number
  withdrawn_at: number | null
}

export function runEventRow({ projectId, seq }: RowKey, event: RunEvent): Insertable<RunEventTable> {
  return {
    project_id: projectId,
    run_id: event.runId,
    revision: event.revision,
    id: event.id,
    seq,
    kind: event.kind,
    event: event.event,
    payload: JSON.stringify(event.payload),
    from_state: event.from,
    to_state: event.to,
    state_changed: event.stateChanged ? 1 : 0,
    artifacts: JSON.stringify(event.artifacts),
    unsatisfied: JSON.stringify(event.unsatisfied),
    role: event.role,
    author: event.author,
    identity: event.identity ?? null,
    created_at: event.createdAt,
  }
}

function runEventOf(row: Selectable<RunEventTable>): RunEvent {
  return {
    id: row.id as RunEventId, // a brand
    runId: row.run_id as RunId, // a brand
    revision: row.revision,
    kind: row.kind as RunEvent['kind'], // as it was written
    event: row.event,
    payload: parseColumn(row.payload),
    from: row.from_state,
    to: row.to_state,
    stateChanged: row.state_changed === 1,
    artifacts: parseColumn(row.artifacts),
    unsatisfied: parseColumn(row.unsatisfied),
    role: row.role,
    author: row.author,
    ...(row.identity !== null && { identity: row.identity }),
    createdAt: row.created_at,
  }
}

/** Stores artifacts; the same file of the same type replaces its earlier state. */
export async function keepArtifacts(
  { db, projectId }: ProjectionContext,
  { runId, artifacts }: RunEvent,
): Promise<void> {
  for (const batch of splitIntoBatches(artifacts)) {
    await db
      .insertInto('run_artifact')
      .values(batch.map((artifact) => artifactRow(projectId, runId, artifact)))
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'run_id', 'type', 'path']).doUpdateSet((eb) => ({
          bytes: eb.ref('excluded.bytes'),
          sha256: eb.ref('excluded.sha256'),
          stamp: eb.ref('excluded.stamp'),
          content: eb.ref('excluded.content'),
          revision: eb.ref('excluded.revision'),
          author: eb.ref('excluded.author'),
          identity: eb.ref('excluded.identity'),
        })),
      )
      .execute()
  }
}

function artifactRow(
  projectId: string,
  runId: RunId,
  artifact: StoredArtifact,
): Insertable<RunArtifactTable> {
  return {
    project_id: projectId,
    run_id: runId,
    type: artifact.type,
    path: artifact.path,
    bytes: artifact.bytes,
    sha256: artifact.sha256,
    stamp: artifact.stamp,
    content: artifact.content === undefined ? null : JSON.stringify(artifact.content),
    revision: artifact.revision,
    author: artifact.author,
    identity: artifact.identity ?? null,
  }
}

function artifactOf(row: Selectable<RunArtifactTable>): StoredArtifact {
  return {
    type: row.type,
    path: row.path,
    bytes: row.bytes,
    sha256: row.sha256,
    stamp: row.stamp,
    ...(row.content !== null && { content: parseColumn(row.content) }),
    revision: row.revision,
    author: row.author,
    ...(row.identity !== null && { identity: row.identity }),
  }
}

function refusalRow({ projectId, seq }: RowKey, refusal: RunRefusal): Insertable<RunRefusalTable> {
  return {
    project_id: projectId,
    run_id: refusal.runId,
    seq,
    event: refusal.event,
    code: refusal.code,
    message: refusal.message,
    missing: JSON.stringify(refusal.missing),
    tried: encodeTried(refusal.tried),
    state: refusal.state,
    revision: refusal.revision,
    role: refusal.role,
    author: refusal.author,
    created_at: refusal.createdAt,
  }
}

function refusalOf(row: Selectable<RunRefusalTable>): RunRefusal {
  return {
    runId: row.run_id as RunId, // a brand
    event: row.event,
    code: row.code,
    message: row.message,
    missing: parseColumn(row.missing),
    ...(row.tried !== null && { tried: parseColumn<AttemptedEvent>(row.tried) }),
    state: row.state,
    revision: row.revision,
    role: row.role,
    author: row.author,
    createdAt: row.created_at,
  }
}

/** In its stored form, so that equal submissions can be counted. */
function encodeTried(tried: AttemptedEvent | null | undefined): string | null {
  return tried == null ? null : JSON.stringify(tried)
}

function approvalRow({ projectId, seq }: RowKey, approval: RunApproval): Insertable<RunApprovalTable> {
  return {
    project_id: projectId,
    run_id: approval.runId,
    seq,
    role: approval.role,
    artifact_type: approval.artifact,
    content: approval.content,
    reason: approval.reason,
    author: approval.author,
    identity: approval.identity ?? null,
    created_at: approval.createdAt,
    withdrawn_at: null,
  }
}

function approvalOf(row: Selectable<RunApprovalTable>): RunApproval {
  return {
    runId: row.run_id as RunId, // a brand
    role: row.role,
    artifact: row.artifact_type,
    content: row.content,
    reason: row.reason,
    author: row.author,
    ...(row.identity !== null && { identity: row.identity }),
    createdAt: row.created_at,
    ...(row.withdrawn_at !== null && { withdrawnAt: row.withdrawn_at }),
  }
}

export async function applyRunRefused(
  projecting: ProjectionContext,
  { refusal }: ProjectEventOf<'run.refused'>,
): Promise<void> {
  await projecting.db.insertInto('run_refusal').values(refusalRow(projecting, refusal)).execute()
}

export async function applyRunApproved(
  projecting: ProjectionContext,
  { approval }: ProjectEventOf<'run.approved'>,
): Promise<void> {
  await projecting.db.insertInto('run_approval').values(approvalRow(projecting, approval)).execute()
}

/** By the order of the log, not by time: a clock may jump back. */
export async function applyApprovalsWithdrawn(
  { db, projectId, seq }: ProjectionContext,
  { runId, identity, withdrawnAt }: ProjectEventOf<'run.approvals_withdrawn'>,
): Promise<void> {
  await db
    .updateTable('run_approval')
    .set({ withdrawn_at: withdrawnAt })
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .where('identity', '=', identity)
    .where('seq', '<', seq)
    .where('withdrawn_at', 'is', null)
    .execute()
}

/** The moves of a run, newest first. */
export function runEventReads({
  db,
  projectId,
}: ReadScope): Pick<
  RunReads,
  'history' | 'refusals' | 'eventAt' | 'machinesOfRun' | 'refusalsAlike' | 'approvals'
> {
  return {
    history(runId, request) {
      const matching = db
        .selectFrom('run_event')
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
      return pageOf(matching, request, runEventOf, 'revision')
    },
    refusals(runId, request) {
      const matching = db
        .selectFrom('run_refusal')
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
      return pageOf(matching, request, refusalOf)
    },
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
    async machinesOfRun(runId) {
      const rows = await db
        .selectFrom('run_artifact')
        .innerJoin('run_event', (join) =>
          join
            .onRef('run_event.project_id', '=', 'run_artifact.project_id')
            .onRef('run_event.run_id', '=', 'run_artifact.run_id')
            .onRef('run_event.revision', '=', 'run_artifact.revision'),
        )
        .innerJoin('project_event', (join) =>
          join
            .onRef('project_event.project_id', '=', 'run_event.project_id')
            .onRef('project_event.seq', '=', 'run_event.seq'),
        )
        .select(['run_event.revision', 'project_event.actor'])
        .distinct()
        .where('run_artifact.project_id', '=', projectId)
        .where('run_artifact.run_id', '=', runId)
        .execute()
      return new Map(
        rows.flatMap(({ revision, actor }) => {
          const { machine } = parseColumn<Actor>(actor)
          return machine === undefined ? [] : [[revision, machine] as const]
        }),
      )
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
        .$if(tried !== undefined, (query) => query.where('tried', 'is not distinct from', encodeTried(tried)))
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
  }
}

const artifactsOf = prepareQuery((db, projectId: string, runId: string) =>
  db
    .selectFrom('run_artifact')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .limit(sql.lit(20_000)),
)

/** The files of a run, in the order in which they were submitted. */
export async function artifactsOfRun(
  { db, projectId }: ReadScope,
  runId: string,
): Promise<readonly StoredArtifact[]> {
  const rows = await artifactsOf(db, projectId, runId)
  return rows.map(artifactOf).toSorted(compareArtifacts)
}

function compareArtifacts(one: StoredArtifact, other: StoredArtifact): number {
  if (one.revision !== other.revision) return one.revision - other.revision
  return `${one.path}\n${one.type}` < `${other.path}\n${other.type}` ? -1 : 1
}
