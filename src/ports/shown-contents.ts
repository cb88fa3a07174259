import type { ShownDifference, ShownParts } from '../domain/gate/shown.ts'

/** What people were shown, kept outside the project for a while, so that a change since then can be told as a difference. */
export interface ShownContents {
  /** Keeps what a content is of; `parts` is asked only where it is not kept already. What cannot be kept is not. */
  keep(content: string, parts: () => Promise<ShownParts>): Promise<void>
  /** What differs now from what a content, perhaps shortened, was of. Null where that is not kept. */
  since(content: string, now: ShownParts): Promise<ShownDifference | null>
}
