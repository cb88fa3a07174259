import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { otherTreeTops } from '../../src/git/other-work-trees.ts'
import { emptyRepository, projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { makeCanary, plant } from './canary.ts'
import { brief, testWitness, watch } from './watch.ts'

function withAttributes(): WorkFolder {
  const repo = projectRepository()
  repo.put('.gitattributes', '*.ts filter=evil diff=evil merge=evil\n*.bin filter=lfs diff=evil\n')
  repo.put('f.bin', 'content\n')
  repo.commit('Attributes')
  return repo
}

test('the canary sings when plain git looks at the planted repository', () => {
  const repo = withAttributes()
  const canary = makeCanary()
  plant(repo, canary)
  try {
    repo.git('diff')
  } catch {
    // A filter that fails is no matter here: it ran.
  }
  expect(canary.sang()).toBe(true)
})

test('case 88: malicious .git/config + hooks + submodule config', async () => {
  const repo = withAttributes()
  const canary = makeCanary()
  plant(repo, canary)
  const { witness, changes, report, start, end } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.append('f.bin')
    repo.put('n.ts', 'new\n')
  })
  expect(changes).toEqual(['M f.bin', 'M lib/util.ts ?', 'A n.ts ?'])
  expect((await witness.unifiedDiff(start.ref, end.ref))?.text).toContain('+one more line')
  expect(await witness.touchedPaths(start.ref, end.ref)).toEqual(['f.bin', 'lib/util.ts', 'n.ts'])
  const suspicion = report.notes.find((note) => note.includes('names programs'))
  for (const key of ['core.fsmonitor', 'core.hookspath', 'filter.evil.clean', 'filter.lfs.process']) {
    expect(suspicion).toContain(key)
  }
  await witness.settle()
  expect(canary.sang()).toBe(false)
})

test('case 88, planted during the task, and HEAD moves', async () => {
  const repo = withAttributes()
  const canary = makeCanary()
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.commit('Own')
    repo.git('checkout', '-qb', 'other')
    repo.append('README.md')
    plant(repo, canary)
  })
  expect(changes).toEqual(['M README.md', 'M lib/util.ts'])
  expect(canary.sang()).toBe(false)
})

