import { expect, test } from 'vitest'
import { openCommandLine, startWork } from './command-line.ts'
import { spoken } from './spoken.ts'

test('a flag that is a command of its own may stand anywhere', () => {
  const project = openCommandLine()
  startWork(project)
  project.write('project.jsonl', project.run('export').out)
  expect(project.run('import', 'project.jsonl').code).toBe(1)
  expect(project.run('import', 'project.jsonl', '--replace')).toMatchObject({ code: 0 })
  expect(JSON.parse(project.run('doctor', '--json', '--repair').out)).toMatchObject({
    events: expect.any(Number),
    backup: expect.any(String),
  })
  expect(project.run('import', '--', '--replace').error).toContain('--replace')
})

test('an id by position is taken by its kind, where a task or a mission may be meant', () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  expect(project.run('report', taskId)).toMatchObject({ code: 0, error: '' })
  expect(project.run('report', missionId)).toMatchObject({ code: 0, error: '' })
  expect(project.json('review', 'show', missionId).subject).toMatchObject({ mission_id: missionId })
  expect(project.json('review', 'show', taskId).subject).toMatchObject({ task_id: taskId })
})

test('an unknown command of a group names the commands of the group', async () => {
  const { code, error } = await spoken(['task', 'strat'])
  expect(code).toBe(2)
  expect(error).toContain('waymark task start')
  expect((await spoken(['task', 'frobnicate'])).error).toContain('waymark task lists its commands')
  expect((await spoken(['help', 'tsk'])).error).toContain('waymark task')
})

test('a claimed task is printed with the command that starts it, and a done dependency is not waited for', async () => {
  const project = openCommandLine()
  project.json('phase:add', '--id', 'P1', '--name', 'Design')
  const add = (title: string): string => project.json('task:add', '--title', title, '--phase', 'P1').id
  const [first, second] = [add('First'), add('Second')]
  project.json('task:dep:add', second, first)
  project.json('task:edit', first, '--status', 'done')
  const { out } = await spoken(['task', 'next', '--claim'], project)
  expect(out).toMatch(new RegExp(`depends on +First +${first}`))
  expect(out).not.toContain('waits for')
  const [command = ''] = /waymark task start .*/.exec(out) ?? []
  expect(await spoken(command.split(' ').slice(1), project)).toMatchObject({ code: 0 })
  const done = ['--status', 'success', '--outcome.summary', 'Done']
  const completed = await spoken(['task', 'complete', second, ...done], project)
  expect(completed.out).toContain('Phase "Design" is done')
})

test('JSON that is wanted for an object names the fields that may be given alone', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const { error } = await spoken(
    ['task', 'complete', taskId, '--status', 'success', '--outcome', 'did it'],
    project,
  )
  expect(error).toContain('--outcome.summary')
})
