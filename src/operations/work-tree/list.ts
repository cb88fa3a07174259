import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { mainTreeOf, treeShape } from './usable.ts'

export const workTreeList = defineOperation({
  name: 'worktree_list',
  command: 'worktree list',
  toolset: 'track',
  audience: 'both',
  title: 'List work trees',
  description: 'The linked work trees of the repository, and the tasks that they were made for',
  kind: 'query',
  input: z.strictObject({}),
  output: z.looseObject({ work_trees: z.array(z.looseObject({ path: z.string() })), total: z.int() }),
}).handler(async (handling) => {
  await mainTreeOf(handling)
  const trees = await handling.linkedTrees.list(handling.folder)
  const tasks = await handling.store.view((reads) =>
    Promise.all(trees.map(async ({ taskId }) => (taskId === null ? null : reads.tasks.find(taskId)))),
  )
  return {
    work_trees: trees.map((tree, at) => ({
      task_id: tree.taskId,
      task: tasks[at]?.name ?? null,
      status: tasks[at]?.status ?? null,
      ...treeShape(tree),
    })),
    total: trees.length,
  }
})
