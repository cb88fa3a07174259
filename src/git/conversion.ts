import { createHash } from 'node:crypto'
import { appendFileSync, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readRegular, readRegularSync } from '../kernel/files/regular-file.ts'
import type { Candidate } from './changes-from-head.ts'
import { repositoryPairs, type SnapshotPair } from './comparison.ts'
import { type ConfigurationEntry, configuredValue, contentSettings, isTrue } from './configuration.ts'
import { blobId, fileSha256 } from './disk.ts'
import type { IndexEntries } from './index-file.ts'
import { diskPath, displayPath, nulInput, nulRecords, type PathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type GitEnvironment, git } from './process.ts'
import type { RepositoryState } from './recorded-state.ts'
import type { Repository } from './repository.ts'
import type { GitState, GitStatus } from './status.ts'

/** How the content that git stores may differ from the file on disk. */
export interface Conversion {
  /** Whether there is an attributes file, so a path may have a filter. */
  readonly attributes: boolean
  /** Whether the stored content depends on the index: its line endings, its modes. */
  readonly byIndex: boolean
}

/** Finds out which conversions apply, to start git less often in the plain case. */
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

/** The user's global attributes or ignore file. */
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

// The default of git for `core.attributesFile` and `core.excludesFile`.
function personalFile(environment: GitEnvironment, name: 'attributes' | 'ignore'): string {
  const home = environment['HOME'] ?? homedir()
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', name)
}

/** The settings that decide which files and contents git sees, by name: values as they are, files by a digest. */
export type ContentSettings = Readonly<Record<string, string>>

/**
 * Everything outside the work tree that decides what git sees in it. Synchronous: reading a few small files, most of
 * which do not exist, is faster than handing them to another thread.
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

/** A sentence for each repository with changed settings: they may hide other files now. */
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

/** A repository that was added during the task may hide files by rules outside the work tree. */
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

// A file with comments only, as git creates it, counts as none.
function hasRules(content: Buffer): boolean {
  return content
    .toString('latin1')
    .split('\n')
    .some((line) => line.trim() !== '' && !line.startsWith('#'))
}

// With these attributes git stores the same content for different files: `$Id: … $` texts, other encodings.
const lossy = ['ident', 'working-tree-encoding']

/** A digest of the attributes files in the work tree. Null if one cannot be read: then git takes it from elsewhere. */
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
 * The tracked files with an attribute that can hide an edit from git. They are compared as they are on disk: this turns
 * the attributes off in the private directory.
 */
export async function pathsToReadRaw(
  place: PrivateDirectory,
  seen: { readonly status: GitStatus; readonly index: IndexEntries; readonly isNamedOutside: boolean },
): Promise<readonly PathBytes[]> {
  const { index, status } = seen
  const untracked = [...status.untracked, ...status.ignored].filter(isAttributesFile)
  const named = await Promise.all([
    // If a file is missing, git takes it from the index.
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

/** Whether an attributes file outside the work tree may name such an attribute. */
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

/** The filter of each path by attributes; paths without one are left out. No filter is run. */
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

/** The state that git would store for a file with a filter, given the file on disk. */
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

/** The id of the pointer that Git LFS would store. A file that already is a pointer is stored as it is. */
async function pointerId(raw: GitState, { path, file }: Candidate, context: FilterContext): Promise<string> {
  if (file.kind === 'link') return raw.oid
  const { top, objectFormat } = context
  const isPointer =
    file.stat.size <= pointerLimit &&
    readRegularSync(diskPath(top, path)).toString('latin1').startsWith(pointerStart)
  if (isPointer || file.stat.size === 0) return raw.oid
  const digest = await fileSha256(top, path)
  return blobId(objectFormat, Buffer.from(`${pointerStart}oid sha256:${digest}\nsize ${file.stat.size}\n`))
}
