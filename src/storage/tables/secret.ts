import type { Kysely } from 'kysely'
import { serverProject } from '../../domain/identity/identity.ts'
import type { IdentityReads, KeptSecret } from '../../ports/reads.ts'
import type { Beside } from '../../ports/store.ts'
import { writeOfEdge } from './edge.ts'
import { memberReads } from './member.ts'
import { personReads } from './person.ts'
import { listedProjects, renameProject } from './project-name.ts'
import { sessionReads } from './session.ts'
import type { ReadScope, Tables } from './tables.ts'
import { tokenReads } from './token.ts'

/** What a token or a session has that no fact holds. */
export interface SecretTable {
  project_id: string
  /** Of the token or the session. */
  id: string
  /** SHA-256, hexadecimal. */
  hash: string
  used_at: number | null
}

/** Writes what goes with facts and is in none of them, in their transaction. */
export async function writeBeside(
  { db, projectId }: { readonly db: Kysely<Tables>; readonly projectId: string },
  beside: readonly Beside[],
): Promise<void> {
  for (const one of beside) {
    if (one.kind === 'project made') continue // by who appends facts
    if (one.kind === 'project renamed') {
      await renameProject(db, one.id, one.name)
      continue
    }
    if (
      one.kind === 'edge seen' ||
      one.kind === 'command leased' ||
      one.kind === 'diff kept' ||
      one.kind === 'diffs removed'
    ) {
      await writeOfEdge({ db, projectId }, one)
      continue
    }
    const secret = { project_id: projectId, id: one.of }
    if (one.kind === 'secret made') {
      await db
        .insertInto('secret')
        .values({ ...secret, hash: one.hash, used_at: null })
        .execute()
      continue
    }
    const where = <Query extends { where(column: 'project_id' | 'id', is: '=', value: string): Query }>(
      query: Query,
    ) => query.where('project_id', '=', projectId).where('id', '=', one.of)
    if (one.kind === 'secret used') {
      await where(db.updateTable('secret').set({ used_at: one.at })).execute()
    } else {
      await where(db.deleteFrom('secret')).execute()
    }
  }
}

export function identityReads(scope: ReadScope): IdentityReads {
  return {
    project: scope.projectId,
    projects: () => listedProjects(scope.db),
    ...personReads(scope),
    ...memberReads(scope),
    ...tokenReads(scope),
    ...sessionReads(scope),
    async secret(of): Promise<KeptSecret | null> {
      const row = await scope.db
        .selectFrom('secret')
        .select(['hash', 'used_at'])
        .where('project_id', '=', serverProject)
        .where('id', '=', of)
        .executeTakeFirst()
      return row ? { hash: row.hash, usedAt: row.used_at } : null
    },
  }
}
