import { describe, expect, test } from 'vitest'
import { type Answer, agentActor, openProject, person, type TestProject } from '../support/project.ts'

const asPerson = { actor: person }

/** A project whose own check fails unless src/auth.ts says so, with an approved command that always passes. */
async function checkedProject() {
  const project = await openProject({ explainsNoChange: false })
  project.write('check.sh', 'grep -q works src/auth.ts\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'Add a check')
  const { call } = project
  await call('setting_set', { name: 'done_when', value: '{"check": ["sh check.sh"]}' }, asPerson)
  const start = async (more: object = {}) =>
    (await call('start_task', { name: 'A', goal: 'A', ...more })).task_id as string
  const complete = (task_id: string, more: object = {}, caller: object = {}) =>
    call('complete_task', { task_id, status: 'success', outcome: { summary: 'Did it.' }, ...more }, caller)
  /** Approves what its checks ask for. */
  const approve = async (task_id: string) => {
    await complete(task_id, { preview: true })
    const { items } = await call('inbox', { kind: 'command' })
    for (const { item_id } of items) await call('approve', { id: item_id }, asPerson)
  }
  return { ...project, start, complete, approve }
}

const rulesOf = ({ verdict }: Answer): readonly string[] => verdict.reasons.map(({ rule }: Answer) => rule)
const fails = ({ write }: Pick<TestProject, 'write'>) => write('src/auth.ts', 'export const auth = 2\n')

describe('an agent cannot make a failing check of the project count less', () => {
  test('by the same check with other pinned files, which nobody approved', async () => {
    const project = await checkedProject()
    await project.approve(await project.start())
    const done_when = { check: [{ run: 'sh check.sh', pinned: ['README.md'], timeout: '1s' }] }
    const id = await project.start({ done_when })
    fails(project)
    expect(rulesOf(await project.complete(id))).toContain('check_failed')
  })

  test('by an attempt of its own beside it, as if another agent worked there', async () => {
    const project = await checkedProject()
    const { call } = project
    const on = (connection: string) => ({ actor: { ...agentActor, connection } })
    const start = async (more: object, connection = 'c1') =>
      (await call('start_task', { name: 'Beside', goal: 'B', ...more }, on(connection))).task_id
    const id = await start({ name: 'A' })
    fails(project)
    await project.approve(id)
    await start({})
    await start({ agent_name: 'other' })
    await call('complete_task', {
      task_id: await start({ agent_name: 'third' }),
      status: 'partial_success',
      outcome: { summary: 'Looked.' },
    })
    const rules = async () => rulesOf(await project.complete(id, { preview: true }))
    expect(await rules()).toContain('check_failed')
    await start({ agent_name: 'other' }, 'c2')
    expect(await rules()).toContain('check_failed_shared')
  })

  test('by leaving it out: the verdict says so, and is not proven', async () => {
    const project = await checkedProject()
    const { start, complete, approve, call } = project
    const done_when = { inherit: false, check: ['true'] }
    const id = await start({ done_when })
    fails(project)
    await approve(id)
    const done = await complete(id)
    expect(done.verdict).toMatchObject({ is: 'unproven', reasons: [{ rule: 'promises_left_out' }] })
    expect((await call('show', { id })).done_when.left_out).toEqual([{ list: 'check', text: 'sh check.sh' }])
    const { task_id } = await call('start_task', { name: 'B', goal: 'B', done_when }, asPerson)
    project.write('src/auth.ts', 'export const auth = 3\n')
    expect((await complete(task_id, {}, asPerson)).verdict.is).toBe('proven')
  })

  test('by taking a file out of git, so that a result stays when it changes', async () => {
    const { git, write, start, complete, approve } = await checkedProject()
    const id = await start()
    git('rm', '-q', '--cached', 'src/auth.ts')
    write('.gitignore', 'src/auth.ts\n')
    write('src/auth.ts', 'works\n')
    await approve(id)
    await complete(id, { preview: true })
    write('src/auth.ts', 'broken\n')
    expect((await complete(id)).verdict).toMatchObject({
      is: 'unproven',
      reasons: [{ rule: 'check_on_untracked', paths: ['src/auth.ts'] }],
    })
  })

  test('by expecting no change where the project expects some', async () => {
    const { start, complete, call } = await checkedProject()
    await call('setting_set', { name: 'done_when', value: '{"changes": ["src/**"]}' }, asPerson)
    expect(rulesOf(await complete(await start({ done_when: { changes: [] } })))).toContain(
      'promises_left_out',
    )
  })

  test('by removing what a person gave, before it starts', async () => {
    const { call, refused } = await checkedProject()
    await call('taskman_phase_add', { id: 'p1', name: 'P' })
    const task = { title: 'A', phase: 'p1', done_when: { check: ['sh check.sh'] } }
    const { id } = await call('taskman_task_add', task, asPerson)
    for (const change of [
      { clear: ['done-when'] },
      { done_when: { check: [] } },
      { done_when: { inherit: false } },
    ])
      expect(await refused('taskman_task_edit', { id, ...change })).toMatchObject({
        reason: 'done_when_fixed',
      })
    const weaker = { planned_task_id: id, done_when: { changes: [] } }
    expect(await refused('start_task', weaker)).toMatchObject({ reason: 'done_when_fixed' })
  })
})

describe('a promised change', () => {
  const promise = { done_when: { changes: ['src/auth.ts'] } }

  test('is more than white space', async () => {
    const { call, write } = await openProject({ explainsNoChange: false })
    const { task_id } = await call('start_task', { name: 'A', goal: 'A', ...promise })
    const preview = () =>
      call('complete_task', { task_id, status: 'success', outcome: { summary: 'Did it.' }, preview: true })
    write('src/auth.ts', '\nexport  const auth =\t1\r\n\n')
    expect((await preview()).verdict).toMatchObject({
      is: 'contradicted',
      reasons: [{ rule: 'changes_missing', paths: ['src/auth.ts'] }, { rule: 'no_check' }],
    })
    write('src/auth.ts', 'export const auth = 2\n')
    expect(rulesOf(await preview())).toEqual(['no_check'])
  })

  test('that git or another agent made proves nothing, and contradicts nothing', async () => {
    const { git, write, start, complete, approve } = await checkedProject()
    git('switch', '-qc', 'other')
    write('src/auth.ts', 'works\n')
    git('commit', '-qam', 'Limit')
    git('switch', '-q', '-')
    const id = await start(promise)
    git('merge', '-q', '--ff-only', 'other')
    await approve(id)
    expect((await complete(id)).verdict).toMatchObject({
      is: 'unproven',
      reasons: [{ rule: 'changes_uncertain', paths: ['src/auth.ts'] }],
    })
  })
})

describe('an agent cannot go around the completion', () => {
  const other = { actor: { ...agentActor, name: 'other-agent' } }

  test('by setting a task to done that has promises, or whose attempt failed', async () => {
    const { call, refused, start, complete } = await checkedProject()
    await call('taskman_phase_add', { id: 'p1', name: 'P' })
    const add = async (more: object) =>
      (await call('taskman_task_add', { title: 'A', phase: 'p1', ...more })).id as string
    const done = (id: string) => ({ id, status: 'done' })
    const promised = await add({ done_when: { criteria: ['Works'] } })
    const needed = { code: 'REFUSED', reason: 'completion_needed' }
    expect(await refused('taskman_task_edit', done(promised))).toMatchObject(needed)
    const tried = await add({})
    await start({ planned_task_id: tried, name: undefined, goal: undefined })
    await complete(tried, { status: 'failed' })
    expect(await refused('taskman_task_edit', done(tried))).toMatchObject(needed)
    for (const id of [promised, tried])
      expect(await call('taskman_task_edit', done(id), asPerson)).toMatchObject({ status: 'done' })
    expect(await call('taskman_task_edit', done(await add({})))).toMatchObject({ is_unmeasured: true })
  })

  test('by an attempt of its own under another name, which may have changed a file that must stay', async () => {
    const project = await checkedProject()
    const { call, write } = project
    const on = (connection: string) => ({ actor: { ...agentActor, connection } })
    const start = async (name: string, more: object, connection = 'c1') =>
      (await call('start_task', { name, goal: 'A', ...more }, on(connection))).task_id as string
    const id = await start('A', { done_when: { keeps: ['src/auth.ts'] } })
    await start('Beside', { agent_name: 'other' })
    write('src/auth.ts', 'works\n')
    await project.approve(id)
    expect(rulesOf(await project.complete(id, { preview: true }))).toContain('keeps_changed')
    await start('Another', {}, 'c2')
    write('src/auth.ts', 'works, too\n')
    expect(rulesOf(await project.complete(id))).not.toContain('keeps_changed')
  })

  test('by answering its own inbox item, or amending what another agent said', async () => {
    const { call, refused, start, complete } = await checkedProject()
    const id = await start()
    expect(await complete(id)).toMatchObject({ settled: false, verdict: { is: 'contradicted' } })
    const { items } = await call('inbox', { kind: 'verdict' })
    const item = items[0].item_id
    for (const [name, input] of [
      ['approve', { id: item }],
      ['approve', { id }],
      ['reject', { id: item, reason: 'x' }],
      ['resolve', { id: item, answer: 'x' }],
    ] as const)
      expect(await refused(name, input)).toMatchObject({ code: 'FORBIDDEN', reason: 'person_needed' })
    const words = { task_id: id, status: 'success', outcome: { summary: 'x', no_change_reason: 'x' } }
    expect(await refused('complete_task', words, other)).toMatchObject({
      reason: 'attempt_already_completed',
    })
    expect((await call('inbox', { kind: 'verdict' })).items).toHaveLength(1)
    for (const [name, value] of [
      ['completion', 'flag'],
      ['done_when', '{}'],
    ])
      expect(await refused('setting_set', { name, value })).toMatchObject({ reason: 'person_needed' })
    await call('taskman_task_edit', { id, status: 'to_do' })
    expect((await call('inbox', { kind: 'verdict' })).items).toHaveLength(1)
  })

  test('by taking a contradicted task out of the plan, or leaving another attempt at it', async () => {
    const { call, refused, start, complete } = await checkedProject()
    const { mission_id } = await call('start_mission', { name: 'M', objective: 'O' })
    const id = await start({ mission_id })
    await complete(id)
    const inbox = async () => (await call('inbox', { kind: 'verdict' })).items
    const [item] = await inbox()
    const open = { code: 'REFUSED', reason: 'verdict_open', details: { item_id: item.item_id } }
    for (const status of ['done', 'to_do']) {
      await call('taskman_task_edit', { id, status })
      expect(await refused('task_drop', { id, reason: 'Not needed' })).toMatchObject(open)
    }
    expect(await refused('taskman_task_edit', { id, status: 'done' })).toMatchObject(open)
    await start({ planned_task_id: id, name: undefined, goal: undefined })
    await call('complete_mission', { mission_id, status: 'failed', summary: 'Stopped.' })
    expect(await refused('task_drop', { id, reason: 'Not needed' })).toMatchObject(open)
    expect(await inbox()).toMatchObject([{ item_id: item.item_id, task_id: id }])
    await call('task_drop', { id, reason: 'Not needed' }, asPerson)
    expect(await inbox()).toEqual([])
  })

  test('but it may say that it failed, and then drop the task', async () => {
    const { call, start, complete } = await checkedProject()
    const id = await start()
    await complete(id)
    expect(await complete(id, { status: 'failed' })).toMatchObject({ amended: true })
    await call('taskman_task_edit', { id, status: 'to_do' })
    await call('task_drop', { id, reason: 'Not needed' })
    expect((await call('inbox', { kind: 'verdict' })).items).toEqual([])
  })
})
