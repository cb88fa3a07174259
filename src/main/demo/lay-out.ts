import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { Failure } from '../../domain/failure.ts'
import type { Environment } from '../settings/environment.ts'
import { damaged, type RecordedTree, type Recording } from './recording.ts'

const run = promisify(execFile)

/** Makes the repository of a recording in its home, with the snapshots that were taken of it. Answers the main work tree. */
export async function layOut(recording: Recording, home: string): Promise<string> {
  const { texts, trees, objects } = recording
  for (const [path, text] of Object.entries(texts)) {
    const file = join(home, path)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, text)
  }
  for (const folder of emptyFolders(recording)) await mkdir(join(home, folder), { recursive: true })
  const main = join(home, trees[0]?.folder ?? '')
  try {
    await unpack(objects, main)
    await Promise.all(trees.map((tree) => fill(tree, home)))
  } catch (error) {
    if (isMissing(error)) {
      throw new Failure('UNAVAILABLE', 'The demo plays in a repository, and there is no git on the PATH.', {
        hint: 'Install it from https://git-scm.com, then play it again.',
      })
    }
    throw damaged(dirname(objects), 'git cannot read its objects')
  }
  return main
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** What git wants to find even where nothing is in it. */
function emptyFolders({ texts, trees }: Recording): readonly string[] {
  const snapshots = Object.keys(texts).filter((path) => path.endsWith('/snapshot.json'))
  const privates = snapshots.flatMap((path) => ['objects', 'refs'].map((name) => join(dirname(path), name)))
  const main = trees[0]?.folder ?? ''
  return [...privates, ...['objects/pack', 'refs/heads'].map((name) => join(main, '.git', name))]
}

async function unpack(objects: string, main: string): Promise<void> {
  const unpacking = run('git', ['index-pack', '--stdin', '--fix-thin'], { cwd: main, env: gitEnvironment() })
  const { stdin } = unpacking.child
  if (!stdin) throw new Error('git was given no input')
  // What git says of a damaged pack is told by its exit, not by the pipe that it closes.
  await Promise.all([unpacking, pipeline(createReadStream(objects), stdin).catch(() => undefined)])
}

/** Everything as it lay there; what was not committed is left uncommitted. */
async function fill({ folder, tree }: RecordedTree, home: string): Promise<void> {
  const git = (...words: readonly string[]) =>
    run('git', words, { cwd: join(home, folder), env: gitEnvironment() })
  await git('read-tree', tree)
  await git('checkout-index', '--all')
  await git('read-tree', 'HEAD')
}

/** Without what points git at another repository, or makes it run programs of the user. */
function gitEnvironment(): Environment {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(entries), GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
}
