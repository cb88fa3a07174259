import { expect, test } from 'vitest'
import { openCommandLine } from '../surfaces/cli/command-line.ts'

test('TM-025 TM-036 TM-076 init, phases and milestones in taskman’s spelling', () => {
  const { run, json } = openCommandLine({ git: false })
  expect(run('init')).toMatchObject({ code: 0, out: 'Database initialized.\n' })
  const phase = { id: 'P1', name: 'Design', status: 'to_do', sort_order: null, completed_at: null }
  const added = json('phase:add', '--id', 'P1', '--name', 'Design')
  expect(added).toEqual({ ...phase, number: null, mission_id: null, created_at: expect.any(String) })
  expect(json('phase:edit', 'P1', '--status', 'in_progress', '--sort-order', '2')).toMatchObject({
    status: 'in_progress',
    sort_order: 2,
  })
  expect(json('phase:list')).toEqual([{ ...added, status: 'in_progress', sort_order: 2 }])
  expect(json('milestone:add', '--id', 'M1', '--phase', 'P1', '--name', 'Beta')).toMatchObject({ reached: 0 })
  expect(json('milestone:edit', 'M1', '--reached', '1')).toMatchObject({ reached: 1 })
  expect(json('milestone:list', '--phase', 'P1')).toMatchObject([{ id: 'M1', name: 'Beta', reached: 1 }])
  expect(run('phase:edit', 'P1')).toMatchObject({ code: 0, error: '' })
  expect(run('phase:edit', 'P1').out.trim()).toBe('')
})

test('TM-026 TM-036 TM-073 TM-076 tasks and dependencies in taskman’s spelling, options in any order', () => {
  const { run, json } = openCommandLine({ git: false })
  json('phase:add', '--name', 'Design', '--id', 'P1')
  const draw = json('task:add', '--title', 'Draw', '--phase', 'P1', '--role', 'project-designer')
  const ship = json('task:add', '--phase', 'P1', '--description', 'To all', '--title', 'Ship')
  expect(json('task:get', draw.id)).toEqual(draw)
  expect(json('task:get', draw.id.slice(0, 8))).toEqual(draw)
  expect(json('task:dep:add', ship.id, draw.id)).toMatchObject({ id: ship.id, depends_on: [draw.id] })
  expect(json('task:list', '--status', 'to_do', '--role', 'project-designer')).toMatchObject([
    { id: draw.id },
  ])
  expect(json('task:edit', draw.id, '--status', 'done')).toMatchObject({ status: 'done' })
  expect(json('task', 'edit', ship.id, '--clear', 'description')).toMatchObject({ description: null })
  expect(json('task:dep:remove', ship.id, draw.id)).toMatchObject({ depends_on: [] })
  const text = run('task:get', ship.id, '--format', 'text')
  expect(text.code).toBe(0)
  expect(text.out).toContain('Ship')
  expect(json('task:list', '--format', 'json')).toHaveLength(2)
})

test('ready work from the command line: look, claim, release, drop', () => {
  const { json } = openCommandLine({ git: false })
  json('phase:add', '--id', 'P1', '--name', 'Design')
  const { id } = json('task:add', '--title', 'Draw', '--phase', 'P1')
  expect(json('task:next')).toMatchObject({ task: { id }, claim: null })
  const claimed = json('task:next', '--claim', '--agent-name', 'ada')
  expect(claimed).toMatchObject({ task: { id, claimed_by: 'ada' }, claim: { agent: 'ada' } })
  expect(json('task:next').task).toBeNull()
  expect(json('task:edit', id, '--status', 'to_do', '--agent-name', 'ada')).toMatchObject({ status: 'to_do' })
  expect(json('task:drop', id, 'Not needed')).toMatchObject({ status: 'done', resolution: 'dropped' })
})

test('TM-076 a failure is code 1 with its sentence on stderr, a mistake in the words code 2', () => {
  const { run } = openCommandLine({ git: false })
  const failed = (...words: readonly string[]) => {
    const { code, out, error } = run(...words)
    return { code, out, error: error.split('\n')[0] }
  }
  expect(failed('task:get', 'xyz')).toEqual({ code: 1, out: '', error: 'waymark: task not found: xyz' })
  expect(failed('task:add', '--title', 'x', '--phase', 'P9')).toEqual({
    code: 1,
    out: '',
    error: 'waymark: phase not found: P9',
  })
  expect(failed('phase:add', '--id', 'P1')).toMatchObject({ code: 2, out: '' })
  expect(failed('phase:add', '--id', 'P1', '--name', 'D', '--state', 'x')).toMatchObject({ code: 2, out: '' })
  expect(failed('task:list', '--status', 'open?').code).not.toBe(0)
  expect(failed('phase:remove', 'P1')).toMatchObject({ code: 2, out: '' })
})

test('a person’s list is whole, unless a limit is named', () => {
  const { json, run } = openCommandLine({ git: false })
  json('phase:add', '--id', 'P1', '--name', 'Design')
  for (let number = 0; number < 22; number += 1)
    json('task:add', '--title', `Task ${number}`, '--phase', 'P1')
  expect(json('task:list')).toHaveLength(22)
  const cut = run('task:list', '--limit', '2', '--json')
  expect(JSON.parse(cut.out)).toHaveLength(2)
})
