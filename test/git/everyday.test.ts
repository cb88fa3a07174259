import { expect, test } from 'vitest'
import { lines, projectRepository } from '../support/git-repository.ts'
import { shared } from '../support/shared.ts'
import { watch } from './watch.ts'

/** Work on files of their own, which is measured together. */
const together = shared(async () => {
  const repo = projectRepository()
  for (const number of [4, 6, 7, 16, 18]) repo.put(`case${number}.ts`, lines(`case${number}x`))
  repo.commit('A file for each case')
  repo.append('case6.ts')
  repo.append('case7.ts', 'before\n')
  for (const number of [11, 12, 13]) repo.put(`case${number}.txt`, `note ${number}\n`)
  repo.put('case15.txt', 'a note that is long enough\n')
  repo.append('case16.ts')
  repo.put('case17.ts', 'new\n')
  repo.append('case18.ts')
  repo.git('add', 'case16.ts', 'case17.ts', 'case18.ts')
  const { report, changes } = await watch(repo, () => {
    repo.put('case2.ts', 'one\ntwo\n')
    repo.remove('case4.ts')
    repo.append('case7.ts', 'during\n')
    repo.append('case12.txt')
    repo.remove('case13.txt')
    repo.move('case15.txt', 'case15-moved.txt')
    repo.remove('case17.ts')
    repo.git('restore', '--source=HEAD', '--worktree', 'case18.ts')
    repo.put('case19.ts', 'x\n')
    repo.remove('case19.ts')
  })
  /** What is told of the files of a case, and how many lines. */
  return (number: number) => {
    const isOfCase = (name: string) => name.includes(`case${number}.`) || name.includes(`case${number}-`)
    const { addedLines, deletedLines } = report.changes.find(({ path }) => isOfCase(path)) ?? {}
    expect(report.status).toBe('exact')
    return { changes: changes.filter(isOfCase), addedLines, deletedLines }
  }
})

test('case 1: clean start, edit tracked file', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 1, deletedLines: 0, origin: 'task' })
  expect(report).toMatchObject({ status: 'exact', notes: [], doubts: [], headMoves: [] })
})

test('case 2: new untracked file', async () => {
  expect((await together())(2)).toMatchObject({
    changes: ['A case2.ts'],
    addedLines: 2,
    deletedLines: 0,
  })
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
  expect((await together())(4)).toMatchObject({
    changes: ['D case4.ts'],
    addedLines: 0,
    deletedLines: 20,
  })
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
  expect((await together())(6)).toMatchObject({ changes: [] })
})

test('case 7: dirty at start, edited further', async () => {
  expect((await together())(7)).toMatchObject({
    changes: ['M case7.ts'],
    addedLines: 1,
    deletedLines: 0,
  })
})

test('case 8: dirty at start, task only commits it', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes, report } = await watch(repo, () => repo.commit('Commit it'))
  expect(changes).toEqual([])
  expect(report).toMatchObject({ status: 'exact', headMoves: [{ message: 'commit: Commit it' }] })
})

test('case 9: dirty at start, task discards it (checkout --)', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes, report } = await watch(repo, () => void repo.git('checkout', '--', 'lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.removedWork).toEqual(['lib/util.ts'])
})

test('case 10: dirty at start, task runs git stash', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  const { changes, report } = await watch(repo, () => void repo.git('stash', '-q'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.removedWork).toEqual(['lib/util.ts'])
})

test('case 11: untracked at start, untouched', async () => {
  expect((await together())(11)).toMatchObject({ changes: [] })
})

test('case 12: untracked at start, modified', async () => {
  expect((await together())(12)).toMatchObject({
    changes: ['M case12.txt'],
    addedLines: 1,
    deletedLines: 0,
  })
})

test('case 13: untracked at start, deleted', async () => {
  expect((await together())(13)).toMatchObject({ changes: ['D case13.txt'] })
})

test('case 14: untracked at start, task commits it unchanged', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'note\n')
  const { changes, report } = await watch(repo, () => repo.commit('Notes'))
  expect(changes).toEqual([])
  expect(report.notes).toEqual([
    'Committed although unchanged since the attempt began, a pre-existing file: notes.txt.',
  ])
})

test('case 15: untracked at start, renamed', async () => {
  expect((await together())(15)).toMatchObject({ changes: ['R case15.txt>case15-moved.txt'] })
})

test('case 16: staged-only change at start, untouched', async () => {
  expect((await together())(16)).toMatchObject({ changes: [] })
})

test('case 17: staged new file at start, then removed', async () => {
  expect((await together())(17)).toMatchObject({ changes: ['D case17.ts'] })
})

test('case 18: staged change at start, worktree reverted by task', async () => {
  expect((await together())(18)).toMatchObject({ changes: ['M case18.ts'] })
})

test('case 19: file added then deleted inside task', async () => {
  expect((await together())(19)).toMatchObject({ changes: [] })
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
