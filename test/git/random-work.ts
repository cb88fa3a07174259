import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkFolder } from '../support/git-repository.ts'
import type { Randomness } from './randomness.ts'

// Names that are files in one moment and folders in another, and names that are hard to quote.
const names = [
  'a',
  'a/b',
  'a/b/c',
  'b.txt',
  'dir/x.ts',
  'dir/y.ts',
  'dir/deep/z.ts',
  'B.txt',
  'sp ace',
  'q"uote',
  'new\nline',
  'caf\u00e9',
  '-dash',
  '[glob]*',
  'nested/f',
  'nested/g/h',
] as const

type Step = (repo: WorkFolder, random: Randomness) => void

const content = (random: Randomness): string => {
  const start = random.below(6)
  return Array.from({ length: 2 + random.below(12) }, (_, at) => `line ${start + at}\n`).join('')
}

const anyName = (random: Randomness): string => random.pick(names)

const put: Step = (repo, random) => repo.put(anyName(random), content(random))
const append: Step = (repo, random) => repo.append(existing(repo, random), `more ${random.below(100)}\n`)
const remove: Step = (repo, random) => repo.remove(existing(repo, random))
const move: Step = (repo, random) => repo.move(existing(repo, random), anyName(random))
const link: Step = (repo, random) => repo.link(anyName(random), anyName(random))
const makeProgram: Step = (repo, random) => {
  const path = repo.path(existing(repo, random))
  if (!lstatSync(path).isSymbolicLink()) chmodSync(path, random.below(2) === 0 ? 0o755 : 0o644)
}
const removeFolder: Step = (repo, random) => repo.remove(random.pick(['a', 'dir', 'dir/deep', 'nested/g']))

const git =
  (...args: string[]): Step =>
  (repo) =>
    void repo.git(...args)

const branch = (random: Randomness): string => random.pick(['main', 'one', 'two'])

// Not `add .`, which would record the nested repository as a submodule.
const stage: Step = (repo, random) => void repo.git('add', '-A', '--', existing(repo, random))
const stageAll: Step = (repo) => void repo.git('add', '-A', '--', '.', ':!nested')
const commit: Step = (repo, random) => {
  stageAll(repo, random)
  repo.git('commit', '-qm', `Commit ${random.below(1000)}`)
}
const intend: Step = (repo, random) => void repo.git('add', '-N', '--', existing(repo, random))
const untrack: Step = (repo, random) => void repo.git('rm', '-q', '--cached', '--', existing(repo, random))
const newBranch: Step = (repo, random) => void repo.git('checkout', '-q', '-B', branch(random))
const switchTo: Step = (repo, random) => void repo.git('checkout', '-q', branch(random))
const force: Step = (repo, random) => void repo.git('checkout', '-qf', branch(random))
const merge: Step = (repo, random) => void repo.git('merge', '-q', '--no-edit', branch(random))
const rebase: Step = (repo, random) => void repo.git('rebase', '-q', branch(random))
const pick: Step = (repo, random) => void repo.git('cherry-pick', branch(random))
const abort: Step = (repo, random) =>
  void repo.git(random.pick(['merge', 'rebase', 'cherry-pick']), '--abort')
const flag: Step = (repo, random) => {
  const option = random.pick([
    '--assume-unchanged',
    '--no-assume-unchanged',
    '--skip-worktree',
    '--no-skip-worktree',
  ])
  repo.git('update-index', option, '--', existing(repo, random))
}
const prune: Step = (repo) => {
  repo.git('reflog', 'expire', '--expire=now', '--all')
  repo.git('gc', '-q', '--prune=now')
}
const nest: Step = (repo) => {
  const nested = repo.in('nested')
  nested.put('f', 'nested\n')
  nested.git('init', '-q')
  nested.commit('Nested')
}

const often: readonly Step[] = [put, put, append, append, remove, move, stage, commit]
const sometimes: readonly Step[] = [
  link,
  makeProgram,
  removeFolder,
  stageAll,
  intend,
  untrack,
  newBranch,
  switchTo,
  force,
  merge,
  rebase,
  pick,
  abort,
  flag,
  nest,
  git('commit', '-qa', '--amend', '-m', 'Amended'),
  git('reset', '-q', '--hard', 'HEAD~1'),
  git('reset', '-q', '--soft', 'HEAD~1'),
  git('reset', '-q', 'HEAD~1'),
  git('stash', '-q'),
  git('stash', '-qu'),
  git('stash', 'pop', '-q'),
  git('revert', '--no-edit', 'HEAD'),
  git('checkout', '-q', '--', '.'),
  git('clean', '-qfd'),
  git('checkout', '-q', '--detach'),
  git('update-index', '--split-index'),
  prune,
]

/** Does some steps of work. A step that cannot be done now is no step. */
export function workAtRandom(repo: WorkFolder, random: Randomness, steps: number): void {
  for (let done = 0; done < steps; done += 1) {
    const choice = random.below(3) === 0 ? sometimes : often
    const step = choice[random.below(choice.length)]
    try {
      step?.(repo, random)
    } catch {
      // A file where a folder is wanted, a merge that stops: the tree is in whatever state it is in.
    }
  }
}

function existing(repo: WorkFolder, random: Randomness): string {
  const files = readdirSync(repo.top, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(repo.top.length + 1))
    .filter((path) => !path.split('/').includes('.git'))
    .sort()
  return files[random.below(Math.max(1, files.length))] ?? 'a'
}
