import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A work tree in which agents write. */
export interface Tree {
  readonly folder: string
  git(...words: readonly string[]): string
  write(path: string, content: string): void
  /** Writes the files of a step of the shop: a folder of `shop/`, or some of its paths. */
  writeStep(step: string, ...paths: readonly string[]): void
  commit(message: string): void
}

export interface ShopRepository {
  /** The temporary folder with the repository, its work trees and the state of Waymark. */
  readonly home: string
  readonly main: Tree
  readonly environment: Record<string, string>
  workTree(branch: string): Tree
  remove(): void
}

export const mainFolder = 'corner-books'

/** A small bookshop, as it was in the morning. */
export function createRepository(): ShopRepository {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-recording-')))
  const environment = environmentIn(home)
  const main = treeAt(join(home, mainFolder), environment)
  mkdirSync(main.folder)
  main.git('init', '--quiet', '--initial-branch', 'main')
  main.writeStep('begin')
  const processFile = 'checked-change.yaml'
  main.write(
    `.waymark/processes/${processFile}`,
    readFileSync(join(import.meta.dirname, processFile), 'utf8'),
  )
  main.git('add', '--force', '.waymark/processes')
  main.commit('Sell books')
  return {
    home,
    main,
    environment,
    workTree: (branch) => {
      main.git('worktree', 'add', '--quiet', '-b', branch, join(home, branch))
      return treeAt(join(home, branch), environment)
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

function treeAt(folder: string, environment: Record<string, string>): Tree {
  const git = (...words: readonly string[]) =>
    execFileSync('git', words, { cwd: folder, encoding: 'utf8', env: environment })
  return {
    folder,
    git,
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    },
    writeStep: (step, ...paths) => {
      const from = join(import.meta.dirname, 'shop', step)
      for (const path of paths.length === 0 ? ['.'] : paths) {
        cpSync(join(from, path), join(folder, path), { recursive: true })
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
