import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileCopies } from '../../src/git/copies.ts'
import { createWitness } from '../../src/git/witness.ts'
import { emptyRepository, projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'

const secret = 'hunter2-correct-horse'

function opened() {
  const stateFolder = temporaryFolder()
  return { stateFolder, witness: createWitness({ stateFolder, clock: { now: () => Date.now() } }) }
}

/** Whether a text is in any file below a folder, also in packs of git objects. */
function contains(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => {
      const file = join(entry.parentPath, entry.name)
      if (readFileSync(file).includes(text)) return true
      if (!entry.name.endsWith('.idx')) return false
      const environment = { ...process.env, GIT_OBJECT_DIRECTORY: join(entry.parentPath, '..') }
      const home = file.includes('/sha256/') ? emptyRepository('--object-format=sha256') : emptyRepository()
      const question = ['cat-file', '--batch', '--batch-all-objects']
      return spawnSync('git', question, { cwd: home.top, env: environment }).stdout.includes(text)
    })
}

const untracked = [
  '.env',
  'a/.ENV.Local',
  '.pgpass',
  'infra/prod.tfvars',
  '.aws/config',
  'key.PEM',
  'kubeconfig',
]

test('snapshots copy no secret file, and tell that it changed by its hash', async () => {
  const repo = projectRepository()
  const { stateFolder, witness } = opened()
  for (const path of untracked) repo.put(path, `A=${secret}\n`)
  repo.put('plain.txt', 'plain-text-that-is-kept\n')
  const start = await witness.snapshot({ folder: repo.top, name: 'start' })
  for (const path of untracked) repo.append(path, `B=${secret}\n`)
  repo.append('plain.txt', 'more\n')
  const end = await witness.snapshot({ folder: repo.top, name: 'end' })
  await witness.settle()
  expect(contains(stateFolder, 'plain-text-that-is-kept')).toBe(true)
  expect(contains(stateFolder, secret)).toBe(false)
  const report = await witness.changes(start.ref, end.ref)
  expect(report.status).toBe('exact')
  expect(report.changes.map(({ path, change, addedLines }) => [path, change, addedLines])).toEqual(
    [...untracked.map((path) => [path, 'modified', null]), ['plain.txt', 'modified', 1]].sort(([a], [b]) =>
      String(a) < String(b) ? -1 : 1,
    ),
  )
  const diff = (await witness.unifiedDiff(start.ref, end.ref))?.text ?? ''
  expect(diff).not.toContain(secret)
  expect(diff).toContain('+more')
  for (const path of untracked) expect(diff).toContain(`diff --git a/${path} b/${path}`)
  expect(contains(stateFolder, secret)).toBe(false)
})

test('a tracked secret file is reported by its name, with no line of it', async () => {
  const repo = projectRepository()
  repo.put('.env', `A=${secret}\n`)
  repo.git('add', '-f', '.env')
  repo.git('commit', '-qm', 'env')
  const { stateFolder, witness } = opened()
  const start = await witness.snapshot({ folder: repo.top, name: 'start' })
  repo.put('.env', `B=other-${secret}\n`)
  const middle = await witness.snapshot({ folder: repo.top, name: 'middle' })
  repo.git('commit', '-qam', 'changed')
  const end = await witness.snapshot({ folder: repo.top, name: 'end' })
  await witness.settle()
  for (const until of [middle, end]) {
    const { changes } = await witness.changes(start.ref, until.ref)
    expect(changes).toMatchObject([{ path: '.env', change: 'modified', addedLines: null }])
    expect((await witness.unifiedDiff(start.ref, until.ref))?.text).toBe(
      'diff --git a/.env b/.env\nSecret file: its content is not shown\n',
    )
  }
  // Committed as it was on disk: nothing changed since.
  expect((await witness.changes(middle.ref, end.ref)).changes).toEqual([])
  const states = await witness.contents.states(middle.ref, ['.env'])
  expect(states?.get('.env')).toMatchObject({ id: null, hash: expect.stringMatching(/^[0-9a-f]{40}$/) })
  expect(contains(stateFolder, secret)).toBe(false)
})

