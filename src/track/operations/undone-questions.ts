import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isCompleted } from '../domain/task.ts'

const aboutUndone = { kinds: ['verdict', 'scope'], answer: 'The work was undone.' } as const

/** Without the work, nothing of it is left to ask. No action: nobody decided about the verdict. */
export async function withdrawnQuestions(
  { inboxItems }: Reads,
  { taskId, subtasks }: { readonly taskId: string | null; readonly subtasks: readonly string[] },
): Promise<readonly NewProjectEvent[]> {
  if (taskId === null) return []
  const open = await Promise.all([taskId, ...subtasks].map((id) => inboxItems.ofTask(id as TaskId))) // brands
  return open
    .flat()
    .filter(({ kind }) => aboutUndone.kinds.some((one) => one === kind))
    .map((item) => ({
      kind: 'inbox.closed',
      itemId: item.id,
      missionId: item.missionId,
      taskId: item.taskId,
      status: 'dismissed',
      answer: aboutUndone.answer,
    }))
}

const maxItems = 500

/** What the undo with a snapshot withdrew, asked again with the work; not of tasks that were started again since. */
export async function questionsAskedAgain(
  { treeWrites, inboxItems, tasks }: Reads,
  id: string,
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const write = id.startsWith('sn-') ? await treeWrites.byId(id) : null
  if (write?.cause !== 'undo') return []
  const { kinds, answer } = aboutUndone
  const since = write.writtenAt
  const { items } = await inboxItems.list({ kinds, status: 'closed', since }, { limit: maxItems })
  const withdrawn = items
    .map(({ item: { item } }) => item)
    .filter((item) => item.closedAt === since && item.answer === answer)
    .reverse()
  const events: NewProjectEvent[] = []
  for (const item of withdrawn) {
    const { taskId, attemptId, kind } = item
    if (taskId === null || attemptId === null) continue
    const [task, last, asked] = await Promise.all([
      tasks.find(taskId),
      tasks.lastAttempt(taskId),
      inboxItems.ofAttempt(attemptId),
    ])
    const isLast = last?.id === attemptId && asked.findLast((one) => one.kind === kind)?.id === item.id
    if (!isLast || task === null || (kind === 'verdict' && !isCompleted(task))) continue
    const opened = { id: setting.ids.next('item'), openedAt: setting.at, status: 'open' } as const
    const unanswered = { answer: null, action: null, closedBy: null, closedAt: null }
    events.push({ kind: 'inbox.opened', item: { ...item, ...opened, ...unanswered } })
  }
  return events
}
