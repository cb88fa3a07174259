import { expect, test } from 'vitest'
import { projectRepository } from '../support/git-repository.ts'
import { watch } from './watch.ts'

const util = 'lib/util.ts'

test('is not exact where a change was committed and put back on disk', async () => {
  const repo = projectRepository()
  const before = repo.read(util)
  const { changes, report } = await watch(repo, () => {
    repo.append(util)
    repo.put('lib/new.ts', 'new\n')
    repo.commit('Own')
    repo.put(util, before)
    repo.remove('lib/new.ts')
  })
  expect(changes).toEqual([])
  expect(report).toMatchObject({ status: 'partial', unreadable: ['lib/new.ts', util] })
})

test('is not exact whatever the reflog calls that commit', async () => {
  const repo = projectRepository()
  const before = repo.read(util)
  const { report } = await watch(repo, () => {
    repo.append(util)
    repo.git('add', '-A')
    const tree = repo.git('write-tree').trim()
    const commit = repo.git('commit-tree', tree, '-p', 'HEAD', '-m', 'Own').trim()
    repo.git('update-ref', '-m', 'rebase (pick): Theirs', 'HEAD', commit)
    repo.put(util, before)
  })
  expect(report).toMatchObject({ status: 'partial', unreadable: [util] })
})

test('is not exact where a change is staged and put back on disk', async () => {
  const repo = projectRepository()
  const before = repo.read(util)
  const { changes, report } = await watch(repo, () => {
    repo.append(util)
    repo.put('lib/new.ts', 'new\n')
    repo.git('add', '-A')
    repo.put(util, before)
    repo.remove('lib/new.ts')
  })
  expect(changes).toEqual([])
  expect(report.status).toBe('partial')
  expect([...report.unreadable].sort()).toEqual(['lib/new.ts', util])
})

const exact = { status: 'exact', unreadable: [] }

test('is exact with what was staged before, committed or not', async () => {
  const repo = projectRepository()
  repo.append(util, 'staged\n')
  repo.git('add', '-A')
  repo.append(util, 'not staged\n')
  expect((await watch(repo, () => repo.put('lib/new.ts', 'new\n'))).report).toMatchObject(exact)
  const { report } = await watch(repo, () => void repo.git('commit', '-qm', 'Staged before'))
  expect(report).toMatchObject(exact)
})

test('is exact where a commit holds what was on disk before', async () => {
  const repo = projectRepository()
  repo.append(util)
  const { report } = await watch(repo, () => repo.commit('Earlier'))
  expect(report).toMatchObject(exact)
})

test('is exact where HEAD goes back and the disk stays', async () => {
  const repo = projectRepository()
  const { report } = await watch(repo, () => void repo.git('reset', '-q', '--soft', 'HEAD~1'))
  expect(report).toMatchObject(exact)
})

test('is exact where a commit was reverted', async () => {
  const repo = projectRepository()
  const { report } = await watch(repo, () => {
    repo.append(util)
    repo.commit('Own')
    repo.git('revert', '--no-edit', 'HEAD')
  })
  expect(report).toMatchObject(exact)
})
