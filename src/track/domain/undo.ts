export const undoActions = ['restored', 'changed', 'removed'] as const

/** A file as an undo leaves it. */
export interface UndoneEntry {
  readonly path: string
  readonly action: (typeof undoActions)[number]
  /** It has the marks of a conflict. */
  readonly marked?: true
}
