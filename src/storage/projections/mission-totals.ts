import { sql } from 'kysely'
import type { ReportedChange } from '../../domain/track/evidence.ts'
import { inBatches } from './batches.ts'
import type { Of, Projecting } from './projecting.ts'

/** Adds what an attempt came to, so that a mission's totals are one row to read whatever its size. */
export async function addToMission(
  projecting: Projecting,
  missionId: string | null,
  { outcome, evidence }: Of<'attempt.closed'>,
): Promise<void> {
  if (missionId === null) return
  const newFiles = await addFiles(projecting, missionId, evidence.changes)
  await projecting.db
    .updateTable('mission')
    .set((eb) => ({
      files_changed: eb('files_changed', '+', newFiles),
      tokens_input: eb('tokens_input', '+', outcome.tokensInput ?? 0),
      tokens_output: eb('tokens_output', '+', outcome.tokensOutput ?? 0),
    }))
    .where('project_id', '=', projecting.projectId)
    .where('id', '=', missionId)
    .execute()
}

/** Answers how many paths the mission had not changed before. Imported changes are other people's work. */
async function addFiles(
  { db, projectId }: Projecting,
  missionId: string,
  changes: readonly ReportedChange[],
): Promise<number> {
  const paths = new Set(changes.filter(({ origin }) => origin !== 'imported').map(({ path }) => path))
  const rows = [...paths].map((path) => ({ project_id: projectId, mission_id: missionId, path }))
  let added = 0
  for (const batch of inBatches(rows)) {
    const inserted = await db
      .insertInto('mission_file')
      .values(batch)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    added += Number(inserted.numInsertedOrUpdatedRows ?? 0)
  }
  return added
}

export async function addToPhase({ db, projectId, at }: Projecting, phaseId: string | null): Promise<void> {
  if (phaseId === null) return
  await db
    .updateTable('phase')
    .set({ last_end: sql<number>`case when last_end > ${at} then last_end else ${at} end` })
    .where('project_id', '=', projectId)
    .where('id', '=', phaseId)
    .execute()
}
