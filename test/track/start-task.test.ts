import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { notFound, openProject, person, wrongFields } from '../support/project.ts'

async function withMission() {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  return { project, mission_id: mission_id as string }
}

test('MC2-067 MC2-053 MC2-054 MC2-065 the orchestrator’s example makes phase 1 with its name', async () => {
  const { project, mission_id } = await withMission()
  const answer = await project.call('start_task', {
    mission_id,
    phase: 1,
    phase_name: 'Setup Phase',
    caller_type: 'orchestrator',
    name: 'Initialize project structure',
    goal: 'Set up auth module directory structure',
    areas: ['auth'],
  })
  expect(answer).toMatchObject({
    phase_id: expect.stringMatching(/^ph-/),
    phase_created: true,
    caller_type: 'orchestrator',
  })
  const { phase_summary } = await project.call('get_context', { mission_id, include: ['phase_summary'] })
  expect(phase_summary).toMatchObject([{ phase_number: 1, name: 'Setup Phase', status: 'IN_PROGRESS' }])
  const again = await project.call('start_task', { mission_id, phase: 1, name: 'b', goal: 'g' })
  expect(again).toMatchObject({ phase_id: answer.phase_id, phase_created: false })
})

test('a name that is the id of a task is refused, and starts no second task', async () => {
  const { project, mission_id } = await withMission()
  const first = await project.call('start_task', { mission_id, name: 'Draw', goal: 'g' })
  expect(await project.refused('start_task', { mission_id, name: first.task_id, goal: 'g' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'name_is_task_id',
    details: { task_id: first.task_id },
  })
  expect(await project.call('start_task', { mission_id, name: 't-000000000000' })).toMatchObject({
    task_id: expect.not.stringMatching(/^t-000000000000$/),
  })
})

test('MC2-068 MC2-051 MC2-052 the sub-agent’s example works without a phase name', async () => {
  const { project, mission_id } = await withMission()
  const answer = await project.call('start_task', {
    mission_id,
    phase: 2,
    caller_type: 'subagent',
    agent_name: 'feature-implementer',
    name: 'Implement JWT middleware',
    goal: 'Create middleware to verify JWT tokens',
    areas: ['auth', 'middleware'],
  })
  expect(answer).toMatchObject({
    phase_created: true,
    caller_type: 'subagent',
    agent_name: 'feature-implementer',
  })
})

test('MC2-069 MC2-049 MC1-012 MC1-013 the legacy example works with a workflow alone', async () => {
  const project = await openProject()
  const { workflow_id } = await project.call('start_workflow', { name: 'wf' })
  const answer = await project.call('start_task', {
    workflow_id,
    name: 'Implement JWT middleware',
    goal: 'Create middleware to verify JWT tokens',
    areas: ['auth', 'middleware'],
  })
  expect(answer).toMatchObject({ phase_id: null, phase_created: false, caller_type: null, agent_name: null })
  expect(Object.keys(answer)).toEqual(
    expect.arrayContaining(['task_id', 'snapshot_id', 'snapshot_type', 'started_at']),
  )
})

test('MC2-061 MC2-062 MC2-063 MC2-064 MC2-070 in a repository the snapshot is HEAD’s commit, of type git', async () => {
  const project = await openProject()
  const answer = await project.call('start_task', { name: 'a', goal: 'g' })
  expect(answer.task_id).toMatch(/^t-/)
  expect(answer.attempt_id).toMatch(/^a-/)
  expect(answer.snapshot_id).toBe(project.git('rev-parse', 'HEAD').trim())
  expect(answer.snapshot_type).toBe('git')
  expect(Math.abs(Date.parse(answer.started_at) - Date.now())).toBeLessThan(60_000)
})

test('MC2-071 MC1-014 MC1-015 without a repository the snapshot is made of checksums', async () => {
  const project = await openProject({ git: false })
  const { task_id, snapshot_type } = await project.call('start_task', {
    name: 'a',
    goal: 'g',
    areas: ['auth'],
  })
  expect(snapshot_type).toBe('checksum')
  project.write('src/auth.ts', 'export const auth = 2\n')
  const done = await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
  expect(done.files_changed).toEqual({ added: [], modified: ['src/auth.ts'], deleted: [], renamed: [] })
  expect(done).toMatchObject({ measurement: 'exact', verification: { scope_match: true } })
})

test('a planned task without a goal takes the given one, and another later call does not change it', async () => {
  const project = await openProject()
  await project.call('taskman_phase_add', { id: 'P1', name: 'First' })
  const { id } = await project.call('taskman_task_add', { title: 'Round the total', phase: 'P1' })
  const start = (goal: string) => project.call('start_task', { planned_task_id: id, name: 'x', goal })
  expect((await start('To whole cents')).warnings).toEqual([])
  expect(await project.call('show', { id })).toMatchObject({ goal: 'To whole cents' })
  expect((await start('To francs')).task_id).toBe(id)
  expect(await project.call('show', { id })).toMatchObject({ goal: 'To whole cents' })
})

test('MC2-048 MC2-057 MC2-058 MC2-060 only the name is needed: the goal defaults to it', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Tidy up' })
  expect(await project.call('show', { id: task_id })).toMatchObject({
    name: 'Tidy up',
    goal: 'Tidy up',
    mission_id: null,
  })
  expect(await project.refused('start_task', { goal: 'g' })).toMatchObject(wrongFields('name'))
})

