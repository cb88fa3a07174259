import { parseColumn, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext } from '../../store/tables/tables.ts'
import type { RecordedStep } from '../domain/line-hashes.ts'

/** Takes an attempt off the possible authors of lines in files that are not its own, where others remain. */
export async function releaseLines(
  { db, projectId }: ProjectionContext,
  attemptId: string,
  paths: readonly string[],
): Promise<void> {
  for (const batch of splitIntoBatches(paths)) {
    const rows = await db
      .selectFrom('line_step')
      .select(['seq', 'position', 'body'])
      .where('project_id', '=', projectId)
      .where('path', 'in', batch)
      .where('body', 'like', `%"${attemptId}"%`)
      .execute()
    for (const { seq, position, body } of rows) {
      const step = parseColumn<RecordedStep>(body)
      const owners = step.owners.filter((id) => id !== attemptId)
      const authors = owners.length + (step.turns?.length ?? 0)
      if (authors === 0 || owners.length === step.owners.length) continue
      const certainty = authors === 1 ? 'probable' : step.certainty
      await db
        .updateTable('line_step')
        .set({ body: JSON.stringify({ ...step, owners, certainty }) })
        .where('project_id', '=', projectId)
        .where('seq', '=', seq)
        .where('position', '=', position)
        .execute()
    }
  }
}
