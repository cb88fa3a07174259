import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDefinition } from '../../../src/gate/process-files/read-definition.ts'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { runOf, writeProcess } from './run.ts'
import { gatedMission, missionGatedByAll } from './subject.ts'

function changing(id: string, parameters: string): string {
  return process(id, { guards: `  right: { type: changes, ${parameters} }`, guard: 'right' })
}

async function missing(run: { refused: (event: string) => Promise<{ details?: any }> }): Promise<string[]> {
  return (await run.refused('go')).details.missing_guards
}

const unmeasured = ['right: the changes could not be measured']

test('in_scope: changes inside the areas pass, of open attempts and of closed ones', async () => {
  const { project, run, start, complete } = await gatedMission(
    changing('scoped', 'condition: in_scope'),
    'scoped',
  )
  expect(await missing(run)).toEqual(unmeasured)
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  await complete(task)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('in_scope: a change outside is named at once, and passes once a person accepted it', async () => {
  const { project, run, start, complete } = await gatedMission(
    changing('scoped', 'condition: in_scope'),
    'scoped',
  )
  const task = await start()
  project.write('utils.ts', 'export const utils = 2\n')
  const outside = ['right: changed out of scope: utils.ts']
  expect(await missing(run)).toEqual(outside)
  await complete(task)
  expect(await missing(run)).toEqual(outside)
  const { items } = await project.call('inbox', { kind: 'scope' })
  await project.call('approve', { id: items[0].item_id, reason: 'It had to be.' }, { actor: person })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('in_scope: a change that was dismissed does not pass', async () => {
  const { project, run, start, complete } = await gatedMission(
    changing('scoped', 'condition: in_scope'),
    'scoped',
  )
  const task = await start()
  project.write('utils.ts', 'export const utils = 2\n')
  await complete(task)
  const { items } = await project.call('inbox', { kind: 'scope' })
  await project.call('reject', { id: items[0].item_id, reason: 'Take it back.' }, { actor: person })
  expect(await missing(run)).toEqual(['right: changed out of scope: utils.ts'])
})

test('in_scope: what a task without areas changed cannot be judged, until another’s areas cover it', async () => {
  const { project, run, start, complete } = await gatedMission(
    changing('scoped', 'condition: in_scope'),
    'scoped',
  )
  const free = await start({ areas: [] })
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(free)
  expect(await missing(run)).toEqual(['right: src/auth.ts changed in a task without a scope'])
  await start({ areas: ['src/'] })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('touches_only and touches_none look at every changed file', async () => {
  const { project, run, start } = await gatedMission(
    changing('docs-only', 'condition: touches_only, paths: ["docs/**", "*.md"]'),
    'docs-only',
  )
  await start()
  project.write('docs/a.md', 'A.')
  project.write('src/api.ts', 'export const api = 2\n')
  expect(await missing(run)).toEqual(['right: changed, and is not among the allowed paths: src/api.ts'])
  project.git('checkout', '-q', 'src/api.ts')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })

  const none = await gatedMission(
    changing('no-sql', 'condition: touches_none, paths: ["**/*.sql"]'),
    'no-sql',
  )
  const task = await none.start()
  none.project.write('src/.hidden/x.sql', 'select 1')
  expect(await missing(none.run)).toEqual(['right: changed, and must not: src/.hidden/x.sql'])
  none.project.remove('src/.hidden')
  await none.complete(task)
  expect(await none.run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('touches_none: a folder is all that is in it, however it is written', async () => {
  const patterns = ['src/', 'src', './src/', '/src/**', 'src/**', ' src/ ']
  const mission = await missionGatedByAll(patterns.map((pattern) => `touches_none, paths: ["${pattern}"]`))
  const task = await mission.start()
  mission.project.write('src/api.ts', 'export const api = 2\n')
  mission.project.write('docs/src.md', 'A.')
  await mission.complete(task)
  expect(await mission.missing()).toEqual(patterns.map(() => 'changed, and must not: src/api.ts'))
})

test('touches_none: a file that was moved out of the folder touched it', async () => {
  const { project, run, start } = await gatedMission(
    changing('no-src', 'condition: touches_none, paths: ["src/"]'),
    'no-src',
  )
  await start()
  project.git('mv', 'src/api.ts', 'api.ts')
  expect(await missing(run)).toEqual(['right: changed, and must not: src/api.ts'])
})

test('patterns are from the project’s folder, also where that is a folder of the work tree', async () => {
  const { project, run, start } = await gatedMission(
    changing('no-src', 'condition: touches_none, paths: ["api.ts"]'),
    'no-src',
    { within: 'src' },
  )
  await start({ areas: ['api.ts'] })
  project.write('api.ts', 'export {}\n')
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  project.write('src/api.ts', 'export const api = 2\n')
  expect(await missing(run)).toEqual(['right: changed, and must not: src/api.ts'])
})

test('touches: each pattern needs a file that is other than at the beginning, committed or not', async () => {
  const { project, run, start, complete } = await gatedMission(
    changing('documented', 'condition: touches, paths: ["docs/", "src/**/*.ts"]'),
    'documented',
  )
  expect(await missing(run)).toEqual(unmeasured)
  const first = await start()
  project.write('src/api.ts', 'export const api = 2\n')
  expect(await missing(run)).toEqual(['right: nothing changed that matches docs/'])
  project.write('docs/api.md', 'Two.\n')
  project.git('add', '-A')
  project.git('commit', '-q', '-m', 'Two')
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  await complete(first)
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  const second = await start()
  project.git('rm', '-q', 'docs/api.md')
  await complete(second)
  expect(await missing(run)).toEqual(['right: nothing changed that matches docs/ (docs/api.md is as it was)'])
  await start()
  project.write('docs/api.md', 'Two again.\n')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('touches: of a work tree that was removed, what was merged counts', async () => {
  const { project, run, missionId, complete } = await gatedMission(
    changing('documented', 'condition: touches, paths: ["docs/"]'),
    'documented',
    { isOnMachine: false },
  )
  const { tasks } = await project.call('plan_tasks', {
    mission_id: missionId,
    phases: [{ name: 'Write' }],
    tasks: [{ key: 'a', title: 'Document it', phase: 'Write' }],
  })
  const tree = await project.call('worktree_add', { task_id: tasks[0].id })
  const task = (await project.call('start_task', { planned_task_id: tasks[0].id })).task_id
  mkdirSync(join(tree.path, 'docs'))
  writeFileSync(join(tree.path, 'docs/api.md'), 'Two.\n')
  project.git('-C', tree.path, 'add', '-A')
  project.git('-C', tree.path, 'commit', '-q', '-m', 'Two')
  await complete(task)
  project.git('worktree', 'remove', tree.path)
  expect(await missing(run)).toEqual(['right: nothing changed that matches docs/ (docs/api.md is as it was)'])
  project.git('merge', '-q', tree.branch)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('what was put back in a later task is not among the changes of none, touches_only and touches_none', async () => {
  const conditions = ['none', 'touches_only, paths: ["docs/"]', 'touches_none, paths: ["src/"]']
  const { project, run, start, complete, missing: lacking } = await missionGatedByAll(conditions)
  const first = await start()
  project.write('src/api.ts', 'export const api = 2\n')
  await complete(first)
  expect(await lacking()).toEqual(conditions.map(() => expect.stringMatching(/: src\/api\.ts$/)))
  const second = await start()
  project.write('src/api.ts', 'export const api = 1\n')
  await complete(second)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('none: a change stands in the way until it is taken back', async () => {
  const { project, run, start } = await gatedMission(changing('still', 'condition: none'), 'still')
  await start()
  project.write('src/api.ts', 'export const api = 2\n')
  expect(await missing(run)).toEqual(['right: files changed: src/api.ts'])
  project.write('src/api.ts', 'export const api = 1\n')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a run of a task looks at the attempts of that task only', async () => {
  const { project, start } = await gatedMission(process('plain'), 'plain')
  writeProcess(project, changing('scoped', 'condition: in_scope'))
  await start({ areas: ['docs/'] })
  const task = await start({ areas: ['src/'] })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const run = await runOf(changing('scoped', 'condition: in_scope'), { project, input: { task_id: task } })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a run on its own has no changes to look at', async () => {
  const run = await runOf(changing('scoped', 'condition: in_scope'), { git: true })
  expect(await missing(run)).toEqual(unmeasured)
})

const strict = (shared: string) => changing('strict', `condition: in_scope, shared: ${shared}`)

test('in_scope with shared: none counts manifests, lock files, CI, docs and others’ tests, until an area names them', async () => {
  const { project, run, start, complete } = await gatedMission(strict('none'), 'strict')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  for (const path of [
    'package-lock.json',
    'package.json',
    '.github/dependabot.yml',
    'docs/a.md',
    'test/pay.test.ts',
  ])
    project.write(path, '{}\n')
  const [reason] = await missing(run)
  expect(reason).toMatch(/^right: changed though no area names them: /)
  for (const named of [
    'package.json (manifests)',
    'package-lock.json (manifests)',
    '.github/dependabot.yml (ci)',
    'docs/a.md (docs)',
    'test/pay.test.ts (tests)',
  ])
    expect(reason).toContain(named)
  await complete(task)
  expect(await missing(run)).toEqual([reason])
  const named = await start({ areas: ['package.json', 'package-lock.json', '.github/', 'docs/', 'test/'] })
  await complete(named)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('in_scope with some shared kinds lets these pass, and without any word all of them', async () => {
  const some = await gatedMission(strict('[manifests, docs]'), 'strict')
  await some.start()
  some.project.write('package.json', '{}\n')
  some.project.write('docs/a.md', 'A.')
  expect(await some.run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  some.project.write('.github/dependabot.yml', 'a: b')
  expect(await missing(some.run)).toEqual([
    'right: changed though no area names them: .github/dependabot.yml (ci)',
  ])
  some.project.remove('.github/dependabot.yml')
  some.project.write('other.ts', 'export {}')
  expect(await missing(some.run)).toEqual(['right: changed out of scope: other.ts'])

  const all = await gatedMission(changing('lenient', 'condition: in_scope'), 'lenient')
  await all.start()
  all.project.write('.gitlab-ci.yml', 'a: b')
  expect(await missing(all.run)).toEqual(['right: changed out of scope: .gitlab-ci.yml'])
  all.project.remove('.gitlab-ci.yml')
  all.project.write('.github/dependabot.yml', 'a: b')
  expect(await all.run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a shared kind that does not exist is refused with the one that was meant', async () => {
  expect(readDefinition(strict('manifest')).findings).toMatchObject([
    { severity: 'error', message: expect.stringContaining('Did you mean "manifests"?') },
  ])
  expect(readDefinition(strict('[docs, test]')).findings).toMatchObject([
    { severity: 'error', message: expect.stringContaining('"test"') },
  ])
})
