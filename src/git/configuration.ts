export interface ConfigurationEntry {
  /** Where it is set: system, global, local, worktree, command. */
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

/** The value in force: git takes the last. */
export function configured(entries: readonly ConfigurationEntry[], key: string): string | undefined {
  return entries.findLast((entry) => entry.key === key)?.value
}

/** How git reads a boolean. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(true|yes|on|[1-9][0-9]*)$/i.test(value)
}

/** Settings that decide what content a file has, and run nothing. Only these reach our private configuration. */
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

/** What the file system under a work tree can tell apart. */
export interface Distinctions {
  readonly modes: boolean
  readonly links: boolean
  readonly case: boolean
}

/**
 * The settings with ours after them, which win, where the user's would let git take an edited file for unchanged: times
 * and modes not compared, a link taken for a file, a second spelling taken for the first.
 */
export function withSafeSettings(
  entries: readonly ConfigurationEntry[],
  distinctions: Distinctions,
): readonly ConfigurationEntry[] {
  const safe = {
    'core.trustctime': 'true',
    'core.checkstat': 'default',
    // Otherwise mixed line endings end git with an error. It only warns of them.
    'core.safecrlf': 'false',
    ...(distinctions.modes ? { 'core.filemode': 'true' } : {}),
    ...(distinctions.links ? { 'core.symlinks': 'true' } : {}),
    ...(distinctions.case ? { 'core.ignorecase': 'false' } : {}),
  }
  return [...entries, ...Object.entries(safe).map(([key, value]) => ({ scope: 'waymark', key, value }))]
}

/** Settings of ours, which come last and win. */
const ownSettings = {
  'core.bare': 'false',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.untrackedCache': 'false',
  'core.splitIndex': 'false',
  'core.logAllRefUpdates': 'false',
  'index.version': '2',
  'core.fsync': 'none',
  // Beyond this, contents are neither kept nor compared line by line.
  'core.bigFileThreshold': '5m',
  'core.warnAmbiguousRefs': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'advice.statusHints': 'false',
}

/** The text of a private configuration: the allow-listed settings of the user, then ours. */
export function privateConfiguration(entries: readonly ConfigurationEntry[], objectFormat: string): string {
  const allowed = contentSettings.flatMap((key) => {
    const value = configured(entries, key)
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
