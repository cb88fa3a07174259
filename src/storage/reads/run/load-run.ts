import type { RunId } from '../../../domain/id.ts'
import type { LoadedRun } from '../../../ports/reads/run-reads.ts'
import { artifactOf } from '../../rows/run-evidence-rows.ts'
import { runOf } from '../../rows/run-row.ts'
import type { ReadScope } from '../scope.ts'
import { keptDefinition } from './kept-definition.ts'

/** A run with what its engine looks at: its states and files are bounded, however many events moved it. */
export async function loadRun(scope: ReadScope, id: string): Promise<LoadedRun | null> {
  const { db, projectId } = scope
  const row = await db
    .selectFrom('run')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  const record = runOf(row)
  const definition = await keptDefinition(scope, record.process.hash)
  if (definition === null) throw new Error(`run ${id} names a definition that is not kept`)
  return {
    record,
    definition,
    visits: await visitsOf(scope, record.id),
    artifacts: await artifactsOf(scope, record.id),
  }
}

async function visitsOf({ db, projectId }: ReadScope, runId: RunId): Promise<LoadedRun['visits']> {
  return db
    .selectFrom('run_visit')
    .select(['state', 'count', 'first', 'last'])
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .orderBy('first')
    .limit(1000)
    .execute()
}

async function artifactsOf({ db, projectId }: ReadScope, runId: RunId): Promise<LoadedRun['artifacts']> {
  const rows = await db
    .selectFrom('run_artifact')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .orderBy('revision')
    .orderBy('path')
    .orderBy('type')
    .limit(20_000)
    .execute()
  return rows.map(artifactOf)
}
