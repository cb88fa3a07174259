import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'

export interface ConfigurationEntry {
  /** The scope: system, global, local, worktree or command. */
  readonly scope: string
  /** Section and name in lower case, the subsection as written. */
  readonly key: string
  readonly value: string
}

/** Parses `git config -z --list --show-scope`. */
export function parseConfiguration(records: readonly string[]): ConfigurationEntry[] {
  const entries: ConfigurationEntry[] = []
  for (let at = 0; at + 1 < records.length; at += 2) {
    const scope = records[at] ?? ''
    const setting = records[at + 1] ?? ''
    const end = setting.indexOf('\n')
    // A key without a value means true.
    entries.push(
      end < 0
        ? { scope, key: setting, value: 'true' }
        : { scope, key: setting.slice(0, end), value: setting.slice(end + 1) },
    )
  }
  return entries
}

/** The value in effect: git takes the last one. */
export function configuredValue(entries: readonly ConfigurationEntry[], key: string): string | undefined {
  return entries.findLast((entry) => entry.key === key)?.value
}

/** Reads a boolean as git does. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(true|yes|on|[1-9][0-9]*)$/i.test(value)
}

/** Settings that decide the content of files and run nothing. Only these are copied to the private configuration. */
export const contentSettings = [
  'core.autocrlf',
  'core.eol',
  'core.safecrlf',
  'core.filemode',
  'core.ignorecase',
  'core.symlinks',
  'core.precomposeunicode',
  'core.trustctime',
  'core.checkstat',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'index.sparse',
  'sparse.expectfilesoutsideofpatterns',
  'core.excludesfile',
  'core.attributesfile',
]

/** What the file system of a work tree distinguishes. */
export interface FileSystemTraits {
  readonly modes: boolean
  readonly links: boolean
  readonly case: boolean
}

/**
 * Adds settings of Waymark that override the user's. Otherwise git could take an edited file for unchanged: it might
 * not compare times and modes, or take a link for a file, or one spelling for another.
 */
export function withSafeSettings(
  entries: readonly ConfigurationEntry[],
  distinctions: FileSystemTraits,
): readonly ConfigurationEntry[] {
  const safe = {
    'core.trustctime': 'true',
    'core.checkstat': 'default',
    // Without this, mixed line endings make git fail instead of warn.
    'core.safecrlf': 'false',
    ...(distinctions.modes ? { 'core.filemode': 'true' } : {}),
    ...(distinctions.links ? { 'core.symlinks': 'true' } : {}),
    ...(distinctions.case ? { 'core.ignorecase': 'false' } : {}),
  }
  return [...entries, ...Object.entries(safe).map(([key, value]) => ({ scope: 'waymark', key, value }))]
}

/** Settings of Waymark, which come last and win. */
const ownSettings = {
  'core.bare': 'false',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.untrackedCache': 'false',
  'core.splitIndex': 'false',
  'core.logAllRefUpdates': 'false',
  'index.version': '2',
  'core.fsync': 'none',
  // Larger contents are neither kept nor compared line by line.
  'core.bigFileThreshold': '5m',
  'core.warnAmbiguousRefs': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'advice.statusHints': 'false',
}

/** The text of a private configuration: the allowed settings of the user, then those of Waymark. */
export function privateConfiguration(entries: readonly ConfigurationEntry[], objectFormat: string): string {
  const allowed = contentSettings.flatMap((key) => {
    const value = configuredValue(entries, key)
    return value === undefined ? [] : [line(key, value)]
  })
  const own = Object.entries(ownSettings).map(([key, value]) => line(key, value))
  const format =
    objectFormat === 'sha1'
      ? [line('core.repositoryFormatVersion', '0')]
      : [line('core.repositoryFormatVersion', '1'), line('extensions.objectFormat', objectFormat)]
  return [...allowed, ...own, ...format].join('')
}

function line(key: string, value: string): string {
  const [section = '', name = ''] = key.split('.')
  const quoted = value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t')
  return `[${section}]\n\t${name} = "${quoted}"\n`
}

const windows = process.platform === 'win32'

/** Finds out what the file system of a work tree distinguishes, by `.git` and a file in it. Writes nothing. */
export function fileDistinctions(top: string, gitFolder: string): FileSystemTraits {
  // git's own files are not executable. If they appear so, every file does.
  const own = entryAt(join(gitFolder, 'config')) ?? entryAt(join(gitFolder, 'HEAD'))
  return {
    modes: !windows && own !== undefined && (own.mode & 0o111) === 0,
    links: !windows,
    case: !isSame(entryAt(join(top, '.git')), entryAt(join(top, '.GIT'))),
  }
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  if (one === undefined || other === undefined) return false
  // A hard link with the other spelling does not mean that case is ignored.
  return one.ino === other.ino && one.dev === other.dev && (one.isDirectory() || one.nlink === 1)
}

function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

// Settings that name a program or redirect git. In a repository's own configuration they take effect at anyone's next
// git command there.
const programs = [
  /^core\.(hookspath|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|worktree)$/,
  /^core\.(trustctime|checkstat)$/,
  /^filter\..*\.(clean|smudge|process)$/,
  /^diff\.external$/,
  /^diff\..*\.(textconv|command)$/,
  /^merge\..*\.driver$/,
  /^(mergetool|difftool|browser|man|guitool)\..*\.(cmd|path)$/,
  /^credential(\..*)?\.helper$/,
  /^gpg(\..*)?\.program$/,
  /^pager\./,
  /^sequence\.editor$/,
  /^interactive\.difffilter$/,
  /^uploadpack\.packobjectshook$/,
  /^remote\..*\.(uploadpack|receivepack|vcs|proxy)$/,
  /^trailer\..*\.(command|cmd)$/,
  /^tar\..*\.command$/,
  /^protocol\..*\.allow$/,
  /^include(if)?\..*path$/,
]

/** The keys of the repository's own configuration that name programs or redirect paths, sorted, once each. */
export function suspiciousKeys(entries: readonly ConfigurationEntry[]): string[] {
  const keys = entries.filter(isSuspicious).map((entry) => entry.key)
  return [...new Set(keys)].sort()
}

function isSuspicious({ scope, key, value }: ConfigurationEntry): boolean {
  if (scope !== 'local' && scope !== 'worktree') return false
  if (isCommonplace(key, value)) return false
  if (key === 'core.fsmonitor') return !/^(true|false|yes|no|on|off|[01])?$/i.test(value)
  if (key.startsWith('alias.') || /^submodule\..*\.update$/.test(key)) return value.startsWith('!')
  return programs.some((program) => program.test(key))
}

// Values that Git LFS, common hook managers and git itself for a submodule write.
function isCommonplace(key: string, value: string): boolean {
  if (key.startsWith('filter.lfs.')) return /^git-lfs [\w -]+(%f)?$/.test(value)
  if (key === 'core.hookspath') return /^\.(husky|githooks)(\/_)?$/.test(value)
  return key === 'core.worktree' && /^(\.\.\/)+(?!\.\.)[^:]*$/.test(value)
}
