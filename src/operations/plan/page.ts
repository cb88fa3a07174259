import type { Actor } from '../../domain/actor.ts'
import { answerBudget, fitSections } from '../../domain/budget.ts'

/** What the command line lists where no limit is named: a person pipes it on. */
const everything = 1_000_000

export function pageSize(limit: number | undefined, { channel }: Actor): number {
  return limit ?? (channel === 'cli' ? everything : 20)
}

/** As many entries as an answer holds. Who names a limit gets as many as that. */
export function fitted<Entry>(
  entries: readonly Entry[],
  limit: number | undefined,
  { channel }: Actor,
): readonly Entry[] {
  if (limit !== undefined || channel === 'cli') return entries
  return entries.slice(0, fitSections([{ name: 'entries', entries }], answerBudget).get('entries'))
}
