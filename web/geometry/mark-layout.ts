import { contentX, type TimeScale } from './time-scale.ts'

/** What is marked on a row, in the order of what a reader must not miss. */
export const markKinds = ['issue', 'decision', 'progress'] as const
export type MarkKind = (typeof markKinds)[number]

export interface Mark {
  readonly kind: MarkKind
  readonly at: number
}

/** One sign for all marks that would lie on each other. */
export interface PlacedMark<M extends Mark> {
  readonly x: number
  /** The kind that matters most among the marks. */
  readonly kind: MarkKind
  readonly marks: readonly M[]
}

/** The width that a sign with a count takes, in pixels. */
export const markWidth = 16

/** The signs of a row, left to right, at least `markWidth` apart. */
export function layoutMarks<M extends Mark>(marks: readonly M[], scale: TimeScale): readonly PlacedMark<M>[] {
  const placed: { x: number; marks: M[] }[] = []
  for (const mark of marks.toSorted((a, b) => a.at - b.at)) {
    const x = contentX(scale, mark.at)
    const last = placed.at(-1)
    if (last && x - last.x < markWidth) last.marks.push(mark)
    else placed.push({ x, marks: [mark] })
  }
  return placed.map(({ x, marks: together }) => ({ x, kind: gravest(together), marks: together }))
}

function gravest(marks: readonly Mark[]): MarkKind {
  return markKinds.find((kind) => marks.some((mark) => mark.kind === kind)) ?? 'progress'
}
