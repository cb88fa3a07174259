import { execFileSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyFolder } from '../support/copied-folder.ts'
import { emptyRepository, projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { watch } from './watch.ts'

/** A project with a submodule `sub` that holds `f` and `g`. */
function withSubmodule(): { repo: WorkFolder; sub: WorkFolder } {
  const repo = new WorkFolder(join(temporaryFolder(), 'project'))
  const sub = repo.in('sub')
  copyFolder('with a submodule', repo.top, (top) => {
    const library = new WorkFolder(`${top}-library`)
    library.put('f', 'f\n')
    library.put('g', 'g\n')
    library.git('init', '-q')
    library.commit('Library')
    const made = new WorkFolder(top)
    cpSync(projectRepository().top, top, { recursive: true })
    made.git('submodule', '--quiet', 'add', library.top, 'sub')
    made.commit('With a submodule')
  })
  for (const folder of [repo, sub]) folder.git('update-index', '-q', '--refresh')
  return { repo, sub }
}

function withNested(): { repo: WorkFolder; nested: WorkFolder } {
  const repo = projectRepository()
  const nested = repo.in('nested')
  nested.put('f', 'f\n')
  nested.git('init', '-q')
  nested.commit('Nested')
  return { repo, nested }
}

test('case 51: submodule HEAD moved', async () => {
  const { repo, sub } = withSubmodule()
  const { changes, report } = await watch(repo, () => {
    sub.append('f')
    sub.commit('In the submodule')
  })
  expect(changes).toEqual(['M sub', 'M sub/f'])
  expect(report.changes).toMatchObject([{ addedLines: null }, { addedLines: 1 }])
  expect(report.status).toBe('exact')
})

test('case 51, and committed around it', async () => {
  const { repo, sub } = withSubmodule()
  const { changes } = await watch(repo, () => {
    sub.append('f')
    sub.commit('In the submodule')
    repo.commit('Move the submodule')
  })
  expect(changes).toEqual(['M sub', 'M sub/f'])
})

test('a submodule that .gitmodules tells git to leave out is seen to move all the same', async () => {
  const { repo, sub } = withSubmodule()
  const { changes } = await watch(repo, () => {
    sub.append('f')
    sub.commit('In the submodule')
    repo.append('.gitmodules', '\tignore = all\n')
    repo.git('update-index', '--cacheinfo', `160000,${sub.git('rev-parse', 'HEAD').trim()},sub`)
    repo.commit('Move the submodule')
  })
  expect(changes).toEqual(['M .gitmodules', 'M sub', 'M sub/f'])
})

test('case 52: submodule file edited, not committed', async () => {
  const { repo, sub } = withSubmodule()
  const { changes } = await watch(repo, () => {
    sub.append('f')
    sub.put('n', 'n\n')
  })
  expect(changes).toEqual(['M sub/f', 'A sub/n'])
})

test("a submodule that is already dirty and moved at the start is not the task's", async () => {
  const { repo, sub } = withSubmodule()
  sub.append('f')
  sub.commit('Before')
  sub.append('g')
  const { changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 53: untracked nested repository, file edited', async () => {
  const { repo, nested } = withNested()
  const { changes } = await watch(repo, () => nested.append('f'))
  expect(changes).toEqual(['M nested/f'])
})

test('case 54: untracked nested repository, file committed there', async () => {
  const { repo, nested } = withNested()
  const { changes, report } = await watch(repo, () => {
    nested.append('f')
    nested.commit('More')
  })
  expect(changes).toEqual(['M nested/f'])
  expect(report.headMoves).toMatchObject([{ message: 'commit: More' }])
})

test('case 55: nested repository without commits', async () => {
  const repo = projectRepository()
  const nested = repo.in('nested')
  nested.put('f', 'f\n')
  nested.git('init', '-q')
  const { changes } = await watch(repo, () => {
    nested.append('f')
    repo.append('lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts', 'M nested/f'])
})

test('case 56: task clones a repository into the tree', async () => {
  const { repo, sub } = withSubmodule()
  const { changes } = await watch(repo, () => void repo.git('clone', '-q', sub.top, 'vendor'))
  expect(changes).toEqual(['A vendor/f', 'A vendor/g'])
})

test('case 56, with more than 200 files: one entry', async () => {
  const large = emptyRepository()
  for (let at = 0; at < 201; at += 1) large.put(`f${at}`, `${at}\n`)
  large.commit('Large')
  const repo = projectRepository()
  const { changes } = await watch(repo, () => void repo.git('clone', '-q', large.top, 'vendor'))
  expect(changes).toEqual(['A vendor/'])
})

test('a folder that becomes a repository keeps its files', async () => {
  const repo = projectRepository()
  repo.put('tool/f', 'f\n')
  repo.put('tool/g', 'g\n')
  const { changes } = await watch(repo, () => {
    const tool = repo.in('tool')
    tool.git('init', '-q')
    tool.commit('Tool')
    tool.append('g')
  })
  expect(changes).toEqual(['M tool/g'])
})

test('case 105: agent work tree created inside the project (.worktrees/x)', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.git('worktree', 'add', '-q', '.worktrees/x')
    repo.append('.worktrees/x/lib/util.ts')
    repo.append('lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.notes).toEqual([
    '.worktrees/x/ is a linked work tree of the same repository and no part of this report.',
  ])
  expect(report).toMatchObject({
    status: 'partial',
    doubts: [expect.stringMatching(/^\.worktrees\/x\/ became a linked work tree/)],
    unreadable: ['.worktrees/x/'],
  })
})

test('a linked work tree that was there at the start, or that went, leaves the report exact', async () => {
  const repo = projectRepository()
  repo.git('worktree', 'add', '-q', '.worktrees/x')
  repo.git('worktree', 'add', '-q', '.worktrees/y')
  const { changes, report } = await watch(repo, () => {
    repo.append('.worktrees/x/lib/util.ts')
    repo.git('worktree', 'remove', '.worktrees/y')
    repo.append('lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report).toMatchObject({ status: 'exact', unreadable: [] })
  expect(report.notes).toEqual([expect.stringMatching(/^\.worktrees\/x\/ is a linked work tree/)])
})

test('a linked work tree in a folder that git ignores is nothing', async () => {
  const repo = projectRepository()
  repo.put('.gitignore', '.worktrees/\n')
  repo.commit('Ignore work trees')
  const { changes, report } = await watch(repo, () => {
    repo.git('worktree', 'add', '-q', '.worktrees/x')
    repo.append('lib/util.ts')
  })
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report).toMatchObject({ status: 'exact', notes: [] })
})

test('a linked work tree that moves into the project makes the report partial', async () => {
  const repo = projectRepository()
  repo.git('worktree', 'add', '-q', '../beside')
  const { report } = await watch(repo, () => void repo.git('worktree', 'move', '../beside', 'src/v'))
  expect(report).toMatchObject({ status: 'partial', unreadable: ['src/v/'] })
})

test('files that a linked work tree hides at one end are uncertain', async () => {
  const repo = projectRepository()
  repo.git('worktree', 'add', '-q', '--no-checkout', '../beside')
  repo.git('worktree', 'add', '-q', '--no-checkout', 'src/gone')
  repo.put('src/v/n.ts', 'n\n')
  repo.put('src/gone/m.ts', 'm\n')
  const { changes, report } = await watch(repo, () => {
    repo.move('../beside/.git', 'src/v/.git')
    repo.git('worktree', 'repair', 'src/v')
    repo.remove('src/gone/.git')
  })
  expect(changes).toEqual(['A src/gone/m.ts ?', 'D src/v/n.ts ?'])
  expect(report).toMatchObject({ status: 'partial', unreadable: ['src/v/'] })
})

test('a submodule that is not checked out, at any depth, is nothing', async () => {
  const { repo, sub } = withSubmodule()
  sub.git('submodule', '--quiet', 'add', repo.git('config', 'submodule.sub.url').trim(), 'inner')
  sub.commit('Inner')
  sub.git('submodule', '--quiet', 'deinit', '-f', 'inner')
  repo.commit('Outer')
  const { changes, report } = await watch(repo, () => sub.append('f'))
  expect(changes).toEqual(['M sub/f'])
  expect(report.notes).toEqual([])
})

test('a linked work tree of a nested repository stays closed as well', async () => {
  const { repo, nested } = withNested()
  const { changes, report } = await watch(repo, () => {
    nested.git('worktree', 'add', '-q', '../other')
    repo.append('README.md')
  })
  expect(changes).toEqual(['M README.md'])
  expect(report.notes).toEqual([expect.stringMatching(/^other\/ is a linked work tree/)])
})

const forgedIndex = 'a submodule in the index that has no repository'

/** Folders below a tracked one that git takes for repositories, and passes over. */
const forged: Readonly<Record<string, (repo: WorkFolder, folder: WorkFolder) => void>> = {
  'a file that leads to the repository around': (repo, folder) =>
    folder.put('.git', `gitdir: ${repo.path('.git')}\n`),
  'a link to the repository around': (repo, folder) => symlinkSync(repo.path('.git'), folder.path('.git')),
  'a work tree elsewhere': (_, folder) => {
    folder.git('init', '-q')
    folder.git('config', 'core.worktree', '/tmp')
  },
  'a repository that is said to be bare': (_, folder) => {
    folder.git('init', '-q')
    folder.git('config', 'core.bare', 'true')
  },
  'a configuration that cannot be read': (_, folder) => {
    folder.git('init', '-q')
    folder.put('.git/config', '[[[\n')
  },
  'a version that is not known': (_, folder) => {
    folder.git('init', '-q')
    folder.git('config', 'core.repositoryformatversion', '99')
  },
  'a damaged index': (_, folder) => {
    folder.git('init', '-q')
    folder.put('.git/index', 'x')
  },
  'an index that is a pipe': (_, folder) => {
    folder.git('init', '-q')
    execFileSync('mkfifo', [folder.path('.git/index')])
  },
  'a HEAD at a commit that is not there': (_, folder) => {
    folder.git('init', '-q')
    folder.put('.git/HEAD', `${'1'.repeat(40)}\n`)
  },
  'objects of another format': (_, folder) => void folder.git('init', '-q', '--object-format=sha256'),
  [forgedIndex]: (repo) =>
    void repo.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},src/${forgedIndex}`),
}

test('a new file is seen beside anything that git takes for a repository', async () => {
  const repo = projectRepository()
  const names = Object.keys(forged)
  const { changes, report } = await watch(repo, () => {
    for (const [name, forge] of Object.entries(forged)) {
      const folder = repo.in(`src/${name}`)
      folder.put('n.ts', 'n\n')
      forge(repo, folder)
    }
  })
  expect(changes).toEqual(expect.arrayContaining(names.map((name) => `A src/${name}/n.ts`)))
  expect(report.status).toBe('exact')
})

test('files are told apart where a folder got the look of a repository', async () => {
  const repo = projectRepository()
  repo.put('src/v/n.ts', 'n\n')
  repo.put('src/v/m.ts', 'm\n')
  const { changes } = await watch(repo, () => {
    repo.put('src/v/.git', `gitdir: ${repo.path('.git')}\n`)
    repo.append('src/v/n.ts')
  })
  expect(changes).toEqual(['M src/v/n.ts'])
})

test('new files beside those that a submodule took out of the index are seen', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.git('rm', '-rq', '--cached', 'src')
    repo.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},src`)
    repo.put('src/n.ts', 'n\n')
    repo.append('src/app.ts')
  })
  expect(changes).toEqual(['A src', 'M src/app.ts', 'A src/n.ts'])
})

