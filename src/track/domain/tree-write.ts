import type { MissionId, SnapshotId, TaskId } from '../../kernel/id.ts'
import type { MissionChange } from './changes.ts'
import type { SnapshotLocation } from './task.ts'

export const treeWriteCauses = ['restore', 'undo'] as const

/** A command of a person wrote files into a work tree, and kept what was there before. */
export interface TreeWrite {
  /** Names the snapshot of the work tree before. */
  readonly id: SnapshotId
  readonly writtenAt: number
  readonly cause: (typeof treeWriteCauses)[number]
  /** The id of what was restored or undone. */
  readonly subject: string
  /** Null without a task, as the mission. */
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  /** The files that it wrote or removed, from the top. */
  readonly files: readonly string[]
  /** The work tree before it. */
  readonly before: SnapshotLocation
  /** The work tree after it; null if it could not be measured. */
  readonly after: SnapshotLocation | null
}

/** What is known of the work that a command brought back or undid. */
export interface WrittenWork {
  /** The task that it is about, and those above. */
  readonly tasks: readonly TaskId[]
  /** When the content of lost files of several tasks was kept; null for other writes. */
  readonly keptAt: number | null
}

/** An attempt at work where a command wrote. */
interface AtWork {
  readonly taskId: TaskId
  readonly openedAt: number
  /** Its turns. */
  readonly turns: readonly string[]
}

/**
 * Whether nobody who is at work made what was written: an undo takes work back, and other work comes back after its
 * end. What comes back of open work, or of a snapshot of all, may be theirs, and of a loss if they were at work before it.
 */
export function isOfNobodyAtWork(
  { cause, subject, tasks, keptAt }: Pick<TreeWrite, 'cause' | 'subject'> & WrittenWork,
  atWork: readonly AtWork[],
): boolean {
  if (cause === 'undo') return true
  if (subject.startsWith('tn-')) return !atWork.some(({ turns }) => turns.includes(subject))
  if (keptAt !== null) return atWork.every(({ openedAt }) => openedAt >= keptAt)
  return tasks.length > 0 && !atWork.some(({ taskId }) => tasks.includes(taskId))
}

export interface TreeWriteEvent {
  readonly kind: 'tree.written'
  readonly write: TreeWrite
  /** The rows of its mission's changes that are different now. */
  readonly missionChanges?: readonly MissionChange[]
}