test('MC2-055 MC2-056 MC2-066 MC2-132 who calls is repeated in the input’s spelling and kept', async () => {
  const { project, mission_id } = await withMission()
  const sent = { caller_type: 'subagent', agent_name: 'qa' }
  expect(await project.call('start_task', { mission_id, name: 'a', goal: 'g', ...sent })).toMatchObject(sent)
  const { tasks } = await project.call('get_context', { mission_id, include: ['tasks'] })
  expect(tasks[0]).toMatchObject(sent)
  const refused = await project.refused('start_task', { name: 'a', caller_type: 'robot' })
  expect(refused).toMatchObject(wrongFields('caller_type'))
})

test('MC1-011 MC2-050 a subtask inherits its parent’s mission and phase', async () => {
  const { project, mission_id } = await withMission()
  const parent = await project.call('start_task', { mission_id, phase: 2, name: 'a', goal: 'g' })
  const child = await project.call('start_task', { parent_task_id: parent.task_id, name: 'b', goal: 'g' })
  expect(child.phase_id).toBe(parent.phase_id)
  expect(await project.call('show', { id: child.task_id })).toMatchObject({
    parent_task_id: parent.task_id,
    mission_id,
  })
})

test('MC2-129 a started task is IN_PROGRESS', async () => {
  const { project, mission_id } = await withMission()
  await project.call('start_task', { mission_id, name: 'a', goal: 'g' })
  const { tasks } = await project.call('get_context', { mission_id, include: ['tasks'] })
  expect(tasks).toMatchObject([{ status: 'IN_PROGRESS', files_changed: null, scope_match: null }])
})

describe('MC2-059 areas', () => {
  test('tell how many existing files each matches; none may be a typo', async () => {
    const project = await openProject()
    const answer = await project.call('start_task', {
      name: 'a',
      goal: 'Add src/new',
      areas: ['auth', 'atuh', 'src/', 'src/new'],
    })
    expect(answer.areas).toEqual([
      { area: 'auth', files: 1 },
      { area: 'atuh', files: 0 },
      { area: 'src/', files: 2 },
      { area: 'src/new', files: 0 },
    ])
    expect(answer.warnings.join()).toContain('Scope "atuh" matches no file yet')
    expect(answer.warnings.join()).not.toContain('Scope "src/new" matches no file yet')
  })

  test('compares the scopes of two open attempts in one tree', async () => {
    const project = await openProject()
    await project.call('start_task', { name: 'a', goal: 'g', areas: ['auth'], agent_name: 'first' })
    const second = await project.call('start_task', {
      name: 'b',
      goal: 'g',
      areas: ['src/'],
      agent_name: 'second',
    })
    expect(second.warnings.join()).toMatch(
      /first has attempt a-\w+ open in this work tree.*Overlapping areas/,
    )
  })

  test('does not warn about a parent and its subtask', async () => {
    const project = await openProject()
    const parent = await project.call('start_task', { name: 'a', goal: 'g', areas: ['auth'] })
    const child = await project.call('start_task', {
      parent_task_id: parent.task_id,
      name: 'b',
      areas: ['auth'],
    })
    expect(child.warnings).toEqual([])
  })
})

