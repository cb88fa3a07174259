import type { RunEvent } from '../../domain/gate/run-record.ts'
import { runEventRow } from '../rows/run-event-row.ts'
import { artifactRow } from '../rows/run-evidence-rows.ts'
import { runRow } from '../rows/run-row.ts'
import { inBatches } from './batches.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyProcessKept(
  { db, projectId, seq }: Projecting,
  { hash, definition }: Of<'process.kept'>,
): Promise<void> {
  await db
    .insertInto('process')
    .values({
      project_id: projectId,
      hash,
      id: definition.id,
      version: definition.version,
      definition: JSON.stringify(definition),
      seq,
    })
    .execute()
}

export async function applyRunCreated(projecting: Projecting, { run }: Of<'run.created'>): Promise<void> {
  await projecting.db.insertInto('run').values(runRow(projecting, run)).execute()
  await enter(projecting, { runId: run.id, state: run.state, revision: run.revision })
}

export async function applyRunAdvanced(
  projecting: Projecting,
  { event, status, context, repeat }: Of<'run.advanced'>,
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('run')
    .set({
      state: event.to,
      revision: event.revision,
      status,
      updated_at: at,
      ...(context !== null && { context: JSON.stringify(context) }),
      ...(status !== 'active' && { ended_at: at }),
    })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db
    .insertInto('run_event')
    .values(runEventRow(projecting, event, repeat))
    .execute()
  await keepArtifacts(projecting, event)
  if (event.stateChanged)
    await enter(projecting, { runId: event.runId, state: event.to, revision: event.revision })
}

export async function applyRunMigrated(
  projecting: Projecting,
  { event, process, status }: Of<'run.migrated'>,
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('run')
    .set({
      process_hash: process.hash,
      process_id: process.id,
      process_version: process.version,
      process_name: process.name,
      state: event.to,
      revision: event.revision,
      status,
      updated_at: at,
      ...(status !== 'active' && { ended_at: at }),
    })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db
    .insertInto('run_event')
    .values(runEventRow(projecting, event, null))
    .execute()
  if (event.stateChanged)
    await enter(projecting, { runId: event.runId, state: event.to, revision: event.revision })
}

export async function applyRunCancelled(
  projecting: Projecting,
  { event }: Of<'run.cancelled'>,
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('run')
    .set({ status: 'cancelled', revision: event.revision, updated_at: at, ended_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db
    .insertInto('run_event')
    .values(runEventRow(projecting, event, null))
    .execute()
}

/** The same file of the same type takes the place of what was handed in before. */
async function keepArtifacts({ db, projectId }: Projecting, { runId, artifacts }: RunEvent): Promise<void> {
  for (const batch of inBatches(artifacts)) {
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
          by_name: eb.ref('excluded.by_name'),
          author: eb.ref('excluded.author'),
        })),
      )
      .execute()
  }
}

async function enter(
  { db, projectId }: Projecting,
  { runId, state, revision }: { readonly runId: string; readonly state: string; readonly revision: number },
): Promise<void> {
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
