import { z } from 'zod'
import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import { withMachine } from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Attempt } from '../domain/task.ts'
import type { TreeWrite, TreeWriteEvent } from '../domain/tree-write.ts'
import type { RecordedUndo } from '../ports/tree-write-reads.ts'

/** How a person has files written: the difference is shown first. */
export const writeFields = {
  yes: z.boolean().describe('Write the files without asking').optional(),
  dry_run: z.boolean().describe('Only show the difference, and write nothing').optional(),
  content: z
    .string()
    .max(100)
    .describe('Write only if the difference is still the one that was shown')
    .optional(),
}

export function writeQuestion(files: number, workTree: string): string {
  return `Write ${formatCount(files, 'file')} in ${workTree}?`
}

/** The event of files that a command wrote: its id is how people restore what was there before. */
export function treeWritten(
  write: Omit<TreeWrite, 'id' | 'writtenAt'>,
  { context, setting }: { readonly context: RecordContext; readonly setting: TransactionContext },
): TreeWriteEvent {
  const before = withMachine(context, write.before)
  const after = write.after && withMachine(context, write.after)
  return {
    kind: 'tree.written',
    write: { ...write, before, after, id: setting.ids.next('snapshot'), writtenAt: setting.at },
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