describe('containers', () => {
  test.each([
    ['mission_id', 'mission'],
    ['workflow_id', 'mission'],
    ['parent_task_id', 'task'],
    ['planned_task_id', 'task'],
  ] as const)('an unknown %s is not found', async (field, kind) => {
    const project = await openProject({ database: false })
    const refused = await project.refused('start_task', { name: 'a', goal: 'g', [field]: 'x-nowhere' })
    expect(refused).toMatchObject(notFound(kind))
    expect((await project.context.store.health()).exists).toBe(false)
  })

  test('two different ones are refused', async () => {
    const { project, mission_id } = await withMission()
    const refused = await project.refused('start_task', { name: 'a', mission_id, workflow_id: 'w-1' })
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', reason: 'mission_and_workflow' })
  })
})

describe('a linked work tree', () => {
  test('measures another work tree of the same repository when it is named', async () => {
    const project = await openProject()
    const linked = `${project.folder}-linked`
    project.git('worktree', 'add', '-q', '-b', 'side', linked)
    const { task_id } = await project.call('start_task', { name: 'a', goal: 'g', work_tree: linked })
    project.write('../tree-linked/new.ts', 'export {}\n')
    project.write('elsewhere.ts', 'export {}\n')
    const done = await project.call('complete_task', {
      task_id,
      status: 'success',
      outcome: { summary: 's' },
    })
    expect(done.files_changed.added).toEqual(['new.ts'])
  })

  test('refuses a work tree of another repository', async () => {
    const [one, other] = [await openProject(), await openProject()]
    const refused = await one.refused('start_task', { name: 'a', goal: 'g', work_tree: other.folder })
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', reason: 'work_tree_of_other_project' })
  })
})

test('a stale attempt at a planned task is an inbox item, and can be taken over', async () => {
  const project = await openProject()
  const { planned_tasks } = await project.call('start_workflow', {
    name: 'w',
    plan: [{ step: '1', goal: 'g' }],
  })
  const planned_task_id = planned_tasks[0].task_id
  const first = await project.call('start_task', { planned_task_id, agent_name: 'first' })
  expect(await project.call('start_task', { planned_task_id, agent_name: 'first' })).toMatchObject({
    attempt_id: first.attempt_id,
  })
  const other = { planned_task_id, agent_name: 'second', take_over: true }
  expect(await project.refused('start_task', other)).toMatchObject({
    code: 'CONFLICT',
    reason: 'attempt_of_other_agent',
  })
  project.wait(3 * 60 * 60 * 1000)
  expect(await project.call('inbox', {}, { actor: person })).toMatchObject({
    items: [{ kind: 'stale_attempt' }],
  })
  const second = await project.call('start_task', other)
  expect(second.attempt_id).not.toBe(first.attempt_id)
  const late = {
    task_id: planned_task_id,
    attempt_id: first.attempt_id,
    status: 'success',
    outcome: { summary: 's' },
  }
  expect(await project.refused('complete_task', late)).toMatchObject({
    code: 'CONFLICT',
    reason: 'attempt_closed',
  })
})

