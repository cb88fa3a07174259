import { expect, test } from 'vitest'
import { connect, eras } from './clients.ts'
import { serveProject } from './serving.ts'

test.each(eras)('%s: with several work trees a task says in which one it works', async (era) => {
  const { url, project } = await serveProject()
  const { call } = await connect(url, { era })
  expect((await call('start_task', { name: 'a' })).warnings).toEqual([])
  const linked = `${project.folder}-linked`
  project.git('worktree', 'add', '-q', '-b', 'side', linked)
  await expect(call('start_task', { name: 'b' })).rejects.toThrow(
    `2 work trees you use: ${project.folder}, ${linked}`,
  )
  const { task_id } = await call('start_task', { name: 'b', work_tree: linked })
  const { attempts } = await project.call('show', { id: task_id })
  expect(attempts[0].work_tree).toBe(linked)
  project.git('worktree', 'remove', '--force', linked)
  await call('start_task', { name: 'c' })
})
