import { createHash } from 'node:crypto'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { inflateSync } from 'node:zlib'
import { Failure } from '../kernel/failure.ts'
import { isWithin } from '../kernel/files/contained-file.ts'
import { readRegular, readRegularSync } from '../kernel/files/regular-file.ts'
import { setNewest } from '../kernel/limited-map.ts'
import {
  type ConfigurationEntry,
  configuredValue,
  fileDistinctions,
  parseConfiguration,
  withSafeSettings,
} from './configuration.ts'
import { nulTexts } from './paths.ts'
import { folderMissingFailure, type GitEnvironment, runGit } from './process.ts'
import { gitPlaceAround, mainObstacle, obstacleFailure } from './unsafe-files.ts'

/** A folder that can be measured, with git or without. */
export type RepositoryLocation =
  | { readonly engine: 'git'; readonly folder: string; readonly repository: Repository }
  | {
      readonly engine: 'checksum'
      readonly folder: string
      /** Why git cannot be used, as a sentence. */
      readonly reason: string
      readonly hasRepository: boolean
    }

/** Finds out how a folder can be measured. Throws UNAVAILABLE if it must not or cannot be. */
export async function locateFolder(path: string, environment: GitEnvironment): Promise<RepositoryLocation> {
  const folder = existingFolder(path)
  if (isTooWide(folder, environment)) {
    throw new Failure('UNAVAILABLE', `${folder} is too large to be a project: choose a folder below it.`, {
      reason: 'folder_too_wide',
    })
  }
  const repository = await findRepository(folder, environment)
  if (repository.status === 'bare')
    throw new Failure('UNAVAILABLE', repository.reason, { reason: 'repository_bare' })
  if (repository.status !== 'usable') {
    return {
      engine: 'checksum',
      folder,
      reason: repository.reason,
      hasRepository: repository.status !== 'none',
    }
  }
  if (isTooWide(repository.top, environment)) {
    const reason = `The repository's top folder is ${repository.top}, which is too large to be a project.`
    return { engine: 'checksum', folder, reason, hasRepository: true }
  }
  return { engine: 'git', folder, repository }
}

function existingFolder(folder: string): string {
  try {
    const top = realpathSync.native(folder)
    if (statSync(top).isDirectory()) return top
  } catch (cause) {
    throw folderMissingFailure(folder, cause)
  }
  throw new Failure('UNAVAILABLE', `${folder} is not a folder.`, { reason: 'not_a_folder' })
}

function isTooWide(top: string, environment: GitEnvironment): boolean {
  return top === '/' || top === (environment['HOME'] ?? homedir())
}

/**
 * The cached description of a repository by git. It is valid while the files that it was read from are unchanged; HEAD
 * is read each time.
 */
interface CachedRepository {
  readonly answer: RepositoryAnswer
  /** The stamps of the files it was read from. Null if they changed meanwhile, or were not read. */
  readonly stamps: string | null
  /** The trees of the commits that HEAD was at: the tree of a commit never changes. */
  readonly trees: Map<string, string>
}

type GitHead = NonNullable<Repository['head']>

const maxCached = 100
const maxTrees = 50
const megabyte = 1024 * 1024

// By the environment of git, which decides the configuration.
const cachedIn = new WeakMap<GitEnvironment, Map<string, CachedRepository>>()
// By the PATH, which decides the git program.
const systemFiles = new Map<string, Promise<string | null>>()

/** Finds the repository of a folder. Only reads, and runs nothing that the repository configures. */
export async function findRepository(
  folder: string,
  environment: GitEnvironment,
): Promise<Repository | NoRepository> {
  const obstacle = mainObstacle(folder)
  if (obstacle !== null) throw obstacleFailure(obstacle)
  const cached = cachedRepositories(environment)
  const earlier = cached.get(folder)
  const expected = earlier?.answer ?? expectedLayout(folder)
  const stamps = expected === null ? null : await stampsOf(folder, expected, environment)
  if (earlier !== undefined && stamps !== null && stamps === earlier.stamps) {
    const head = headOf(earlier)
    if (head !== null) return { ...earlier.answer.repository, head, remembered: true }
  }
  const answer = await readRepository(folder, environment)
  cached.delete(folder)
  if ('reason' in answer) return answer
  const after = stamps === null ? null : await stampsOf(folder, answer, environment)
  const trees = earlier?.trees ?? new Map<string, string>()
  const { head } = answer.repository
  if (head !== null) setNewest(trees, maxTrees, head.commit, head.tree)
  const entry = { answer, stamps: after === stamps ? after : null, trees }
  setNewest(cached, maxCached, folder, entry)
  return answer.repository
}

