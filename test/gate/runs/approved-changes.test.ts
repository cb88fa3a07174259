import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf } from './run.ts'
import { gatedMission } from './subject.ts'

const ana = { ...person, name: 'Ana' }

const text = process('reviewed', {
  guards: '  ok: { type: approval, role: reviewer, artifact: changes }',
  guard: 'ok',
}).replace('[agent, reviewer]', '[agent]')

async function built() {
  const gated = await gatedMission(text, 'reviewed')
  const task = await gated.start()
  gated.project.write('src/auth.ts', 'export const auth = 2\n')
  return { ...gated, task }
}

async function shown({ project }: Awaited<ReturnType<typeof built>>) {
  const { items } = await project.call('inbox', { kind: 'approval' }, { actor: person })
  return items[0]
}

test('an approval of the changes is bound to the measured diff, not to a file that the agent chose', async () => {
  const gated = await built()
  const { project, run, complete, task } = gated
  await complete(task)
  const { item_id, content } = await shown(gated)
  expect(content).toMatch(/^[0-9a-f]{64}$/)
  expect(await project.call('approve', { id: item_id, content }, { actor: ana })).toMatchObject({
    approvals: [{ role: 'reviewer', artifact: 'changes' }],
    still_missing: [],
  })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a later edit voids it, and the former content brings it back', async () => {
  const gated = await built()
  const { project, run, complete, task } = gated
  await complete(task)
  await project.call('approve', { id: run.id }, { actor: ana })
  project.write('src/auth.ts', 'export const auth = "backdoor"\n')
  const { details } = await run.refused('go')
  expect((details as any).missing_guards).toEqual([
    'ok: 0 of 1 approvals by reviewer of "changes"; it changed after an approval',
  ])
  project.write('src/auth.ts', 'export const auth = 2\n')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('an edit of another file after the last task voids it too, also outside any task', async () => {
  const { project, run, complete, task } = await built()
  await complete(task)
  await project.call('approve', { id: run.id }, { actor: ana })
  project.write('src/api.ts', 'export const api = "backdoor"\n')
  expect(((await run.refused('go')).details as any).missing_guards[0]).toContain(
    'it changed after an approval',
  )
})

test.each([
  ['a person', 'succeeded'],
  ['an agent', 'refused'],
])(
  'once its work tree is removed, changes are approved as recorded by an event of %s: %s',
  async (who, end) => {
    const isOfPerson = who === 'a person'
    const { project, run, missionId, complete } = await gatedMission(
      isOfPerson ? text.replace('[agent]', '[reviewer]').replaceAll(/\bgo\b/g, 'approve') : text,
      'reviewed',
      { isOnMachine: false },
    )
    const { tasks } = await project.call('plan_tasks', {
      mission_id: missionId,
      phases: [{ name: 'Build' }],
      tasks: [{ key: 'a', title: 'Sign in', phase: 'Build' }],
    })
    const tree = await project.call('worktree_add', { task_id: tasks[0].id })
    const { task_id: task } = await project.call('start_task', { planned_task_id: tasks[0].id })
    writeFileSync(join(tree.path, 'src/auth.ts'), 'export const auth = 2\n')
    await complete(task)
    project.git('worktree', 'remove', '--force', tree.path)
    const approval = project.call('approve', { id: run.id }, { actor: ana })
    if (isOfPerson) expect(await approval).toMatchObject({ status: end })
    else expect(await failureOf(approval)).toMatchObject({ reason: 'work_not_measured' })
  },
)

test('refuses an approval of content that changed since it was shown, with the lines', async () => {
  const gated = await built()
  const { project } = gated
  const { item_id, content } = await shown(gated)
  project.write('src/auth.ts', 'export const auth = 3\n')
  const failure = await failureOf(project.call('approve', { id: item_id, content }, { actor: ana }))
  expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('src/auth.ts changed') })
  const { difference } = failure.details as any
  expect(difference.files[0].diff).toContain('-export const auth = 2\n+export const auth = 3\n')
})

test('the card leads to the diff, and says what is to be approved', async () => {
  const gated = await built()
  await gated.complete(gated.task)
  const { items } = await gated.project.call('inbox', { include: ['evidence'] }, { actor: person })
  expect(items[0]).toMatchObject({
    kind: 'approval',
    evidence: {
      changed: { mission_id: gated.missionId, task_id: null, tasks: [{ id: gated.task, name: 'Build' }] },
    },
    reason: expect.stringContaining('the measured changes'),
  })
})

test('offers nothing to approve if nothing was measured', async () => {
  const run = await runOf(text, { git: true })
  expect(await failureOf(run.project.call('approve', { id: run.id }, { actor: ana }))).toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining('gates no mission or task'),
  })
  const { run: gated, project } = await gatedMission(text, 'reviewed')
  expect(await failureOf(project.call('approve', { id: gated.id }, { actor: ana }))).toMatchObject({
    message: expect.stringContaining('no task was started'),
  })
})

test('refuses an approval by the author of the work', async () => {
  const { project, run, missionId } = await gatedMission(text, 'reviewed')
  const input = { mission_id: missionId, name: 'By hand', areas: ['src/'] }
  const { task_id } = await project.call('start_task', input, { actor: ana })
  project.write('src/auth.ts', 'export const auth = 2\n')
  await project.call(
    'complete_task',
    { task_id, status: 'success', outcome: { summary: 'Done.' } },
    { actor: ana },
  )
  expect(await failureOf(project.call('approve', { id: run.id }, { actor: ana }))).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'own_work',
    hint: expect.stringContaining(`waymark run cancel ${run.id}`),
  })
})

test('refuses an approval by the author of an attempt that was taken over', async () => {
  const { project, run, missionId, complete } = await gatedMission(text, 'reviewed')
  const input = { mission_id: missionId, name: 'By hand', areas: ['src/'] }
  const { task_id } = await project.call('start_task', input, { actor: ana })
  project.write('src/auth.ts', 'export const auth = 2\n')
  project.wait(3 * 60 * 60_000)
  await project.call('start_task', { planned_task_id: task_id, take_over: true })
  await complete(task_id)
  expect(await failureOf(project.call('approve', { id: run.id }, { actor: ana }))).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'own_work',
  })
})

test('lint knows the word, and warns where an artifact of that name hides it', async () => {
  const { project } = await runOf(text, { git: false })
  const lint = (id: string) => project.call('process_lint', { process: id })
  expect(JSON.stringify(await lint('reviewed'))).not.toContain('changes')
  project.write(
    '.waymark/processes/hidden.yaml',
    `${text.replace('id: reviewed', 'id: hidden')}artifacts:\n  - { type: changes, paths: ["CHANGES.md"] }\n`,
  )
  expect(JSON.stringify(await lint('hidden'))).toContain('not of the measured changes')
})
