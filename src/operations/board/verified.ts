import type { Attempt } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'

/** Most changes whose lines are counted for one card. */
const mostChanges = 1_000

/** What was measured at the end of an attempt, as short as a card shows it. Null while it is open, or was given up. */
export async function verifiedShort({ tasks }: Reads, attempt: Attempt | null) {
  const end = attempt === null || attempt.status === 'open' ? null : await tasks.end(attempt.id)
  if (attempt === null || end === null) return null
  const changes = await tasks.changes(attempt.id, { limit: mostChanges, offset: 0 })
  const { added, modified, deleted, renamed } = end.counts
  return {
    status: end.evidence.verification,
    scope_match: end.evidence.scope.matches,
    out_of_scope: end.evidence.scope.unexpected.length,
    files: added + modified + deleted + renamed,
    added_lines: sum(changes.map(({ addedLines }) => addedLines)),
    deleted_lines: sum(changes.map(({ deletedLines }) => deletedLines)),
  }
}

function sum(lines: readonly (number | null | undefined)[]): number {
  return lines.reduce<number>((total, count) => total + (count ?? 0), 0)
}
