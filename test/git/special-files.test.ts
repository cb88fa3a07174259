import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mainTree } from '../../src/app/settings/project-location.ts'
import { processFiles } from '../../src/gate/process-files/process-files.ts'
import { planFiles } from '../../src/plan/import/plan-files.ts'
import { awakeTime } from '../support/awake-time.ts'
import {
  WorkFolder as Folder,
  projectRepository,
  temporaryFolder,
  type WorkFolder,
} from '../support/git-repository.ts'
import { testWitness, watch } from './watch.ts'

function makePipe(folder: WorkFolder, name: string): string {
  const path = folder.path(name)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(dirname(path), { recursive: true })
  execFileSync('mkfifo', [path])
  return path
}

// Far less than the minute that git is given; the rest is for a machine that is busy with other tests.
const atOnce = 20_000

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  expect(await awakeTime(work)).toBeLessThan(milliseconds)
  return work
}

const inGitFolder = [
  '.git/HEAD',
  '.git/config',
  '.git/index',
  '.git/packed-refs',
  '.git/shallow',
  '.git/info/exclude',
  '.git/info/attributes',
  '.git/info/sparse-checkout',
  '.git/logs/HEAD',
  '.git/objects/info/alternates',
]

test.for(inGitFolder)('a pipe at %s is refused at once, in a sentence', async (name) => {
  const repo = projectRepository()
  const pipe = makePipe(repo, name)
  const refusal = testWitness().snapshot({ folder: repo.top, name: 'start' })
  await within(
    atOnce,
    expect(refusal).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(`${pipe} is a pipe`),
      hint: expect.stringContaining('Remove'),
    }),
  )
})

// These are opened only on the way, so git has to be caught while it waits.
const deeper = {
  'the branch that HEAD names': (repo: WorkFolder) => `.git/${repo.git('symbolic-ref', 'HEAD').trim()}`,
  'the object of the commit': (repo: WorkFolder) => {
    const commit = repo.git('rev-parse', 'HEAD').trim()
    return `.git/objects/${commit.slice(0, 2)}/${commit.slice(2)}`
  },
  'the ignore rules': () => '.gitignore',
  'the attributes of a folder': () => 'lib/.gitattributes',
}

test.for(Object.keys(deeper) as (keyof typeof deeper)[])(
  'a pipe for %s is refused at once',
  async (place) => {
    const repo = projectRepository()
    repo.append('lib/util.ts')
    const pipe = makePipe(repo, deeper[place](repo))
    const refusal = testWitness().snapshot({ folder: repo.top, name: 'start' })
    await within(
      atOnce,
      expect(refusal).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining(`${pipe} is a pipe`),
      }),
    )
    // What was told to end may take a moment.
    await expect.poll(() => gitProcessesIn(repo.top)).toEqual([])
  },
)

test('a pipe that an included configuration leads to is refused at once', async () => {
  const repo = projectRepository()
  makePipe(repo, 'more-settings')
  repo.append('.git/config', '[include]\n\tpath = ../more-settings\n')
  const refusal = testWitness().snapshot({ folder: repo.top, name: 'start' })
  await within(
    atOnce,
    expect(refusal).rejects.toMatchObject({ message: expect.stringContaining('is a pipe') }),
  )
})

test('a device in place of HEAD is refused before git reads it', async () => {
  const repo = projectRepository()
  repo.remove('.git/HEAD')
  repo.link('/dev/zero', '.git/HEAD')
  const refusal = testWitness().snapshot({ folder: repo.top, name: 'start' })
  await within(
    atOnce,
    expect(refusal).rejects.toMatchObject({ message: expect.stringContaining('.git/HEAD is a device') }),
  )
})

test('a pipe called HEAD in a folder of the work tree, or above it, is refused', async () => {
  const repo = projectRepository()
  const pipe = makePipe(repo, 'lib/HEAD')
  const refusal = testWitness().snapshot({ folder: repo.path('lib'), name: 'start' })
  await within(
    atOnce,
    expect(refusal).rejects.toMatchObject({ message: expect.stringContaining(`${pipe} is a pipe`) }),
  )
})

test('pipes and sockets among the files hold up nothing, with git and without', async () => {
  const plain = new Folder(temporaryFolder())
  plain.put('a.ts', 'a\n')
  for (const folder of [projectRepository(), plain]) {
    const socket = createServer().listen(folder.path('a.sock'))
    onTestFinished(() => void socket.close())
    await new Promise((done) => socket.once('listening', done))
    makePipe(folder, 'untracked-pipe')
    makePipe(folder, 'package/package.json')
    const { changes } = await within(
      30_000,
      watch(folder, () => folder.put('new.ts', 'new\n')),
    )
    expect(changes).toEqual(['A new.ts'])
  }
})

test('a tracked file that became a pipe is gone as a file', async () => {
  const repo = projectRepository()
  const { changes } = await within(
    30_000,
    watch(repo, () => void makePipe(repo, 'lib/util.ts')),
  )
  expect(changes).toEqual(['D lib/util.ts'])
})

test('a pipe that is put in place while an attempt runs is refused at its end', async () => {
  const repo = projectRepository()
  const witness = testWitness()
  await witness.snapshot({ folder: repo.top, name: 'start' })
  await witness.settle()
  makePipe(repo, '.git/index')
  const refusal = witness.snapshot({ folder: repo.top, name: 'end', engine: 'git', top: repo.top })
  await within(atOnce, expect(refusal).rejects.toMatchObject({ code: 'UNAVAILABLE' }))
})

test('processes, plans and the way to the main work tree are not read from a pipe', async () => {
  const repo = projectRepository()
  makePipe(repo, '.waymark/processes/stuck.yaml')
  makePipe(repo, 'plan.md')
  const folders = { project: repo.top, working: repo.top, shipped: repo.path('none'), isConfined: false }
  expect(await within(atOnce, processFiles(folders).list())).toEqual([])
  await within(
    atOnce,
    expect(planFiles(repo.top, null).load('plan.md', undefined)).rejects.toMatchObject({
      message: 'plan.md is a pipe, not a file.',
    }),
  )
  repo.git('worktree', 'add', '-q', repo.path('linked'))
  makePipe(repo, '.git/worktrees/linked/commondir')
  expect(() => mainTree(repo.path('linked'))).toThrow('is a pipe, not a file')
})

function gitProcessesIn(folder: string): string[] {
  const known = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return known
    .filter((id) => workingFolder(id) === folder)
    .map(programName)
    .filter((name) => name === 'git')
}

/** Null where the process is gone, or somebody else's. */
function workingFolder(id: string): string | null {
  try {
    return readlinkSync(`/proc/${id}/cwd`)
  } catch {
    return null
  }
}

function programName(id: string): string | null {
  try {
    return readFileSync(`/proc/${id}/comm`, 'utf8').trim()
  } catch {
    return null
  }
}
