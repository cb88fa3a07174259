import { execFile } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { errorCode, Failure } from '../../kernel/failure.ts'
import { processEnd } from '../../kernel/process-end.ts'
import type { Environment } from '../settings/environment.ts'
import {
  type DemoRecording,
  damagedRecording,
  type RecordedTree,
  readRecording,
  recordingFiles,
} from './recording.ts'

/** The project of a recorded day in a temporary folder, in its initial state. */
export interface DemoProject {
  readonly home: string
  /** Its main work tree. */
  readonly folder: string
  /** Keeps all of the program's data in the same temporary folder. */
  readonly environment: Environment
  readonly events: readonly ProjectEvent[]
  remove(): void
}

export async function openDemoProject(recording: string = shippedRecording()): Promise<DemoProject> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-demo-')))
  const remove = () => rmSync(home, { recursive: true, force: true })
  try {
    const read = await readRecording(recording, home)
    const folder = await layOut(read, home)
    return { home, folder, environment: environmentIn(home), events: read.events, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** The folder `demo` at the top of the package: beside the bundle, or three folders above this file. */
function shippedRecording(): string {
  const beside = join(import.meta.dirname, '..', 'demo')
  if (existsSync(join(beside, recordingFiles.log))) return beside
  return join(import.meta.dirname, '..', '..', '..', 'demo')
}

/** The environment without variables that select another project, database or state. */
function environmentIn(home: string): Environment {
  const entries = Object.entries(process.env).filter(
    ([name]) =>
      !/^(WAYMARK|TASKMAN|STATE_GATE|GIT|CLAUDE|CURSOR|GEMINI)_|^WORKSPACE_FOLDER_PATHS$/.test(name),
  )
  const state = { XDG_STATE_HOME: join(home, 'state'), LOCALAPPDATA: join(home, 'state') }
  return {
    ...Object.fromEntries(entries),
    HOME: join(home, 'home'),
    USERPROFILE: join(home, 'home'),
    ...state,
  }
}

const run = promisify(execFile)

/** Makes the repository of a recording with its snapshots. Returns the main work tree. */
async function layOut(recording: DemoRecording, home: string): Promise<string> {
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
      throw new Failure('UNAVAILABLE', 'The demo needs git, and git is not on the PATH.', {
        reason: 'git_not_installed',
        hint: 'Install it from https://git-scm.com, then run it again.',
      })
    }
    throw damagedRecording(dirname(objects), 'git cannot read its objects')
  }
  return main
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT'
}

/** Folders that git requires even if they are empty. */
function emptyFolders({ texts, trees }: DemoRecording): readonly string[] {
  const snapshots = Object.keys(texts).filter((path) => path.endsWith('/snapshot.json'))
  const privates = snapshots.flatMap((path) => ['objects', 'refs'].map((name) => join(dirname(path), name)))
  const main = trees[0]?.folder ?? ''
  return [...privates, ...['objects/pack', 'refs/heads'].map((name) => join(main, '.git', name))]
}

async function unpack(objects: string, main: string): Promise<void> {
  const unpacking = run('git', ['index-pack', '--stdin', '--fix-thin'], {
    cwd: main,
    env: gitEnvironment(),
    signal: processEnd,
  })
  const { stdin } = unpacking.child
  if (!stdin) throw new Error('git was given no input')
  // Git reports a damaged pack by its exit code, not by closing the pipe.
  await Promise.all([unpacking, pipeline(createReadStream(objects), stdin).catch(() => undefined)])
}

/** Restores all files; uncommitted changes stay uncommitted. */
async function fill({ folder, tree }: RecordedTree, home: string): Promise<void> {
  const git = (...words: readonly string[]) =>
    run('git', words, { cwd: join(home, folder), env: gitEnvironment(), signal: processEnd })
  await git('read-tree', tree)
  await git('checkout-index', '--all')
  await git('read-tree', 'HEAD')
}

/** The environment without variables that redirect git or make it run programs. */
function gitEnvironment(): Environment {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(entries), GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
}
