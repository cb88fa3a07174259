import { createHash } from 'node:crypto'
import { appendFileSync, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readRegular, readRegularSync } from '../kernel/files/regular-file.ts'
import type { Candidate } from './changes-from-head.ts'
import { repositoryPairs, type SnapshotPair } from './comparison.ts'
import { type ConfigurationEntry, configuredValue, contentSettings, isTrue } from './configuration.ts'
import { blobId, sha256 } from './disk.ts'
import type { IndexEntries } from './index-file.ts'
import { diskPath, displayPath, nulInput, nulRecords, type PathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type GitEnvironment, git } from './process.ts'
import type { RepositoryState } from './recorded-state.ts'
import type { Repository } from './repository.ts'
import type { GitState, GitStatus } from './status.ts'

/** What may stand between a file on disk and what git stores of it. */
export interface Conversion {
  /** Some file of attributes is in force, so a path may have a filter. */
  readonly attributes: boolean
  /** What is stored depends on what the index holds: its line endings, its modes. */
  readonly byIndex: boolean
}

/** Asks what is not needed, so that git is started less often in the plain case. */
export function conversionOf(
  repository: Repository,
  { status, index }: { readonly status: GitStatus; readonly index: IndexEntries },
  environment: GitEnvironment,
): Conversion {
  const { configuration } = repository
  const attributes =
    index.attributes.length > 0 ||
    [...status.untracked, ...status.ignored].some(isAttributesFile) ||
    configuredValue(configuration, 'core.attributesfile') !== undefined ||
    existsSync(repository.attributes) ||
    existsSync(personalFile(environment, 'attributes'))
  const lineEndings = configuredValue(configuration, 'core.autocrlf') ?? 'false'
  const plainModes = ['core.filemode', 'core.symlinks'].every((key) => {
    const value = configuredValue(configuration, key)
    return value === undefined || isTrue(value)
  })
  return { attributes, byIndex: attributes || lineEndings !== 'false' || !plainModes }
}

function isAttributesFile(path: PathBytes): boolean {
  return path.endsWith('.gitattributes')
}

/** The file of attributes or ignore rules that a person has for every repository. */
function personalRules(
  configuration: readonly ConfigurationEntry[],
  environment: GitEnvironment,
  name: 'attributes' | 'ignore',
): string {
  const key = name === 'attributes' ? 'core.attributesfile' : 'core.excludesfile'
  const named = configuredValue(configuration, key)
  if (named === undefined) return personalFile(environment, name)
  return named.startsWith('~/') ? join(environment['HOME'] ?? homedir(), named.slice(2)) : named
}

// Where git looks when `core.attributesFile` or `core.excludesFile` is not set.
function personalFile(environment: GitEnvironment, name: 'attributes' | 'ignore'): string {
  const home = environment['HOME'] ?? homedir()
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', name)
}

/** What decided which files and which content git saw, by name: settings as they are, files by a digest. */
export type ContentSettings = Readonly<Record<string, string>>

/**
 * Everything outside the work tree that decides what git sees in it. Synchronous: a few small files, most of which are
 * not there, are looked at in less time than it takes to hand them to another thread.
 */
export function contentSettingsOf(
  { configuration, exclude, attributes, sparseCheckout }: Repository,
  environment: GitEnvironment,
): ContentSettings {
  const files = {
    'info/exclude': exclude,
    'info/attributes': attributes,
    'info/sparse-checkout': sparseCheckout,
    "the user's ignore rules": personalRules(configuration, environment, 'ignore'),
    "the user's attributes": personalRules(configuration, environment, 'attributes'),
  }
  const digests = Object.entries(files).map(([name, path]) => [name, digestOf(path)] as const)
  const settings = contentSettings.map((key) => [key, configuredValue(configuration, key) ?? ''] as const)
  return Object.fromEntries([...settings, ...digests].filter(([, value]) => value !== ''))
}

/** A sentence for each repository whose settings are not what they were: what they hide now they did not hide then. */
export function settingsDoubts(span: SnapshotPair): string[] {
  return repositoryPairs(span).flatMap(({ from, to, presence }) => {
    if (presence === 'appeared') return ownRulesDoubts(to, span)
    if (presence !== 'both' || span.to.repositoryMissing || !from.settings || !to.settings) return []
    const { settings: before } = from
    const { settings: after } = to
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    const leftOut = from.leftOut !== to.leftOut
    const changed = names.filter((name) => before[name] !== after[name]).sort()
    if (leftOut && changed.length === 0) changed.push('what the sparse checkout leaves out')
    if (changed.length === 0) return []
    const where = to.prefix === '' ? '' : ` in ${displayPath(to.prefix)}`
    return [
      `Rules of git${where} changed during the task: ${changed.join(', ')}. An edit may be hidden by them.`,
    ]
  })
}

const ignoreRules = ['info/exclude', 'core.excludesfile'] as const

/** A repository that came during the task may hide files by rules that stand in no file of the work tree. */
function ownRulesDoubts(
  { prefix, settings, ignoredFiles, ignoredFolders }: RepositoryState,
  { to }: SnapshotPair,
): string[] {
  const around = to.repositories[0]?.settings ?? {}
  const own = ignoreRules.filter((name) => settings?.[name] !== undefined && settings[name] !== around[name])
  if (own.length === 0 || ignoredFiles.size + ignoredFolders.length === 0) return []
  return [`Files in ${displayPath(prefix)} are hidden by its own ignore rules: ${own.join(', ')}.`]
}

function digestOf(path: string): string {
  if (path === '' || !existsSync(path)) return ''
  try {
    const content = readRegularSync(path)
    return hasRules(content) ? createHash('sha256').update(content).digest('hex') : ''
  } catch {
    return ''
  }
}