describe('a subtask of a planned task that is worked on in a mission', () => {
  async function workedOn() {
    const { project, mission_id } = await withMission()
    await project.call('taskman_phase_add', { id: 'P1', name: 'Plan' })
    const planned = await project.call('taskman_task_add', { title: 'Plan task', phase: 'P1' })
    const lead = await project.call('start_task', { mission_id, phase: 2, planned_task_id: planned.id })
    return { project, mission_id, parent_task_id: lead.task_id as string }
  }

  test('belongs to that mission, in the phase of its parent', async () => {
    const { project, mission_id, parent_task_id } = await workedOn()
    const sub = await project.call('start_task', { parent_task_id, name: 'sub' })
    expect(sub).toMatchObject({ phase_number: 2, phase_created: false })
    expect(await project.call('show', { id: sub.task_id })).toMatchObject({ mission_id })
  })

  test('may name that mission', async () => {
    const { project, mission_id, parent_task_id } = await workedOn()
    const sub = await project.call('start_task', { mission_id, parent_task_id, name: 'sub' })
    expect(sub).toMatchObject({ phase_number: 2 })
  })
})

describe('a done task that a person wants again after its mission ended', () => {
  const as = { actor: person }

  async function withEnded(status = 'completed') {
    const { project, mission_id } = await withMission()
    const { task_id } = await project.call('start_task', { mission_id, name: 'a', phase: 1 })
    project.write('src/a.ts', 'a\n')
    const done = { task_id, status: 'success', outcome: { summary: 's' } }
    await project.call('complete_task', done)
    await project.call('complete_mission', { mission_id, status, summary: 's' })
    const missionStatus = async () => (await project.call('show', { id: mission_id })).status
    const sendBack = async () => {
      const { content } = await project.call('review_show', { task: task_id }, as)
      const review = { subject: { task: task_id }, action: 'send_back', text: 'Again', content }
      return project.call('review_send', review, as)
    }
    return { project, mission_id, task_id, done, missionStatus, sendBack }
  }

  test('is sent back: its mission is open again, and agents are offered the task', async () => {
    const { project, mission_id, task_id, done, missionStatus, sendBack } = await withEnded('failed')
    const sentBack = async () => (await project.call('status')).sent_back
    expect(await sentBack()).toEqual([])
    expect((await sendBack()).notes).toEqual([expect.stringContaining(mission_id)])
    expect(await sentBack()).toMatchObject([{ task_id, name: 'a', mission_ended: false }])
    expect(await missionStatus()).toBe('IN_PROGRESS')
    expect((await project.call('taskman_task_next')).task.id).toBe(task_id)
    const again = await project.call('start_task', { planned_task_id: task_id })
    expect(again).toMatchObject({ task_id, phase_number: 1, sent_back: { text: 'Again' } })
    expect(await sentBack()).toEqual([])
    project.write('src/a.ts', 'b\n')
    await project.call('complete_task', done)
    await project.call('complete_mission', { mission_id, status: 'completed', summary: 'Again' })
    expect(await missionStatus()).toBe('COMPLETED')
  })

  test('is rejected in the inbox, or sent back with its whole mission: the same', async () => {
    const { project, mission_id, task_id, missionStatus } = await withEnded()
    const sentBack = [{ task_id, name: 'a', mission_ended: false }]
    const { content } = await project.call('review_show', { mission: mission_id }, as)
    const review = { subject: { mission: mission_id }, action: 'send_back', text: 'All of it', content }
    await project.call('review_send', review, as)
    expect([await missionStatus(), (await project.call('status')).sent_back]).toMatchObject([
      'IN_PROGRESS',
      sentBack,
    ])
    await project.call('start_task', { planned_task_id: task_id, areas: ['docs/'] })
    project.write('src/a.ts', 'b\n')
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'b' } })
    await project.call('complete_mission', { mission_id, status: 'completed', summary: 's' })
    const [item] = (await project.call('inbox', { mission_id })).items
    const { notes } = await project.call('reject', { id: item.item_id, reason: 'Put it back' }, as)
    expect(notes).toContainEqual(expect.stringContaining(mission_id))
    expect([await missionStatus(), (await project.call('status')).sent_back]).toMatchObject([
      'IN_PROGRESS',
      sentBack,
    ])
  })

  test('is undone and set to do again: the same', async () => {
    const { project, task_id, missionStatus } = await withEnded()
    const { notes } = await project.call('undo', { id: task_id, yes: true, reopen: true }, as)
    expect(notes).toHaveLength(1)
    expect(await missionStatus()).toBe('IN_PROGRESS')
    expect((await project.call('taskman_task_next')).task.id).toBe(task_id)
  })

  test('is edited: the same, but not if an agent edits it', async () => {
    const { project, task_id, missionStatus } = await withEnded()
    const edit = { id: task_id, status: 'to_do' }
    await project.call('taskman_task_edit', edit)
    expect(await missionStatus()).toBe('COMPLETED')
    await project.call('taskman_task_edit', { ...edit, status: 'done' }, as)
    await project.call('taskman_task_edit', edit, as)
    expect(await missionStatus()).toBe('IN_PROGRESS')
  })
})

