import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { amount } from '../support/amount.ts'
import { countedGit } from '../support/counted-git.ts'
import {
  clonedProject,
  emptyRepository,
  projectRepository,
  temporaryFolder,
  WorkFolder,
} from '../support/git-repository.ts'
import { makeKnown, testWitness } from './watch.ts'

// A server keeps what it knows of a repository's place and looks whether it still holds. These tests count how often
// git is started, and compare what is known with what a new witness finds.

interface Home {
  readonly folder: WorkFolder
  readonly witness: WorkTreeWitness
  /** The commands that git was started with since the last time this was asked. */
  readonly started: () => string[]
}

/** A witness with a home of its own, whose git writes down how it is called. */
function home(name = ''): Home {
  const folder = new WorkFolder(join(temporaryFolder(), name))
  mkdirSync(folder.top, { recursive: true })
  const { folder: programs, started } = countedGit(folder.top)
  const witness = testWitness(surroundings(folder, `${programs}:${process.env['PATH']}`))
  return { folder, witness, started }
}

function surroundings({ top }: WorkFolder, path = process.env['PATH']): NodeJS.ProcessEnv {
  return { HOME: top, XDG_CONFIG_HOME: join(top, 'xdg'), PATH: path }
}

let names = 0

/** What a snapshot records of the repository that it was taken of. */
async function seenBy(witness: WorkTreeWitness, folder: string) {
  names += 1
  const { ref } = await witness.snapshot({ folder, name: `look-${names}` })
  await witness.settle()
  if (ref.engine === 'checksum') return { engine: ref.engine, top: ref.top }
  const { top, prefix, repositories } = JSON.parse(readFileSync(join(ref.directory, 'snapshot.json'), 'utf8'))
  const [{ head, tree, gitFolder, objects, settings, suspicious }] = repositories
  const configuration = readFileSync(join(ref.directory, 'config'), 'utf8')
  return {
    engine: ref.engine,
    top,
    prefix,
    head,
    tree,
    gitFolder,
    objects,
    settings,
    suspicious,
    configuration,
  }
}

test('of a clean tree that is known, a snapshot starts git once, before the answer or after it', async () => {
  const { witness, started } = home()
  const repo = projectRepository()
  await makeKnown(witness, repo.top)
  const { ref: start } = await witness.snapshot({ folder: repo.top, name: 'start' })
  await witness.settle()
  started()
  const { ref: end } = await witness.snapshot({ folder: repo.top, name: 'end' })
  const report = await witness.changes(start, end)
  await witness.settle()
  expect(started()).toEqual(['status'])
  expect(report).toMatchObject({ status: 'exact', changes: [] })
})

test('to find the place of a known work tree git is not started', async () => {
  const { witness, started } = home()
  const repo = projectRepository()
  await makeKnown(witness, repo.top)
  started()
  expect(await witness.locate(repo.top)).toMatchObject({ top: repo.top, engine: 'git' })
  expect(started()).toEqual([])
})

test('git is asked once for the place of a folder, and again where it is another one meanwhile', async () => {
  const { witness, started } = home()
  const repo = projectRepository()
  const inside = repo.path('lib')
  const asked = async (folder: string) => {
    const { top } = await witness.locate(folder)
    return { top, asked: started().filter((command) => command === 'rev-parse').length }
  }
  expect(await asked(inside)).toEqual({ top: repo.top, asked: 1 })
  expect(await asked(inside)).toEqual({ top: repo.top, asked: 0 })
  const linked = join(temporaryFolder(), 'linked')
  repo.git('worktree', 'add', '-q', '--detach', linked)
  expect(await asked(linked)).toEqual({ top: linked, asked: 1 })
  expect(await asked(linked)).toEqual({ top: linked, asked: 0 })
  repo.git('init', '-q', 'lib')
  repo.git('-C', 'lib', 'commit', '-q', '--allow-empty', '-m', 'One')
  expect(await asked(inside)).toEqual({ top: inside, asked: 1 })
})

test('to hash a clean tree again git is started once, and an edit shows', async () => {
  const { witness, started } = home()
  const repo = projectRepository()
  await makeKnown(witness, repo.top)
  const before = await witness.treeHash(repo.top)
  started()
  expect(await witness.treeHash(repo.top)).toBe(before)
  expect(started()).toEqual(['status'])
  repo.append('lib/util.ts')
  const edited = await witness.treeHash(repo.top)
  expect(edited).not.toBe(before)
  repo.commit('Third')
  expect(await witness.treeHash(repo.top)).toBe(edited)
})