test('a promised object that is missing is not fetched, and the reason for checksums is told', async () => {
  const repo = withAttributes()
  const canary = makeCanary()
  plant(repo, canary)
  repo.git('config', 'remote.origin.url', repo.top)
  const tree = repo.git('--no-pager', 'show', '-s', '--no-show-signature', '--format=%T', 'HEAD').trim()
  repo.remove(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`)
  const { start, changes } = await watch(repo, () => repo.append('README.md'))
  expect(start.notes).toEqual([expect.stringContaining('lacks the files of its commit')])
  expect(changes).toEqual(['M README.md'])
  expect(canary.sang()).toBe(false)
})

test('case 89: malicious config inside a submodule', async () => {
  const library = emptyRepository()
  library.put('.gitattributes', '*.ts filter=evil\n')
  library.put('f.ts', 'f\n')
  library.commit('Library')
  const repo = projectRepository()
  repo.git('submodule', '--quiet', 'add', library.top, 'sub')
  repo.commit('With a submodule')
  const canary = makeCanary()
  const modules = repo.in('.git/modules/sub')
  const { changes } = await watch(repo, () => {
    repo.append('lib/util.ts')
    repo.append('sub/f.ts')
    plantInModule(modules, canary.command)
  })
  expect(changes).toEqual(['M lib/util.ts', 'M sub/f.ts ?'])
  expect(canary.sang()).toBe(false)
})

function plantInModule(modules: WorkFolder, program: string): void {
  modules.append('config', `[core]\n\tfsmonitor = ${program}\n\thooksPath = ${program}\n`)
  modules.append('config', `[filter "evil"]\n\tclean = ${program}\n\tprocess = ${program}\n`)
}

test('case 95: tool started from a hook: GIT_DIR / GIT_INDEX_FILE inherited', async () => {
  const repo = projectRepository()
  const other = projectRepository()
  const witness = testWitness({
    GIT_DIR: other.path('.git'),
    GIT_INDEX_FILE: other.path('.git/index'),
    GIT_WORK_TREE: other.top,
    GIT_OBJECT_DIRECTORY: other.path('.git/objects'),
    GIT_CONFIG_PARAMETERS: "'core.worktree=/nowhere'",
  })
  const { changes, start } = await watch(repo, () => repo.append('lib/util.ts'), witness)
  expect(changes).toEqual(['M lib/util.ts'])
  expect(start.ref.top).toBe(repo.top)
})

test('case 98: fsmonitor hook answers "nothing changed"', async () => {
  const repo = projectRepository()
  const hook = new WorkFolder(temporaryFolder())
  hook.put('hook', '#!/bin/sh\nprintf "token\\0"\n')
  hook.git('init', '-q')
  repo.git('config', 'core.fsmonitor', `sh ${hook.path('hook')}`)
  repo.git('update-index', '--fsmonitor')
  repo.git('status')
  const { changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 102: core.worktree points somewhere else', async () => {
  const repo = projectRepository()
  const secret = new WorkFolder(temporaryFolder())
  secret.put('secret.txt', 'secret\n')
  repo.git('config', 'core.worktree', secret.top)
  const { changes, start, witness } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(start.ref).toMatchObject({ engine: 'checksum', top: repo.top })
  expect(await witness.matching(start.ref, ['secret.txt'])).toMatchObject([{ files: 0 }])
  expect(await witness.locate(repo.top)).toMatchObject({
    engine: 'checksum',
    reason: expect.stringContaining('core.worktree'),
  })
})

test("case 102, around the project: a work tree that is not the repository's own is not taken", async () => {
  const repo = projectRepository()
  repo.git('config', 'core.worktree', '/')
  const { start, changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(start.ref).toMatchObject({ engine: 'checksum', top: repo.top })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('a repository has no work tree that does not point back to it, and joins no other one', async () => {
  const repo = projectRepository()
  const linked = join(temporaryFolder(), 'linked')
  repo.git('worktree', 'add', '-q', linked)
  const other = projectRepository()
  const witness = testWitness()
  const entry = join(repo.top, '.git', 'worktrees', 'claimed')
  mkdirSync(entry)
  writeFileSync(join(entry, 'gitdir'), `${join(other.top, '.git')}\n`)
  expect(await witness.others(repo.top)).toEqual([linked])
  expect(await witness.others(linked)).toEqual([repo.top])
  writeFileSync(join(repo.top, '.git', 'commondir'), `${join(other.top, '.git')}\n`)
  expect(await witness.others(repo.top)).toEqual([])
  const posing = temporaryFolder()
  writeFileSync(join(posing, '.git'), `gitdir: ${join(other.top, '.git')}\n`)
  other.git('worktree', 'add', '-q', join(temporaryFolder(), 'of-other'))
  expect(await otherTreeTops(posing)).toEqual([])
})

test('nothing in the repository is written: no lock, no object, no reference, no time stamp', async () => {
  const repo = projectRepository()
  repo.git('update-index', '--split-index')
  repo.append('lib/util.ts')
  const before = listing(repo)
  const { report } = await watch(repo, () => {
    repo.append('README.md')
    repo.put('n.ts', 'new\n')
  })
  expect(brief(report)).toEqual(['M README.md', 'A n.ts'])
  expect(listing(repo)).toEqual(before)
})

function listing(repo: WorkFolder): string[] {
  return readdirSync(repo.path('.git'), { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { size, mtimeMs, ctimeMs, mode } = lstatSync(path)
      return `${path} ${size} ${mtimeMs} ${ctimeMs} ${mode}`
    })
    .sort()
}
