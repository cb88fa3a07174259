import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { git as runGit } from '../../support/git.ts'
import { agentActor, notFound, openProject, person } from '../../support/project.ts'
import { runWaymark, temporaryRepository } from '../../surfaces/mcp/server-process.ts'

async function opened() {
  const project = await openProject()
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  const plan = async (title: string) =>
    (await project.call('taskman_task_add', { title, phase: 'P1' })).id as string
  const task = await plan('Draw the login: "now"; $(touch x)')
  const branches = () =>
    project.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n')
  const trees = () => project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length
  return { ...project, plan, task, branches, trees, main: project.git('branch', '--show-current').trim() }
}

function inTree(path: string) {
  const git = (...args: readonly string[]) => runGit(path, ...args)
  return { git, write: (name: string, content: string) => writeFileSync(join(path, name), content) }
}

/** A refusal to remove a tree in which this would be lost. */
const losing = (lost: object) => ({ code: 'REFUSED', reason: 'work_would_be_lost', details: { lost } })
const one = (subject: string) => ({ total: 1, first: [expect.stringMatching(`^[0-9a-f]+ "${subject}"$`)] })

describe('worktree add', () => {
  test('makes a tree beside the repository on a branch named after the task, and start_task works there', async () => {
    const { folder, call, task, write, context } = await opened()
    const added = await call('worktree_add', { task_id: task })
    expect(added).toMatchObject({
      path: `${folder}-${task}`,
      branch: `${task}-draw-the-login-now-touch-x`,
      notes: [],
    })
    expect(readFileSync(join(added.path, 'README.md'), 'utf8')).toBe('# Project\n')
    expect((await call('worktree_list')).work_trees).toMatchObject([
      { task_id: task, path: added.path, branch: added.branch, exists: true },
    ])
    expect((await call('taskman_task_note_list', { id: task })).notes[0].content).toContain(added.path)

    const { warnings } = await call('start_task', { planned_task_id: task })
    expect(warnings.join('\n')).toContain(added.path)
    write('src/api.ts', 'changed in the main tree\n')
    inTree(added.path).write('README.md', 'changed in its own tree\n')
    const { files_changed, measurement } = await call('complete_task', {
      task_id: task,
      status: 'success',
      outcome: { summary: 'Done.' },
    })
    expect(files_changed.modified).toEqual(['README.md'])
    expect(measurement).toBe('exact')
    expect(context.folder).toBe(folder)
  })

  test('in that tree start_task takes the task up without a name; a name begins another', async () => {
    const { call, task } = await opened()
    const { path } = await call('worktree_add', { task_id: task })
    const another = await call('start_task', { name: 'Another', work_tree: path })
    expect(another.task_id).not.toBe(task)
    const { task_id } = await call('start_task', { work_tree: path })
    expect(task_id).toBe(task)
  })

  test('runs no hook and no filter of the repository, whatever its name', async () => {
    const { folder, call, git, write, task } = await opened()
    const canary = join(folder, '..', 'canary')
    const script = join(folder, '..', 'script')
    writeFileSync(script, `#!/bin/sh\ntouch ${canary}\ncat\n`)
    chmodSync(script, 0o755)
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      mkdirSync(join(folder, '.git', 'hooks'), { recursive: true })
      writeFileSync(join(folder, '.git', 'hooks', hook), `#!/bin/sh\ntouch ${canary}\n`)
      chmodSync(join(folder, '.git', 'hooks', hook), 0o755)
    }
    write('.gitattributes', '*.one filter=plain\n*.two filter=a=b.smudge=c\n')
    write('a.one', 'one\n')
    write('b.two', 'two\n')
    git('-c', 'core.hooksPath=/dev/null', 'add', '.')
    git('-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'Filtered')
    for (const filter of ['plain', 'a=b.smudge=c']) {
      for (const key of ['smudge', 'clean', 'process']) git('config', `filter.${filter}.${key}`, script)
      git('config', `filter.${filter}.required`, 'true')
    }
    git('config', 'core.fsmonitor', script)
    const added = await call('worktree_add', { task_id: task })
    expect(readFileSync(join(added.path, 'b.two'), 'utf8')).toBe('two\n')
    expect(added.notes.join()).toContain('Filters were not run')
    await call('worktree_list')
    await call('worktree_remove', { task_id: task })
    expect(existsSync(canary)).toBe(false)
  })

  test('runs nothing that is configured for one branch or one tree, and no check of signatures', async () => {
    const { folder, call, refused, git, write, task } = await opened()
    const canary = join(folder, '..', 'canary')
    const script = join(folder, '..', 'script')
    writeFileSync(script, `#!/bin/sh\ntouch ${canary}\ncat\n`)
    chmodSync(script, 0o755)
    write('.gitattributes', '*.one filter=branch\n*.two filter=tree\n')
    write('a.one', 'one\n')
    write('b.two', 'two\n')
    git('add', '.')
    git('commit', '-qm', 'Filtered')
    const included = join(folder, '..', 'included')
    writeFileSync(included, `[filter "branch"]\nsmudge = ${script}\nclean = ${script}\n`)
    git('config', 'includeIf.onbranch:work.path', included)
    git('config', 'extensions.worktreeConfig', 'true')
    const added = await call('worktree_add', { task_id: task, branch: 'work' })
    expect(readFileSync(join(added.path, 'a.one'), 'utf8')).toBe('one\n')
    expect(existsSync(canary)).toBe(false)

    const tree = inTree(added.path)
    tree.git('config', '--worktree', 'filter.tree.clean', script)
    tree.write('b.two', 'changed\n')
    const [root, head] = [git('rev-parse', 'HEAD^{tree}').trim(), git('rev-parse', 'HEAD').trim()]
    const by = 'a <a@example.com> 1700000000 +0000'
    const signature = ['-----BEGIN PGP SIGNATURE-----', '', 'none', '-----END PGP SIGNATURE-----']
    const signed = ['gpgsig ', signature.join('\n ')].join('')
    const lines = [
      `tree ${root}`,
      `parent ${head}`,
      `author ${by}`,
      `committer ${by}`,
      signed,
      '',
      'Signed',
      '',
    ]
    write('../commit', lines.join('\n'))
    const commit = git('hash-object', '-t', 'commit', '-w', '../commit').trim()
    git('update-ref', 'refs/heads/work', commit)
    git('config', 'log.showSignature', 'true')
    git('config', 'gpg.program', script)
    const ended = await refused('worktree_remove', { task_id: task })
    expect(ended).toMatchObject(
      losing({ uncommitted: { total: 1, first: ['b.two'] }, unmerged: one('Signed') }),
    )
    expect(existsSync(canary)).toBe(false)
  })

  test.each([
    [{ branch: '--force' }, { code: 'INVALID_INPUT', reason: 'branch_name_invalid' }],
    [{ branch: 'a..b' }, { code: 'INVALID_INPUT', reason: 'branch_name_invalid' }],
    [{ branch: 'x@{1}' }, { code: 'INVALID_INPUT', reason: 'branch_name_invalid' }],
    [{ branch: '../../config' }, { code: 'INVALID_INPUT', reason: 'branch_name_invalid' }],
    [{ branch: 'HEAD' }, { code: 'INVALID_INPUT', reason: 'branch_name_invalid' }],
    [{ from: '--output=x' }, { code: 'NOT_FOUND', reason: 'commit_not_found' }],
    [{ from: 'nowhere' }, { code: 'NOT_FOUND', reason: 'commit_not_found' }],
    [{ folder: 'inside' }, { code: 'FORBIDDEN', reason: 'work_tree_folder_for_people' }],
    [{ folder: '../../../a\nb' }, { code: 'FORBIDDEN', reason: 'work_tree_folder_for_people' }],
    [{ folder: '..' }, { code: 'FORBIDDEN', reason: 'work_tree_folder_for_people' }],
    [{ folder: '/dev/null/x' }, { code: 'FORBIDDEN', reason: 'work_tree_folder_for_people' }],
    [{ task_id: 't-nothing' }, notFound('task')],
  ])('%j is refused, and leaves nothing behind', async (input, expected) => {
    const { refused, task, branches, trees, main } = await opened()
    expect(await refused('worktree_add', { task_id: task, ...input })).toMatchObject(expected)
    expect(branches()).toEqual([main])
    expect(trees()).toBe(1)
  })

  test('a branch that is there stays as it is', async () => {
    const { refused, git, task, main } = await opened()
    git('branch', 'mine')
    const before = git('rev-parse', 'mine')
    expect(await refused('worktree_add', { task_id: task, branch: 'mine' })).toMatchObject({
      code: 'CONFLICT',
      reason: 'branch_exists',
      fix: { operation: 'start_task' },
    })
    expect(git('rev-parse', 'mine')).toBe(before)
    expect(git('branch', '--show-current').trim()).toBe(main)
  })

  test('a task has one tree, and none while it is worked on elsewhere or when it is done', async () => {
    const { call, refused, plan, task } = await opened()
    await call('worktree_add', { task_id: task })
    expect(await refused('worktree_add', { task_id: task })).toMatchObject({
      code: 'CONFLICT',
      reason: 'work_tree_exists',
      fix: { operation: 'start_task' },
    })
    const open = await plan('Open')
    await call('start_task', { planned_task_id: open })
    expect(await refused('worktree_add', { task_id: open })).toMatchObject({
      code: 'CONFLICT',
      reason: 'task_in_progress',
      fix: { operation: 'complete_task' },
    })
    await call('complete_task', { task_id: open, status: 'success', outcome: { summary: 'Done.' } })
    expect(await refused('worktree_add', { task_id: open })).toMatchObject({
      code: 'CONFLICT',
      reason: 'task_completed',
    })
  })

  test('where there is no git there are no work trees', async () => {
    const { call, refused } = await openProject({ git: false })
    const { task_id } = await call('start_task', { name: 'Task' })
    for (const name of ['worktree_add', 'worktree_remove'])
      expect(await refused(name, { task_id })).toMatchObject({
        code: 'UNAVAILABLE',
        reason: 'no_git_repository',
      })
  })

  test('of a repository without a commit it says what to do', async () => {
    const { refused, git, task } = await opened()
    git('checkout', '-q', '--orphan', 'empty')
    expect(await refused('worktree_add', { task_id: task })).toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'no_commits',
    })
  })
})

