import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import { type WorkTree, withMachine } from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Attempt, SnapshotLocation } from '../domain/task.ts'
import type { TreeWrite, TreeWriteEvent } from '../domain/tree-write.ts'
import type { RecordedUndo } from '../ports/tree-write-reads.ts'

/** Keeps a work tree before files are written into it, so that what they replace can be restored. */
export async function snapshotBefore(
  { witness, snapshotName }: Pick<WorkTree, 'witness' | 'snapshotName'>,
  folder: string,
): Promise<SnapshotLocation> {
  return (await witness.snapshot({ folder, name: snapshotName() })).ref
}

/** The event of files that a command wrote: its id is how people restore what was there before. */
export function treeWritten(
  write: Omit<TreeWrite, 'id' | 'writtenAt'>,
  { context, setting }: { readonly context: RecordContext; readonly setting: TransactionContext },
): TreeWriteEvent {
  const before = withMachine(context, write.before)
  return {
    kind: 'tree.written',
    write: { ...write, before, id: setting.ids.next('snapshot'), writtenAt: setting.at },
  }
}

/** The undo of each task that was undone, itself or with a task above it, and not started again since. */
export async function undoneTasks(
  { tasks, treeWrites }: Pick<Reads, 'tasks' | 'treeWrites'>,
  attempts: ReadonlyMap<TaskId, Attempt | null>,
): Promise<ReadonlyMap<TaskId, RecordedUndo>> {
  const above = await tasks.ancestors([...attempts.keys()])
  const undone = await treeWrites.undone([...attempts.keys(), ...[...above.values()].flat()])
  const found = new Map<TaskId, RecordedUndo>()
  if (undone.size === 0) return found
  for (const [id, attempt] of attempts) {
    const undos = [id, ...(above.get(id) ?? [])].flatMap((one) => undone.get(one) ?? [])
    const last = undos.find(({ undoneAt }) => attempt !== null && attempt.openedAt <= undoneAt)
    if (last !== undefined) found.set(id, last)
  }
  return found
}
