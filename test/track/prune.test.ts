import { existsSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openProject, type TestProject } from '../support/project.ts'

const oneDay = 24 * 60 * 60 * 1000

function snapshots({ context }: TestProject): readonly string[] {
  const folder = join(context.program.stateFolder, 'snapshots')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

/** Makes what is on disk look as old as the clock of the test says. */
function age(project: TestProject, days: number): void {
  project.wait(days * oneDay)
  const then = new Date(project.context.clock.now() - days * oneDay)
  for (const directory of snapshots(project)) utimesSync(directory, then, then)
}

test('snapshots of open and of newly closed attempts are kept; others go after a day, closed ones after 30', async () => {
  const project = await openProject()
  const open = await project.call('start_task', { name: 'open', goal: 'g' })
  const closed = await project.call('start_task', { name: 'closed', goal: 'g' })
  await project.call('complete_task', {
    task_id: closed.task_id,
    status: 'success',
    outcome: { summary: 's' },
  })
  await project.call('diff', { id: open.task_id }) // measured for the eye: no attempt names this one
  await project.context.witness.settle()
  expect(snapshots(project)).toHaveLength(4)
  age(project, 2)
  expect(await project.call('prune')).toMatchObject({ removed_snapshots: 1, stale_attempts: 1 })
  expect(await project.call('diff', { id: closed.task_id })).toMatchObject({ diff: '' })
  age(project, 31)
  const { removed_snapshots } = await project.call('prune')
  expect(removed_snapshots).toBe(2)
  expect(await project.refused('diff', { id: closed.task_id })).toMatchObject({ code: 'UNAVAILABLE' })
  expect(await project.call('diff', { id: open.task_id })).toMatchObject({ diff: '' })
})

test('the answer under an idempotency key is the operation’s own, also when an attempt fell silent', async () => {
  const project = await openProject()
  await project.call('start_task', { name: 'open', goal: 'g' })
  project.wait(oneDay)
  const first = await project.call('prune', {}, { idempotencyKey: 'nightly' })
  expect(first).toMatchObject({ stale_attempts: 1 })
  expect(await project.call('prune', {}, { idempotencyKey: 'nightly' })).toEqual(first)
})
