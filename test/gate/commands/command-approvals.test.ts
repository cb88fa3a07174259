import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandApprovals } from '../../../src/gate/commands/command-approvals.ts'
import { temporaryFolder, WorkFolder } from '../../support/git-repository.ts'

const approvedBy = { author: 'Tess', createdAt: 1_700_000_000_000 }

function project(): WorkFolder {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  folder.put('package.json', '{}\n')
  folder.put('scripts/check.sh', 'true\n')
  return folder
}

test('an approval is known to every process, and to nobody else', async () => {
  const state = temporaryFolder()
  const { top } = project()
  const approvals = commandApprovals(state)
  const hash = await approvals.hashOf({ run: 'npm test', folder: top, pinned: [] })
  expect(await approvals.isApproved(hash)).toBe(false)
  await approvals.approve({ hash, run: 'npm test', folder: top, ...approvedBy })
  expect(await approvals.isApproved(hash)).toBe(true)
  expect(await commandApprovals(state).isApproved(hash)).toBe(true)
  expect(await commandApprovals(temporaryFolder()).isApproved(hash)).toBe(false)
  const file = join(state, 'approved-commands', `${hash}.json`)
  expect([statSync(file).mode & 0o777, statSync(join(file, '..')).mode & 0o777]).toEqual([0o600, 0o700])
})

test('several approve at once', async () => {
  const state = temporaryFolder()
  const hashes = Array.from({ length: 20 }, (_, at) => String(at % 10).repeat(64))
  await Promise.all(
    hashes.map((hash) => commandApprovals(state).approve({ hash, run: 'x', folder: '/', ...approvedBy })),
  )
  for (const hash of hashes) expect(await commandApprovals(state).isApproved(hash)).toBe(true)
  expect(readdirSync(join(state, 'approved-commands'))).toHaveLength(10)
})

describe('the hash', () => {
  const command = { run: 'npm test', pinned: ['package.json', 'scripts', 'missing.js'] }
  const works: readonly (readonly [string, (folder: WorkFolder) => void])[] = [
    ['a pinned file', (folder) => folder.append('package.json')],
    ['a file in a pinned folder', (folder) => folder.append('scripts/check.sh')],
    ['a new file in a pinned folder', (folder) => folder.put('scripts/deep/new.sh', '')],
    ['a link in a pinned folder', (folder) => folder.link('.', 'scripts/loop')],
    ['the removal of a pinned file', (folder) => folder.remove('package.json')],
    ['a pinned file that appears', (folder) => folder.put('missing.js', '')],
    ['a pipe in place of nothing', (folder) => spawnSync('mkfifo', [folder.path('missing.js')])],
    [
      'a link to another content',
      (folder) => [folder.remove('package.json'), folder.link('scripts/check.sh', 'package.json')],
    ],
  ]

  test.each(works)('changes with %s', async (_, work) => {
    const folder = project()
    const approvals = commandApprovals(temporaryFolder())
    const before = await approvals.hashOf({ ...command, folder: folder.top })
    work(folder)
    expect(await approvals.hashOf({ ...command, folder: folder.top })).not.toBe(before)
  })

  test('changes with the command, the folder and what is pinned', async () => {
    const approvals = commandApprovals(temporaryFolder())
    const { top } = project()
    const hashes = await Promise.all([
      approvals.hashOf({ run: 'a', folder: top, pinned: [] }),
      approvals.hashOf({ run: 'b', folder: top, pinned: [] }),
      approvals.hashOf({ run: 'a', folder: project().top, pinned: [] }),
      approvals.hashOf({ run: 'a', folder: top, pinned: ['package.json'] }),
      approvals.hashOf({ run: 'a', folder: '/nowhere/at/all', pinned: ['package.json'] }),
    ])
    expect(new Set(hashes).size).toBe(5)
  })

  test('stays with all else', async () => {
    const approvals = commandApprovals(temporaryFolder())
    const folder = project()
    const link = new WorkFolder(temporaryFolder())
    link.link(folder.top, 'link')
    const before = await approvals.hashOf({ ...command, folder: folder.top })
    folder.put('src/other.ts', 'x')
    chmodSync(folder.path('package.json'), 0o755)
    const pinned = [...command.pinned].reverse()
    expect(await approvals.hashOf({ run: command.run, pinned, folder: folder.top })).toBe(before)
    expect(await approvals.hashOf({ ...command, folder: link.path('link') })).toBe(before)
  })
})

test('neither approves nor looks up a text that is no hash', async () => {
  const state = temporaryFolder()
  const approvals = commandApprovals(state)
  const hash = 'a'.repeat(64)
  await approvals.approve({ hash, run: 'x', folder: '/', ...approvedBy })
  for (const text of ['', `../approved-commands/${hash}`, hash.toUpperCase(), `${hash}\n`]) {
    expect(await approvals.isApproved(text)).toBe(false)
    const approving = approvals.approve({ hash: text, run: 'x', folder: '/', ...approvedBy })
    await expect(approving).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  }
})

test('a damaged approval, or one that was copied to another name, is none', async () => {
  const state = new WorkFolder(temporaryFolder())
  const approvals = commandApprovals(state.top)
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]
  await approvals.approve({ hash: a, run: 'x', folder: '/', ...approvedBy })
  state.put(`approved-commands/${b}.json`, state.read(`approved-commands/${a}.json`))
  expect(await approvals.isApproved(b)).toBe(false)
  state.put(`approved-commands/${a}.json`, '{')
  expect(await approvals.isApproved(a)).toBe(false)
})

