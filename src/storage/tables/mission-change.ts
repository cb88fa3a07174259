import { sql } from 'kysely'
import type { FactOf } from '../../domain/fact-kinds.ts'
import type { MissionChange, ReportedChange } from '../../domain/track/changes.ts'
import { inBatches } from './query.ts'
import type { Projecting } from './scope.ts'
import type { AttemptTable } from './task.ts'

/** Brings a mission's changes to the end of an attempt, so that its totals are one row to read whatever its size. */
export async function addToMission(
  projecting: Projecting,
  { mission_id, tree_top }: Pick<AttemptTable, 'mission_id' | 'tree_top'>,
  { outcome, evidence }: FactOf<'attempt.closed'>,
): Promise<void> {
  if (mission_id === null) return
  const place = { missionId: mission_id, top: tree_top }
  if (evidence.mission) await putChanges(projecting, place, evidence.mission)
  else await addChanges(projecting, place, evidence.changes)
  const { db, projectId } = projecting
  await db
    .updateTable('mission')
    .set((eb) => ({
      files_changed: sql<number>`(select count(distinct path) from mission_change
        where mission_change.project_id = ${projectId} and mission_change.mission_id = ${mission_id}
          and mission_change.change <> 'none' and mission_change.origin <> 'imported')`,
      tokens_input: eb('tokens_input', '+', outcome.tokensInput ?? 0),
      tokens_output: eb('tokens_output', '+', outcome.tokensOutput ?? 0),
    }))
    .where('project_id', '=', projectId)
    .where('id', '=', mission_id)
    .execute()
}

interface Place {
  readonly missionId: string
  readonly top: string
}

async function putChanges(
  projecting: Projecting,
  place: Place,
  changes: readonly MissionChange[],
): Promise<void> {
  for (const batch of inBatches(changes.map((change) => changeRow(projecting, place, change)))) {
    await projecting.db
      .insertInto('mission_change')
      .values(batch)
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'mission_id', 'tree_top', 'path']).doUpdateSet((eb) => ({
          from_path: eb.ref('excluded.from_path'),
          change: eb.ref('excluded.change'),
          origin: eb.ref('excluded.origin'),
          added_lines: eb.ref('excluded.added_lines'),
          deleted_lines: eb.ref('excluded.deleted_lines'),
          others: eb.ref('excluded.others'),
        })),
      )
      .execute()
  }
}

/** Where the difference of the states is not known, the lines of the attempts are added up. */
async function addChanges(
  projecting: Projecting,
  place: Place,
  changes: readonly ReportedChange[],
): Promise<void> {
  const rows = changes.map((change) => ({
    ...changeRow(projecting, place, change),
    added_lines: change.addedLines ?? 0,
    deleted_lines: change.deletedLines ?? 0,
  }))
  for (const batch of inBatches(rows)) {
    await projecting.db
      .insertInto('mission_change')
      .values(batch)
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'mission_id', 'tree_top', 'path']).doUpdateSet((eb) => ({
          from_path: eb.ref('excluded.from_path'),
          change: eb.ref('excluded.change'),
          origin: eb.ref('excluded.origin'),
          added_lines: sql<number>`coalesce(mission_change.added_lines, 0) + excluded.added_lines`,
          deleted_lines: sql<number>`coalesce(mission_change.deleted_lines, 0) + excluded.deleted_lines`,
        })),
      )
      .execute()
  }
}

function changeRow({ projectId }: Projecting, { missionId, top }: Place, change: MissionChange) {
  return {
    project_id: projectId,
    mission_id: missionId,
    tree_top: top,
    path: change.path,
    from_path: change.from ?? null,
    change: change.change,
    origin: change.origin,
    added_lines: change.addedLines,
    deleted_lines: change.deletedLines,
    others: Number(change.others === true),
  }
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
