import { expect, test } from 'vitest'
import { openCommandLine } from './command-line.ts'

function openMission() {
  const project = openCommandLine({ git: false })
  const { mission_id } = project.json('mission', 'start', 'Tax', '--objective', 'Taxes are added')
  return { ...project, missionId: mission_id as string }
}

test('a task is added to a mission without naming a phase', () => {
  const { json, missionId } = openMission()
  const own = json('task', 'add', 'Own')
  const first = json('task', 'add', 'First', '--mission-id', 'Tax')
  const second = json('task', 'add', 'Second', '--mission', missionId, '--depends-on', first.id)
  expect(own.mission_id).toBeNull()
  expect([first.mission_id, second.mission_id]).toEqual([missionId, missionId])
  expect(second).toMatchObject({ phase_id: first.phase_id, blocked: true })
})

test('each plan may have a phase of the same name, once', () => {
  const { json, run, missionId } = openMission()
  expect(json('phase', 'add', 'Build').id).toBe('build')
  expect(json('phase', 'add', 'Build', '--mission', 'Tax')).toMatchObject({ id: 'build-2', name: 'Build' })
  const again = run('phase', 'add', 'Build', '--mission', 'Tax')
  expect(again.code).toBe(1)
  expect(again.error).toContain('waymark phase edit --id build-2')
  const task = json('task', 'add', 'Add', '--mission', 'Tax', '--phase', 'build')
  expect(task).toMatchObject({ mission_id: missionId, phase_id: 'build-2' })
})

test('a person gets a command where no task is ready, an agent a tool', () => {
  const { json, run, runWith } = openMission()
  const { id } = json('task', 'add', 'First', '--mission', 'Tax')
  json('task', 'add', 'Second', '--mission', 'Tax', '--depends-on', id)
  json('task', 'start', id)
  expect(run('task', 'next').out).toContain('waymark inbox')
  const agents = runWith({ environment: { CLAUDECODE: '1' } }, 'task', 'next', '--json')
  expect(JSON.parse(agents.out).message).toContain('taskman_task_next')
})

test('the board says how many tasks are blocked', () => {
  const { json, run } = openMission()
  const { id } = json('task', 'add', 'First', '--mission', 'Tax')
  json('task', 'add', 'Second', '--mission', 'Tax', '--depends-on', id)
  const { totals, columns } = json('board')
  expect([totals, columns.ready.length]).toEqual([{ ready: 1, active: 0, blocked: 1 }, 1])
  expect(run('board').out).toContain('waymark plan show')
})

test('lists name a mission by its title, and a completion a phase by its name', () => {
  const { json, run, missionId } = openMission()
  json('phase', 'add', 'Build', '--mission', 'Tax')
  const { id } = json('task', 'add', 'First', '--mission', 'Tax')
  for (const words of [
    ['task', 'list'],
    ['phase', 'list'],
  ]) {
    const { out } = run(...words)
    expect(out).toContain('Tax')
    expect(out).not.toContain(missionId)
  }
  expect(run('show', id).out).toContain(`Tax  ${missionId}`)
  json('task', 'start', id)
  const failed = run('task', 'complete', id, 'No.', '--status', 'failed').out
  expect(failed).toContain(`waymark task start ${id}`)
  json('task', 'start', id)
  const end = ['task', 'complete', id, 'Done.', '--status', 'success', '--phase-complete']
  expect(json(...end)).toMatchObject({ phase_status: 'completed', phase_name: 'Build' })
})

test('a mission lists its tasks in the order of their plan', () => {
  const { json, run } = openMission()
  for (const title of ['First', 'Second', 'Third']) json('task', 'add', title, '--mission', 'Tax')
  expect(run('show', 'Tax').out).toMatch(/First.*Second.*Third/s)
})

test('the list of open missions says how many ended ones it leaves out, and how to see them', () => {
  const { json, run } = openMission()
  expect(run('mission', 'list').out).not.toContain('ended')
  json('mission', 'start', 'Old', '--objective', 'o')
  json('mission', 'complete', 'Old', '--status', 'completed', '--summary', 'Nothing to do.')
  const note = 'Not listed: 1 ended mission. To show it: waymark mission list --status all'
  expect(run('mission', 'list').out.trimEnd().split('\n').at(-1)).toBe(note)
  expect(run('mission', 'list', '--search', 'Tax').out).not.toContain('Not listed')
  expect(run('mission', 'list', '--status', 'all').out).not.toContain('Not listed')
})