/** The cached location of a repository is stale: git does not find it there. */
export class StaleRepository extends Error {}

/** Runs work, and once more without the cache if a cached location is stale. */
export async function retryWithFreshLocations<T>(
  environment: GitEnvironment,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StaleRepository)) throw error
    cachedIn.delete(environment)
    return work()
  }
}

function cachedRepositories(environment: GitEnvironment): Map<string, CachedRepository> {
  const cached = cachedIn.get(environment) ?? new Map<string, CachedRepository>()
  cachedIn.set(environment, cached)
  return cached
}

interface RepositoryLayout {
  readonly repository: Pick<Repository, 'top' | 'gitFolder' | 'commonFolder' | 'objects' | 'configuration'>
  readonly origins: readonly SettingOrigin[]
}

/** What git will likely say of a folder, so that its repository is known once git says so. Null without one. */
function expectedLayout(folder: string): RepositoryLayout | null {
  const place = gitPlaceAround(folder)
  if (place === null || 'kind' in place) return null
  const [gitFolder, commonFolder = gitFolder] = place.folders
  if (gitFolder === undefined || commonFolder === undefined) return null
  const objects = join(commonFolder, 'objects')
  return { repository: { top: place.top, gitFolder, commonFolder, objects, configuration: [] }, origins: [] }
}

// Contents as well as times, to notice also the quickest edit.
async function stampsOf(
  folder: string,
  answer: RepositoryLayout,
  environment: GitEnvironment,
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
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'absent'
    const { dev, ino, uid, mode, size, mtimeMs, ctimeMs } = stats
    if (stats.isDirectory()) return `folder ${dev} ${ino} ${uid}`
    if (size > megabyte) return null
    const content = readRegularSync(path).toString('latin1')
    return `file ${dev} ${ino} ${uid} ${mode} ${mtimeMs} ${ctimeMs} ${content}`
  } catch {
    return null
  }
}

interface ConfigurationPaths {
  readonly home: string | undefined
  readonly xdg: string | undefined
  readonly system: string | null
}

/** Everything that decides the repository of a folder and its configuration. Null if unknown. */
function sourcesOf(
  folder: string,
  { repository, origins }: RepositoryLayout,
  { home, xdg, system }: ConfigurationPaths,
): string[] | null {
  const { top, gitFolder, commonFolder, objects, configuration } = repository
  if (system === null || !home || configuredValue(configuration, 'extensions.refstorage') !== undefined)
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
  // Conditional includes also depend on HEAD.
  if (included.length > 0) files.push(...included, join(gitFolder, 'HEAD'))
  const set = origins.filter(({ scope }) => scope !== 'command')
  if (set.some(({ origin }) => !files.includes(originFile(origin, top) ?? ''))) return null
  const pointers = ['commondir', 'gitdir'].map((name) => join(gitFolder, name))
  const folders = [top, gitFolder, commonFolder, objects, join(commonFolder, 'refs')]
  return [...files, ...pointers, ...folders, ...pathsUpToTop(folder, top)]
}

// git takes the first folder with a `.git` in it, or that looks like a repository itself.
function pathsUpToTop(folder: string, top: string): string[] {
  const paths = [join(top, '.git')]
  for (let at = folder; at !== top && at !== dirname(at); at = dirname(at)) {
    paths.push(at, join(at, '.git'), join(at, 'HEAD'))
  }
  return paths
}