test('after a commit git is asked for nothing but the status', async () => {
  const { witness, started } = home()
  const repo = projectRepository()
  await makeKnown(witness, repo.top)
  repo.append('lib/util.ts')
  repo.commit('Third')
  started()
  const { ref } = await witness.snapshot({ folder: repo.top, name: 'after' })
  expect(started()).toEqual(['status'])
  expect(ref.id).toBe(tip(repo))
})

type Change = (repo: WorkFolder, home: WorkFolder) => void

const local: Record<string, Change> = {
  'a setting of the repository': (repo) => repo.git('config', 'core.autocrlf', 'input'),
  'a program in its configuration': (repo) => repo.git('config', 'core.pager', 'something'),
  'a value of the same length, with the time put back': (repo) => {
    const { atimeMs, mtimeMs } = lstatSync(repo.path('.git/config'))
    repo.put('.git/config', repo.read('.git/config').replace('filemode = true', 'autocrlf = true'))
    utimesSync(repo.path('.git/config'), atimeMs / 1000, mtimeMs / 1000)
  },
  "a setting of the work tree's own": (repo) => {
    repo.git('config', 'extensions.worktreeConfig', 'true')
    repo.git('config', '--worktree', 'core.pager', 'something')
  },
  'a first setting of the person': (_, home) => home.put('.gitconfig', '[core]\n\tautocrlf = input\n'),
  'a first setting in the other place for it': (_, home) => {
    home.put('xdg/git/config', '[core]\n\tautocrlf = input\n')
  },
  'core.worktree': (repo) => repo.git('config', 'core.worktree', temporaryFolder()),
  'a branch switched to': (repo) => repo.git('checkout', '-q', '-b', 'other', 'HEAD~1'),
  'HEAD detached': (repo) => repo.git('checkout', '-q', '--detach', 'HEAD~1'),
  'a commit': (repo) => {
    repo.append('lib/util.ts')
    repo.commit('Third')
  },
  'a commit, packed': (repo) => {
    repo.append('lib/util.ts')
    repo.commit('Third')
    repo.git('gc', '-q')
    repo.git('pack-refs', '--all')
  },
  'a branch moved back': (repo) => repo.git('update-ref', 'refs/heads/main', 'HEAD~1'),
  'references packed, then moved': (repo) => {
    repo.git('pack-refs', '--all')
    repo.put('.git/packed-refs', repo.read('.git/packed-refs').replaceAll(tip(repo), tip(repo, 'HEAD~1')))
  },
  'a branch that refers to another': (repo) => {
    repo.git('branch', 'other', 'HEAD~1')
    repo.git('symbolic-ref', 'refs/heads/main', 'refs/heads/other')
  },
  'a branch without commits': (repo) => repo.git('checkout', '-q', '--orphan', 'empty'),
  'the repository gone': (repo) => repo.remove('.git'),
  'another repository in its place': (repo) => {
    repo.remove('.git')
    repo.git('init', '-q')
    repo.commit('Another')
  },
  'a repository beside it in its place': (repo) => {
    const other = projectRepository()
    repo.remove('.git')
    repo.put('.git', `gitdir: ${other.path('.git')}\n`)
  },
  'its references gone': (repo) => repo.remove('.git/refs'),
}

function tip(repo: WorkFolder, of = 'HEAD'): string {
  return repo.git('rev-parse', of).trim()
}

/** What a new witness finds there, as the known one does, at once and when it knows it again. */
async function expectCurrent(folder: string, { folder: place, witness }: Home) {
  const fresh = await seenBy(testWitness(surroundings(place)), folder)
  for (let look = 0; look < amount({ test: 2, soak: 4 }); look += 1)
    expect(await seenBy(witness, folder)).toEqual(fresh)
  return fresh
}

test.for(Object.entries(local).filter((_, at) => at % amount({ test: 2, soak: 1 }) === 0))(
  'known, then changed: %s',
  async ([, change]) => {
    const around = home()
    const repo = projectRepository()
    await makeKnown(around.witness, repo.top)
    const before = await seenBy(around.witness, repo.top)
    change(repo, around.folder)
    expect(await expectCurrent(repo.top, around)).not.toEqual(before)
  },
)

