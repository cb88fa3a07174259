import type { Kysely } from 'kysely'
import type { Fact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { ProjectId } from '../../domain/id.ts'
import { beforeFirst, type FactTable, factRows } from '../journal/journal.ts'
import { breath } from '../sqlite/waiting.ts'
import { makeHeights } from '../tables/dependency.ts'
import { projectFact } from '../tables/projections.ts'
import { inBatches } from '../tables/query.ts'
import type { Tables } from '../tables/tables.ts'
import { type ResolvedProject, seen } from './project.ts'
import { inSession } from './session.ts'

/** Makes a project from its whole journal, as it was: same ids, times, actors and hashes. Only where there is none. */
export function restore(db: Kysely<Tables>, facts: readonly Fact[], place: Place): Promise<ResolvedProject> {
  return inSession(db, (session) => applyAll(session, facts, place))
}

interface Place {
  readonly root: string
  readonly found: ResolvedProject | null
}

async function applyAll(db: Kysely<Tables>, facts: readonly Fact[], place: Place): Promise<ResolvedProject> {
  const id = projectOf(facts)
  if (place.found) await assertEmpty(db, place.found.id)
  await assertUnknown(db, id)
  let head: { seq: number; head: string } = { seq: 0, head: beforeFirst }
  const rows: FactTable[] = []
  const pause = breath()
  for (const fact of facts) {
    const by = { at: fact.at, actor: fact.actor }
    const [row] = factRows({ projectId: id, ...by }, [fact.body], head)
    if (row === undefined || row.seq !== fact.seq || row.hash !== fact.hash) throw changed(fact.seq)
    await projectFact({ db, projectId: id, seq: fact.seq, ...by, heightsLater: true }, fact.body)
    rows.push(row)
    head = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await makeHeights({ db, projectId: id })
  for (const batch of inBatches(rows)) {
    await db.insertInto('fact').values(batch).execute()
    const waits = pause()
    if (waits) await waits
  }
  await db.updateTable('project').set(head).where('id', '=', id).execute()
  await seen({ db, projectId: id, at: facts.at(-1)?.at ?? 0 }, place.root)
  return { id, rootKnown: true }
}

function projectOf(facts: readonly Fact[]): ProjectId {
  const first = facts[0]?.body
  if (first?.kind === 'project.created') return first.id
  throw new Failure('INVALID_INPUT', 'The journal does not begin with the fact that made its project.', {
    hint: 'Restore a whole journal, as `waymark export` writes it.',
  })
}

async function assertEmpty(db: Kysely<Tables>, id: string): Promise<void> {
  const { seq } = await db.selectFrom('project').select('seq').where('id', '=', id).executeTakeFirstOrThrow()
  throw new Failure(
    'CONFLICT',
    `This project has a record already, of ${seq} facts: a journal is restored only where there is none.`,
    {
      hint: 'Restore it in another folder, or name another database with WAYMARK_DATABASE.',
    },
  )
}

async function assertUnknown(db: Kysely<Tables>, id: string): Promise<void> {
  const known = await db.selectFrom('project').select('id').where('id', '=', id).executeTakeFirst()
  if (!known) return
  throw new Failure('CONFLICT', `The database holds the project ${id} of this journal already.`, {
    hint: 'Name another database with WAYMARK_DATABASE.',
  })
}

function changed(seq: number): Failure {
  return new Failure(
    'INVALID_INPUT',
    `Fact ${seq} of the journal does not follow from the ones before it: it was changed, or one is missing.`,
    {
      hint: 'Export the journal again from the project that it comes from.',
    },
  )
}
