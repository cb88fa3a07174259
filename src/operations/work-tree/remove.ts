import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { mainTreeOf, treeShape } from './usable.ts'

export const workTreeRemove = defineOperation({
  name: 'worktree_remove',
  command: 'worktree remove',
  toolset: 'track',
  audience: 'both',
  title: 'Remove the work tree of a task',
  description:
    'Remove the work tree that was made for a task, and its branch. It is refused where work would be lost, and names it: files that are not committed, commits that are on no other branch, an open attempt. Ignored files go with it.',
  kind: 'command',
  destructive: true,
  positional: ['task_id'],
  input: z.strictObject({ task_id: identifier('Task ID') }),
  output: z.looseObject({ task_id: z.string(), path: z.string(), removed: z.boolean() }),
}).handler(async (handling, input) => {
  const { store, linkedTrees, folder, clock } = handling
  await mainTreeOf(handling)
  const trees = await linkedTrees.list(folder)
  const tree = trees.find(({ taskId }) => taskId === input.task_id)
  if (!tree) {
    throw new Failure('NOT_FOUND', `There is no work tree that was made for ${input.task_id}.`, {
      hint: 'waymark worktree list shows what there is. Trees that you made yourself are removed with git worktree remove.',
    })
  }
  const inTree = await store.view((reads) => reads.tasks.attemptsInTree(tree.path, clock.now()))
  const open = inTree.find(({ status }) => status === 'open')
  if (open) {
    throw new Failure(
      'REFUSED',
      `${open.agentName ?? open.actor.name} works in ${tree.path}, on ${open.taskId}.`,
      {
        hint: `End that attempt with complete_task { task_id: "${open.taskId}" } first.`,
      },
    )
  }
  await linkedTrees.remove(folder, tree)
  return { task_id: input.task_id, ...treeShape({ ...tree, exists: false }), removed: true }
})
