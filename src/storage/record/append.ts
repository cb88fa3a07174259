import type { Kysely } from 'kysely'
import type { Happening } from '../../domain/fact.ts'
import type { ProjectId } from '../../domain/id.ts'
import type { RecordRequest } from '../../ports/store.ts'
import { wellFormed } from '../fingerprint.ts'
import type { ResolvedProject } from '../project/resolve-project.ts'
import { apply } from '../projections/apply.ts'
import { inBatches } from '../projections/batches.ts'
import { seen } from '../projections/project.ts'
import { beforeFirst, factRows } from '../rows/fact-row.ts'
import type { Tables } from '../schema/tables.ts'
import { breath } from '../sqlite/breath.ts'

export interface Journal {
  readonly db: Kysely<Tables>
  readonly root: string
  /** The id that the project gets if it is not there yet. */
  readonly project: ResolvedProject & { readonly exists: boolean }
}

type By = Pick<RecordRequest<unknown>, 'actor' | 'at'>

/** Applies what happened and appends it to the journal, the facts last. Answers the last seq. */
export async function append(journal: Journal, happenings: readonly Happening[], by: By): Promise<number> {
  const { db, root, project } = journal
  const id = project.id as ProjectId // a brand
  const all: readonly Happening[] = project.exists
    ? happenings
    : [{ kind: 'project.created', id, root }, ...happenings]
  const head = await headOf(journal)
  const pause = breath()
  for (const [index, happening] of all.entries()) {
    const projecting = { db, projectId: id, seq: head.seq + 1 + index, at: by.at, actor: by.actor }
    // As the journal keeps it, so that the tables are the same when they are restored from there.
    await apply(projecting, wellFormed(happening))
    const waits = pause()
    if (waits) await waits
  }
  if (project.exists && !project.rootKnown) await seen({ db, projectId: id, at: by.at }, root)
  let last = head
  for (const batch of inBatches(all)) {
    const rows = factRows({ projectId: id, ...by }, batch, last)
    await db.insertInto('fact').values(rows).execute()
    const row = rows.at(-1)
    if (row) last = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await db.updateTable('project').set(last).where('id', '=', id).execute()
  return last.seq
}

async function headOf({ db, project }: Journal): Promise<{ readonly seq: number; readonly head: string }> {
  const row = await db
    .selectFrom('project')
    .select(['seq', 'head'])
    .where('id', '=', project.id)
    .executeTakeFirst()
  return row ?? { seq: 0, head: beforeFirst }
}
