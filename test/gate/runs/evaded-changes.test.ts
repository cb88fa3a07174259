import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { gatedMission, missionGatedByAll } from './subject.ts'

const conditions = ['in_scope', 'touches_none, paths: ["utils.ts"]', 'touches_only, paths: ["src/"]', 'none']

async function gated(condition: string) {
  const guards = `  right: { type: changes, condition: ${condition} }`
  const mission = await gatedMission(process('p', { guards, guard: 'right' }), 'p')
  const missing = async () => ((await mission.run.refused('go')).details as any).missing_guards as string[]
  return { ...mission, missing }
}

/** The same for each of the conditions. */
function each<Expected>(expected: Expected): Expected[] {
  return conditions.map(() => expected)
}

test('each condition sees what changed when the attempt had ended', async () => {
  const { project, run, start, complete, missing } = await missionGatedByAll(conditions)
  await complete(await start())
  project.write('utils.ts', 'export const utils = 2\n')
  expect(await missing()).toEqual(each(expect.stringContaining('utils.ts')))
  project.git('checkout', '-q', 'utils.ts')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('each condition sees what changed between two attempts, committed or not', async () => {
  const { project, start, complete, missing } = await missionGatedByAll(conditions)
  await complete(await start())
  project.write('utils.ts', 'export const utils = 2\n')
  project.git('commit', '-qam', 'Change it')
  await complete(await start({ name: 'Another' }))
  expect(await missing()).toEqual(each(expect.stringContaining('utils.ts')))
})

test('each condition sees what an attempt left that another took over', async () => {
  const { project, start, complete, missing } = await missionGatedByAll(conditions)
  const task = await start()
  project.write('utils.ts', 'export const utils = 2\n')
  project.wait(3 * 60 * 60_000)
  await start({ planned_task_id: task, take_over: true, mission_id: undefined, name: undefined })
  await complete(task)
  expect(await missing()).toEqual(each(expect.stringContaining('utils.ts')))
})

test('in_scope lets pass what changed between attempts where a task’s areas name it', async () => {
  const { project, run, start, complete, missing } = await gated('in_scope')
  await complete(await start())
  project.write('utils.ts', 'export const utils = 2\n')
  expect(await missing()).toEqual(['right: utils.ts changed while no task of this work was open'])
  await complete(await start({ name: 'Tell of it', areas: ['/utils.ts'] }))
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('in_scope passes no sensitive file that changed between attempts, until it is named', async () => {
  const { project, run, start, complete, missing } = await gated('in_scope')
  await complete(await start())
  project.write('.github/workflows/ci.yml', 'on: push\n')
  expect(await missing()).toEqual([
    'right: changed out of scope: .github/workflows/ci.yml (while no task of this work was open)',
  ])
  await complete(await start({ name: 'Tell of it', areas: ['.github/workflows/'] }))
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('what others changed meanwhile, and what git brought, is not this work’s', async () => {
  const { project, run, start, complete } = await gated('none')
  await complete(await start())
  const beside = `${project.context.folder}-beside`
  project.git('clone', '-q', '.', beside)
  writeFileSync(join(beside, 'utils.ts'), 'export const utils = 3\n')
  project.git('-C', beside, 'commit', '-qam', 'Change it elsewhere')
  project.git('remote', 'add', 'beside', beside)
  project.git('fetch', '-q', 'beside')
  project.git('merge', '-q', `beside/${project.git('branch', '--show-current').trim()}`)
  const { mission_id } = await project.call('start_mission', { name: 'Other', objective: 'Other' })
  const other = await project.call('start_task', { mission_id, name: 'Other', areas: ['docs/'] })
  project.write('docs/other.md', 'Other')
  await complete(other.task_id)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('what another task changed in a work tree of its own may be merged', async () => {
  const { project, run, start, complete } = await gated('none')
  await complete(await start())
  const { mission_id } = await project.call('start_mission', { name: 'Other', objective: 'Other' })
  const beside = `${project.context.folder}-beside`
  project.git('worktree', 'add', '-q', '-b', 'other', beside)
  const other = await project.call('start_task', { mission_id, name: 'Other', work_tree: beside })
  writeFileSync(join(beside, 'utils.ts'), 'export const utils = 3\n')
  project.git('-C', beside, 'commit', '-qam', 'Change it elsewhere')
  await complete(other.task_id)
  project.git('worktree', 'remove', beside)
  project.git('merge', '-q', 'other')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('touches_none and none do not pass over files in a linked work tree made inside the project', async () => {
  const both = ['touches_none, paths: ["src/"]', 'none']
  const { project, run, start, complete, missing } = await missionGatedByAll(both)
  const task = await start()
  project.git('worktree', 'add', '-q', 'src/hidden')
  project.write('src/hidden/new.ts', 'export const hidden = 1\n')
  expect(await missing()).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
  project.git('worktree', 'remove', '--force', 'src/hidden')
  await complete(task)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('touches does not count what nobody changed in a task', async () => {
  const { project, start, complete, missing } = await gated('touches, paths: ["utils.ts"]')
  await complete(await start())
  project.write('utils.ts', 'export const utils = 2\n')
  expect(await missing()).toEqual(['right: nothing changed that matches utils.ts'])
})

test('an approval of the changes is void by what changed between two attempts', async () => {
  const text = process('p', {
    guards: '  right: { type: approval, role: reviewer, artifact: changes }',
    guard: 'right',
  }).replace('[agent, reviewer]', '[agent]')
  const { project, run, start, complete } = await gatedMission(text, 'p')
  await complete(await start())
  project.write('utils.ts', 'export const utils = 2\n')
  await complete(await start({ name: 'Another' }))
  await project.call('approve', { id: run.id }, { actor: { ...person, name: 'Ana' } })
  project.write('utils.ts', 'export const utils = "backdoor"\n')
  await complete(await start({ name: 'A third' }))
  expect(((await run.refused('go')).details as any).missing_guards[0]).toContain('changed after an approval')
})

test('each condition does not hold while HEAD or the index has a change that was put back on disk', async () => {
  const { project, run, start, missing } = await missionGatedByAll(conditions)
  await start()
  const before = readFileSync(join(project.folder, 'utils.ts'), 'utf8')
  project.write('utils.ts', 'export const utils = 2\n')
  project.git('add', '-A')
  project.write('utils.ts', before)
  expect(await missing()).toEqual(each('the changes could not be measured: utils.ts'))
  project.git('commit', '-qm', 'More than is on disk')
  expect(await missing()).toEqual(each('the changes could not be measured: utils.ts'))
  project.git('commit', '-qam', 'What is on disk')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('each condition sees what was committed after the attempt and put back on disk', async () => {
  const { project, run, start, complete, missing } = await missionGatedByAll(conditions)
  await complete(await start())
  const before = readFileSync(join(project.folder, 'utils.ts'), 'utf8')
  project.write('utils.ts', 'export const utils = 2\n')
  project.git('commit', '-qam', 'More than is on disk')
  project.write('utils.ts', before)
  expect(await missing()).toEqual(each(expect.stringContaining('utils.ts')))
  project.git('commit', '-qam', 'What is on disk')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('each condition does not hold where the work tree cannot be measured any more', async () => {
  const { project, run, start, complete, missing } = await missionGatedByAll(conditions)
  await complete(await start())
  const index = join(project.folder, '.git', 'index')
  const before = readFileSync(index)
  project.write('utils.ts', 'export const utils = 2\n')
  writeFileSync(index, 'DIRC and nothing that git can read')
  expect(await missing()).toEqual(each('the changes could not be measured'))
  writeFileSync(index, before)
  project.git('checkout', '-q', 'utils.ts')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})
