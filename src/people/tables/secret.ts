import type { Kysely } from 'kysely'
import { keepOutput, removeOutputs } from '../../gate/tables/command-result.ts'
import { forgetHashes } from '../../lines/tables/lines.ts'
import { writeNotification } from '../../notifications/tables/notification.ts'
import { listedProjects, renameProject } from '../../project/tables/project-name.ts'
import { writeRemoteMachine } from '../../remote/tables/machine.ts'
import { writeReview } from '../../review/tables/review.ts'
import { writeCapture } from '../../sessions/tables/turn.ts'
import type { SideWrite } from '../../store/ports/store.ts'
import type { ReadScope, Tables } from '../../store/tables/tables.ts'
import { serverProject } from '../domain/identity.ts'
import type { IdentityReads, StoredSecret } from '../ports/identity-reads.ts'
import { memberReads } from './member.ts'
import { personReads } from './person.ts'
import { sessionReads } from './session.ts'
import { tokenReads } from './token.ts'

/** The secrets of tokens and sessions, which no log entry contains. */
export interface SecretTable {
  project_id: string
  /** The id of the token or session. */
  id: string
  /** SHA-256, hexadecimal; empty once it ended. */
  hash: string
  used_at: number | null
}

/** Writes the secrets of log entries in their transaction; the log does not contain them. */
export async function writeSecretRows(
  { db, projectId }: { readonly db: Kysely<Tables>; readonly projectId: string },
  sideWrites: readonly SideWrite[],
): Promise<void> {
  for (const one of sideWrites) {
    if (one.kind === 'project made') continue // by who appends log entries
    if (one.kind === 'project renamed') {
      await renameProject(db, one.id, one.name)
      continue
    }
    if (one.kind === 'address kept' || one.kind === 'address ended' || one.kind === 'notices kept') {
      await writeNotification({ db, projectId }, one)
      continue
    }
    if (
      one.kind === 'machine seen' ||
      one.kind === 'command leased' ||
      one.kind === 'diff kept' ||
      one.kind === 'diffs removed'
    ) {
      await writeRemoteMachine({ db, projectId }, one)
      continue
    }
    if (
      one.kind === 'hook events ingested' ||
      one.kind === 'turns recorded' ||
      one.kind === 'hook events forgotten' ||
      one.kind === 'prompt kept' ||
      one.kind === 'prompts forgotten'
    ) {
      await writeCapture({ db, projectId }, one)
      continue
    }
    if (one.kind === 'line hashes forgotten') {
      await forgetHashes({ db, projectId }, one.steps)
      continue
    }
    if (one.kind === 'output kept') {
      await keepOutput({ db, projectId }, one.commandId, one.text)
      continue
    }
    if (one.kind === 'outputs removed') {
      await removeOutputs({ db, projectId }, one)
      continue
    }
    if (
      one.kind === 'draft kept' ||
      one.kind === 'drafts dropped' ||
      one.kind === 'files viewed' ||
      one.kind === 'all looked at' ||
      one.kind === 'files kept' ||
      one.kind === 'contents removed'
    ) {
      await writeReview({ db, projectId }, one)
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
      await where(db.deleteFrom('secret').where('used_at', 'is', null)).execute()
      // Without its hash nobody can use it; when it was used stays.
      await where(db.updateTable('secret').set({ hash: '' })).execute()
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
    async secret(of): Promise<StoredSecret | null> {
      const row = await scope.db
        .selectFrom('secret')
        .select(['hash', 'used_at'])
        .where('project_id', '=', serverProject)
        .where('id', '=', of)
        .where('hash', '!=', '')
        .executeTakeFirst()
      return row ? { hash: row.hash, usedAt: row.used_at } : null
    },
  }
}
