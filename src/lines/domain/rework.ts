import type { LineStep } from './line-hashes.ts'
import type { LineRecord } from './record.ts'

/** A time at which a line was changed or removed. */
export interface LineLoss {
  /** The line, wherever it went. */
  readonly birth: string
  /** The attempts that had made it; several where it is not known which. */
  readonly owners: readonly string[]
  /** The log entry that says so, and when at the latest it happened, milliseconds since the epoch. */
  readonly seq: number
  readonly at: number
  /** Git brought something into the file then, too, and may have taken the line away. */
  readonly isMixed: boolean
  /** The attempts that did it. */
  readonly by: readonly string[]
  /** Nobody is known to have worked then: a person, or a tool that nobody saw. */
  readonly isOutside: boolean
}

/** What happened to the lines that an attempt had made and that are no longer there. */
export interface Rework {
  byAgent: number
  byOutside: number
  /** After the days that count. */
  later: number
  /** By the attempt itself. */
  own: number
}

/** The lines of attempts that the steps of a path took away. What git brought whole took them away for nobody. */
export function lossesAt(record: LineRecord, path: string): readonly LineLoss[] {
  return record.stepsAt(path).flatMap((step) => {
    if (step.origin === 'imported') return []
    return record.lostIn(step).flatMap(({ owners, birth }) => {
      return owners.length === 0 ? [] : [{ birth, owners, ...lossOfStep(step) }]
    })
  })
}

function lossOfStep({ seq, origin, span, owners, turns = [] }: LineStep): Omit<LineLoss, 'birth' | 'owners'> {
  const isOutside = owners.length === 0 && turns.length === 0
  return { seq, at: span.until, isMixed: origin === 'mixed', by: owners, isOutside }
}

/** Of each line the first loss that git had no part in, else the first one: branches take lines away and bring them again. */
export function firstLosses(losses: Iterable<LineLoss>): Iterable<LineLoss> {
  const first = new Map<string, LineLoss>()
  for (const loss of losses) {
    const known = first.get(loss.birth)
    if (known === undefined || isEarlierLoss(loss, known)) first.set(loss.birth, loss)
  }
  return first.values()
}

function isEarlierLoss(one: LineLoss, other: LineLoss): boolean {
  return one.isMixed === other.isMixed ? one.seq < other.seq : other.isMixed
}

/** By attempt. `endOf` answers when an attempt ended; null for one that is not asked about. */
export function reworkStats(
  losses: Iterable<LineLoss>,
  {
    endOf,
    within,
  }: { readonly endOf: (attempt: string) => number | null; readonly within: number /* milliseconds */ },
): ReadonlyMap<string, Rework> {
  const found = new Map<string, Rework>()
  for (const { owners, at, by, isOutside } of losses) {
    for (const owner of owners) {
      const end = endOf(owner)
      if (end === null) continue
      const rework = found.get(owner) ?? { byAgent: 0, byOutside: 0, later: 0, own: 0 }
      found.set(owner, rework)
      if (by.includes(owner)) rework.own += 1
      else if (at - end > within) rework.later += 1
      else if (isOutside) rework.byOutside += 1
      else rework.byAgent += 1
    }
  }
  return found
}
