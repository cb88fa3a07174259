import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  clonedProject,
  emptyRepository,
  lines,
  projectRepository,
  temporaryFolder,
  WorkFolder,
} from '../support/git-repository.ts'
import { watch } from './watch.ts'

test('case 57: sparse checkout (cone)', async () => {
  const repo = projectRepository()
  repo.git('sparse-checkout', 'set', '--cone', 'src/api')
  const { changes, start, witness } = await watch(repo, () => repo.append('src/api/routes.ts'))
  expect(changes).toEqual(['M src/api/routes.ts'])
  expect(await witness.matching(start.ref, ['lib/util.ts'])).toMatchObject([{ files: 0 }])
})

test('a sparse checkout that is widened or narrowed changes nothing', async () => {
  const repo = projectRepository()
  repo.git('sparse-checkout', 'set', '--cone', 'src/api')
  expect((await watch(repo, () => void repo.git('sparse-checkout', 'disable'))).changes).toEqual([])
  const narrowed = await watch(repo, () => void repo.git('sparse-checkout', 'set', '--cone', 'lib'))
  expect(narrowed.changes).toEqual([])
})

test('case 58: file flagged skip-worktree is edited', async () => {
  const repo = projectRepository()
  repo.git('update-index', '--skip-worktree', 'lib/util.ts')
  const { changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 58, deleted', async () => {
  const repo = projectRepository()
  repo.git('update-index', '--skip-worktree', 'lib/util.ts')
  const { changes } = await watch(repo, () => repo.remove('lib/util.ts'))
  expect(changes).toEqual(['D lib/util.ts'])
})

test('case 59: file flagged assume-unchanged is edited', async () => {
  const repo = projectRepository()
  repo.git('update-index', '--assume-unchanged', 'lib/util.ts')
  const { changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
})

test("a file that is flagged and edited before the start is not the task's", async () => {
  const repo = projectRepository()
  repo.git('update-index', '--assume-unchanged', 'lib/util.ts')
  repo.append('lib/util.ts')
  const { changes } = await watch(repo, () => repo.append('README.md'))
  expect(changes).toEqual(['M README.md'])
})

test('case 60: shallow clone', async () => {
  const { clone } = clonedProject('--depth=1')
  const { changes } = await watch(clone, () => {
    clone.append('lib/util.ts')
    clone.commit('Own')
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 61: partial clone (blob:none), rename + edit', async () => {
  const upstream = projectRepository()
  upstream.git('config', 'uploadpack.allowFilter', 'true')
  const clone = new WorkFolder(`${temporaryFolder()}/clone`)
  upstream.git('clone', '-q', '--filter=blob:none', `file://${upstream.top}`, clone.top)
  // Whatever would be fetched now is not there to be fetched.
  rmSync(upstream.top, { recursive: true })
  const { changes, report } = await watch(clone, () => {
    clone.git('mv', 'lib/util.ts', 'lib/tools.ts')
    clone.append('src/app.ts')
    clone.commit('Own')
  })
  expect(changes).toEqual(['R lib/util.ts>lib/tools.ts', 'M src/app.ts'])
  expect(report.status).toBe('exact')
})

test('case 62: project root = subdirectory of repo; edits inside and outside', async () => {
  const repo = projectRepository()
  const { changes, start } = await watch(repo.in('src'), () => {
    repo.append('src/api/routes.ts')
    repo.append('README.md')
  })
  expect(changes).toEqual(['M README.md', 'M src/api/routes.ts'])
  expect(start.ref).toMatchObject({ top: repo.top, prefix: 'src/' })
})

test('case 85: git add -N file', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.put('n.ts', 'new\n')
    repo.git('add', '-N', 'n.ts')
    repo.put('gone.ts', 'gone\n')
    repo.git('add', '-N', 'gone.ts')
    repo.remove('gone.ts')
  })
  expect(changes).toEqual(['A n.ts'])
})

test('case 86: split index repository', async () => {
  const repo = projectRepository()
  repo.git('update-index', '--split-index')
  repo.append('README.md')
  repo.git('add', 'README.md')
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.put('n.ts', 'new\n')
  })
  expect(changes).toEqual(['M lib/util.ts', 'A n.ts'])
})

test('case 87: sha256 repository', async () => {
  const repo = emptyRepository('--object-format=sha256')
  repo.put('f', lines('f'))
  repo.commit('First')
  repo.put('u', 'u\n')
  const { changes, report } = await watch(repo, () => {
    repo.append('f')
    repo.append('u')
  })
  expect(changes).toEqual(['M f', 'M u'])
  expect(report.changes).toMatchObject([{ addedLines: 1 }, { addedLines: 1 }])
})

test('case 99: untracked cache + index v4', async () => {
  const repo = projectRepository()
  repo.git('config', 'core.untrackedCache', 'true')
  repo.git('update-index', '--index-version', '4', '--force-untracked-cache')
  repo.put('q/r/old.ts', 'old\n')
  repo.git('status')
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.put('q/r/n.ts', 'new\n')
  })
  expect(changes).toEqual(['M lib/util.ts', 'A q/r/n.ts'])
})

test('case 100: sparse index (cone), edit inside, create outside the cone', async () => {
  const repo = projectRepository()
  repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'src/api')
  const { changes } = await watch(repo, () => {
    repo.append('src/api/routes.ts')
    repo.put('lib/extra.ts', 'extra\n')
  })
  expect(changes).toEqual(['A lib/extra.ts', 'M src/api/routes.ts'])
})

test('case 101: sparse checkout: file outside the cone re-created with new content', async () => {
  const repo = projectRepository()
  repo.git('sparse-checkout', 'set', '--cone', 'src/api')
  const { changes } = await watch(repo, () => repo.put('lib/util.ts', `${lines('util')}more\n`))
  expect(changes).toEqual(['M lib/util.ts'])
})
