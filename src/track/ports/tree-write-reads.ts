import type { SnapshotId, TaskId } from '../../kernel/id.ts'
import type { TreeWrite } from '../domain/tree-write.ts'

export interface RecordedUndo {
  /** Its snapshot: what was there before. */
  readonly id: SnapshotId
  readonly author: string
  /** Milliseconds since the epoch. */
  readonly undoneAt: number
}

/** An undo or a restore in the history of a task. */
export interface TaskTreeWrite extends Pick<TreeWrite, 'id' | 'cause' | 'writtenAt'> {
  readonly author: string
  readonly files: number
}

/** Files that commands of people wrote into work trees. */
export interface TreeWriteReads {
  byId(id: string): Promise<TreeWrite | null>
  /** Since a time, in one work tree if given; the newest first. */
  since(time: number, tree?: string): Promise<readonly TreeWrite[]>
  /** Those of one task, the newest first. */
  ofTask(id: TaskId): Promise<readonly TaskTreeWrite[]>
  /** The last undo of tasks and turns that nobody restored, and whose task was not started again since. */
  undone(ids: readonly string[]): Promise<ReadonlyMap<string, RecordedUndo>>
  /** The tasks that are undone so. */
  undoneTasks(): Promise<readonly TaskId[]>
}
