import { expect, test } from 'vitest'
import { openPlan } from './plan-project.ts'

test('what a command answers is what the task is afterwards, whatever happened before', async () => {
  const { call, plan, get, edit } = await openPlan()
  await call('taskman_phase_add', { id: 'P2', name: 'Build' })
  const task = await plan('Draw')
  const open = await plan('Open')
  const done = await plan('Done')
  await edit(done, { status: 'done' })
  const edits = [
    { status: 'in_progress' },
    { status: 'done' },
    { status: 'in_progress' },
    { title: 'Sketch', status: 'to_do' },
    { status: 'done', phase: 'P2', description: 'x' },
    { status: 'to_do' },
    { clear: ['description'] },
    {},
  ]
  const dependency = (id: string) => ({ 'task-id': task, 'dep-id': id })
  const steps = [
    () => call('taskman_task_dep_add', dependency(open)),
    () => call('taskman_task_dep_add', dependency(done)),
    ...edits.map((changes) => () => edit(task, changes)),
    () => call('taskman_task_dep_remove', dependency(open)),
    () => call('taskman_task_dep_remove', dependency(done)),
    () => edit(task, { status: 'done' }),
    () => call('taskman_task_dep_add', dependency(open)),
    () => edit(task, { status: 'to_do' }),
    () => edit(task, { status: 'in_progress' }),
    () => call('task_drop', { id: task, reason: 'No' }),
  ]
  for (const [index, step] of steps.entries()) {
    const answer = await step()
    // A task that is asked for tells its notes and its history, too.
    expect({ index, ...(await get(task)) }).toMatchObject({ index, ...answer })
  }
})
