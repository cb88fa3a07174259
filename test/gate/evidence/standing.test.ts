import { createHash } from 'node:crypto'
import { chmodSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { evidenceFiles } from '../../../src/gate/evidence/evidence-files.ts'
import { temporaryFolder, WorkFolder } from '../../support/git-repository.ts'

const files = evidenceFiles()

function project(): WorkFolder {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  folder.put('docs/a.md', 'aaaa')
  folder.put('docs/b.md', 'bbbb')
  return folder
}

const works: readonly (readonly [string, (folder: WorkFolder) => void, 'current' | 'changed' | 'deleted'])[] =
  [
    ['nothing', () => undefined, 'current'],
    ['a touch', (folder) => utimesSync(folder.path('docs/a.md'), 1, 1), 'current'],
    ['a mode', (folder) => chmodSync(folder.path('docs/a.md'), 0o755), 'current'],
    ['the same content written again', (folder) => folder.put('docs/a.md', 'aaaa'), 'current'],
    ['another content of the same size', (folder) => folder.put('docs/a.md', 'cccc'), 'changed'],
    ['an addition', (folder) => folder.append('docs/a.md'), 'changed'],
    ['another file in its place', (folder) => folder.move('docs/b.md', 'docs/a.md'), 'changed'],
    [
      'a folder in its place',
      (folder) => [folder.remove('docs/a.md'), folder.put('docs/a.md/x', '')],
      'changed',
    ],
    ['its removal', (folder) => folder.remove('docs/a.md'), 'deleted'],
    ['the removal of its folder', (folder) => folder.remove('docs'), 'deleted'],
    ['a file in place of its folder', (folder) => [folder.remove('docs'), folder.put('docs', '')], 'deleted'],
    [
      'a move of its folder, with a link',
      (folder) => [folder.move('docs', 'd'), folder.link('d', 'docs')],
      'current',
    ],
    [
      'a link out with the same content',
      (folder) => [folder.move('docs/a.md', '../a.md'), folder.link('../../a.md', 'docs/a.md')],
      'changed',
    ],
    [
      'its folder moved out, with a link',
      (folder) => [folder.move('docs', '../docs'), folder.link('../docs', 'docs')],
      'changed',
    ],
    ['a link to nothing', (folder) => [folder.remove('docs/a.md'), folder.link('x', 'docs/a.md')], 'deleted'],
    ['the removal of the project', (folder) => rmSync(folder.top, { recursive: true }), 'deleted'],
  ]

test.each(works)('after %s', async (_, work, standing) => {
  const folder = project()
  const known = await files.read(folder.top, ['docs/a.md'])
  work(folder)
  expect(await files.freshness(folder.top, known)).toEqual([standing])
})

test('sees a change that keeps size and modification time', async () => {
  const folder = project()
  utimesSync(folder.path('docs/a.md'), 1000, 1000)
  const known = await files.read(folder.top, ['docs/a.md'])
  folder.put('docs/a.md', 'cccc')
  utimesSync(folder.path('docs/a.md'), 1000, 1000)
  expect(await files.freshness(folder.top, known)).toEqual(['changed'])
})

test('answers for many files, in the order given', async () => {
  const folder = project()
  const names = Array.from({ length: 450 }, (_, at) => `many/${at % 7}/${at}`)
  for (const name of names) folder.put(name, name)
  const known = await files.read(folder.top, names)
  folder.put('many/4/4', 'changed')
  folder.remove('many/1/449')
  const standing = await files.freshness(folder.top, known)
  expect(standing).toHaveLength(450)
  expect(standing.flatMap((word, at) => (word === 'current' ? [] : [`${names[at]} ${word}`]))).toEqual([
    'many/4/4 changed',
    'many/1/449 deleted',
  ])
  expect(await files.freshness(folder.top, known.toReversed())).toEqual(standing.toReversed())
})

test('looks at nothing outside the folder, not even whether it is there', async () => {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  folder.put('one.md', 'One.\n')
  folder.put('../elsewhere/private.txt', 'private')
  folder.link('../elsewhere', 'l')
  const paths = ['../elsewhere/private.txt', '../elsewhere/none.txt', 'l/private.txt', 'l/none.txt']
  const known = paths.map((path) => ({ path, bytes: 7, sha256: 'a'.repeat(64), stamp: '' }))
  const files = evidenceFiles()
  expect(new Set(await files.freshness(folder.top, known))).toEqual(new Set(['changed']))
  const found = await files.contents(folder.top, paths)
  expect(new Set(found.map(({ sha256, text }) => `${sha256} ${text}`)).size).toBe(1)
})

test('says of a secret file only that it was written, and confirms no guess of its content', async () => {
  const folder = new WorkFolder(temporaryFolder())
  folder.put('.env', 'PIN=1234\n')
  const files = evidenceFiles()
  const guess = createHash('sha256').update('PIN=1234\n').digest('hex')
  const [before] = await files.contents(folder.top, ['.env'])
  expect(before).toMatchObject({ path: '.env', sha256: expect.any(String), text: null })
  expect(before?.sha256).not.toBe(guess)
  expect(await files.contents(folder.top, ['.env'])).toEqual([before])
  const known = [guess, 'a'.repeat(64)].map((sha256) => ({ path: '.env', bytes: 9, sha256, stamp: '' }))
  expect(await files.freshness(folder.top, known)).toEqual(['changed', 'changed'])
  folder.put('.env', 'PIN=12345\n')
  const [after] = await files.contents(folder.top, ['.env'])
  expect(after?.sha256).not.toBe(before?.sha256)
})
