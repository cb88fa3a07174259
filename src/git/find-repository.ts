import { createHash } from 'node:crypto'
import { lstatSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { inflateSync } from 'node:zlib'
import { readRegularSync } from '../files/regular-file.ts'
import { configured } from './configuration.ts'
import { mainObstacle, obstructed } from './obstacles.ts'
import { askRepository, type NoRepository, type Repository, type RepositoryAnswer } from './repository.ts'
import { type Environment, runGit } from './run-git.ts'

/**
 * A repository as git described it. While every file that the description was read from is as it was, git is not asked
 * again; HEAD is read anew each time.
 */
interface KnownRepository {
  readonly answer: RepositoryAnswer
  /** The files it was read from, as they were before and after. Null where they changed, or were not looked at. */
  readonly stamps: string | null
  /** Of the commits that HEAD was at: a commit never gets another tree. */
  readonly trees: Map<string, string>
}

type Head = NonNullable<Repository['head']>

const mostKnown = 100
const mostTrees = 50
const megabyte = 1024 * 1024

// By the environment that a witness gives to git: it decides which configuration is read.
const knownIn = new WeakMap<Environment, Map<string, KnownRepository>>()
const systemFileIn = new WeakMap<Environment, Promise<string | null>>()

/** Finds the repository of a folder. What runs only reads, and runs nothing that the repository configures. */
export async function findRepository(
  folder: string,
  environment: Environment,
): Promise<Repository | NoRepository> {
  const obstacle = mainObstacle(folder)
  if (obstacle !== null) throw obstructed(obstacle)
  const known = knownRepositories(environment)
  const earlier = known.get(folder)
  const stamps = earlier === undefined ? null : await stampsOf(folder, earlier.answer, environment)
  if (earlier !== undefined && stamps !== null && stamps === earlier.stamps) {
    const head = headOf(earlier)
    if (head !== null) return { ...earlier.answer.repository, head, remembered: true }
  }
  const answer = await askRepository(folder, environment)
  known.delete(folder)
  if ('reason' in answer) return answer
  const after = stamps === null ? null : await stampsOf(folder, answer, environment)
  const trees = earlier?.trees ?? new Map<string, string>()
  const { head } = answer.repository
  if (head !== null) keep(trees, { key: head.commit, value: head.tree, most: mostTrees })
  const found = { answer, stamps: after === stamps ? after : null, trees }
  keep(known, { key: folder, value: found, most: mostKnown })
  return answer.repository
}

/** A repository's place was known from before, and git does not find the repository there. */
export class OutdatedPlace extends Error {}

/** Does work, and once more with everything asked of git where what was known before is not so any more. */
export async function onCurrentPlaces<T>(environment: Environment, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OutdatedPlace)) throw error
    knownIn.delete(environment)
    return work()
  }
}

function knownRepositories(environment: Environment): Map<string, KnownRepository> {
  const known = knownIn.get(environment) ?? new Map<string, KnownRepository>()
  knownIn.set(environment, known)
  return known
}

function keep<T>(
  map: Map<string, T>,
  { key, value, most }: { readonly key: string; readonly value: T; readonly most: number },
): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

// Contents as well as times, so that no edit is too quick to be seen.
async function stampsOf(
  folder: string,
  answer: RepositoryAnswer,
  environment: Environment,
): Promise<string | null> {
  const sources = sourcesOf(folder, answer, {
    home: environment['HOME'],
    xdg: environment['XDG_CONFIG_HOME'],
    system: await systemFile(environment),
  })
  if (sources === null) return null
  const stamps = sources.map((path) => [path, stampOf(path)])
  return stamps.some(([, stamp]) => stamp === null) ? null : JSON.stringify(stamps)
}

function stampOf(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return 'absent'
    const { dev, ino, uid, mode, size, mtimeMs, ctimeMs } = found
    if (found.isDirectory()) return `folder ${dev} ${ino} ${uid}`
    if (size > megabyte) return null
    const content = readRegularSync(path).toString('latin1')
    return `file ${dev} ${ino} ${uid} ${mode} ${mtimeMs} ${ctimeMs} ${content}`
  } catch {
    return null
  }
}

interface ConfigurationPlaces {
  readonly home: string | undefined
  readonly xdg: string | undefined
  readonly system: string | null
}