describe('worktree remove', () => {
  test('names what is not committed and what is on no other branch, and goes when nothing is lost', async () => {
    const { call, refused, git, task, branches, trees, main } = await opened()
    const { path, branch } = await call('worktree_add', { task_id: task })
    const tree = inTree(path)
    tree.write('README.md', 'changed\n')
    tree.write('new.ts', 'new\n')
    const dirty = await refused('worktree_remove', { task_id: task })
    expect(dirty).toMatchObject(losing({ uncommitted: { total: 2, first: ['README.md', 'new.ts'] } }))
    tree.git('add', '.')
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject(
      losing({ uncommitted: { total: 2 } }),
    )
    tree.git('commit', '-qm', 'Draw it')
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject(
      losing({ unmerged: one('Draw it') }),
    )
    expect(trees()).toBe(2)
    git('merge', '-q', branch)
    expect(await call('worktree_remove', { task_id: task })).toMatchObject({ path, removed: true })
    expect({ there: existsSync(path), trees: trees(), branches: branches() }).toEqual({
      there: false,
      trees: 1,
      branches: [main],
    })
  })

  test('commits on no branch at all are named, too', async () => {
    const { call, refused, task } = await opened()
    const { path } = await call('worktree_add', { task_id: task })
    const tree = inTree(path)
    tree.git('checkout', '-q', '--detach')
    tree.git('commit', '-q', '--allow-empty', '-m', 'Adrift')
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject(
      losing({ unmerged: one('Adrift') }),
    )
  })

  test('a branch with marks in its name excludes itself alone', async () => {
    const { call, refused, git, task } = await opened()
    const { path } = await call('worktree_add', { task_id: task, branch: 'f(1)+{x}' })
    inTree(path).git('commit', '-q', '--allow-empty', '-m', 'Mine')
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject(
      losing({ unmerged: one('Mine') }),
    )
    git('merge', '-q', 'f(1)+{x}')
    expect(await call('worktree_remove', { task_id: task })).toMatchObject({ removed: true })
  })

  test('an open attempt keeps it', async () => {
    const { call, refused, task } = await opened()
    await call('worktree_add', { task_id: task })
    await call('start_task', { planned_task_id: task, agent_name: 'worker-a' })
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject({
      code: 'REFUSED',
      reason: 'work_tree_in_use',
      fix: { operation: 'complete_task' },
    })
  })

  test('a tree that somebody else made is not touched', async () => {
    const { folder, call, refused, git, task } = await opened()
    git('worktree', 'add', '-q', '-b', 'theirs', join(dirname(folder), 'theirs'))
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'work_tree_not_found',
    })
    expect((await call('worktree_list')).work_trees).toMatchObject([{ task_id: null, branch: 'theirs' }])
  })

  test('a folder that is gone leaves its commits to be seen', async () => {
    const { call, refused, task } = await opened()
    const { path } = await call('worktree_add', { task_id: task })
    inTree(path).git('commit', '-q', '--allow-empty', '-m', 'Kept')
    execFileSync('rm', ['-r', path])
    expect(await refused('worktree_remove', { task_id: task })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'work_tree_not_found',
    })
    expect((await call('worktree_list')).work_trees).toMatchObject([{ exists: false }])
  })
})

