import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from './command-line.ts'
import { spoken } from './spoken.ts'

test('TM-025 phases and milestones have taskman’s commands', () => {
  const { run, json, folder } = openCommandLine()
  const initialized = run('init')
  expect(initialized).toMatchObject({ code: 0, out: 'Database initialized.\n' })
  for (const shown of [join(folder, '.waymark'), 'waymark task add'])
    expect(initialized.error).toContain(shown)
  expect(existsSync(join(folder, '.waymark'))).toBe(true)
  expect(json('phase:add', '--id', 'P1', '--name', 'Design')).toMatchObject({ id: 'P1', name: 'Design' })
  expect(json('phase:edit', 'P1', '--status', 'in_progress')).toMatchObject({ status: 'in_progress' })
  expect(json('phase:list')).toMatchObject([{ id: 'P1', status: 'in_progress' }])
  const milestone = ['milestone:add', '--id', 'M1', '--phase', 'P1', '--criterion', 'All drawn']
  expect(json(...milestone)).toMatchObject({ id: 'M1', phase_id: 'P1', reached: 0 })
  expect(json('milestone:edit', 'M1', '--reached', '1')).toMatchObject({ reached: 1 })
  expect(json('milestone:list', '--phase', 'P1')).toMatchObject([{ id: 'M1', reached: 1 }])
})

test('TM-026 TM-036 tasks and their dependencies have taskman’s commands, ids by position and cut short', () => {
  const { json, run } = openCommandLine()
  json('phase:add', '--id', 'P1', '--name', 'Design')
  const add = (title: string): string => json('task:add', '--title', title, '--phase', 'P1').id
  const [first, second] = [add('First'), add('Second')]
  expect(json('task:dep:add', second.slice(0, 9), first.slice(0, 9))).toMatchObject({ depends_on: [first] })
  expect(json('task:get', second)).toMatchObject({ title: 'Second', blocked: true })
  expect(json('task:edit', second, '--title', 'Later')).toMatchObject({ title: 'Later' })
  expect(json('task:list', '--phase', 'P1').map(({ id }: { readonly id: string }) => id)).toEqual([
    first,
    second,
  ])
  const circle = run('task:dep:add', first, second)
  expect(circle).toMatchObject({ code: 1, out: '' })
  expect(circle.error).toContain('circular dependency')
  expect(circle.error).toContain('waymark task dep remove')
  expect(json('task:dep:remove', second, first)).toMatchObject({ depends_on: [], blocked: false })
})

test('a plan is told in lines of key and value when text is asked for', () => {
  const { json, run } = openCommandLine()
  json('phase:add', '--id', 'P1', '--name', 'Design')
  for (const title of ['First', 'Second']) json('task:add', '--title', title, '--phase', 'P1')
  const { out } = run('task:list', '--format', 'text')
  expect(out).toMatch(/^title: First\n.*\n---\ntitle: Second\n/s)
})

test('the log entries of a plan are told in words', () => {
  const { json, run } = openCommandLine()
  json('phase:add', '--id', 'P1', '--name', 'Design')
  const { id } = json('task:add', '--title', 'First', '--phase', 'P1')
  json('phase:edit', 'P1', '--sort-order', '2')
  json('task:note:add', id, '--content', 'Ask them')
  json('task:next', '--claim')
  json('task:edit', id, '--status', 'to_do')
  json('task:edit', id, '--status', 'done')
  const told = run('log', '--format', 'text').out
  for (const words of [
    'opened phase "Design"',
    'planned "First"',
    'edited phase P1 (sort order)',
    'noted on "First": "Ask them"',
    'claimed "First" for',
    'released the claim of',
    'marked "First" as done by hand',
  ]) {
    expect(told).toContain(words)
  }
})

test('paths of a scope are separated by commas, and braces or a JSON list keep a comma', () => {
  const { json } = openCommandLine()
  const scopeOf = (...areas: readonly string[]) => {
    const flags = areas.flatMap((value) => ['--areas', value])
    const { id } = json('task', 'add', 'Draw the map', ...flags, '--done-when.criteria', 'Red, not blue')
    const { areas: scope, done_when: doneWhen } = json('task', 'get', id)
    expect(doneWhen.criteria).toEqual(['Red, not blue'])
    return scope
  }
  expect(scopeOf('src/,test/')).toEqual(['src/', 'test/'])
  expect(scopeOf('src/{a,b}.ts, docs', 'test')).toEqual(['src/{a,b}.ts', 'docs', 'test'])
  expect(scopeOf('["a,b.ts"]', 'src')).toEqual(['a,b.ts', 'src'])
})

test('a task beside an open mission is added with the command that puts it into the mission', async () => {
  const project = openCommandLine()
  const { mission_id: mission } = project.json('mission', 'start', 'Sign in', '--objective', 'People sign in')
  project.json('phase', 'add', 'First steps', '--mission', mission)
  const { out } = await spoken(['task', 'add', 'Draw the map'], project)
  const [command = ''] = /waymark task edit .*/.exec(out) ?? []
  const { out: edited } = await spoken(command.split(' ').slice(1), project)
  expect(edited).toMatch(new RegExp(`mission +Sign in +${mission}`))
  expect(edited).toMatch(/phase +First steps/)
})

test('a new task names the tasks that it depends on by title', () => {
  const { json } = openCommandLine()
  const first = json('task', 'add', 'Draw the map').id
  expect(json('task', 'add', 'Print it', '--depends-on', 'Draw the map')).toMatchObject({
    depends_on: [first],
  })
})
