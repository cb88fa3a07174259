import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { readRegular } from '../files/regular-file.ts'
import { type ConfigurationEntry, parseConfiguration, withSafeSettings } from './configuration.ts'
import { distinctionsOf } from './distinctions.ts'
import { nulRecords } from './path-bytes.ts'
import { type Environment, runGit } from './run-git.ts'

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
  /** The user's settings, and after them ours that win. */
  readonly configuration: readonly ConfigurationEntry[]
  /** Known from an earlier answer: git was not asked. */
  readonly remembered?: true
}

/** A setting and the file that it stands in, as git names it. */
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

/** Asks git for the repository of a folder. Both calls only read, and run nothing that it configures. */
export async function askRepository(
  folder: string,
  environment: Environment,
): Promise<RepositoryAnswer | NoRepository> {
  const call = { folder, environment }
  const [answer, settings] = await Promise.all([
    runGit(['rev-parse', '--path-format=absolute', ...questions], call),
    runGit(['config', '-z', '--list', '--show-scope', '--show-origin'], call),
  ])
  const lines = answer.output.toString('utf8').split('\n')
  if (lines[0] === 'true') {
    return { status: 'bare', reason: `${folder} is a bare repository: there is nothing to snapshot.` }
  }
  // The last answers are missing before the first commit; the ones up to the top level never are.
  if (lines.length < 13 || settings.code !== 0)
    return unusable(folder, answer.complaint || settings.complaint)
  const [, objectFormat, gitFolder, commonFolder, objects, index, exclude, attributes, sparse] = lines
  const [shallow, reflog, prefix, top, commit, tree] = lines.slice(9)
  if (!objectFormat || !gitFolder || !commonFolder || !objects || !index || !top) {
    return unusable(folder, answer.complaint)
  }
  if (isObjectId(commit) && !isObjectId(tree)) {
    return {
      status: 'unusable',
      reason: `The repository of ${folder} lacks the files of its commit ${commit}.`,
    }
  }
  const origins = settingOrigins(nulRecords(settings.output))
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
      distinctionsOf(top, commonFolder),
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

function unusable(folder: string, complaint: string): NoRepository {
  if (/ENOENT/.test(complaint)) return { status: 'unusable', reason: 'There is no git program on the path.' }
  if (/not a git repository/.test(complaint)) {
    return { status: 'none', reason: `${folder} is not in a git repository.` }
  }
  const first = complaint.trim().split('\n')[0] ?? ''
  return {
    status: 'unusable',
    reason: `git does not answer in ${folder}: ${first || 'its paths cannot be read'}.`,
  }
}

// core.worktree can point anywhere. Only a top that holds the way to this very repository, and the folder
// itself, is the work tree that we were asked about.
async function redirection(folder: string, repository: Repository): Promise<NoRepository | null> {
  const elsewhere: NoRepository = {
    status: 'unusable',
    reason: `The repository's work tree is ${repository.top} (core.worktree), which is not the one of ${folder}.`,
  }
  const real = await realpath(folder)
  if (relative(repository.top, real).split('/')[0] === '..') return elsewhere
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
