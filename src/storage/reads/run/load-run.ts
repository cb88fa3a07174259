import { sql } from 'kysely'
import type { KeptArtifact } from '../../../domain/gate/run-record.ts'
import type { LoadedRun } from '../../../ports/reads/run-reads.ts'
import { artifactOf } from '../../rows/run-evidence-rows.ts'
import { runOf } from '../../rows/run-row.ts'
import { prepared } from '../prepared.ts'
import { remembered } from '../remembered.ts'
import type { ReadScope } from '../scope.ts'
import { keptDefinition } from './kept-definition.ts'

type Gathered = Pick<LoadedRun, 'visits' | 'artifacts'>

export const runById = prepared((db, projectId: string, id: string) =>
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
export async function loadRun(scope: ReadScope, id: string): Promise<LoadedRun | null> {
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
