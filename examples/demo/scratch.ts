import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A work tree in which a story may do as it likes. */
export interface Scratch {
  readonly folder: string
  git(...args: readonly string[]): string
  write(path: string, content: string): void
  append(path: string, content: string): void
  /** Another work tree of the same repository, on a branch of its own. */
  workTree(branch: string): Scratch
  remove(): void
}

/** Clones this very repository into a temporary folder. */
export function cloneHere(repository: string): Scratch {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-demo-')))
  const folder = join(home, 'waymark')
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', repository, folder])
  return scratchIn(home, folder)
}

function scratchIn(home: string, folder: string): Scratch {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return {
    folder,
    git,
    write,
    append: (path, content) => write(path, readFileSync(join(folder, path), 'utf8') + content),
    workTree: (branch) => {
      git('worktree', 'add', '--quiet', '-b', branch, join(home, branch))
      return scratchIn(home, join(home, branch))
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
