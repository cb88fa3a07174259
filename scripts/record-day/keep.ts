import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { homeMark, linkEvents, type RecordedTree, recordingFiles } from '../../src/app/demo/recording.ts'
import type { ProjectEvent } from '../../src/events/domain/project-event.ts'
import {
  formatEventLine,
  formatExportEnd,
  logMark,
  readExport,
} from '../../src/events/operations/event-line.ts'
import { mainFolder, type ShopRepository } from './repository.ts'

/** Writes the recording: the log, the repository with its snapshots, and the objects of both. */
export async function keepRecording(
  { home, environment }: Pick<ShopRepository, 'home' | 'environment'>,
  to: string,
): Promise<void> {
  mkdirSync(to, { recursive: true })
  const main = join(home, mainFolder)
  const listed = git(main, environment, 'worktree', 'list', '--porcelain')
  const folders = [...listed.matchAll(/^worktree (.+)$/gm)].map(([, folder]) => folder ?? '')
  const trees = folders.map((folder) => keepTree(folder, { home, environment }))
  const work = { texts: textsIn(home, folders), trees }
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')
  const exported = execFileSync(process.execPath, [bin, 'export'], {
    cwd: main,
    env: environment,
    encoding: 'utf8',
  })
  const [, ...lines] = exported.trim().split('\n')
  const log = await readExport(lines.map((line) => withoutMachine(line, home)))
  const events = await Array.fromAsync(log.readEvents(0))
  writeFileSync(join(to, recordingFiles.log), compress(logText(events)))
  writeFileSync(join(to, recordingFiles.work), compress(withoutMachine(JSON.stringify(work), home)))
  writeFileSync(join(to, recordingFiles.objects), packObjects(main, home, environment))
}

function logText(events: readonly ProjectEvent[]): string {
  const linked = linkEvents(events)
  const end = formatExportEnd(linked.length, 0, linked.at(-1)?.hash ?? '')
  return [JSON.stringify(logMark), ...linked.map(formatEventLine), end].join('\n')
}

/** Removes the folder and the name of the machine that recorded it. */
function withoutMachine(text: string, home: string): string {
  return text.replaceAll(home, homeMark).replaceAll(`"runner":"${hostname()}:`, '"runner":"recorder:')
}

function compress(text: string): Buffer {
  return gzipSync(text, { level: 9 })
}

type Environment = Record<string, string>

function git(folder: string, environment: Environment, ...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: folder, env: environment, encoding: 'utf8' }).trim()
}

/** A work tree as it lies there, what is not committed included. */
function keepTree(
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
function textsIn(home: string, trees: readonly string[]): Readonly<Record<string, string>> {
  const projects = join(home, 'state', 'waymark', 'projects')
  const files = [
    ...filesBelow(join(home, mainFolder, '.git')),
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
function packObjects(main: string, home: string, environment: Environment): Buffer {
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
