import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import { displayName } from '../../kernel/actor.ts'
import { releaseLines } from '../../lines/tables/released-lines.ts'
import { touchTask } from '../../plan/tables/claim.ts'
import { parseColumn } from '../../store/tables/query.ts'
import type { ProjectionContext } from '../../store/tables/tables.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { probablyOthersNotes, unknownAuthorNotes } from '../domain/owner-notes.ts'
import { attemptOf, countColumns, insertChanges, lineColumns } from './attempt.ts'
import { takeOffMission } from './mission-change.ts'

/** Takes uncertain files and their lines off those of an ended attempt; they stay named as others'. */
export async function applyFilesSettled(
  projecting: ProjectionContext,
  { attemptId, taskId, paths, candidates, cause }: ProjectEventOf<'files.settled'>,
): Promise<void> {
  const { db, projectId } = projecting
  const rows = await db
    .selectFrom('attempt_change')
    .select('body')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('position')
    .execute()
  const end = await db
    .selectFrom('attempt_end')
    .select('evidence')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .executeTakeFirstOrThrow()
  const attempt = await db
    .selectFrom('attempt')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .executeTakeFirstOrThrow()
  const gone = new Set(paths)
  const changes = rows.map(({ body }) => parseColumn<ReportedChange>(body))
  const kept = changes.filter(({ path }) => !gone.has(path))
  const evidence = parseColumn<Omit<AttemptMeasurement, 'changes' | 'mission'>>(end.evidence)
  const unexpected = evidence.scope.unexpected.filter((path) => !gone.has(path))
  const matches = evidence.scope.matches === null ? null : unexpected.length === 0
  const { contested = [], released = [] } = evidence
  const open = contested.filter(({ path }) => !released.includes(path))
  const own = displayName(attemptOf(attempt))
  const stale = [...unknownAuthorNotes(changes, own), ...probablyOthersNotes(open)]
  const taken = changes.flatMap(({ path }) => (gone.has(path) ? [path] : []))
  const settled = {
    ...evidence,
    scope: { matches, unexpected },
    warnings: [
      ...evidence.warnings.filter((warning) => !stale.includes(warning)),
      ...unknownAuthorNotes(kept, own),
      ...probablyOthersNotes(open.filter(({ path }) => !gone.has(path))),
      ...(taken.length > 0 ? [releaseNote(taken, { candidates, cause })] : []),
    ],
    contested: [
      ...contested.filter(({ path }) => cause === 'denied' || !gone.has(path)),
      ...(cause === 'denied' ? taken : paths).map((path) => ({ path, candidates })),
    ],
    released: [...new Set([...released, ...paths])],
    uncertain: (evidence.uncertain ?? []).filter((path) => !gone.has(path)),
    ...(cause === 'denied' && { denied: [...(evidence.denied ?? []), ...paths] }),
  }
  // Anew, because positions are counted without gaps.
  await db
    .deleteFrom('attempt_change')
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .execute()
  await insertChanges(projecting, attemptId, kept)
  await db
    .updateTable('attempt')
    .set({ ...countColumns(kept), scope_matches: matches === null ? null : Number(matches) })
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .execute()
  await db
    .updateTable('attempt_end')
    .set({ evidence: JSON.stringify(settled), out_of_scope: unexpected.length, ...lineColumns(kept) })
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .execute()
  await takeOffMission(
    projecting,
    attempt,
    changes.filter(({ path }) => gone.has(path)),
  )
  await releaseLines(projecting, attemptId, paths)
  await touchTask(projecting, taskId)
}

function releaseNote(
  paths: readonly string[],
  { candidates, cause }: Pick<ProjectEventOf<'files.settled'>, 'candidates' | 'cause'>,
): string {
  const files = `${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}`
  return `Not counted here any more: ${files} (${cause === 'claimed' ? `claimed by ${candidates.join(', ')}` : 'denied by its agent'}).`
}