test('start_task offers an own tree once, whoever else works in this one', async () => {
  const { call, task } = await opened()
  for (const name of ['first', 'second']) {
    const actor = { ...agentActor, name }
    await call('start_task', { name, agent_name: name }, { actor })
  }
  const { warnings } = await call('start_task', { planned_task_id: task, agent_name: 'third' })
  expect(warnings.filter((line: string) => line.includes('open in this work tree'))).toHaveLength(2)
  expect(warnings.filter((line: string) => line.includes(`waymark worktree add ${task}`))).toHaveLength(1)
  await call('complete_task', { task_id: task, status: 'failed', outcome: { summary: 'Moved.' } })
  const { path } = await call('worktree_add', { task_id: task }, { actor: person })
  const again = await call('start_task', { planned_task_id: task, agent_name: 'third' })
  expect(again.warnings.join('\n')).not.toContain('open in this work tree')
  expect(again.warnings.join('\n')).toContain(path)
})

test('on the command line', () => {
  const folder = temporaryRepository()
  runWaymark(folder, 'phase', 'add', '--id', 'P1', '--name', 'Build')
  const { id } = runWaymark(folder, 'task', 'add', '--title', 'Draw', '--phase', 'P1')
  const { path } = runWaymark(folder, 'worktree', 'add', id)
  expect(path).toBe(`${folder}-${id}`)
  expect(runWaymark(folder, 'worktree', 'list').work_trees).toMatchObject([{ task: 'Draw', path }])
  expect(runWaymark(path, 'task', 'get', id)).toMatchObject({ title: 'Draw' })
  expect(runWaymark(folder, 'worktree', 'remove', id)).toMatchObject({ removed: true })
})
