import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { copyFolder } from './copied-folder.ts'
import { git } from './git.ts'
import { removeFolder } from './removed-folder.ts'
import { whenFinished } from './shared.ts'

/** A folder of its own, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-')))
  whenFinished(() => removeFolder(folder))
  return folder
}

/** Files and git commands in one folder. */
export class WorkFolder {
  readonly top: string

  constructor(top: string) {
    this.top = top
  }

  path(name: string): string {
    return join(this.top, name)
  }

  put(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), content)
  }

  append(name: string, text = 'one more line\n'): void {
    appendFileSync(this.path(name), text)
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true })
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(this.path(to)), { recursive: true })
    renameSync(this.path(from), this.path(to))
  }

  link(target: string, name: string): void {
    symlinkSync(target, this.path(name))
  }

  git(...args: string[]): string {
    return git(this.top, ...args)
  }

  /** Runs git where a failure is what is wanted, such as a merge that stops at a conflict. */
  gitFails(...args: string[]): void {
    let failed = false
    try {
      this.git(...args)
    } catch {
      failed = true
    }
    if (!failed) throw new Error(`git ${args.join(' ')} succeeded, and the test needs it to fail.`)
  }

  commit(message: string, ...paths: string[]): void {
    this.git('add', '--', ...(paths.length === 0 ? ['.'] : paths))
    this.git('commit', '-q', '-m', message)
  }

  in(name: string): WorkFolder {
    return new WorkFolder(this.path(name))
  }
}

/** Lines enough for a small edit to leave two files similar. */
export function lines(name: string, count = 20): string {
  return Array.from({ length: count }, (_, at) => `export const ${name}${at} = ${at}\n`).join('')
}

/** A repository without commits. */
export function emptyRepository(...options: string[]): WorkFolder {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  copyFolder(`empty ${options.join(' ')}`, folder.top, (top) => beginEmpty(new WorkFolder(top), options))
  return folder
}

function beginEmpty(folder: WorkFolder, options: readonly string[]): void {
  mkdirSync(folder.top)
  folder.git('init', '-q', ...options)
}

/** A small project with two commits. */
export function projectRepository(...options: string[]): WorkFolder {
  const folder = new WorkFolder(join(temporaryFolder(), 'project'))
  copyFolder(`project ${options.join(' ')}`, folder.top, (top) => beginProject(new WorkFolder(top), options))
  // The index knows the files as if they had just been committed.
  folder.git('update-index', '-q', '--refresh')
  return folder
}

function beginProject(folder: WorkFolder, options: readonly string[]): void {
  beginEmpty(folder, options)
  folder.put('README.md', '# Project\n')
  folder.put('lib/util.ts', lines('util'))
  folder.put('src/api/routes.ts', lines('route'))
  folder.put('src/app.ts', lines('app'))
  folder.commit('First')
  folder.append('README.md', 'A second line.\n')
  folder.commit('Second')
}

/** A clone beside the repository it comes from, whose `main` can move on. */
export function clonedProject(...options: string[]): { upstream: WorkFolder; clone: WorkFolder } {
  const upstream = projectRepository()
  const folder = temporaryFolder()
  upstream.git('clone', '-q', ...options, `file://${upstream.top}`, join(folder, 'clone'))
  return { upstream, clone: new WorkFolder(join(folder, 'clone')) }
}
