import type { Actor } from '../actor.ts'
import { answerBudget, fitSections } from '../budget.ts'
import { Failure } from '../failure.ts'

/** What the command line lists where no limit is named: a person pipes it on. */
const everything = 1_000_000

export function pageSize(limit: number | undefined, { channel }: Actor): number {
  return limit ?? (channel === 'cli' ? everything : 20)
}

/** As many entries as an answer holds. Who names a limit gets as many as that. */
export function fitPage<Entry>(
  entries: readonly Entry[],
  limit: number | undefined,
  { channel }: Actor,
): readonly Entry[] {
  if (limit !== undefined || channel === 'cli') return entries
  return entries.slice(0, fitSections([{ name: 'entries', entries }], answerBudget).get('entries'))
}

/** What a cut list needs for its next page. */
export interface TruncatedList {
  readonly name: string
  /** The journal positions of what was shown. */
  readonly seqs: readonly number[]
  /** Whether more follow. */
  readonly more: boolean
}

/** One cursor for several lists, `decisions:41,tasks:17`: the position up to which each was shown. Null at the end. */
export function nextCursor(lists: readonly TruncatedList[]): string | null {
  const open = lists.filter(({ seqs, more }) => seqs.length > 0 && more)
  if (open.length === 0) return null
  return open.map(({ name, seqs }) => `${name}:${seqs.at(-1)}`).join(',')
}

/** The positions in a cursor; null without one. Fails for a cursor of other lists. */
export function readCursor(
  cursor: string | undefined,
  lists: readonly string[],
): ReadonlyMap<string, number> | null {
  if (cursor === undefined) return null
  const entries = cursor.split(',').map((part) => /^([a-z_]+):(\d{1,15})$/.exec(part))
  const known = entries.every((match) => match !== null && lists.includes(match[1] ?? ''))
  if (!known) {
    throw new Failure('INVALID_INPUT', `The cursor "${cursor}" does not belong to ${lists.join(', ')}.`, {
      reason: 'cursor_invalid',
      hint: 'Pass next_cursor of the previous answer, with the same other fields; or leave cursor out to begin again.',
    })
  }
  return new Map(entries.map((match) => [match?.[1] ?? '', Number(match?.[2])]))
}
