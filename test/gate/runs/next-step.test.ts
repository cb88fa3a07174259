import { expect, test } from 'vitest'
import { type CommandLineProject, openCommandLine } from '../../surfaces/cli/command-line.ts'

/** A mission of the process `release` with one finished task. */
function finishedWork({ json, write }: CommandLineProject) {
  const { run, mission_id } = json(
    'mission',
    'start',
    'Cart',
    '--objective',
    'Sum',
    '--process-id',
    'release',
  )
  const { task_id } = json('task', 'start', 'Add', '--mission-id', mission_id, '--areas', 'src/')
  write('src/cart.ts', 'export const cart = 1\n')
  return { runId: run.run_id as string, missionId: mission_id as string, taskId: task_id as string }
}

test('an event is emitted with the id and the event alone', () => {
  const project = openCommandLine()
  const { json, run } = project
  const { runId, taskId } = finishedWork(project)
  run('task', 'complete', taskId, 'Changed src/cart.ts.', '--status', 'success')
  const dropped = json('run', 'emit', runId, 'drop')
  expect(dropped.result).toMatchObject({ transition: { to_state: 'dropped' }, new_revision: 2 })
  expect(json('run', 'history', runId).events).toHaveLength(1)
})

test('the next step of a gated mission is a command once its tasks are done', () => {
  const project = openCommandLine()
  const { json, run } = project
  const { runId, taskId } = finishedWork(project)
  const command = `waymark run emit run-${runId.slice(-8)} submit`
  expect(run('status').out).not.toContain(command)
  const completed = run('task', 'complete', taskId, 'Changed src/cart.ts.', '--status', 'success')
  expect(completed.out).toContain(command)
  const [{ gates }] = json('status').missions
  const missing = [{ name: 'proven', fix: expect.stringContaining(`waymark review ${taskId}`) }]
  expect(gates).toMatchObject([{ run_id: runId, next: [{ event: 'submit', payload: null }], missing }])
  const { out } = run('status')
  expect(out).toMatch(/next {9}Blocked by proven: "Add" .* is unproven: .*\n/)
  expect(out).toContain(`waymark review ${taskId}\n             Then: ${command}\n`)
  expect(run('run', 'show').out).toContain(command.replace('submit', 'drop'))
})
