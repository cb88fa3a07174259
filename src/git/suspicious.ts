import type { ConfigurationEntry } from './configuration.ts'

// Settings whose value is a program, or redirects what git looks at. In a repository's own configuration they
// run on the next ordinary git command of whoever works there.
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

// What Git LFS and the usual hook managers write, and what git itself writes for a submodule.
function isCommonplace(key: string, value: string): boolean {
  if (key.startsWith('filter.lfs.')) return /^git-lfs [\w -]+(%f)?$/.test(value)
  if (key === 'core.hookspath') return /^\.(husky|githooks)(\/_)?$/.test(value)
  return key === 'core.worktree' && /^(\.\.\/)+(?!\.\.)[^:]*$/.test(value)
}
