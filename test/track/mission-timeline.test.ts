import { expect, test } from 'vitest'
import { type Answer, notFound, openProject, person } from '../support/project.ts'

test('the timeline of a mission tells who worked on what when, what was measured, and what was said', async () => {
  const { call, write, wait } = await openProject()
  const promises = {
    description: 'With mail',
    constraints: 'No new packages',
    done_when: { check: ['npm test'] },
  }
  const mission = { name: 'Auth', objective: 'Log in', scope: 'src/**', ...promises }
  const { mission_id } = await call('start_mission', mission)
  const start = { mission_id, phase: 1, phase_name: 'Build', areas: ['src/**'] }
  const first = await call('start_task', { ...start, name: 'Log in', agent_name: 'mira' })
  const said = { task_id: first.task_id, category: 'other', question: 'JWT?', chosen: 'no', reasoning: 'r' }
  await call('log_decision', said)
  write('src/auth.ts', 'export const auth = 2\nexport const more = 1\n')
  write('utils.ts', 'export const utils = 2\n')
  wait(60_000)
  await call('complete_task', { task_id: first.task_id, status: 'success', outcome: { summary: 's' } })
  const second = await call('start_task', { ...start, name: 'Log out', agent_name: 'otto' })
  const issue = { task_id: second.task_id, type: 'other', description: 'Stuck', resolution: 'none' }
  await call('log_issue', issue)
  await call('log_milestone', { task_id: second.task_id, message: 'Half way' })

  const timeline = await call('mission_timeline', { id: mission_id })
  expect(timeline).toMatchObject({ ...mission, id: mission_id, status: 'IN_PROGRESS' })
  expect(timeline.phases).toMatchObject([{ name: 'Build', status: 'in_progress' }])
  expect(timeline.tasks).toMatchObject([
    { name: 'Log in', phase_id: timeline.phases[0].id, status: 'done', resolution: 'success' },
    { name: 'Log out', status: 'in_progress' },
  ])
  expect(timeline.attempts).toMatchObject([
    {
      task_id: first.task_id,
      agent: 'mira',
      status: 'success',
      counts: { modified: 2 },
      lines: { added: 3, deleted: 2, out_of_scope: 1 },
      scope_match: false,
      measurement: 'exact',
    },
    { task_id: second.task_id, agent: 'otto', status: 'open', closed_at: null, lines: null },
  ])
  expect(timeline.marks.map(({ kind, text }: { kind: string; text: string }) => [kind, text])).toEqual(
    expect.arrayContaining([
      ['progress', 'Half way'],
      ['issue', 'Stuck'],
      ['decision', 'JWT? no'],
    ]),
  )
  expect(timeline.totals).toEqual({
    tasks: 2,
    done: 1,
    done_waiting: 1,
    attempts: 2,
    files_changed: 2,
    decisions: 1,
    issues: 1,
    added: 3,
    deleted: 2,
    out_of_scope: 1,
    out_of_scope_accepted: 0,
  })
  const dropped = await call('taskman_task_add', { title: 'Not needed', phase: timeline.phases[0].id })
  await call('task_drop', { id: dropped.id, reason: 'Not needed' }, { actor: person })
  const { totals } = await call('mission_timeline', { id: mission_id })
  expect(totals).toMatchObject({ tasks: 2, done: 1 })
  const short = await call('mission_timeline', { id: mission_id, limit: 1 })
  expect(short.attempts.map(({ agent }: { agent: string }) => agent)).toEqual(['otto'])
  expect(short.totals).toMatchObject({ attempts: 2, added: 3 })
})

test('the changes of a mission are its files, each once, as a difference of states', async () => {
  const { call, write } = await openProject()
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  const work = async (name: string, more: object, path: string) => {
    const task = await call('start_task', { mission_id, name, ...more })
    write('src/auth.ts', `export const auth = '${name}'\n`)
    write(path, 'export const more = 1\n')
    await call('complete_task', { task_id: task.task_id, status: 'success', outcome: { summary: 's' } })
    return task.task_id as string
  }
  await work('One', {}, 'src/one.ts')
  const two = await work('Two', { areas: ['src/**'] }, 'lib/two.ts')
  const { files, total } = await call('mission_changes', { id: mission_id })
  expect(total).toBe(3)
  expect(files).toEqual([
    expect.objectContaining({ path: 'lib/two.ts', scope: 'out', change: 'added', attempts: 1 }),
    {
      path: 'src/auth.ts',
      change: 'modified',
      scope: 'in',
      added_lines: 1,
      deleted_lines: 1,
      others: false,
      attempts: 2,
      task_id: two,
    },
    expect.objectContaining({ path: 'src/one.ts', scope: null }),
  ])
  expect((await call('mission_changes', { id: mission_id, limit: 1 })).files).toHaveLength(1)
})

test('a mission that is not there has no timeline', async () => {
  const { refused } = await openProject()
  expect(await refused('mission_timeline', { id: 'm-none' })).toMatchObject(notFound('mission'))
})

test('files out of scope that a person approved are told apart where they are counted', async () => {
  const { call, write } = await openProject()
  const begun = await call('start_mission', { name: 'Sign in', objective: 'Log in' })
  const start = { mission_id: begun.mission_id, name: 'Log in', areas: ['src/auth.ts'] }
  const { task_id } = await call('start_task', start)
  for (const path of ['src/auth.ts', 'src/api.ts', 'utils.ts'])
    write(path, `export const changed = '${path}'\n`)
  await call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
  const counted = async () => {
    const { attempts, totals } = await call('mission_timeline', { id: begun.mission_id })
    const shown = await call('show', { id: task_id })
    const { columns } = await call('board', {})
    const cards: Answer[] = Object.values<Answer[]>(columns).flat()
    const card = cards.find(({ id }) => id === task_id)
    const detail = shown.attempts[0].measured.scope
    return [
      ...[attempts[0].lines, totals, card?.measured, shown.measured].map(
        ({ out_of_scope, out_of_scope_accepted }) => [out_of_scope, out_of_scope_accepted],
      ),
      [detail.unexpected.length, detail.accepted ?? 0],
    ]
  }
  expect(await counted()).toEqual(Array(5).fill([2, 0]))
  const { items } = await call('inbox', { kind: 'scope' })
  for (const { item_id } of items) await call('approve', { id: item_id }, { actor: person })
  expect(await counted()).toEqual(Array(5).fill([2, 2]))
})
