import { expect, test } from 'vitest'
import { openCommandLine, startWork } from './command-line.ts'

test('an id may be cut as long as only one begins so', () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  expect(project.json('show', taskId.slice(0, 8)).id).toBe(taskId)
  expect(project.json('show', missionId.slice(0, 8)).id).toBe(missionId)
  expect(project.json('progress', 'log', taskId.slice(0, 8), 'On the way')).toHaveProperty('milestone_id')
  const second = project.json(
    'task',
    'start',
    'More',
    '--mission-id',
    missionId.slice(0, 8),
    '--parent-task-id',
    taskId.slice(0, 8),
  )
  expect(project.json('show', second.task_id)).toMatchObject({
    mission_id: missionId,
    parent_task_id: taskId,
  })
})

test('an id that could be several is refused with those', () => {
  const project = openCommandLine()
  const start = (name: string): string =>
    project.json('mission', 'start', name, '--objective', 'x').mission_id
  const ids = ['One', 'Two'].map(start).sort()
  const { code, error } = project.run('show', 'm-')
  expect({ code, error }).toEqual({
    code: 2,
    error: `waymark: m- could be ${ids.join(', ')}.\nType more of the id, so that only one matches.\n`,
  })
})