/** Everything that decides which repository a folder is in and how it is configured. Null where that cannot be told. */
function sourcesOf(
  folder: string,
  { repository, origins }: RepositoryAnswer,
  { home, xdg, system }: ConfigurationPlaces,
): string[] | null {
  const { top, gitFolder, commonFolder, objects, configuration } = repository
  if (system === null || !home || configured(configuration, 'extensions.refstorage') !== undefined)
    return null
  const files = [
    system,
    join(home, '.gitconfig'),
    join(xdg || join(home, '.config'), 'git/config'),
    join(commonFolder, 'config'),
    join(gitFolder, 'config.worktree'),
  ]
  const included = includedFiles({ repository, origins }, home)
  if (included === null) return null
  // What a condition for including a file asks for beside the configuration.
  if (included.length > 0) files.push(...included, join(gitFolder, 'HEAD'))
  const set = origins.filter(({ scope }) => scope !== 'command')
  if (set.some(({ origin }) => !files.includes(originFile(origin, top) ?? ''))) return null
  const pointers = ['commondir', 'gitdir'].map((name) => join(gitFolder, name))
  const folders = [top, gitFolder, commonFolder, objects, join(commonFolder, 'refs')]
  return [...files, ...pointers, ...folders, ...wayUp(folder, top)]
}

// git takes the first folder with a `.git` in it, or that looks like a repository itself.
function wayUp(folder: string, top: string): string[] {
  const way = [join(top, '.git')]
  for (let at = folder; at !== top && at !== dirname(at); at = dirname(at)) {
    way.push(at, join(at, '.git'), join(at, 'HEAD'))
  }
  return way
}

function includedFiles({ repository, origins }: RepositoryAnswer, home: string): string[] | null {
  const files: string[] = []
  for (const { origin, key, value } of origins) {
    if (!/^include(if\..*)?\.path$/s.test(key)) continue
    const from = originFile(origin, repository.top)
    if (value.startsWith('~/')) files.push(join(home, value.slice(2)))
    else if (isAbsolute(value)) files.push(value)
    else if (/^[~%]/.test(value) || from === null) return null
    else files.push(join(dirname(from), value))
  }
  return files
}

// git names a repository's own file from the top of the work tree.
function originFile(origin: string, top: string): string | null {
  return origin.startsWith('file:') ? resolve(top, origin.slice('file:'.length)) : null
}

/** Where this git looks for the configuration of the machine. Null where git does not tell. */
function systemFile(environment: Environment): Promise<string | null> {
  const known = systemFileIn.get(environment) ?? askSystemFile(environment)
  systemFileIn.set(environment, known)
  return known
}

async function askSystemFile(environment: Environment): Promise<string | null> {
  const question = ['config', '-z', '--system', '--list', '--show-origin']
  const { code, output, complaint } = await runGit(question, { folder: '/', environment })
  const named =
    code === 0
      ? /^file:([^\0]+)\0/.exec(output.toString('utf8'))
      : /unable to read config file '(.+)': No such file/.exec(complaint)
  const path = named?.[1]
  return path !== undefined && isAbsolute(path) ? path : null
}

/** Where HEAD is now. Null where only git can tell. */
function headOf({ answer, trees }: KnownRepository): Head | null {
  try {
    const commit = headCommit(answer.repository)
    const tree = commit === null ? null : (trees.get(commit) ?? treeOf(answer.repository, commit))
    if (commit === null || tree === null) return null
    keep(trees, { key: commit, value: tree, most: mostTrees })
    return { commit, tree }
  } catch {
    return null
  }
}

function headCommit({ gitFolder, commonFolder }: Repository): string | null {
  const head = plainText(join(gitFolder, 'HEAD'))
  if (head === null) return null
  const branch = /^ref: (refs\/heads\/[^\s]+)\n$/.exec(head)?.[1]
  if (branch === undefined) return objectId(head)
  if (branch.split('/').includes('..')) return null
  const loose = plainText(join(commonFolder, branch))
  if (loose !== null) return objectId(loose)
  const packed = plainText(join(commonFolder, 'packed-refs')) ?? ''
  const at = packed.indexOf(` ${branch}\n`)
  return at < 0 ? null : objectId(packed.slice(packed.lastIndexOf('\n', at) + 1, at))
}

// Null where there is none; throws for what is not simply a file.
function plainText(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return null
  if (!found.isFile()) throw new Error(`${path} is not a file.`)
  return readRegularSync(path).toString('latin1')
}

function objectId(text: string): string | null {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/.test(text) ? text.trimEnd() : null
}

/** The tree of a commit that was made lately: those are not in a pack yet. */
function treeOf({ objects, objectFormat }: Repository, commit: string): string | null {
  const file = readRegularSync(join(objects, commit.slice(0, 2), commit.slice(2)))
  const content = inflateSync(file, { maxOutputLength: megabyte })
  if (createHash(objectFormat).update(content).digest('hex') !== commit) return null
  return /^commit \d+\0tree ([0-9a-f]+)\n/.exec(content.toString('latin1', 0, 200))?.[1] ?? null
}
