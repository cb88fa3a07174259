import type { SnapshotId, TaskId } from '../../kernel/id.ts'
import type { TreeWrite } from '../domain/tree-write.ts'

export interface RecordedUndo {
  /** Its snapshot: what was there before. */
  readonly id: SnapshotId
  readonly author: string
  /** Milliseconds since the epoch. */
  readonly undoneAt: number
}

/** Files that commands of people wrote into work trees. */
export interface TreeWriteReads {
  byId(id: string): Promise<TreeWrite | null>
  /** Since a time, in one work tree if given; the newest first. */
  since(time: number, tree?: string): Promise<readonly TreeWrite[]>
  /** The last undo of tasks and turns that nobody restored, and whose task was not started again since. */
  undone(ids: readonly string[]): Promise<ReadonlyMap<string, RecordedUndo>>
  /** The tasks that are undone so. */
  undoneTasks(): Promise<readonly TaskId[]>
}
