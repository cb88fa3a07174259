import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import type { FileLoss } from '../domain/losses.ts'

/** Uncommitted files of agents that were lost. */
export interface FileLossReads {
  /** The loss that an inbox item is about. */
  byItem(id: string): Promise<FileLoss | null>
  /** The open inbox items about losses, the newest first, at most 50. */
  open(): Promise<readonly InboxItem[]>
}
