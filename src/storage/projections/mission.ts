import { missionRow } from '../rows/mission-row.ts'
import type { MissionTable } from '../schema/mission-tables.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyMissionStarted(
  projecting: Projecting,
  { mission }: Of<'mission.started'>,
): Promise<void> {
  await projecting.db.insertInto('mission').values(missionRow(projecting, mission)).execute()
}

export async function applyMissionEnded(projecting: Projecting, ended: Of<'mission.ended'>): Promise<void> {
  await update(projecting, ended.missionId, {
    status: ended.status,
    summary: ended.summary,
    achievements: JSON.stringify(ended.achievements),
    limitations: JSON.stringify(ended.limitations),
    completed_at: projecting.at,
  })
  if (ended.status === 'failed') await failPhases(projecting, ended.missionId)
}

/** A phase that was not completed when its mission failed has failed with it. */
async function failPhases({ db, projectId }: Projecting, missionId: string): Promise<void> {
  await db
    .updateTable('phase')
    .set({ status: 'failed' })
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .where('status', 'in', ['pending', 'in_progress'])
    .execute()
}

export async function applyMissionExtended(
  projecting: Projecting,
  { missionId, totalPhases }: Of<'mission.extended'>,
): Promise<void> {
  await update(projecting, missionId, { total_phases: totalPhases })
}

export async function applyMissionReopened(
  projecting: Projecting,
  { missionId }: Of<'mission.reopened'>,
): Promise<void> {
  await update(projecting, missionId, { status: 'in_progress', completed_at: null })
}

async function update(
  { db, projectId }: Projecting,
  missionId: string,
  changed: Partial<MissionTable>,
): Promise<void> {
  await db
    .updateTable('mission')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', missionId)
    .execute()
}
