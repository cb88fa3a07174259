import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { NoteId } from '../../domain/id.ts'
import type { Note } from '../../domain/plan/plan.ts'
import type { Task } from '../../domain/track/task.ts'
import { findTask } from '../find/entities.ts'
import { identifier, name, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { mainTreeOf } from './usable.ts'

export const workTreeAdd = defineOperation({
  name: 'worktree_add',
  command: 'worktree add',
  toolset: 'track',
  audience: 'both',
  title: 'Make a work tree for a task',
  description:
    'Make a git work tree and a branch for a task, beside the repository. start_task { planned_task_id } then works there. It writes to your repository: a branch and a linked work tree, without running hooks or filters.',
  kind: 'command',
  positional: ['task_id'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    folder: text('Where; default beside the repository, <repository>-<task>').optional(),
    branch: name('Name of the new branch; default <task>-<name of the task>').optional(),
    from: name('Branch, tag or commit to begin at; default where you are').optional(),
  }),
  output: z.looseObject({
    task_id: z.string(),
    path: z.string(),
    branch: z.string(),
    notes: z.array(z.string()),
  }),
}).handler(async (handling, input) => {
  const { store, linkedTrees, folder, record, actor } = handling
  const top = await mainTreeOf(handling)
  const { task, attempt } = await store.view(async (reads) => {
    const found = await findTask(reads, input.task_id)
    return { task: found, attempt: await reads.tasks.openAttempt(found.id) }
  })
  if (task.status === 'done') {
    throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" is done: there is nothing to work on.`)
  }
  if (attempt) {
    throw new Failure(
      'CONFLICT',
      `Task ${task.id} is being worked on in ${attempt.snapshot.top}, by ${attempt.agentName ?? attempt.actor.name}.`,
      {
        hint: `End that attempt with complete_task { task_id: "${task.id}" } first; what it changed stays where it is.`,
      },
    )
  }
  const bound = (await linkedTrees.bound(folder)).find(({ taskId }) => taskId === task.id)
  if (bound) {
    throw new Failure('CONFLICT', `Task ${task.id} has a work tree already: ${bound.path}.`, {
      hint: `start_task { planned_task_id: "${task.id}" } works there.`,
    })
  }
  const added = await linkedTrees.add({
    folder,
    path: input.folder === undefined ? `${top}-${task.id}` : placed(input.folder, folder),
    branch: input.branch ?? branchOf(task),
    from: input.from,
    taskId: task.id,
  })
  const branch = added.branch ?? ''
  await record(async (_reads, setting) => {
    const note: Note = {
      id: setting.ids.next('note') as NoteId,
      taskId: task.id,
      content: `It has a work tree of its own: ${added.path}, on the branch ${branch}.`,
      kind: 'progress',
      role: null,
      author: actor.name,
      createdAt: setting.at,
    }
    return { happenings: [{ kind: 'note.added', note }], answer: {} }
  })
  return {
    task_id: task.id,
    path: added.path,
    branch,
    head: added.head,
    notes: [...added.notes],
    next: `start_task { planned_task_id: "${task.id}" } works there.`,
  }
})

/** Not from where the process happens to run. */
function placed(asked: string, folder: string): string {
  const whole = /^(?:[/\\]|[a-z]:)/i.test(asked) ? asked : `${folder}/${asked}`
  const parts: string[] = []
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `${whole.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

/** Only what any file system and git take for a plain name. */
function branchOf({ id, name: title }: Task): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return words === '' ? id : `${id}-${words}`
}