test('a secret file that is renamed unchanged shows its lines under no other name', async () => {
  const repo = projectRepository()
  repo.put('.env', `A=${secret}\n`)
  repo.git('add', '-f', '.env')
  repo.git('commit', '-qm', 'env')
  const { witness } = opened()
  const start = await witness.snapshot({ folder: repo.top, name: 'start' })
  repo.git('mv', '.env', 'settings.txt')
  const end = await witness.snapshot({ folder: repo.top, name: 'end' })
  expect((await witness.unifiedDiff(start.ref, end.ref))?.text).not.toContain(secret)
  expect((await witness.changes(start.ref, end.ref)).changes).toMatchObject([
    { path: 'settings.txt', from: '.env', change: 'renamed' },
  ])
})

test.each(['true', 'input'])(
  'line endings of secret files are exact under core.autocrlf=%s',
  async (value) => {
    const repo = projectRepository()
    repo.put('.env', `A=1\r\nB=${secret}\r\n`)
    repo.put('.npmrc', `a=1\nb=${secret}\n`)
    repo.git('add', '-f', '.env', '.npmrc')
    repo.git('commit', '-qm', 'secrets')
    repo.git('config', 'core.autocrlf', value)
    const { stateFolder, witness } = opened()
    const start = await witness.snapshot({ folder: repo.top, name: 'start' })
    repo.append('.env', 'C=3\r\n')
    repo.append('.npmrc', 'c=3\r\n')
    const middle = await witness.snapshot({ folder: repo.top, name: 'middle' })
    const paths = async (from: typeof start, to: typeof start) =>
      (await witness.changes(from.ref, to.ref)).changes.map(({ path }) => path)
    expect(await paths(start, middle)).toEqual(['.env', '.npmrc'])
    repo.git('commit', '-qam', 'changed')
    const end = await witness.snapshot({ folder: repo.top, name: 'end' })
    expect(await paths(middle, end)).toEqual([])
    await witness.settle()
    expect(contains(stateFolder, secret)).toBe(false)
  },
)

test('without git, too, no secret file is copied', async () => {
  const folder = new WorkFolder(temporaryFolder())
  folder.put('.env', `A=${secret}\n`)
  folder.put('plain.txt', 'plain-text-that-is-kept\n')
  const { stateFolder, witness } = opened()
  const start = await witness.snapshot({ folder: folder.top, name: 'start' })
  folder.put('.env', `B=${secret}\n`)
  const end = await witness.snapshot({ folder: folder.top, name: 'end' })
  await witness.settle()
  expect(contains(stateFolder, 'plain-text-that-is-kept')).toBe(true)
  expect(contains(stateFolder, secret)).toBe(false)
  expect((await witness.changes(start.ref, end.ref)).changes).toMatchObject([{ path: '.env' }])
})

test('a copy that a hook event names for a secret file is hashed and not kept', async () => {
  const repo = projectRepository()
  const { stateFolder, witness } = opened()
  const { ref } = await witness.snapshot({ folder: repo.top, name: 'start' })
  const copy = join(temporaryFolder(), 'copy')
  new WorkFolder(join(copy, '..')).put('copy', `A=${secret}\n`)
  expect(existsSync(copy)).toBe(true)
  const [id] = await fileCopies({ stateFolder }).keep(ref, [{ path: '.env', copy }])
  expect(id).toMatch(/^[0-9a-f]{40}$/)
  expect(contains(stateFolder, secret)).toBe(false)
})

test('no line of a secret file is shown by the history of lines', async () => {
  const repo = projectRepository()
  repo.put('.env', `A=${secret}\n`)
  repo.git('add', '-f', '.env')
  repo.git('commit', '-qm', 'env')
  const { witness } = opened()
  const now = await witness.history.file({ folder: repo.top, path: '.env', salt: 's', text: true })
  const before = await witness.history.file({
    folder: repo.top,
    path: '.env',
    salt: 's',
    text: true,
    rev: 'HEAD',
  })
  for (const file of [now, before]) {
    expect(file.withoutLines).toContain('.env')
    expect(JSON.stringify(file)).not.toContain(secret)
    expect(file.hashes).toEqual([])
  }
})
