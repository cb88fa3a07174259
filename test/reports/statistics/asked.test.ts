import { describe, expect, test } from 'vitest'
import { figureDefinitions } from '../../../src/reports/domain/figures.ts'
import { openProject, type ProjectOptions, person } from '../../support/project.ts'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

const minute = 60_000

async function worked(options: ProjectOptions = {}) {
  const project = await openProject(options)
  const { call, wait, write } = project
  const { mission_id: mission } = await call('start_mission', {
    name: 'Sign in',
    objective: 'People sign in',
  })
  const work = async (name: string, status: string, { more = {}, outcome = {} } = {}) => {
    const { task_id } = await call('start_task', {
      name,
      mission_id: mission,
      areas: ['src/'],
      agent_name: 'builder',
    })
    wait(10 * minute)
    await call('complete_task', { task_id, status, outcome: { summary: 'Said.', ...outcome }, ...more })
    return task_id as string
  }
  return { ...project, mission: mission as string, work, write }
}

describe('waymark stats', () => {
  test('of a project in which nothing ended knows nothing, and says so by its n', async () => {
    const { call } = await openProject()
    const { all, groups, group_by, definitions, notes } = await call('stats')
    expect(group_by).toBeNull()
    expect(groups).toEqual([])
    expect(notes).toEqual([])
    expect(all.attempt_time).toEqual({ basis: 'measured', n: 0, median_seconds: null, p90_seconds: null })
    expect(all.lines).toMatchObject({ n: 0, added: null })
    expect(all.first_pass).toEqual({ basis: 'claimed', n: 0, passed: null, share: null })
    expect(definitions).toEqual(figureDefinitions)
    expect(Object.keys(all).toSorted()).toEqual(figureDefinitions.map(({ figure }) => figure).toSorted())
    for (const { figure, basis } of figureDefinitions) expect(all[figure].basis).toBe(basis)
  })

  test('tells what was measured of attempts and what their agents said', async () => {
    const { call, mission, work, write } = await worked()
    write('src/api.ts', 'one\ntwo\nthree\n')
    await work('Add the form', 'success', { more: { metadata: { tokens_input: 1000, tokens_output: 50 } } })
    await work('Try the rest', 'failed')
    const { all, groups } = await call('stats', { group_by: 'agent' })
    expect(all.attempt_time).toMatchObject({ n: 2 })
    expect(all.attempt_time.median_seconds).toBeGreaterThanOrEqual(600)
    expect(all.attempt_time.median_seconds).toBeLessThan(660)
    expect(all.task_time.n).toBe(1)
    expect(all.first_pass).toEqual({ basis: 'claimed', n: 1, passed: 1, share: 1 })
    expect(all.tokens).toEqual({
      basis: 'claimed',
      ended_attempts: 2,
      input: { n: 1, sum: 1000 },
      output: { n: 1, sum: 50 },
    })
    expect(all.out_of_scope).toMatchObject({ basis: 'measured', n: 2, files: 0 })
    expect(groups.map(({ name }: { name: string }) => name)).toEqual(['builder'])
    const byMission = await call('stats', { group_by: 'mission' })
    expect(byMission.groups).toMatchObject([{ key: mission, name: 'Sign in' }])
    const byRole = await call('stats', { group_by: 'role' })
    expect(byRole.groups).toMatchObject([{ key: null, name: 'no role' }])
  })

  test('lines and files out of scope are those that were measured', async () => {
    const { call, write } = await worked()
    const { task_id } = await call('start_task', { name: 'Both', areas: ['src/'], agent_name: 'builder' })
    write('src/api.ts', 'export const api = 1\nexport const more = 2\n')
    write('utils.ts', '')
    await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
    const { all } = await call('stats')
    expect(all.out_of_scope).toEqual({ basis: 'measured', n: 1, files: 1, attempts: 1 })
    expect(all.lines).toMatchObject({ n: 1, added: 1, deleted: 1, files_without_lines: 0 })
  })

  test('counts first verdicts, and a contradiction that other words cleared as explained', async () => {
    const { call, work } = await worked({ explainsNoChange: false })
    const idle = await work('Fix the form', 'success')
    await call('complete_task', {
      task_id: idle,
      status: 'success',
      outcome: { summary: 'Nothing to fix.', no_change_reason: 'It was fixed before.' },
    })
    await work('Try the rest', 'failed')
    const { all, groups } = await call('stats', { group_by: 'model' })
    expect(all.verdicts).toEqual({
      basis: 'measured',
      n: 1,
      proven: 0,
      unproven: 0,
      contradicted: 0,
      explained: 1,
      by_rule: [
        { rule: 'no_check', n: 1 },
        { rule: 'nothing_changed', n: 1 },
      ],
    })
    expect(all.landed).toMatchObject({ n: 0, landed: null, share: null })
    expect(groups).toMatchObject([{ key: null, verdicts: { n: 1, explained: 1 } }])
  })

  test('a person’s answer ends a wait; an end by an agent is none', async () => {
    const { call, wait } = await worked()
    const { task_id } = await call('start_task', { name: 'More', agent_name: 'builder' })
    const { issue_id } = await call('log_issue', {
      task_id,
      type: 'unclear_requirement',
      description: 'Which colour?',
      resolution: 'Blue for now',
      requires_human_review: true,
    })
    expect((await call('stats')).all.waiting).toMatchObject({ n: 0, total_seconds: null, by_kind: [] })
    wait(20 * minute)
    await call('resolve', { id: issue_id, answer: 'Red.' }, { actor: person })
    const { all, groups } = await call('stats', { group_by: 'agent' })
    expect(all.attempt_time.n).toBe(0)
    expect(all.waiting).toMatchObject({ n: 1, by_kind: [{ kind: 'blocker', n: 1 }] })
    expect(all.waiting.total_seconds).toBeGreaterThanOrEqual(1200)
    expect(groups[0]).toMatchObject({ key: 'builder', waiting: { n: 1 } })
  })

  test('what a person rejects, or what is begun again, was not right at once', async () => {
    const { call, work } = await worked()
    const review = { manual_review_needed: true, manual_review_reason: 'Look at it' }
    await work('Reviewed', 'success', { outcome: review })
    await work('Fine', 'success')
    expect((await call('stats')).all.first_pass).toMatchObject({ n: 2, passed: 2 })
    const { items } = await call('inbox')
    await call('reject', { id: items[0].item_id, reason: 'Not like this' }, { actor: person })
    expect((await call('stats')).all.first_pass).toMatchObject({ n: 2, passed: 1, share: 0.5 })
  })

  test('since and mission narrow it; a wrong word is told with the words there are', async () => {
    const { call, refused, wait, work, mission } = await worked()
    await work('Old', 'success')
    wait(40 * 24 * 60 * minute)
    await work('New', 'success')
    expect((await call('stats', { since: 'all' })).all.attempt_time.n).toBe(2)
    expect((await call('stats')).all.attempt_time.n).toBe(1)
    expect((await call('stats', { since: '30d' })).all.attempt_time.n).toBe(1)
    expect((await call('stats', { since: '8w' })).all.attempt_time.n).toBe(2)
    expect((await call('stats', { since: '2001-01-01' })).since).toBe('2001-01-01T00:00:00.000Z')
    expect(await call('stats', { mission })).toMatchObject({
      mission_id: mission,
      since: null,
      all: { attempt_time: { n: 2 } },
    })
    const weeks = await call('stats', { group_by: 'week', zone: 'UTC', since: 'all' })
    expect(weeks.groups.length).toBeGreaterThanOrEqual(6)
    expect((await call('stats', { group_by: 'week', zone: 'UTC', since: 'all', limit: 2 })).groups).toEqual(
      weeks.groups.slice(-2),
    )
    expect(await refused('stats', { since: 'yesterday' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'input_invalid',
      details: { fields: ['since'] },
    })
    expect(await refused('stats', { zone: 'Mars' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'time_zone_unknown',
    })
    expect(await refused('stats', { mission: 'm-none' })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'mission_not_found',
      fix: { operation: 'list_missions' },
    })
    expect(await refused('stats', { group_by: 'person' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'input_invalid',
      details: { fields: ['group_by'] },
    })
  })
})

test('at a terminal every figure stands with its n and its basis, and JSON has the same', () => {
  const project = openCommandLine()
  const empty = project.run('stats', '--format', 'text')
  expect(empty).toMatchObject({ code: 0 })
  expect(empty.out).toContain('No work has ended')
  const { task_id } = project.json('task', 'start', 'Add the form', '--areas', 'src/')
  project.write('src/app.ts', 'export const app = 2\n')
  project.json('task', 'complete', task_id, '--status', 'success', '--outcome.summary', 'Done.')
  const { out } = project.run('stats', '--group-by', 'week', '--zone', 'UTC', '--format', 'text')
  expect(out).toMatch(/First pass +100 % \(1\) +1 tasks? +claimed/)
  expect(out).toMatch(/Changed lines +\+1 -1 +1 attempts? +measured/)
  expect(out).toMatch(/Tokens +– +0 attempts +claimed/)
  expect(out).toContain('By week (UTC)')
  expect(out).not.toContain('Share of completed tasks')
  expect(project.run('stats', '--explain').out).toContain('Share of completed tasks')
  const all = ['stats', '--since', 'all']
  expect(JSON.parse(project.run(...all, '--json').out)).toEqual(project.json(...all, '--format', 'json'))
})
