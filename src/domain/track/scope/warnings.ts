import { manifestsOf } from './file-kind.ts'
import type { FileVerdict } from './judge.ts'
import { folded } from './path.ts'
import type { Scope } from './scope.ts'

interface Judged {
  readonly change: { readonly path: string }
  readonly scope: FileVerdict
}

const NAMED = 5

/** What a reader should know about judged changes: files out of scope first, then what was let through, and why. */
export function scopeWarnings(scope: Scope, files: readonly Judged[]): readonly string[] {
  return [...outside(scope, files), ...companions(files), ...shared(files), ...imported(files)]
}

function outside(scope: Scope, files: readonly Judged[]): readonly string[] {
  const count = files.filter((file) => file.scope === 'out').length
  if (count === 0) return []
  const areas = scope.areas.map((area) => area.text).join(', ')
  return [`⚠️ ${count} file(s) modified outside declared scope (${areas})`]
}

function companions(files: readonly Judged[]): readonly string[] {
  const changed = new Set(files.map((file) => folded(baseName(file.change.path))))
  return files.flatMap(({ change, scope }) => {
    if (scope !== 'companion') return []
    const manifests = manifestsOf(baseName(change.path)) ?? []
    const [usual = 'manifest'] = manifests
    if (manifests.some((name) => changed.has(name))) return []
    return [`The lock file ${change.path} changed, but no ${usual} did.`]
  })
}

function shared(files: readonly Judged[]): readonly string[] {
  const paths = files.filter((file) => file.scope === 'shared').map((file) => file.change.path)
  return paths.length === 0
    ? []
    : [`${paths.length} file(s) shared with other areas changed: ${named(paths)}.`]
}

// Whether a commit is somebody else's is told by the reflog, which whoever works here can write.
function imported(files: readonly Judged[]): readonly string[] {
  const paths = files.filter((file) => file.scope === 'imported').map((file) => file.change.path)
  if (paths.length === 0) return []
  return [
    `${paths.length} file(s) came by a merge, pull, checkout or reset and were not judged: ${named(paths)}.`,
  ]
}

function named(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''
  return `${paths.slice(0, NAMED).join(', ')}${more}`
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
