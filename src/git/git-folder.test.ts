import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRepository, temporaryFolder } from '../../test/support/git-repository.ts'
import {
  mayRefsHaveMoved,
  parsePackedRefs,
  parseReflog,
  readRefTips,
  reflogBetween,
  reflogPosition,
} from './git-folder.ts'

const line = (message: string) => `aa bb Tess <tess@example.com> 12 +0000\t${message}\n`

test.each([
  ['commit: text (not a detail): x', 'commit', ''],
  ['commit (amend): text', 'commit', 'amend'],
  ['commit (initial): text', 'commit', 'initial'],
  ['merge topic: Fast-forward', 'merge', ''],
  ['pull --rebase origin main (pick): text', 'pull', 'pick'],
  ['rebase (finish): returning to refs/heads/main', 'rebase', 'finish'],
  ['checkout: moving from main to topic', 'checkout', ''],
  ['reset: moving to HEAD~1', 'reset', ''],
])('reads the action of "%s"', (message, verb, detail) => {
  expect(parseReflog(line(message))).toEqual([
    { from: 'aa', to: 'bb', verb, detail, message, movedAt: 12_000 },
  ])
})

test('only what was appended between two positions is read', async () => {
  const path = join(temporaryFolder(), 'HEAD')
  expect(reflogPosition(path)).toBeNull()
  writeFileSync(path, line('commit: one'))
  const first = reflogPosition(path)
  appendFileSync(path, line('commit: two'))
  const second = reflogPosition(path)
  appendFileSync(path, line('commit: three'))
  expect(reflogBetween(path, first, second)?.map(({ message }) => message)).toEqual(['commit: two'])
})

test('a log that was rewritten tells nothing', async () => {
  const path = join(temporaryFolder(), 'HEAD')
  writeFileSync(path, line('commit: one'))
  const first = reflogPosition(path)
  writeFileSync(path, line('commit: two') + line('commit: three'))
  expect(reflogBetween(path, first, reflogPosition(path))).toBeNull()
  expect(reflogBetween(path, first, null)).toBeNull()
})

const one = '1'.repeat(40)
const two = '2'.repeat(40)

test('packed refs, with what their tags lead to, and without the header', () => {
  const text = `# pack-refs with: peeled fully-peeled sorted\n${one} refs/heads/main\n${two} refs/tags/v1\n^${one}\n`
  expect(parsePackedRefs(text)).toEqual([
    { name: 'refs/heads/main', tip: one },
    { name: 'refs/tags/v1', tip: two },
    { name: '', tip: one },
  ])
})

test('loose and packed refs of a repository; remote-tracking ones apart', async () => {
  const repo = projectRepository()
  const head = repo.git('rev-parse', 'HEAD').trim()
  const before = repo.git('rev-parse', 'HEAD~1').trim()
  repo.git('update-ref', 'refs/remotes/origin/main', before)
  expect(await readRefTips(repo.path('.git'))).toEqual({
    all: expect.arrayContaining([head, before]),
    remote: [before],
  })
  repo.git('pack-refs', '--all')
  expect(await readRefTips(repo.path('.git'))).toEqual({
    all: expect.arrayContaining([head, before]),
    remote: [before],
  })
})

// The moved file is given a later time than `since`, so that no test waits.
test.each<[string, boolean, string | null, (repo: Repo, before: string) => unknown]>([
  ['nothing since', false, null, () => null],
  ['the own branch', false, 'refs/heads/main', () => null],
  ['a new branch at the same commit', false, 'refs/heads/same', (repo) => repo.git('branch', 'same')],
  ['a fetched branch', false, 'refs/remotes/o/x', (repo, before) => point(repo, 'refs/remotes/o/x', before)],
  ['a stash', false, 'refs/stash', (repo, before) => point(repo, 'refs/stash', before)],
  ['another branch', true, 'refs/heads/third', (repo, before) => repo.git('branch', 'third', before)],
  ['a tag', true, 'refs/tags/v1', (repo, before) => repo.git('tag', 'v1', before)],
  ['packed refs', true, 'packed-refs', (repo) => repo.git('pack-refs', '--all')],
  ['another work tree', true, null, (repo) => repo.git('worktree', 'add', '-q', repo.path('../second'))],
  ['refs that only git reads', true, null, (repo) => mkdirSync(repo.path('.git/reftable'))],
])('refs may have moved since a time: %s', async (_, expected, moved, move) => {
  const repo = projectRepository()
  const [head = '', before = ''] = repo.git('rev-parse', 'HEAD', 'HEAD~1').split('\n')
  repo.git('branch', 'older', before)
  const since = Date.now() + 60_000
  move(repo, before)
  if (moved !== null) utimesSync(repo.path(`.git/${moved}`), since / 1000, since / 1000)
  expect(await mayRefsHaveMoved(repo.path('.git'), since, head)).toBe(expected)
})

type Repo = ReturnType<typeof projectRepository>

function point(repo: Repo, ref: string, commit: string): void {
  repo.git('update-ref', ref, commit)
}
