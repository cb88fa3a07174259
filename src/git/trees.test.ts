import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { PrivateDirectory } from './private-directory.ts'
import { gitEnvironment } from './process.ts'
import { headStates, parseRawDifference } from './trees.ts'

test('a raw difference has the state of each side, or null where there is none', () => {
  const none = '0'.repeat(40)
  const parsed = parseRawDifference([`:000000 100644 ${none} aa A`, 'new', ':100644 120000 aa bb T', 'a b'])
  expect([...parsed]).toEqual([
    ['new', { before: null, after: { mode: '100644', oid: 'aa' } }],
    ['a b', { before: { mode: '100644', oid: 'aa' }, after: { mode: '120000', oid: 'bb' } }],
  ])
})

test('the states of paths in HEAD are the same when they are asked for again, with others and as folders', async () => {
  const top = mkdtempSync(join(tmpdir(), 'trees-'))
  onTestFinished(() => rmSync(top, { recursive: true }))
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: top }).toString().trim()
  git('init', '-q')
  mkdirSync(join(top, 'many'))
  const many = Array.from({ length: 1_500 }, (_, at) => `many/${at}`)
  for (const path of ['first', ...many]) writeFileSync(join(top, path), path)
  git('add', '.')
  const tree = git('write-tree')
  const directory = join(top, '.git')
  const place: PrivateDirectory = {
    directory,
    top,
    index: join(directory, 'index'),
    objects: [join(directory, 'objects')],
    environment: gitEnvironment(process.env),
  }
  const at = async (...paths: readonly string[]) => [
    ...(await headStates(place, { head: { commit: tree, tree } }, paths)).keys(),
  ]
  for (const _ of ['asked', 'remembered']) {
    expect(await at('first', 'missing', 'firs')).toEqual(['first'])
    expect(await at('many/0', 'missing')).toEqual(['many/0'])
    expect((await at('many')).toSorted()).toEqual(many.toSorted())
    expect(await at('many/')).toHaveLength(1_500)
    // More than is remembered.
    expect((await at('first', 'missing', ...many)).toSorted()).toEqual(['first', ...many].toSorted())
  }
  rmSync(join(directory, 'objects'), { recursive: true })
  expect(await at(...many.slice(-3))).toHaveLength(3)
})