function includedFiles({ repository, origins }: RepositoryLayout, home: string): string[] | null {
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

/** The path of this git's system configuration. Null if git does not report it. */
function systemFile(environment: GitEnvironment): Promise<string | null> {
  const path = environment['PATH'] ?? ''
  const promise = systemFiles.get(path) ?? readSystemFile(environment)
  setNewest(systemFiles, maxCached, path, promise)
  return promise
}

async function readSystemFile(environment: GitEnvironment): Promise<string | null> {
  const question = ['config', '-z', '--system', '--list', '--show-origin']
  const { code, output, stderr } = await runGit(question, { folder: '/', environment, onlyReads: true })
  const named =
    code === 0
      ? /^file:([^\0]+)\0/.exec(output.toString('utf8'))
      : /unable to read config file '(.+)': No such file/.exec(stderr)
  const path = named?.[1]
  return path !== undefined && isAbsolute(path) ? path : null
}

/** The current HEAD. Null if only git can read it. */
function headOf({ answer, trees }: CachedRepository): GitHead | null {
  try {
    const commit = headCommit(answer.repository)
    const tree = commit === null ? null : (trees.get(commit) ?? treeOf(answer.repository, commit))
    if (commit === null || tree === null) return null
    setNewest(trees, maxTrees, commit, tree)
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

// Null if the file does not exist; throws if it is not a regular file.
function plainText(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (!stats.isFile()) throw new Error(`${path} is not a file.`)
  return readRegularSync(path).toString('latin1')
}

function objectId(text: string): string | null {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/.test(text) ? text.trimEnd() : null
}

/** The tree of a recent commit, which is not in a pack yet. */
function treeOf({ objects, objectFormat }: Repository, commit: string): string | null {
  const file = readRegularSync(join(objects, commit.slice(0, 2), commit.slice(2)))
  const content = inflateSync(file, { maxOutputLength: megabyte })
  if (createHash(objectFormat).update(content).digest('hex') !== commit) return null
  return /^commit \d+\0tree ([0-9a-f]+)\n/.exec(content.toString('latin1', 0, 200))?.[1] ?? null
}

/** A repository as `rev-parse` describes it. All paths are absolute. */
export interface Repository {
  readonly status: 'usable'
  readonly top: string
  readonly prefix: string
  readonly objectFormat: string
  readonly gitFolder: string
  readonly commonFolder: string
  readonly objects: string
  readonly index: string
  readonly exclude: string
  readonly attributes: string
  readonly sparseCheckout: string
  readonly shallow: string
  readonly reflog: string
  /** Null before the first commit. */
  readonly head: { readonly commit: string; readonly tree: string } | null
  /** The user's settings, followed by those of Waymark, which win. */
  readonly configuration: readonly ConfigurationEntry[]
  /** From the cache, without running git. */
  readonly remembered?: true
}

/** A setting and the file that contains it, as git names it. */
export interface SettingOrigin extends ConfigurationEntry {
  readonly origin: string
}

export interface RepositoryAnswer {
  readonly repository: Repository
  readonly origins: readonly SettingOrigin[]
}

export interface NoRepository {
  readonly status: 'none' | 'bare' | 'unusable'
  /** A sentence. */
  readonly reason: string
}

const questions = [
  '--is-bare-repository',
  '--show-object-format',
  '--absolute-git-dir',
  '--git-common-dir',
  '--git-path',
  'objects',
  '--git-path',
  'index',
  '--git-path',
  'info/exclude',
  '--git-path',
  'info/attributes',
  '--git-path',
  'info/sparse-checkout',
  '--git-path',
  'shallow',
  '--git-path',
  'logs/HEAD',
  '--show-prefix',
  '--show-toplevel',
  'HEAD',
  'HEAD^{tree}',
]

/** Reads the repository of a folder with git. Both calls only read, and run nothing that it configures. */
async function readRepository(
  folder: string,
  environment: GitEnvironment,
): Promise<RepositoryAnswer | NoRepository> {
  const call = { folder, environment, onlyReads: true } as const
  // One after the other, so that one shell runs both: starting another takes longer than git needs.
  const answer = await runGit(['rev-parse', '--path-format=absolute', ...questions], call)
  const settings = await runGit(['config', '-z', '--list', '--show-scope', '--show-origin'], call)
  const lines = answer.output.toString('utf8').split('\n')
  if (lines[0] === 'true') {
    return { status: 'bare', reason: `${folder} is a bare repository: there is nothing to snapshot.` }
  }
  // The last answers are missing before the first commit; the ones up to the top level never are.
  if (lines.length < 13 || settings.code !== 0)
    return repositoryFailureOf(folder, answer.stderr || settings.stderr)
  const [, objectFormat, gitFolder, commonFolder, objects, index, exclude, attributes, sparse] = lines
  const [shallow, reflog, prefix, top, commit, tree] = lines.slice(9)
  if (!objectFormat || !gitFolder || !commonFolder || !objects || !index || !top) {
    return repositoryFailureOf(folder, answer.stderr)
  }
  if (isObjectId(commit) && !isObjectId(tree)) {
    return {
      status: 'unusable',
      reason: `The repository of ${folder} lacks the files of its commit ${commit}.`,
    }
  }
  const origins = settingOrigins(nulTexts(settings.output))
  const repository: Repository = {
    status: 'usable',
    top,
    prefix: prefix ?? '',
    objectFormat,
    gitFolder,
    commonFolder,
    objects,
    index,
    exclude: exclude ?? '',
    attributes: attributes ?? '',
    sparseCheckout: sparse ?? '',
    shallow: shallow ?? '',
    reflog: reflog ?? '',
    head: isObjectId(commit) && isObjectId(tree) ? { commit, tree } : null,
    configuration: withSafeSettings(
      origins.map(({ scope, key, value }) => ({ scope, key, value })),
      fileDistinctions(top, commonFolder),
    ),
  }
  return (await redirection(folder, repository)) ?? { repository, origins }
}

// Of each setting: its scope, its origin, and the setting itself.
function settingOrigins(records: readonly string[]): SettingOrigin[] {
  const origins: SettingOrigin[] = []
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [scope = '', origin = '', setting = ''] = records.slice(at, at + 3)
    for (const entry of parseConfiguration([scope, setting])) origins.push({ ...entry, origin })
  }
  return origins
}

/** The top of the main work tree, the same for every linked one. */
export function mainTop(repository: Repository): string {
  if (repository.commonFolder === repository.gitFolder) return repository.top
  return basename(repository.commonFolder) === '.git'
    ? dirname(repository.commonFolder)
    : repository.commonFolder
}

function isObjectId(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{40,64}$/.test(text)
}

function repositoryFailureOf(folder: string, stderr: string): NoRepository {
  if (/ENOENT/.test(stderr))
    return { status: 'unusable', reason: 'git is not installed, or not on the PATH.' }
  if (/not a git repository/.test(stderr)) {
    return { status: 'none', reason: `${folder} is not in a git repository.` }
  }
  const first = stderr.trim().split('\n')[0] ?? ''
  return {
    status: 'unusable',
    reason: `git fails in ${folder}: ${first || 'its paths cannot be read'}.`,
  }
}

// core.worktree can point anywhere. The top is the requested work tree only if it contains the folder and its `.git`
// leads to this repository.
async function redirection(folder: string, repository: Repository): Promise<NoRepository | null> {
  const elsewhere: NoRepository = {
    status: 'unusable',
    reason: `The repository's work tree is ${repository.top} (core.worktree), which is not the one of ${folder}.`,
  }
  const real = await realpath(folder)
  if (!isWithin(repository.top, real)) return elsewhere
  const linked = await linkedFolder(repository.top)
  return linked !== null && linked === (await realpath(repository.gitFolder)) ? null : elsewhere
}

/** The git folder that `<top>/.git` is or names. */
async function linkedFolder(top: string): Promise<string | null> {
  const path = join(top, '.git')
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path)
    const named = /^gitdir: (.*)\n?$/.exec((await readRegular(path)).toString('utf8'))?.[1]
    return named === undefined ? null : await realpath(resolve(top, named))
  } catch {
    return null
  }
}

/**
 * Stands for a repository that disappeared: no commit, an empty index. Every file is untracked in it, so the disk can
 * be compared with snapshots from before.
 */
export async function missingRepository(
  top: string,
  directory: string,
  environment: GitEnvironment,
): Promise<Repository> {
  const question = ['config', '-z', '--list', '--show-scope']
  const settings = await runGit(question, { folder: top, environment, onlyReads: true })
  const configuration = withSafeSettings(
    parseConfiguration(nulTexts(settings.output)),
    fileDistinctions(top, directory),
  )
  return { ...standInRepository(top, directory), objectFormat: 'sha1', configuration }
}

/** Stands for the repository of a folder without one. */
export function standInRepository(top: string, directory: string): Repository {
  return {
    status: 'usable',
    top,
    prefix: '',
    objectFormat: 'sha256',
    gitFolder: directory,
    commonFolder: directory,
    objects: join(directory, 'objects'),
    index: join(directory, 'no-index'),
    exclude: '',
    attributes: '',
    sparseCheckout: '',
    shallow: '',
    reflog: join(directory, 'logs/HEAD'),
    head: null,
    configuration: [],
  }
}
