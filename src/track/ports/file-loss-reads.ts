import type { FileLoss } from '../domain/losses.ts'

/** Uncommitted files of agents that were lost. */
export interface FileLossReads {
  /** The loss that an inbox item is about. */
  byItem(id: string): Promise<FileLoss | null>
}