test('refuses an approval that cannot be stored, with the next step', async () => {
  const state = new WorkFolder(temporaryFolder())
  state.put('approved-commands', 'a file in its place')
  const approving = commandApprovals(state.top).approve({
    hash: 'a'.repeat(64),
    run: 'x',
    folder: '/',
    ...approvedBy,
  })
  await expect(approving).rejects.toMatchObject({ code: 'REFUSED', hint: expect.any(String) })
})

describe('pinned files', () => {
  test.each([
    '../elsewhere',
    '..',
    '/../elsewhere',
    'a/../../elsewhere',
    '.git',
    '.git/config',
    'out',
    'out/key',
  ])('refuses to pin %s, and tells no name of it', async (path) => {
    const folder = project()
    folder.put('../elsewhere/key', 'private')
    folder.put('.git/config', '')
    folder.put('a/b', '')
    folder.link('../elsewhere', 'out')
    const approvals = commandApprovals(temporaryFolder())
    const command = { run: 'x', folder: folder.top, pinned: [path] }
    await expect(approvals.filesOf(command)).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(approvals.hashOf(command)).rejects.toMatchObject({ code: 'REFUSED' })
  })

  test('hashes only the target path of a link out of the project', async () => {
    const folder = project()
    folder.put('../elsewhere/key', 'private')
    folder.link('../../elsewhere', 'scripts/out')
    const approvals = commandApprovals(temporaryFolder())
    const command = { run: 'x', folder: folder.top, pinned: ['./scripts/'] }
    const before = await approvals.filesOf(command)
    expect(before.map(({ path }) => path)).toEqual(['scripts', 'scripts/check.sh', 'scripts/out'])
    folder.put('../elsewhere/key', 'other')
    expect(await approvals.filesOf(command)).toEqual(before)
  })

  test('are named by path patterns: a glob, a folder, and what is taken out', async () => {
    const folder = project()
    for (const path of ['src/a.sh', 'src/deep/b.sh', 'src/deep/c.txt', 'app/[id]/d.sh', '.git/e.sh'])
      folder.put(path, path)
    folder.link('scripts', 'linked')
    folder.link('../scripts/check.sh', 'src/link.sh')
    const approvals = commandApprovals(temporaryFolder())
    const pinned = async (...patterns: readonly string[]) =>
      (await approvals.filesOf({ run: 'x', folder: folder.top, pinned: patterns })).map(({ path }) => path)
    expect(await pinned('src/*.sh')).toEqual(['src/a.sh', 'src/link.sh'])
    expect(await pinned('/**/*.sh', '!scripts/')).toEqual([
      'app/[id]/d.sh',
      'src/a.sh',
      'src/deep/b.sh',
      'src/link.sh',
    ])
    expect(await pinned('*/deep/')).toEqual(['src/deep', 'src/deep/b.sh', 'src/deep/c.txt'])
    expect(await pinned('./src/{a,z}.sh', 'app/[id]/')).toEqual(['app/[id]', 'app/[id]/d.sh', 'src/a.sh'])
    expect(await pinned('src/*.none')).toEqual([])
    const before = await approvals.hashOf({ run: 'x', folder: folder.top, pinned: ['src/*.sh'] })
    folder.put('src/new.sh', '')
    expect(await approvals.hashOf({ run: 'x', folder: folder.top, pinned: ['src/*.sh'] })).not.toBe(before)
  })

  test('hashes only the name of a secret file', async () => {
    const folder = project()
    folder.put('deploy/.env', 'TOKEN=1\n')
    const approvals = commandApprovals(temporaryFolder())
    const command = { run: 'x', folder: folder.top, pinned: ['deploy/', 'deploy/.env'] }
    expect(await approvals.filesOf(command)).toEqual([
      { path: 'deploy', sha256: 'folder' },
      { path: 'deploy/.env', sha256: 'secret file' },
    ])
  })

  test('are counted: too many are refused, and so is too much', async () => {
    const folder = project()
    for (let file = 0; file <= 3; file += 1) folder.put(`many/${file}`, '')
    folder.put('large', '')
    truncateSync(folder.path('large'), 1_001)
    const approvals = commandApprovals(temporaryFolder(), undefined, { files: 3, bytes: 1_000 })
    for (const path of ['many/*', 'large']) {
      const hashing = approvals.hashOf({ run: 'x', folder: folder.top, pinned: [path] })
      await expect(hashing).rejects.toMatchObject({ code: 'REFUSED' })
    }
  })

  test('are hashed no further once the server ends', async () => {
    const folder = project()
    folder.put('large', '')
    truncateSync(folder.path('large'), 500 * 1024 * 1024)
    const ending = new AbortController()
    const approvals = commandApprovals(temporaryFolder(), ending.signal)
    const hashing = approvals.hashOf({ run: 'x', folder: folder.top, pinned: ['large'] })
    setImmediate(() => ending.abort())
    await expect(hashing).rejects.toMatchObject({ name: 'AbortError' })
    await expect(
      approvals.hashOf({ run: 'x', folder: folder.top, pinned: ['scripts'] }),
    ).rejects.toMatchObject({ name: 'AbortError' })
  })
})
