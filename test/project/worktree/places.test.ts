import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { soakTest } from '../../support/amount.ts'
import { git } from '../../support/git.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { runProgram } from '../../support/program.ts'

/** A repository in a folder whose name has a space and an é, and the command line anywhere around it. */
function somewhere() {
  const home = temporaryFolder()
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'protocol.file.allow',
    GIT_CONFIG_VALUE_0: 'always',
    GIT_CONFIG_KEY_1: 'user.name',
    GIT_CONFIG_VALUE_1: 'Tess',
    GIT_CONFIG_KEY_2: 'user.email',
    GIT_CONFIG_VALUE_2: 'tess@example.com',
  }
  const at = (folder: string) => ({
    folder,
    git: (...words: readonly string[]) =>
      git(
        folder,
        '-c',
        'protocol.file.allow=always',
        '-c',
        'user.name=Tess',
        '-c',
        'user.email=t@example.com',
        ...words,
      ),
    run: (...words: readonly string[]) => runProgram([...words], { folder, environment }),
    json: (...words: readonly string[]) => {
      const { code, out, error } = runProgram([...words, '--json'], { folder, environment })
      if (code !== 0) throw new Error(error)
      return JSON.parse(out)
    },
  })
  const repository = (name: string) => {
    const place = join(home, name)
    mkdirSync(join(place, 'docs'), { recursive: true })
    const made = at(place)
    made.git('init', '-q', '-b', 'main')
    writeFileSync(join(place, 'a.txt'), 'a\n')
    writeFileSync(join(place, 'docs', 'b.txt'), 'b\n')
    made.git('add', '.')
    made.git('commit', '-qm', 'One')
    return made
  }
  return { home: realpathSync(home), at, repository }
}

type Place = ReturnType<ReturnType<typeof somewhere>['at']>

function planned({ json }: Place): string {
  json('phase', 'add', '--id', 'P1', '--name', 'Build')
  return json('task', 'add', '--title', 'Draw é', '--phase', 'P1').id
}

/** The whole life of a tree: it is made, listed, worked in and removed. */
function lives(place: Place, at: (folder: string) => Place, expected: string, ...flags: readonly string[]) {
  const task = planned(place)
  const path = expected.replace('<task>', task)
  const added = place.json('worktree', 'add', task, ...flags)
  expect(added.path).toBe(path)
  expect(place.json('worktree', 'list').work_trees).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ task_id: task, path, exists: true, uncommitted_files: 0, merged: true }),
    ]),
  )
  expect(place.json('show', task).own_work_tree).toBe(path)
  const inside = at(path)
  const { task_id } = inside.json('task', 'start', '--agent-name', 'worker')
  expect(task_id).toBe(task)
  writeFileSync(join(path, 'docs', 'b.txt'), 'changed\n')
  const done = inside.json('task', 'complete', task, '--status', 'success', '--outcome.summary', 'Done.')
  expect(done.files_changed.modified).toEqual(['docs/b.txt'])
  const refused = place.run('worktree', 'remove', task)
  expect(refused.code).toBe(1)
  expect(refused.error).toContain('1 file is not committed (docs/b.txt)')
  inside.git('checkout', '-q', 'docs/b.txt')
  expect(place.json('worktree', 'remove', task)).toMatchObject({ removed: true, path })
  expect(existsSync(path)).toBe(false)
  return added
}

describe('a work tree is made, worked in and removed', () => {
  test('beside a folder with a space and an é', () => {
    const { home, at, repository } = somewhere()
    lives(repository('my tree é'), at, join(home, 'my tree é-<task>'))
  })

  soakTest('of a bare main repository, from one of its trees', () => {
    const { home, at, repository } = somewhere()
    repository('source').git('clone', '-q', '--bare', '.', join(home, 'app é.git'))
    at(join(home, 'app é.git')).git('worktree', 'add', '-q', join(home, 'main tree'), 'main')
    lives(at(join(home, 'main tree')), at, join(home, 'app é-<task>'))
  })

  test('of a sparse checkout, as sparse as that', () => {
    const { home, at, repository } = somewhere()
    const place = repository('sparse')
    place.git('sparse-checkout', 'set', 'docs')
    writeFileSync(join(home, 'sparse', 'docs', 'c.txt'), 'c\n')
    mkdirSync(join(home, 'sparse', 'left-out'))
    writeFileSync(join(home, 'sparse', 'left-out', 'd.txt'), 'd\n')
    place.git('add', '--sparse', '.')
    place.git('commit', '-qm', 'Two')
    place.git('sparse-checkout', 'reapply')
    const task = planned(place)
    const { path } = place.json('worktree', 'add', task)
    expect(readdirSync(path).toSorted()).toEqual(['.git', 'a.txt', 'docs'])
    expect(place.json('worktree', 'list').work_trees).toMatchObject([{ uncommitted_files: 0 }])
    expect(at(path).json('worktree', 'remove', task)).toMatchObject({ removed: true })
  })

  soakTest('of a submodule, in a folder outside of the repository that it belongs to', () => {
    const { home, at, repository } = somewhere()
    repository('part')
    const whole = repository('whole é')
    whole.git('submodule', 'add', '-q', join(home, 'part'), 'part')
    whole.git('commit', '-qm', 'With a part')
    const part = at(join(home, 'whole é', 'part'))
    const task = planned(part)
    const { code, error } = part.run('worktree', 'add', task)
    expect(code).toBe(2)
    expect(error).toContain(`it is inside ${join(home, 'whole é')}, which contains this submodule`)
    expect(error).toContain(`--folder '${join(home, `whole é-part-${task}`)}'`)
    const added = part.json('worktree', 'add', task, '--folder', join(home, `whole é-part-${task}`))
    expect(dirname(added.path)).toBe(home)
    expect(part.json('worktree', 'list').work_trees).toMatchObject([{ task_id: task, exists: true }])
    expect(part.json('worktree', 'remove', task)).toMatchObject({ removed: true })
  })
})

test('a tree whose submodules were filled is removed by force alone, and what goes with it is named', () => {
  const { home, at, repository } = somewhere()
  repository('part')
  const whole = repository('whole')
  whole.git('submodule', 'add', '-q', join(home, 'part'), 'part é')
  whole.git('commit', '-qm', 'With a part')
  const task = planned(whole)
  const { path, notes } = whole.json('worktree', 'add', task)
  expect(notes.join()).toContain(
    'Submodules are empty there (part é). Fill them in that tree with: git submodule update --init',
  )
  at(path).git('submodule', 'update', '-q', '--init')
  const { error } = whole.run('worktree', 'remove', task)
  expect(error).toContain('1 submodule has a repository of its own there (part é)')
  expect(error).toContain('--force')
  const { lost } = whole.json('worktree', 'remove', task, '--force')
  expect(lost).toMatchObject({ submodules: { total: 1, first: ['part é'] }, uncommitted: { total: 0 } })
  expect(existsSync(path)).toBe(false)
})
