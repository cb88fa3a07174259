import type { Kysely } from 'kysely'
import type { Fact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { ProjectId } from '../../domain/id.ts'
import { beforeFirst } from '../journal/journal.ts'
import type { Tables } from '../tables/tables.ts'
import { applyFacts } from './moving.ts'
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
  await applyFacts(db, id, facts, { seq: 0, hash: beforeFirst })
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
