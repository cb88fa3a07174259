import { expect, test } from 'vitest'
import { projectRepository } from '../support/git-repository.ts'
import { watch } from './watch.ts'

const removedWork = expect.stringContaining('Pre-existing uncommitted work was removed: lib/util.ts')

test('case 1: clean start, edit tracked file', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 1, deletedLines: 0, origin: 'task' })
  expect(report).toMatchObject({ status: 'exact', notes: [], doubts: [], headMoves: [] })
})

test('case 2: new untracked file', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => repo.put('src/new.ts', 'one\ntwo\n'))
  expect(changes).toEqual(['A src/new.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 2, deletedLines: 0 })
})

test('case 3: new file, committed', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.put('src/new.ts', 'one\n')
    repo.commit('New')
  })
  expect(changes).toEqual(['A src/new.ts'])
  expect(report.headMoves).toMatchObject([{ action: 'commit', message: 'commit: New', origin: 'task' }])
})

test('case 4: delete tracked, uncommitted', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => repo.remove('lib/util.ts'))
  expect(changes).toEqual(['D lib/util.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 0, deletedLines: 20 })
})

test('case 5: delete and commit', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.git('rm', '-q', 'lib/util.ts')
    repo.git('commit', '-qm', 'Remove')
  })
  expect(changes).toEqual(['D lib/util.ts'])
})

test('case 6: dirty at start, never touched', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes } = await watch(repo, () => repo.append('src/api/routes.ts'))
  expect(changes).toEqual(['M src/api/routes.ts'])
})

test('case 7: dirty at start, edited further', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts', 'before\n')
  const { changes, report } = await watch(repo, () => repo.append('lib/util.ts', 'during\n'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 1, deletedLines: 0 })
})

test('case 8: dirty at start, task only commits it', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes, report } = await watch(repo, () => void repo.commit('Commit it'))
  expect(changes).toEqual([])
  expect(report).toMatchObject({ status: 'exact', headMoves: [{ message: 'commit: Commit it' }] })
})

test('case 9: dirty at start, task discards it (checkout --)', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes, report } = await watch(repo, () => void repo.git('checkout', '--', 'lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.notes).toEqual([removedWork])
})

test('case 10: dirty at start, task runs git stash', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes, report } = await watch(repo, () => void repo.git('stash', '-q'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.notes).toEqual([removedWork])
})

test('case 11: untracked at start, untouched', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'note\n')
  const { changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 12: untracked at start, modified', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'note\n')
  const { changes, report } = await watch(repo, () => repo.append('notes.txt'))
  expect(changes).toEqual(['M notes.txt'])
  expect(report.changes[0]).toMatchObject({ addedLines: 1, deletedLines: 0 })
})

test('case 13: untracked at start, deleted', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'note\n')
  const { changes } = await watch(repo, () => repo.remove('notes.txt'))
  expect(changes).toEqual(['D notes.txt'])
})

test('case 14: untracked at start, task commits it unchanged', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'note\n')
  const { changes, report } = await watch(repo, () => void repo.commit('Notes'))
  expect(changes).toEqual([])
  expect(report.notes).toEqual([expect.stringMatching(/^Committed .*pre-existing file: notes\.txt\.$/)])
})

test('case 15: untracked at start, renamed', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'a note that is long enough\n')
  const { changes } = await watch(repo, () => repo.move('notes.txt', 'notes2.txt'))
  expect(changes).toEqual(['R notes.txt>notes2.txt'])
})

test('case 16: staged-only change at start, untouched', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  repo.git('add', 'lib/util.ts')
  const { changes } = await watch(repo, () => repo.append('README.md'))
  expect(changes).toEqual(['M README.md'])
})

test('case 17: staged new file at start, then removed', async () => {
  const repo = projectRepository()
  repo.put('new.ts', 'new\n')
  repo.git('add', 'new.ts')
  const { changes } = await watch(repo, () => repo.remove('new.ts'))
  expect(changes).toEqual(['D new.ts'])
})

test('case 18: staged change at start, worktree reverted by task', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  repo.git('add', 'lib/util.ts')
  const { changes } = await watch(repo, () => {
    repo.git('restore', '--source=HEAD', '--worktree', 'lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 19: file added then deleted inside task', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.put('passing.ts', 'x\n')
    repo.remove('passing.ts')
  })
  expect(changes).toEqual([])
  expect(report.status).toBe('exact')
})

test('case 20: file added and committed, deleted uncommitted', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.put('passing.ts', 'x\n')
    repo.commit('Passing')
    repo.remove('passing.ts')
  })
  expect(changes).toEqual([])
})

test('case 21: commit + revert (net zero)', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Edit')
    repo.git('revert', '--no-edit', 'HEAD')
  })
  expect(changes).toEqual([])
  expect(report.headMoves.map(({ action, origin }) => `${action} ${origin}`)).toEqual([
    'commit task',
    'revert task',
  ])
})

test('case 22: commit change, then undo in worktree', async () => {
  const repo = projectRepository()
  const original = repo.read('lib/util.ts')
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Edit')
    repo.put('lib/util.ts', original)
  })
  expect(changes).toEqual([])
})
