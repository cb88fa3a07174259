import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { amount, soakTest } from '../../support/amount.ts'
import { git as runGit } from '../../support/git.ts'
import { openProject, person } from '../../support/project.ts'

async function opened(options: { readonly isOnMachine?: boolean } = {}) {
  const project = await openProject(options)
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  const plan = async (title: string) =>
    (await project.call('taskman_task_add', { title, phase: 'P1' })).id as string
  const asPerson = { actor: person }
  return { ...project, plan, asPerson }
}

function inTree(path: string) {
  const git = (...args: readonly string[]) => runGit(path, ...args)
  return { git, write: (name: string, content: string) => writeFileSync(join(path, name), content) }
}

// On a machine the same operations run, and more.
describe.each([{ isOnMachine: true }, { isOnMachine: false }].slice(0, amount({ test: 1, soak: 2 })))(
  'work trees of tasks, on another machine: $isOnMachine',
  (options) => {
    test('the list says who works on what, what is not committed, what is not merged', async () => {
      const { call, git, plan } = await opened(options)
      const [first, second] = [await plan('Draw'), await plan('Paint')]
      const drawing = await call('worktree_add', { task_id: first })
      await call('worktree_add', { task_id: second })
      await call('start_task', { planned_task_id: first, agent_name: 'worker-a' })
      const tree = inTree(drawing.path)
      tree.git('commit', '-q', '--allow-empty', '-m', 'Draw it')
      tree.write('new.ts', 'new\n')
      const listed = async () => {
        const { work_trees } = await call('worktree_list')
        return [first, second].map((id) =>
          work_trees.find((each: { task_id: string }) => each.task_id === id),
        )
      }
      expect(await listed()).toMatchObject([
        {
          task_id: first,
          task: 'Draw',
          status: 'in_progress',
          agent: 'worker-a',
          working: true,
          uncommitted_files: 1,
          unmerged_commits: 1,
          merged: false,
        },
        {
          task_id: second,
          agent: null,
          working: false,
          uncommitted_files: 0,
          unmerged_commits: 0,
          merged: true,
        },
      ])
      await call('complete_task', { task_id: first, status: 'success', outcome: { summary: 'Done.' } })
      tree.git('add', '.')
      tree.git('commit', '-qm', 'And this')
      git('merge', '-q', drawing.branch)
      const [merged] = await listed()
      expect(merged).toMatchObject({ agent: 'worker-a', working: false, uncommitted_files: 0, merged: true })
    })

    soakTest('a task remembers its tree while there is one', async () => {
      const { call, plan } = await opened(options)
      const task = await plan('Draw')
      expect((await call('show', { id: task })).own_work_tree).toBeNull()
      const { path } = await call('worktree_add', { task_id: task })
      expect((await call('show', { id: task })).own_work_tree).toBe(path)
      await call('worktree_remove', { task_id: task })
      expect((await call('show', { id: task })).own_work_tree).toBeNull()
    })

    test('force says what was lost, and how its commits come back', async () => {
      const { call, git, refused, plan, asPerson } = await opened(options)
      const task = await plan('Draw')
      const { path, branch } = await call('worktree_add', { task_id: task })
      const tree = inTree(path)
      tree.git('commit', '-q', '--allow-empty', '-m', 'Drawn')
      tree.write('new é.ts', 'new\n')
      expect(await refused('worktree_remove', { task_id: task })).toMatchObject({
        code: 'REFUSED',
        reason: 'work_would_be_lost',
        details: { lost: { uncommitted: { total: 1, first: ['new é.ts'] } } },
      })
      const { lost, notes, removed } = await call('worktree_remove', { task_id: task, force: true }, asPerson)
      expect(removed).toBe(true)
      expect(lost).toMatchObject({
        uncommitted: { total: 1, first: ['new é.ts'] },
        unmerged: { total: 1, first: [expect.stringMatching(/"Drawn"$/)] },
        submodules: { total: 0 },
      })
      expect(notes[0]).toContain('1 file is not committed (new é.ts); 1 commit is on no other branch')
      expect(existsSync(path)).toBe(false)
      const [, back = ''] = /with (git branch \S+ [0-9a-f]+),/.exec(notes[1]) ?? []
      git(...back.split(' ').slice(1))
      expect(git('log', '--format=%s', '-1', branch).trim()).toBe('Drawn')
    })
  },
)

test('force is for people, and takes no tree from someone at work', async () => {
  const { call, refused, plan, asPerson } = await opened()
  const task = await plan('Draw')
  const { path } = await call('worktree_add', { task_id: task })
  inTree(path).write('new.ts', 'new\n')
  const ended = await refused('worktree_remove', { task_id: task, force: true })
  expect(ended).toMatchObject({ code: 'FORBIDDEN', reason: 'forced_removal_for_people' })
  await call('start_task', { planned_task_id: task, agent_name: 'worker-a' })
  expect(await refused('worktree_remove', { task_id: task, force: true }, asPerson)).toMatchObject({
    code: 'REFUSED',
    reason: 'work_tree_in_use',
    fix: { operation: 'complete_task' },
  })
  expect(existsSync(join(path, 'new.ts'))).toBe(true)
})

test('force with nothing to lose says so', async () => {
  const { call, plan, asPerson } = await opened()
  const task = await plan('Draw')
  await call('worktree_add', { task_id: task })
  const { notes } = await call('worktree_remove', { task_id: task, force: true }, asPerson)
  expect(notes).toEqual(['Nothing was lost.'])
})
