import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { evidenceFiles } from '../../../src/gate/evidence/evidence-files.ts'
import { temporaryFolder, WorkFolder } from '../../support/git-repository.ts'

const files = evidenceFiles()

function project(): WorkFolder {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  folder.put('docs/plan.md', 'The plan.\n')
  folder.put('evidence/one.json', '{ "findings": [1] }')
  return folder
}

test('answers size, hash, stamp and JSON', async () => {
  const { top } = project()
  const [plan, one] = await files.read(top, ['docs/plan.md', 'evidence/one.json'])
  expect(plan).toEqual({
    path: 'docs/plan.md',
    bytes: 10,
    sha256: createHash('sha256').update('The plan.\n').digest('hex'),
    stamp: expect.stringMatching(/^\d+:10:\d{19}:\d{19}$/),
  })
  expect(one).toMatchObject({ path: 'evidence/one.json', content: { findings: [1] } })
})

test('the same file counts once, however it is spelt', async () => {
  const folder = project()
  folder.link('docs/plan.md', 'plan')
  folder.link('docs', 'd')
  const spellings = [
    './docs/plan.md',
    'docs//plan.md',
    'nowhere/../docs/plan.md',
    folder.path('docs/plan.md'),
    'plan',
    'd/plan.md',
    '../project/docs/plan.md',
  ]
  const found = await files.read(folder.top, spellings)
  expect(found.map(({ path }) => path)).toEqual(['docs/plan.md'])
})

test('the folder itself may be named through a link', async () => {
  const folder = project()
  const link = join(temporaryFolder(), 'link')
  symlinkSync(folder.top, link)
  for (const path of ['docs/plan.md', folder.path('docs/plan.md'), join(link, 'docs/plan.md')]) {
    expect(await files.read(link, [path])).toMatchObject([{ path: 'docs/plan.md' }])
  }
})

test('two names of one content are two files', async () => {
  const folder = project()
  linkSync(folder.path('docs/plan.md'), folder.path('docs/copy.md'))
  folder.put('..odd', 'a name that only looks like the way up')
  expect(await files.read(folder.top, ['docs/plan.md', 'docs/copy.md', '..odd'])).toHaveLength(3)
})

const asItIs = () => undefined

describe('refuses, and names the path', () => {
  const cases: readonly (readonly [string, string, string, (folder: WorkFolder) => void])[] = [
    ['a way up', '../elsewhere/secret', 'leads out', asItIs],
    ['a way up to a file that is not there', '../nothing', 'leads out', asItIs],
    ['a link out', 'l', 'leads out', (folder) => folder.link('../elsewhere/secret', 'l')],
    ['a linked folder', 'l/secret', 'leads out', (folder) => folder.link('../elsewhere', 'l')],
    [
      'a link to a link out',
      'm',
      'leads out',
      (folder) => [folder.link('../elsewhere/secret', 'l'), folder.link('l', 'm')],
    ],
    ['a device', '/dev/zero', 'leads out', asItIs],
    ['a link to a device', 'zero', 'leads out', (folder) => folder.link('/dev/zero', 'zero')],
    ['a folder', 'docs', 'is a folder', asItIs],
    ['the project itself', '.', 'is a folder', asItIs],
    ['nothing', 'docs/none.md', 'does not exist', asItIs],
    ['a file as a folder', 'docs/plan.md/x', 'does not exist', asItIs],
    ['a link to nothing', 'l', 'does not exist', (folder) => folder.link('none', 'l')],
    ['a circle', 'l', 'is a link that is circular', (folder) => folder.link('l', 'l')],
    ['an empty path', '', 'is empty', asItIs],
    ['a NUL byte', 'docs/plan.md\0.png', 'holds a NUL byte', asItIs],
    ['a pipe', 'pipe', 'is a pipe', (folder) => spawnSync('mkfifo', [folder.path('pipe')])],
    ["git's files", '.git/config', 'belongs to git', (folder) => folder.put('.git/config', '')],
    [
      "git's files by a link",
      'h',
      'belongs to git',
      (folder) => [folder.put('.git/HEAD', ''), folder.link('.git/HEAD', 'h')],
    ],
    ["a submodule's git", 'sub/.GIT', 'belongs to git', (folder) => folder.put('sub/.GIT', 'gitdir: x')],
    [
      'too large a file',
      'big',
      'is too large: 104857601 bytes',
      (folder) => [folder.put('big', ''), truncateSync(folder.path('big'), 100 * 1024 * 1024 + 1)],
    ],
  ]

  test.each(cases)('%s', async (_, path, problem, prepare) => {
    const folder = project()
    folder.put('../elsewhere/secret', 'secret')
    prepare(folder)
    await expect(files.read(folder.top, ['docs/plan.md', path])).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(`${JSON.stringify(path)} ${problem}`),
    })
  })

  test('an absolute path of another folder', async () => {
    const folder = project()
    folder.put('../elsewhere/secret', 'secret')
    const reading = files.read(folder.top, [folder.path('../elsewhere/secret')])
    await expect(reading).rejects.toThrow('leads out')
  })

  test('a socket', async () => {
    const folder = project()
    const server = createServer().listen(folder.path('s'))
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    await expect(files.read(folder.top, ['s'])).rejects.toThrow('"s" is a socket')
  })

  test('every one of several', async () => {
    const reading = files.read(project().top, ['../a', 'docs/plan.md', 'docs', 'none'])
    await expect(reading).rejects.toMatchObject({
      message: `No evidence: "../a" leads out of the project's folder; "docs" is a folder, not a file; "none" does not exist.`,
      details: { problems: expect.any(Array) },
    })
  })

  test('a folder that is not there', async () => {
    await expect(files.read('/nowhere/at/all', ['a'])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

test('hashes a file of many chunks', async () => {
  const folder = project()
  const content = Buffer.alloc(7_500_001, 'abcdefg')
  folder.put('big.json', content)
  const [big] = await files.read(folder.top, ['big.json'])
  expect(big).toMatchObject({
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  })
  expect(big).not.toHaveProperty('content')
})

test.each([
  ['a.json', '"text"', 'text'],
  ['a.JSON', 'null', null],
  ['a.json', '\uFEFF{"a":1}', { a: 1 }],
  ['report', ' [1, 2]', [1, 2]],
  ['a.json', '{ broken', undefined],
  ['a.json', '', undefined],
  ['a.txt', '12', undefined],
  ['a.json', `["${'x'.repeat(1024 * 1024)}"]`, undefined],
])('content of %s', async (name, text, content) => {
  const folder = project()
  folder.put(name, text)
  const [file] = await files.read(folder.top, [name])
  expect(file?.content).toEqual(content)
})

test('reads an empty file, and none of no paths', async () => {
  const folder = project()
  mkdirSync(folder.path('e'))
  folder.put('e/empty', '')
  expect(await files.read(folder.top, ['e/empty'])).toMatchObject([{ bytes: 0 }])
  expect(await files.read(folder.top, [])).toEqual([])
})