test.for(['a file', 'a link'])('%s in place of a submodule is one change', async (what) => {
  const { repo } = withSubmodule()
  const { changes, report } = await watch(repo, () => {
    repo.remove('sub')
    if (what === 'a file') repo.put('sub', 'file\n')
    else symlinkSync('lib', repo.path('sub'))
  })
  expect(changes).toEqual(['T sub', 'D sub/f', 'D sub/g'])
  expect(report.status).toBe('exact')
})

test('what lies deeper than repositories are looked into makes the report partial', async () => {
  const repo = projectRepository()
  const { report } = await watch(repo, () => {
    for (let depth = 1; depth <= 5; depth += 1) {
      const folder = repo.in(`v${'/v'.repeat(depth)}`)
      folder.put('n.ts', 'n\n')
      folder.git('init', '-q')
    }
  })
  expect(report).toMatchObject({ status: 'partial', unreadable: ['v/v/v/v/v/v/'] })
})

test('a repository that hides files by rules of its own makes the report partial', async () => {
  const repo = projectRepository()
  const { report } = await watch(repo, () => {
    const folder = repo.in('src/v')
    folder.put('n.ts', 'n\n')
    folder.git('init', '-q')
    folder.put('.git/info/exclude', '*\n')
  })
  expect(report).toMatchObject({ status: 'partial', ignored: { added: ['src/v/n.ts'] } })
})

test('a pipe in a nested repository is named, and git does not wait for it', async () => {
  const repo = projectRepository()
  repo.put('src/v/n.ts', 'n\n')
  const folder = repo.in('src/v')
  folder.git('init', '-q')
  folder.remove('.git/HEAD')
  execFileSync('mkfifo', [folder.path('.git/HEAD')])
  await expect(watch(repo, () => undefined)).rejects.toMatchObject({ reason: 'git_file_blocked' })
})
