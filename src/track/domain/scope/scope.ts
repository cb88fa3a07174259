import { formatCount } from '../../../kernel/text.ts'
import type { ChangeReport, FileChange } from '../changes.ts'
import { type Area, type AreaContext, foldCase, parseArea, type ScopePath, scopePath } from './area.ts'
import { fileKind, manifestsOf } from './file-kind.ts'

/** What an attempt declared that it would touch. */
export interface Scope {
  /** As declared: empty when nothing was, and then nothing can be judged. */
  readonly areas: readonly Area[]
  readonly included: readonly Area[]
  readonly excluded: readonly Area[]
  /** The project's folder from the work tree's top, folded. */
  readonly prefix: string
}

/** Whether a scope's areas hold a path, were silent about it, or excluded it. */
export type ScopeCoverage = 'covered' | 'silent' | 'excluded'

/** Reads declared areas. They are relative to the project's folder, the paths judged later to the work tree's top. */
export function parseScope(declared: readonly string[], context: AreaContext): Scope {
  const areas = declared.map((text) => parseArea(text, context)).filter((area) => area !== null)
  return {
    areas,
    included: areas.filter((area) => !area.excludes),
    excluded: areas.filter((area) => area.excludes),
    prefix: foldCase(context.prefix),
  }
}

/** Whether anything was declared. */
export function isDeclared(scope: Scope): boolean {
  return scope.areas.length > 0
}

/** What the areas say of a path from the work tree's top. Exclusions win. */
export function coverage(scope: Scope, path: string): ScopeCoverage {
  const subject = scopePath(path, scope.prefix)
  if (scope.excluded.some((area) => area.matches(subject))) return 'excluded'
  if (!isDeclared(scope)) return 'silent'
  const guarded = isGuarded(subject)
  const names = (area: Area): boolean => (!guarded || isWaymarkArea(area)) && area.matches(subject)
  // Exclusions alone mean: everything else.
  if (scope.included.length === 0) return guarded ? 'silent' : 'covered'
  return scope.included.some(names) ? 'covered' : 'silent'
}

/** Processes decide what an agent may do, so that no broad area opens them by the way: an area must name them. */
function isGuarded({ top }: ScopePath): boolean {
  return top.startsWith('.waymark/') || top.includes('/.waymark/')
}

function isWaymarkArea(area: Area): boolean {
  return foldCase(area.text).includes('.waymark')
}

/** How a changed file stands to the declared areas. Only `out` breaks a scope; `imported` was not the task's work. */
export type FileScope = 'in' | 'companion' | 'shared' | 'out' | 'imported'

/** A verdict by path alone, without a change's origin. */
export type PathScope = Exclude<FileScope, 'imported'>

/** The verdict on one path: for an edit that has not happened yet, too. */
export function judgePath(scope: Scope, path: string): PathScope {
  const covers = coverage(scope, path)
  if (covers === 'covered') return 'in'
  if (covers === 'excluded' || isGuarded(scopePath(path, scope.prefix))) return 'out'
  const kind = fileKind(path)
  if (kind === 'source') return 'out'
  return kind === 'lock' ? 'companion' : 'shared'
}

/** The verdict on one change: the best that any of the declared scopes gives, and the worse end of a rename. */
function judgeChange(
  scopes: readonly Scope[],
  change: FileChange,
  { sensitive, named }: SensitiveFiles,
): FileScope | null {
  if (change.origin === 'imported') return 'imported'
  const declared = scopes.filter(isDeclared)
  const ends = change.from === undefined ? [change.path] : [change.from, change.path]
  const asks = (path: string): boolean =>
    sensitive.has(path) && !named.has(path) && !declared.some((scope) => hasAreaForPath(scope, path))
  if (ends.some(asks)) return 'out'
  if (declared.length === 0) return null
  return ends.map((path) => bestVerdict(declared.map((scope) => judgePath(scope, path)))).reduce(worseVerdict)
}

