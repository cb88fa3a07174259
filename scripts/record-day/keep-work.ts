import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { RecordedTree } from '../../src/main/demo/recording.ts'

type Environment = Record<string, string>

export function git(folder: string, environment: Environment, ...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: folder, env: environment, encoding: 'utf8' }).trim()
}

/** A work tree as it lies there, what is not committed included. */
export function keepTree(
  folder: string,
  { home, environment }: { readonly home: string; readonly environment: Environment },
): RecordedTree {
  const index = join(home, 'keep.index')
  const aside = { ...environment, GIT_INDEX_FILE: index }
  git(folder, aside, 'read-tree', 'HEAD')
  git(folder, aside, 'add', '--all')
  const tree = git(folder, aside, 'write-tree')
  rmSync(index)
  return { folder: relative(home, folder), tree }
}

const leftOut =
  /^(objects|hooks|index|branches|description|COMMIT_EDITMSG|ORIG_HEAD|AUTO_MERGE|.*\.index|no-index)$/

/** The text files of repositories and snapshots: all but objects and what git makes anew. */
export function textsIn(home: string, trees: readonly string[]): Readonly<Record<string, string>> {
  const projects = join(home, 'state', 'waymark', 'projects')
  const files = [
    ...filesBelow(join(home, 'waymark', '.git')),
    ...filesBelow(projects),
    ...trees.slice(1).map((tree) => join(tree, '.git')),
  ]
  return Object.fromEntries(files.map((file) => [relative(home, file), readFileSync(file, 'utf8')]))
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !leftOut.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
}

/** One pack of what the repository and every snapshot hold. */
export function packObjects(main: string, home: string, environment: Environment): Buffer {
  const projects = join(home, 'state', 'waymark', 'projects')
  const stores = readdirSync(projects, { recursive: true, encoding: 'utf8' })
    .filter((path) => basename(path) === 'objects')
    .map((path) => join(projects, path))
  const all = { ...environment, GIT_ALTERNATE_OBJECT_DIRECTORIES: stores.join(':') }
  const names = git(main, all, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)')
  return execFileSync('git', ['pack-objects', '--stdout', '-q', '--window=100', '--depth=50'], {
    cwd: main,
    env: all,
    input: `${names}\n`,
    maxBuffer: 1 << 26,
  })
}
