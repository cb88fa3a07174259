import { describe, expect, test } from 'vitest'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'

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
    const id = await project.start()
    fails(project)
    await project.approve(id)
    await project.start({ name: 'Beside' })
    expect(rulesOf(await project.complete(id, { preview: true }))).toContain('check_failed')
    await project.start({ name: 'Other', agent_name: 'other' })
    expect(rulesOf(await project.complete(id))).toContain('check_failed_shared')
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
