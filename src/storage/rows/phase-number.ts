/** The number that a phase gets in its mission, and the one that has to make room for it. */
export interface Numbering {
  readonly number: number
  readonly moved: { readonly id: string; readonly number: number } | null
}

/**
 * Numbers a phase in its mission, by the numbers that there are. Early facts of planned phases name no number: such a
 * phase gets the next one, and makes room where a later fact names that number.
 */
export function numbering(taken: ReadonlyMap<number, string>, asked: number | null): Numbering {
  const next = Math.max(0, ...taken.keys()) + 1
  if (asked === null) return { number: next, moved: null }
  const holder = taken.get(asked)
  return { number: asked, moved: holder === undefined ? null : { id: holder, number: next } }
}
