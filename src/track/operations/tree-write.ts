import type { TransactionContext } from '../../kernel/id.ts'
import { type WorkTree, withMachine } from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import type { SnapshotLocation } from '../domain/task.ts'
import type { TreeWrite, TreeWriteEvent } from '../domain/tree-write.ts'

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
