import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const here = join(import.meta.dirname, '..', '..')
/** The commit of this repository that the day begins at: the domain, before it could plan. */
const beginning = '30685d2'

/** A work tree in which agents write. */
export interface Tree {
  readonly folder: string
  git(...words: readonly string[]): string
  write(path: string, content: string): void
  append(path: string, content: string): void
  /** Writes files as a commit of this repository left them. */
  real(commit: string, ...paths: readonly string[]): void
  commit(message: string): void
}

export interface Ground {
  readonly home: string
  readonly main: Tree
  readonly environment: Record<string, string>
  workTree(name: string): Tree
  remove(): void
}

/** The repository of the day: the domain of this very project as it was at its beginning, with a state folder of its own. */
export function plantGround(): Ground {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-recording-')))
  const environment = environmentIn(home)
  const main = treeAt(join(home, 'waymark'), environment)
  mkdirSync(main.folder)
  main.git('init', '--quiet', '--initial-branch', 'main')
  const paths = execFileSync('git', ['ls-tree', '-r', '--name-only', beginning, 'src/domain'], {
    cwd: here,
    encoding: 'utf8',
  })
  main.real(beginning, ...paths.trim().split('\n'))
  main.write(
    'README.md',
    '# Waymark’s domain\n\nPlans, tracks and gates the work of coding agents: the pure part.\n',
  )
  main.write('.gitignore', 'node_modules/\ncoverage/\n')
  main.write('package.json', packageFile)
  main.write('docs/notes/reports-draft.md', draft)
  main.write('.waymark/processes/feature.yaml', checkedFeature())
  main.write(
    '.waymark/processes/change-control.yaml',
    shipped('change-control').replace('fresh: state', 'fresh: loop'),
  )
  main.git('add', '--force', '.waymark/processes')
  main.commit('Begin with the domain')
  return {
    home,
    main,
    environment,
    workTree: (name) => {
      main.git('worktree', 'add', '--quiet', '-b', name, join(home, name))
      return treeAt(join(home, name), environment)
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

function treeAt(folder: string, environment: Record<string, string>): Tree {
  const git = (...words: readonly string[]) =>
    execFileSync('git', words, { cwd: folder, encoding: 'utf8', env: environment })
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return {
    folder,
    git,
    write,
    append: (path, content) => write(path, readFileSync(join(folder, path), 'utf8') + content),
    real: (commit, ...paths) => {
      for (const path of paths) {
        write(path, execFileSync('git', ['show', `${commit}:${path}`], { cwd: here, encoding: 'utf8' }))
      }
    },
    commit: (message) => {
      git('add', '.')
      git('commit', '--quiet', '-m', message)
    },
  }
}

/** Nothing of this machine's user: not their home, their configuration, nor the marks of an agent's shell. */
function environmentIn(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: join(home, 'home'),
    XDG_STATE_HOME: join(home, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Tess',
    GIT_AUTHOR_EMAIL: 'tess@example.com',
    GIT_COMMITTER_NAME: 'Tess',
    GIT_COMMITTER_EMAIL: 'tess@example.com',
  }
}

/** The feature process that Waymark ships, with a command that the server runs before it lets anything pass. */
function checkedFeature(): string {
  return shipped('feature')
    .replace(
      'guard: { all: [has_results, no_blockers] }',
      'guard: { all: [has_results, tests_pass, no_blockers] }',
    )
    .replace(
      'guards:\n',
      'guards:\n  tests_pass:\n    type: command\n    run: node --test test/plan.test.ts\n    description: The tests of the plan pass\n',
    )
}

function shipped(name: string): string {
  return readFileSync(join(here, 'processes', `${name}.yaml`), 'utf8')
}

const packageFile = `${JSON.stringify(
  { name: 'waymark-domain', private: true, type: 'module', dependencies: { picomatch: '4.0.7' } },
  null,
  2,
)}\n`

const draft = `# Reports, a draft

A report says what an attempt changed:

1. which files, and how
2. whether they lie in its areas
3. what its agent claimed

Open: who may read it, and how long is it kept?
`
