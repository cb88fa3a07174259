import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyRepository, projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { testWitness, watch } from './watch.ts'

function plainFolder(): WorkFolder {
  const folder = new WorkFolder(temporaryFolder())
  folder.put('src/a.ts', 'a\n')
  folder.put('b.py', 'b\n')
  folder.put('c.txt', 'a text that is long enough\n')
  return folder
}

test('case 90: .git deleted during the task', async () => {
  const repo = projectRepository()
  repo.put('notes.txt', 'note\n')
  const { changes, report } = await watch(repo, () => {
    repo.remove('.git')
    repo.append('lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.notes).toEqual([
    'The .git folder disappeared; the files were measured without it.',
    expect.stringMatching(/their lines are not counted/),
  ])
})

test('case 90, with the project in a folder of the repository', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo.in('src'), () => {
    repo.remove('.git')
    repo.append('src/app.ts')
    repo.append('lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts', 'M src/app.ts'])
})

test('case 91: .git deleted and re-initialised', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.remove('.git')
    repo.git('init', '-q')
    repo.append('lib/util.ts')
    repo.commit('Anew')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.doubts).toEqual([expect.stringMatching(/no reflog tells how/)])
})

test('case 92: not a git repository', async () => {
  const folder = plainFolder()
  const { changes, report, start } = await watch(folder, () => {
    folder.append('src/a.ts')
    folder.remove('b.py')
    folder.move('c.txt', 'd.txt')
    folder.put('e.txt', 'something else\n')
  })
  expect(changes).toEqual(['D b.py', 'R c.txt>d.txt', 'A e.txt', 'M src/a.ts'])
  expect(report.status).toBe('exact')
  expect(start).toMatchObject({ ref: { engine: 'checksum' }, notes: [] })
})

test('case 93: not a git repository, becomes one during the task', async () => {
  const folder = plainFolder()
  const { changes, end } = await watch(folder, () => {
    folder.git('init', '-q')
    folder.commit('First')
    folder.append('src/a.ts')
  })
  expect(changes).toEqual(['M src/a.ts'])
  expect(end.ref.engine).toBe('checksum')
})

test('case 94: bare repository', async () => {
  const repo = emptyRepository('--bare')
  await expect(testWitness().snapshot({ folder: repo.top, name: 'start' })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/bare repository: there is nothing to snapshot/),
  })
})

test('without a git program the files are compared by checksum, and the reason is told', async () => {
  const repo = projectRepository()
  const witness = testWitness({ PATH: temporaryFolder() })
  const { changes, start } = await watch(repo, () => repo.append('lib/util.ts'), witness)
  expect(changes).toEqual(['M lib/util.ts'])
  expect(start.notes).toEqual([
    'git is not installed, or not on the PATH. Files are compared by checksum instead.',
  ])
})

test('where git does not answer the files are compared by checksum, and the reason is told', async () => {
  const repo = projectRepository()
  repo.append('.git/config', '[broken\n')
  const { changes, start } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(start.ref.engine).toBe('checksum')
  expect(start.notes).toEqual([expect.stringMatching(/^git fails in .*bad config line/)])
})

// Only root can give a folder away.
test.runIf(process.getuid?.() === 0)(
  'a repository of another owner is compared by checksum, and the reason is told',
  async () => {
    const repo = projectRepository()
    // git asks whose the work tree and the .git folder are.
    chownSync(repo.top, 12_345, 12_345)
    chownSync(repo.path('.git'), 12_345, 12_345)
    const { changes, start } = await watch(repo, () => repo.append('lib/util.ts'))
    expect(changes).toEqual(['M lib/util.ts'])
    expect(start.ref.engine).toBe('checksum')
    expect(start.notes).toEqual([expect.stringContaining('dubious ownership')])
  },
)

test('the home folder, the root and what is not there are refused', async () => {
  const home = temporaryFolder()
  const witness = testWitness({ HOME: home })
  for (const folder of [home, '/', join(home, 'missing')]) {
    await expect(witness.snapshot({ folder, name: 'start' })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  }
})

test('a project below a home folder that is a repository is compared by checksum', async () => {
  const home = projectRepository()
  mkdirSync(home.path('project'))
  const witness = testWitness({ HOME: home.top })
  expect(await witness.locate(home.path('project'))).toMatchObject({
    engine: 'checksum',
    top: home.path('project'),
    reason: expect.stringContaining('too large'),
  })
})

test('an end without its start is unknown, not unchanged', async () => {
  const repo = projectRepository()
  const witness = testWitness()
  const start = await witness.snapshot({ folder: repo.top, name: 'start' })
  const end = await witness.snapshot({ folder: repo.top, name: 'end' })
  const lost = { ...start.ref, directory: `${start.ref.directory}-lost` }
  expect(await witness.changes(lost, end.ref)).toMatchObject({ status: 'unknown', changes: [] })
  expect(await witness.touchedPaths(lost, end.ref)).toBeNull()
  expect(await witness.unifiedDiff(lost, end.ref)).toBeNull()
  await witness.settle()
})
