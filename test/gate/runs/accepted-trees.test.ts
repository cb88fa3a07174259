import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { gatedMission } from './subject.ts'

const ana = { ...person, name: 'Ana' }

async function withTree(condition: string) {
  const guards = `  right: { type: changes, condition: ${condition} }`
  const mission = await gatedMission(process('p', { guards, guard: 'right' }), 'p')
  const { project, run } = mission
  const task = await mission.start()
  project.git('worktree', 'add', '-q', 'inner', '-b', 'inner')
  await mission.complete(task)
  const refused = async () => (await run.refused('go')).details as any
  return { ...mission, project, run, refused }
}

const conditions = ['none', 'in_scope', 'touches_none, paths: ["utils.ts"]']

test.each(conditions.slice(0, amount({ test: 1, soak: 3 })))(
  '%s: a person accepts a task during which a linked work tree appeared, as the tree is then',
  async (condition) => {
    const { project, run, refused } = await withTree(condition)
    const { item_id } = await refused()
    expect(item_id).toBeTruthy()
    const [item] = (await project.call('inbox', { kind: 'scope' }, { actor: ana })).items
    await project.call('approve', { id: item_id, content: item.content }, { actor: ana })
    expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
  },
)

const later = {
  'is removed': 'git worktree remove -f inner',
  'becomes a folder of its own': 'rm inner/.git; git worktree prune',
}

test.each(Object.entries(later))('a person accepts such a task although the tree %s', async (_, words) => {
  const { project, run, refused } = await withTree('none')
  execFileSync('sh', ['-ec', words], { cwd: project.folder })
  const { item_id } = await refused()
  await project.call('approve', { id: item_id }, { actor: ana })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('the acceptance is void once files that the tree hid are files of the project', async () => {
  const { project, run, refused } = await withTree('none')
  const { item_id: first } = await refused()
  await project.call('approve', { id: first }, { actor: ana })
  execFileSync('sh', ['-ec', later['becomes a folder of its own']], { cwd: project.folder })
  const { item_id: second } = await refused()
  expect(second).not.toBe(first)
  await project.call('approve', { id: second }, { actor: ana })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})