// A file of comments, as git puts there itself, is the same as none.
function hasRules(content: Buffer): boolean {
  return content
    .toString('latin1')
    .split('\n')
    .some((line) => line.trim() !== '' && !line.startsWith('#'))
}

// With these git stores one text for many: what stands in `$Id: … $`, another encoding.
const lossy = ['ident', 'working-tree-encoding']

/** Stands for the files of attributes in the work tree. Null where one cannot be read: then git takes it from elsewhere. */
export function attributesDigest(
  { top }: PrivateDirectory,
  { status, index }: { readonly status: GitStatus; readonly index: IndexEntries },
): string | null {
  const hash = createHash('sha256')
  try {
    for (const path of [
      ...index.attributes,
      ...[...status.untracked, ...status.ignored].filter(isAttributesFile),
    ]) {
      hash.update(`${path}\0`).update(readRegularSync(diskPath(top, path)))
    }
  } catch {
    return null
  }
  return hash.digest('hex')
}

/**
 * The tracked files of which git stores something else than what stands on disk, by an attribute that lets an edit
 * disappear. They are to be compared as they are; from here on our own directory sees them so.
 */
export async function pathsToReadRaw(
  place: PrivateDirectory,
  seen: { readonly status: GitStatus; readonly index: IndexEntries; readonly isNamedOutside: boolean },
): Promise<readonly PathBytes[]> {
  const { index, status } = seen
  const untracked = [...status.untracked, ...status.ignored].filter(isAttributesFile)
  const named = await Promise.all([
    // Where one is missing, git takes what the index has of it.
    ...index.attributes.map((path) => canNameAttributes(diskPath(place.top, path), { whereMissing: true })),
    ...untracked.map((path) => canNameAttributes(diskPath(place.top, path), { whereMissing: false })),
  ])
  if (!seen.isNamedOutside && !named.includes(true)) return []
  const question = ['check-attr', '-z', '--stdin', ...lossy]
  const records = nulRecords(await git(question, privateCall(place, nulInput(index.paths))))
  const paths = new Set<PathBytes>()
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [path = '', , value = ''] = records.slice(at, at + 3)
    if (value !== 'unspecified' && value !== 'unset') paths.add(path)
  }
  appendFileSync(
    join(place.directory, 'info/attributes'),
    `\n* ${lossy.map((name) => `-${name}`).join(' ')}\n`,
  )
  return [...paths]
}

/** Whether a file of attributes that is not in the work tree may name such an attribute. */
export async function hasOutsideAttributes(
  place: PrivateDirectory,
  repository: Repository,
): Promise<boolean> {
  const own = join(place.directory, 'info/attributes')
  const personal = personalRules(repository.configuration, place.environment, 'attributes')
  const named = await Promise.all(
    [own, personal].map((path) => canNameAttributes(path, { whereMissing: false })),
  )
  return named.includes(true)
}

function canNameAttributes(
  file: string | Buffer,
  { whereMissing }: { readonly whereMissing: boolean },
): Promise<boolean> {
  return readRegular(file).then(
    (content) => lossy.some((name) => content.includes(name)),
    () => whereMissing,
  )
}

const pointerLimit = 1024
const pointerStart = 'version https://git-lfs.github.com/spec/v1\n'

/** The filter that attributes name for each path; paths without one are left out. None is ever run. */
export async function filtersOf(
  place: PrivateDirectory,
  paths: readonly PathBytes[],
): Promise<Map<PathBytes, string>> {
  const filters = new Map<PathBytes, string>()
  if (paths.length === 0) return filters
  const records = nulRecords(
    await git(['check-attr', '-z', '--stdin', 'filter'], privateCall(place, nulInput(paths))),
  )
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [path = '', , value = ''] = records.slice(at, at + 3)
    if (value !== 'unspecified' && value !== 'unset' && value !== 'set') filters.set(path, value)
  }
  return filters
}

export interface FilteredState {
  readonly state: GitState
  readonly uncertain?: string
}

/** What git would store for a file behind a filter, given the state of the file as it is. */
export async function filteredState(
  raw: GitState,
  candidate: Candidate,
  context: FilterContext,
): Promise<FilteredState> {
  const { filter, configuration } = context
  const runs = ['clean', 'process'].some((hook) => configuredValue(configuration, `filter.${filter}.${hook}`))
  if (filter === 'lfs') {
    const pointer = { mode: raw.mode, oid: await pointerId(raw, candidate, context) }
    return { state: runs || pointer.oid === candidate.index?.oid ? pointer : raw }
  }
  if (!runs) return { state: raw }
  return { state: raw, uncertain: `The filter "${filter}" was not run, so the stored content is unknown.` }
}

export interface FilterContext {
  readonly filter: string
  readonly top: string
  readonly objectFormat: string
  readonly configuration: readonly ConfigurationEntry[]
}

/** The id of the pointer that Git LFS would store. A file that is a pointer already is stored as it is. */
async function pointerId(raw: GitState, { path, file }: Candidate, context: FilterContext): Promise<string> {
  if (file.kind === 'link') return raw.oid
  const { top, objectFormat } = context
  const isPointer =
    file.stat.size <= pointerLimit &&
    readRegularSync(diskPath(top, path)).toString('latin1').startsWith(pointerStart)
  if (isPointer || file.stat.size === 0) return raw.oid
  const digest = await sha256(top, path)
  return blobId(objectFormat, Buffer.from(`${pointerStart}oid sha256:${digest}\nsize ${file.stat.size}\n`))
}
