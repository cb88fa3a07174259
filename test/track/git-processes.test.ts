import { expect, onTestFinished, test } from 'vitest'
import { countedGit } from '../support/counted-git.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { openStdioProject } from '../support/stdio-project.ts'

// Starting a process takes a server longer than all else that it does in a small tree.

test('where nothing changed, a task begins and ends with one status of the tree each', async () => {
  const { folder, started } = countedGit(temporaryFolder())
  const path = process.env['PATH']
  process.env['PATH'] = `${folder}:${path}`
  onTestFinished(() => {
    process.env['PATH'] = path
  })
  const { call, write, git } = await openStdioProject({ 'src/auth.ts': 'export const auth = 1\n' })
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  // Without a reason, other branches and work trees would be searched for the work.
  const outcome = { summary: 's', achievements: ['a'], no_change_reason: 'Only looked.' }
  const begin = async (name: string) => (await call('start_task', { mission_id, name })).task_id
  const end = (task_id: string) => call('complete_task', { task_id, status: 'success', outcome })

  const first = await begin('Log in')
  write('src/auth.ts', 'export const auth = 2\n')
  git('commit', '-qam', 'Log in')
  expect((await end(first)).files_changed).toMatchObject({ modified: ['src/auth.ts'] })

  // The trees of both snapshots are kept beside and behind the answers.
  let kept = 0
  const keeping = () => (kept += started().filter((command) => command === 'pack-objects').length)
  await expect.poll(keeping, { timeout: 20_000 }).toBe(2)
  const second = await begin('Look')
  expect(started()).toEqual(['status'])
  expect((await end(second)).counts).toMatchObject({ added: 0, modified: 0 })
  expect(started()).toEqual(['status'])
})