const included: Record<string, Change> = {
  'the file that is included': (_, home) => home.put('more/work', '[core]\n\tautocrlf = true\n'),
  'an included file that was not there': (_, home) => home.put('missing', '[core]\n\tautocrlf = true\n'),
  'a file included for this repository': (_, home) => home.put('here', '[core]\n\tautocrlf = true\n'),
  'the branch that a file is included for': (repo) => repo.git('checkout', '-q', '-b', 'special'),
  'a file that the included one includes': (_, home) =>
    home.put('more/deeper', '[core]\n\tautocrlf = true\n'),
}

test.for(Object.entries(included))('with files included, known, then changed: %s', async ([, change]) => {
  const around = home('Jürgen')
  const repo = projectRepository()
  around.folder.put('special', '[core]\n\tautocrlf = true\n')
  around.folder.put('more/work', '[core]\n\tautocrlf = input\n[include]\n\tpath = deeper\n')
  around.folder.put(
    '.gitconfig',
    `[include]\n\tpath = more/work\n[include]\n\tpath = ~/missing\n[includeIf "gitdir:${repo.top}/"]\n\tpath = here\n` +
      '[includeIf "onbranch:special"]\n\tpath = special\n',
  )
  await makeKnown(around.witness, repo.top)
  around.started()
  const before = await seenBy(around.witness, repo.top)
  expect(around.started()).not.toContain('config')
  change(repo, around.folder)
  expect(await expectCurrent(repo.top, around)).not.toEqual(before)
})

test('a repository made between a folder and the one it was in is found', async () => {
  const around = home()
  const repo = projectRepository()
  const folder = repo.path('src/api')
  await makeKnown(around.witness, folder)
  expect(await seenBy(around.witness, folder)).toMatchObject({ top: repo.top, prefix: 'src/api/' })
  repo.in('src').git('init', '-q')
  expect(await expectCurrent(folder, around)).toMatchObject({ top: repo.path('src') })
})

test('a linked work tree that is given to another repository is found there', async () => {
  const around = home()
  const one = projectRepository()
  const other = projectRepository()
  const place = join(temporaryFolder(), 'linked')
  one.git('worktree', 'add', '-q', place)
  await makeKnown(around.witness, place)
  const before = await seenBy(around.witness, place)
  rmSync(place, { recursive: true })
  other.git('worktree', 'add', '-q', place)
  expect(await expectCurrent(place, around)).not.toEqual(before)
})

test('a repository that belongs to someone else now is not read with git any more', async (context) => {
  if (process.getuid?.() !== 0) context.skip()
  const around = home()
  const repo = projectRepository()
  await makeKnown(around.witness, repo.top)
  execFileSync('chown', ['-R', '12345', repo.top])
  await expectCurrent(repo.top, around)
  expect(await around.witness.locate(repo.top)).toMatchObject({ engine: 'checksum' })
})

test('where the commit or git itself is lost after the place was known, git is asked again', async () => {
  const { witness, folder } = home()
  const repo = projectRepository()
  await makeKnown(witness, repo.top)
  for (const name of readdirSync(repo.path('.git/objects'))) repo.remove(`.git/objects/${name}`)
  expect(await seenBy(witness, repo.top)).toMatchObject({ engine: 'checksum' })
  const second = clonedProject().clone
  await makeKnown(witness, second.top)
  folder.put('bin/git', '#!/bin/sh\necho "error while loading shared libraries" >&2; exit 127\n')
  onTestFinished(() => folder.remove('bin'))
  expect(await seenBy(witness, second.top)).toMatchObject({ engine: 'checksum' })
})

test('a repository without commits is asked of git each time', async () => {
  const { witness, started } = home()
  const repo = emptyRepository()
  repo.put('a', 'a\n')
  await makeKnown(witness, repo.top)
  started()
  expect(await witness.locate(repo.top)).toMatchObject({ engine: 'git' })
  expect(started().sort()).toEqual(['config', 'rev-parse'])
})

test('with attributes an untracked file is read again only where they changed', async () => {
  const { witness, folder, started } = home()
  const repo = projectRepository()
  repo.put('.gitattributes', '*.png binary\n')
  repo.commit('Attributes')
  repo.put('data.csv', 'one\r\ntwo\r\n')
  await makeKnown(witness, repo.top)
  // Younger, it might have been written again within the same tick of a clock.
  await pause(2_200)
  const take = async () => {
    await seenBy(witness, repo.top)
    return started()
  }
  await take()
  expect(await take()).toEqual(['status'])
  repo.put('.gitattributes', '*.csv text\n')
  expect(await take()).toContain('check-attr')
  const alone = testWitness(surroundings(folder))
  expect(await witness.treeHash(repo.top)).toBe(await alone.treeHash(repo.top))
})