/** Whether an area names a path, and not only everything there is. */
function hasAreaForPath(scope: Scope, path: string): boolean {
  const subject = scopePath(path, scope.prefix)
  if (scope.excluded.some((area) => area.matches(subject))) return false
  return scope.included.some(
    (area) => area.kind !== 'everything' && !/^[./*?{},\s]*$/.test(area.text) && area.matches(subject),
  )
}

/** Files that decide what runs or what agents are told: where nobody names them, a person is asked. */
export interface SensitiveFiles {
  /** By path, what each decides. */
  readonly sensitive: ReadonlyMap<string, string>
  /** The paths that the outcome names. */
  readonly named: ReadonlySet<string>
}

const nothingSensitive: SensitiveFiles = { sensitive: new Map(), named: new Set() }

const RANK = { in: 0, companion: 1, shared: 2, out: 3 } as const satisfies Record<PathScope, number>

function worseVerdict(a: PathScope, b: PathScope): PathScope {
  return RANK[b] > RANK[a] ? b : a
}

function bestVerdict(verdicts: readonly PathScope[]): PathScope {
  return verdicts.reduce((better, verdict) => (RANK[verdict] < RANK[better] ? verdict : better), 'out')
}

export interface ScopedChange {
  readonly change: FileChange
  /** Null when no areas were declared: there is nothing to judge against. */
  readonly scope: FileScope | null
}

export interface ScopeResult {
  /** Null when no areas were declared or the changes are unknown: never true for "I do not know". */
  readonly scopeMatch: boolean | null
  /** The paths judged `out`, in the order of the report. */
  readonly unexpectedFiles: readonly string[]
  readonly warnings: readonly string[]
  /** Every change of the report, in its order. */
  readonly files: readonly ScopedChange[]
}

/** Judges a report's changes. `alsoAllowed` answers, for a path, other scopes that may allow it: a descendant attempt's. */
export function judgeScope(
  scope: Scope,
  report: Pick<ChangeReport, 'status' | 'changes'>,
  alsoAllowed: (path: string) => readonly Scope[] = () => [],
  sensitive: SensitiveFiles = nothingSensitive,
): ScopeResult {
  const judged = report.changes.map((change) => ({
    change,
    scope: judgeChange([scope, ...alsoAllowed(change.path)], change, sensitive),
  }))
  // Without areas nothing is judged but what asks a person in any case.
  const files = isDeclared(scope)
    ? judged
    : judged.map((file) => (file.scope === 'out' ? file : { ...file, scope: null }))
  const unexpectedFiles = files.filter((file) => file.scope === 'out').map((file) => file.change.path)
  return {
    scopeMatch: report.status === 'unknown' || !isDeclared(scope) ? null : unexpectedFiles.length === 0,
    unexpectedFiles,
    warnings: scopeWarnings(scope, files, sensitive),
    files,
  }
}

interface ScopeAssignment {
  readonly change: { readonly path: string }
  readonly scope: FileScope | null
}

const NAMED = 5

/** What a reader should know about judged changes: files out of scope first, then what was let through, and why. */
function scopeWarnings(
  scope: Scope,
  files: readonly ScopeAssignment[],
  sensitive: SensitiveFiles,
): readonly string[] {
  return [
    ...outOfScopeNotes(scope, files),
    ...unnamedSensitiveFiles(files, sensitive),
    ...companionNotes(files),
    ...sharedFileNotes(files),
    ...importedFileNotes(files),
  ]
}

function unnamedSensitiveFiles(
  files: readonly (ScopeAssignment & {
    readonly change: { readonly path: string; readonly from?: string }
  })[],
  { sensitive }: SensitiveFiles,
): readonly string[] {
  const asked = files
    .filter(({ scope }) => scope === 'out')
    .flatMap(({ change: { path, from = path } }) => {
      const kind = sensitive.get(path) ?? sensitive.get(from)
      return kind === undefined ? [] : [`${path} (${kind})`]
    })
  if (asked.length === 0) return []
  return [
    `${formatCount(asked.length, 'sensitive file')} changed, and neither the areas nor the outcome ${asked.length === 1 ? 'names it' : 'names them'}: ${namePathList(asked)}.`,
  ]
}

/** Mission Control’s words, which its clients know. */
function outOfScopeNotes(scope: Scope, files: readonly ScopeAssignment[]): readonly string[] {
  const count = files.filter((file) => file.scope === 'out').length
  if (count === 0 || !isDeclared(scope)) return []
  const areas = scope.areas.map((area) => area.text).join(', ')
  return [`⚠️ ${count} file(s) modified outside declared scope (${areas})`]
}

function companionNotes(files: readonly ScopeAssignment[]): readonly string[] {
  const changed = new Set(files.map((file) => foldCase(baseName(file.change.path))))
  return files.flatMap(({ change, scope }) => {
    if (scope !== 'companion') return []
    const manifests = manifestsOf(baseName(change.path)) ?? []
    const [usual = 'manifest'] = manifests
    if (manifests.some((name) => changed.has(name))) return []
    return [`The lock file ${change.path} changed, but no ${usual} did.`]
  })
}

function sharedFileNotes(files: readonly ScopeAssignment[]): readonly string[] {
  const paths = files.filter((file) => file.scope === 'shared').map((file) => file.change.path)
  return paths.length === 0
    ? []
    : [`${formatCount(paths.length, 'file')} shared with other areas changed: ${namePathList(paths)}.`]
}

// Whether a commit is someone else's is told by the reflog, which whoever works here can write.
function importedFileNotes(files: readonly ScopeAssignment[]): readonly string[] {
  const paths = files.filter((file) => file.scope === 'imported').map((file) => file.change.path)
  if (paths.length === 0) return []
  return [
    `${formatCount(paths.length, 'file')} came by a merge, pull, checkout or reset and ${paths.length === 1 ? 'was' : 'were'} not judged: ${namePathList(paths)}.`,
  ]
}

function namePathList(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''
  return `${paths.slice(0, NAMED).join(', ')}${more}`
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether one of the areas may be a workspace package, so that they must be known. */
export function hasPackageArea(areas: readonly string[]): boolean {
  return areas.some((area) => area.trim().replace(/^!/, '').startsWith('@'))
}
