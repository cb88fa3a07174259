import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { watch } from './watch.ts'

function withIgnored(): WorkFolder {
  const repo = projectRepository()
  repo.put('.gitignore', '.env\nbuild/\n')
  repo.commit('Ignore')
  repo.put('.env', 'SECRET=1\n')
  repo.put('build/out.js', 'out\n')
  return repo
}

test('case 63: gitignored file edited (.env)', async () => {
  const repo = withIgnored()
  const { changes, report } = await watch(repo, () => repo.append('.env', 'MORE=2\n'))
  expect(changes).toEqual([])
  expect(report.ignored).toEqual({ added: [], modified: ['.env'], deleted: [] })
})

test('case 64: gitignored file created', async () => {
  const repo = withIgnored()
  repo.remove('.env')
  const { changes, report } = await watch(repo, () => {
    repo.put('.env', 'SECRET=1\n')
    repo.put('build/more.js', 'more\n')
  })
  expect(changes).toEqual([])
  expect(report.ignored).toEqual({ added: ['.env'], modified: [], deleted: [] })
})

test('ignore rules of the person are followed in a folder with a name beyond ASCII', async () => {
  const repo = projectRepository()
  const home = new WorkFolder(join(temporaryFolder(), 'Jürgen'))
  home.put('rules', '*.local\n')
  repo.git('config', 'core.excludesFile', home.path('rules'))
  const { changes, report } = await watch(repo, () => repo.put('mine.local', 'mine\n'))
  expect(changes).toEqual([])
  expect(report.ignored).toEqual({ added: ['mine.local'], modified: [], deleted: [] })
})

test('an ignored file that goes is deleted in the bucket', async () => {
  const repo = withIgnored()
  const { report } = await watch(repo, () => repo.remove('.env'))
  expect(report.ignored).toEqual({ added: [], modified: [], deleted: ['.env'] })
})

test('case 65: new .gitignore rule hides pre-existing untracked file', async () => {
  const repo = withIgnored()
  repo.put('notes.txt', 'note\n')
  const { changes, report } = await watch(repo, () => repo.append('.gitignore', 'notes.txt\n'))
  expect(changes).toEqual(['M .gitignore'])
  expect(report.notes).toEqual(['notes.txt is ignored now; it is still on disk.'])
  expect(report.ignored).toEqual({ added: [], modified: [], deleted: [] })
})

test('case 65, and a folder: its files are still there', async () => {
  const repo = withIgnored()
  repo.put('tmp/notes.txt', 'note\n')
  const { changes, report } = await watch(repo, () => repo.append('.gitignore', 'tmp/\n'))
  expect(changes).toEqual(['M .gitignore'])
  expect(report.notes).toEqual(['tmp/notes.txt is ignored now; it is still on disk.'])
})

test('case 66: .gitignore rule removed, ignored files appear', async () => {
  const repo = withIgnored()
  const { changes, report } = await watch(repo, () => repo.put('.gitignore', '\n'))
  expect(changes).toEqual(['M .gitignore'])
  expect(report.notes).toEqual([
    '.env was ignored before; it existed at the start.',
    'build/out.js was in an ignored folder before; it existed at the start.',
  ])
})

test('case 66, and a file of the folder is edited: it is reported, with the doubt', async () => {
  const repo = withIgnored()
  const { changes, report } = await watch(repo, () => {
    repo.put('.gitignore', '\n')
    repo.append('build/out.js')
    repo.append('.env')
  })
  expect(changes).toEqual(['M .env', 'M .gitignore', 'A build/out.js ?'])
  expect(report.status).toBe('partial')
})

test('case 67: git rm --cached + ignore: file stays on disk', async () => {
  const repo = withIgnored()
  const { changes, report } = await watch(repo, () => {
    repo.git('rm', '-q', '--cached', 'lib/util.ts')
    repo.append('.gitignore', 'lib/\n')
  })
  expect(changes).toEqual(['M .gitignore'])
  expect(report.notes).toEqual(['No longer tracked, but still on disk: lib/util.ts.'])
})

test('case 67, committed', async () => {
  const repo = withIgnored()
  const { changes, report } = await watch(repo, () => {
    repo.git('rm', '-q', '--cached', 'lib/util.ts')
    repo.append('.gitignore', 'lib/util.ts\n')
    repo.commit('Untrack', '.gitignore')
  })
  expect(changes).toEqual(['M .gitignore'])
  expect(report.notes).toEqual(['lib/util.ts is ignored now; it is still on disk.'])
})

test('case 68: ignored pre-existing file force-added unchanged', async () => {
  const repo = withIgnored()
  const { changes, report } = await watch(repo, () => {
    repo.git('add', '-f', '.env')
    repo.git('commit', '-qm', 'Force')
  })
  expect(changes).toEqual([])
  expect(report.notes).toEqual(['.env was ignored before; it existed at the start.'])
})

test("Waymark's own folder is outside every snapshot, its processes are not", async () => {
  const repo = projectRepository()
  const { changes, end, witness } = await watch(repo, () => {
    repo.put('.waymark/waymark.db', 'x')
    repo.put('.waymark/state/s', 'x')
    repo.put('.waymark/processes/deploy.yaml', 'x\n')
  })
  expect(changes).toEqual(['A .waymark/processes/deploy.yaml'])
  expect(await witness.matching(end.ref, ['.waymark/', '.waymark/processes/deploy.yaml'])).toMatchObject([
    { files: 1 },
    { files: 1 },
  ])
})
