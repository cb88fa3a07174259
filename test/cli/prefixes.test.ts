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
  const ids = ['One', 'Two', 'Three'].map(
    (name) => project.json('mission', 'start', name, '--objective', 'x').mission_id,
  )
  // Among 40 random ids two begin with the same letter; here the shortest prefix of all is enough.
  const letters = ids.map((id: string) => id.slice(0, 3))
  const shared = letters.find((letter, at) => letters.indexOf(letter) !== at)
  const { code, error } = project.run('show', shared ?? 'm-')
  if (shared === undefined) {
    expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining('not found: m-') })
    return
  }
  expect({ code, error }).toEqual({ code: 2, error: expect.stringContaining(`${shared} could be `) })
})