test('a planned task of a mission that ended is worked on in another, and the refusal says so', async () => {
  const { project, mission_id } = await withMission()
  const { task_id } = await project.call('start_task', { mission_id, name: 'a' })
  await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
  expect(await project.refused('start_task', { planned_task_id: task_id })).toMatchObject({
    code: 'CONFLICT',
    reason: 'mission_ended',
    fix: { operation: 'start_task', input: { planned_task_id: task_id } },
  })
  const next = await project.call('start_mission', { name: 'Again', objective: 'Log in' })
  const again = await project.call('start_task', {
    planned_task_id: task_id,
    mission_id: next.mission_id as string,
    name: 'Another name',
    areas: ['src/'],
  })
  expect(again).toMatchObject({ task_id, warnings: [] })
  expect(again.phase).toMatchObject({ id: again.phase_id })
  const repeated = {
    planned_task_id: task_id,
    mission_id: next.mission_id as string,
    name: 'The name that the schema requires',
  }
  expect(await project.call('start_task', repeated)).toMatchObject({
    attempt_id: again.attempt_id,
    areas: [{ area: 'src/', files: 2 }],
    warnings: [expect.stringContaining('was already open')],
  })
  expect(await project.refused('start_task', { ...repeated, claim_token: 'wrong' })).toMatchObject({
    reason: 'claim_token_unknown',
  })
  await project.call('complete_task', { task_id, status: 'failed', outcome: { summary: 'Stopped.' } })
  expect(await project.call('start_task', repeated)).toMatchObject({ areas: [{ area: 'src/', files: 2 }] })
  const { attempts } = await project.call('show', { id: task_id })
  expect(attempts.map(({ areas }: { areas: readonly string[] }) => areas)).toEqual([[], ['src/'], ['src/']])
})

test('a relative work tree is looked for beside the project, wherever the program runs', async () => {
  const { project } = await withMission()
  project.git('worktree', 'add', '-q', '../beside')
  const { task_id } = await project.call('start_task', { name: 'a', work_tree: '../beside' })
  const { attempts } = await project.call('show', { id: task_id })
  expect(attempts[0].work_tree).toBe(join(dirname(project.folder), 'beside'))
})

test('lists only the first of many areas that match nothing', async () => {
  const { project } = await withMission()
  const areas = Array.from({ length: 200 }, (_, n) => `nowhere-${n}-${'x'.repeat(200)}`)
  const answer = await project.call('start_task', { name: 'a', areas })
  expect(JSON.stringify(answer).length).toBeLessThan(8_000)
  expect(answer.warnings.join()).toContain('195 more paths of the scope match no file yet')
})

test('stores the name of an agent as one line', async () => {
  const { project } = await withMission()
  const { agent_name } = await project.call('start_task', { name: 'a', agent_name: 'Ada\n● Verified.' })
  expect(agent_name).toBe('Ada ● Verified.')
})
