import type { LineStep } from './line-hashes.ts'
import type { LineRecord } from './record.ts'

/** A time at which a line was changed or removed. */
export interface LineLoss {
  /** Identifies the line wherever it moved. */
  readonly birth: string
  /** The attempts that may have made it. */
  readonly owners: readonly string[]
  /** The log entry that records it, and the latest time at which it happened, milliseconds since the epoch. */
  readonly seq: number
  readonly at: number
  /** Git also changed the file then, and may have removed the line. */
  readonly isMixed: boolean
  /** The attempts that did it. */
  readonly authors: readonly string[]
  /** No recorded work: by a person or an unrecorded tool. */
  readonly isOutside: boolean
}

/** Counts of an attempt's lost lines. */
export interface Rework {
  byAgent: number
  byOutside: number
  /** After the counted days. */
  later: number
  /** By the attempt itself. */
  own: number
}

/** The lines of attempts that the steps of a path removed. Steps that git brought whole do not count. */
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
  return { seq, at: span.until, isMixed: origin === 'mixed', authors: owners, isOutside }
}

/** The first loss of each line without git, else its first: branches remove lines and bring them back. */
export function firstLosses(losses: Iterable<LineLoss>): Iterable<LineLoss> {
  const first = new Map<string, LineLoss>()
  for (const loss of losses) {
    const earlier = first.get(loss.birth)
    if (earlier === undefined || isEarlierLoss(loss, earlier)) first.set(loss.birth, loss)
  }
  return first.values()
}

function isEarlierLoss(one: LineLoss, other: LineLoss): boolean {
  return one.isMixed === other.isMixed ? one.seq < other.seq : other.isMixed
}

/** Counts losses by attempt. `endOf` returns the end of an attempt; null for one that is not counted. */
export function reworkStats(
  losses: Iterable<LineLoss>,
  {
    endOf,
    within,
  }: { readonly endOf: (attempt: string) => number | null; readonly within: number /* milliseconds */ },
): ReadonlyMap<string, Rework> {
  const reworks = new Map<string, Rework>()
  for (const { owners, at, authors, isOutside } of losses) {
    for (const owner of owners) {
      const end = endOf(owner)
      if (end === null) continue
      const rework = reworks.get(owner) ?? { byAgent: 0, byOutside: 0, later: 0, own: 0 }
      reworks.set(owner, rework)
      if (authors.includes(owner)) rework.own += 1
      else if (at - end > within) rework.later += 1
      else if (isOutside) rework.byOutside += 1
      else rework.byAgent += 1
    }
  }
  return reworks
}
