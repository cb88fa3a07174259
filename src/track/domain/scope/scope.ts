import { formatCount } from '../../../kernel/text.ts'
import type { ChangeReport, FileChange } from '../changes.ts'
import { type Area, type AreaContext, foldCase, parseArea, type ScopePath, scopePath } from './area.ts'
import { fileKind, manifestsOf } from './file-kind.ts'

/** The declared scope of an attempt. */
export interface Scope {
  /** As declared; nothing can be judged if empty. */
  readonly areas: readonly Area[]
  readonly included: readonly Area[]
  readonly excluded: readonly Area[]
  /** The project's folder relative to the work tree, case-folded. */
  readonly prefix: string
}

/** Whether a scope covers a path, does not mention it, or excludes it. */
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

export function isDeclared(scope: Scope): boolean {
  return scope.areas.length > 0
}

/** How the scope covers a path relative to the work tree. Exclusions win. */
export function coverage(scope: Scope, path: string): ScopeCoverage {
  const subject = scopePath(path, scope.prefix)
  if (scope.excluded.some((area) => area.matches(subject))) return 'excluded'
  if (!isDeclared(scope)) return 'silent'
  const guarded = isGuarded(subject)
  const names = (area: Area): boolean => (!guarded || isWaymarkArea(area)) && area.matches(subject)
  // Only exclusions: everything else is covered.
  if (scope.included.length === 0) return guarded ? 'silent' : 'covered'
  return scope.included.some(names) ? 'covered' : 'silent'
}

/** Processes control what agents may do: a broad area does not cover them, they must be named. */
function isGuarded({ top }: ScopePath): boolean {
  return top.startsWith('.waymark/') || top.includes('/.waymark/')
}

function isWaymarkArea(area: Area): boolean {
  return foldCase(area.text).includes('.waymark')
}

/** The scope of a changed file. Only `out` breaks a scope; `imported` was not the task's work. */
export type FileScope = 'in' | 'companion' | 'shared' | 'out' | 'imported'

/** The scope by path alone, without a change's origin. */
export type PathScope = Exclude<FileScope, 'imported'>

/** Judges one path, also for an edit that has not happened yet. */
export function judgePath(scope: Scope, path: string): PathScope {
  const covers = coverage(scope, path)
  if (covers === 'covered') return 'in'
  if (covers === 'excluded' || isGuarded(scopePath(path, scope.prefix))) return 'out'
  const kind = fileKind(path)
  if (kind === 'source') return 'out'
  return kind === 'lock' ? 'companion' : 'shared'
}

/** Judges one change: the best result of all declared scopes, and the worse end of a rename. */
function judgeChange(
  scopes: readonly Scope[],
  change: FileChange,
  { sensitive, named }: SensitiveFiles,
): FileScope | null {
  if (change.origin === 'imported') return 'imported'
  const declared = scopes.filter(isDeclared)
  const ends = change.from === undefined ? [change.path] : [change.from, change.path]
  const needsReview = (path: string): boolean =>
    sensitive.has(path) && !named.has(path) && !declared.some((scope) => hasAreaForPath(scope, path))
  if (ends.some(needsReview)) return 'out'
  if (declared.length === 0) return null
  return ends.map((path) => bestScope(declared.map((scope) => judgePath(scope, path)))).reduce(worseScope)
}

/** Whether an area names a path more precisely than "everything". */
function hasAreaForPath(scope: Scope, path: string): boolean {
  const subject = scopePath(path, scope.prefix)
  if (scope.excluded.some((area) => area.matches(subject))) return false
  return scope.included.some(
    (area) => area.kind !== 'everything' && !/^[./*?{},\s]*$/.test(area.text) && area.matches(subject),
  )
}

/** Files that control what runs or what agents are told: unnamed ones need a person. */
export interface SensitiveFiles {
  /** By path, what each controls. */
  readonly sensitive: ReadonlyMap<string, string>
  /** The paths that the outcome names. */
  readonly named: ReadonlySet<string>
}

const noSensitiveFiles: SensitiveFiles = { sensitive: new Map(), named: new Set() }

const RANK = { in: 0, companion: 1, shared: 2, out: 3 } as const satisfies Record<PathScope, number>

function worseScope(a: PathScope, b: PathScope): PathScope {
  return RANK[b] > RANK[a] ? b : a
}

function bestScope(scopes: readonly PathScope[]): PathScope {
  return scopes.reduce((better, scope) => (RANK[scope] < RANK[better] ? scope : better), 'out')
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

/** Judges a report's changes. `subtaskScopes` returns further scopes that may allow a path. */
export function judgeScope(
  scope: Scope,
  report: Pick<ChangeReport, 'status' | 'changes'>,
  subtaskScopes: (path: string) => readonly Scope[] = () => [],
  sensitive: SensitiveFiles = noSensitiveFiles,
): ScopeResult {
  const judged = report.changes.map((change) => ({
    change,
    scope: judgeChange([scope, ...subtaskScopes(change.path)], change, sensitive),
  }))
  // Without areas, only sensitive files are judged.
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

/** Warnings about judged changes: files out of scope first. */
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
  const sensitiveOut = files
    .filter(({ scope }) => scope === 'out')
    .flatMap(({ change: { path, from = path } }) => {
      const kind = sensitive.get(path) ?? sensitive.get(from)
      return kind === undefined ? [] : [`${path} (${kind})`]
    })
  if (sensitiveOut.length === 0) return []
  return [
    `${formatCount(sensitiveOut.length, 'sensitive file')} changed, ${unnamedWords} ${sensitiveOut.length === 1 ? 'names it' : 'names them'}: ${namePathList(sensitiveOut)}.`,
  ]
}

const unnamedWords = 'and neither the areas nor the outcome'
const outOfScopeWords = ' file(s) modified outside declared scope'

/** Whether a warning counts files outside the scope, without naming them. */
export function isOutOfScopeNote(warning: string): boolean {
  return warning.includes(outOfScopeWords)
}

/** The same warnings when only so many files are still out of scope. */
export function outOfScopeNotesFor(warnings: readonly string[], count: number): readonly string[] {
  if (count > 0)
    return warnings.map((warning) =>
      isOutOfScopeNote(warning) ? warning.replace(/\d+/, String(count)) : warning,
    )
  return warnings.filter((warning) => !isOutOfScopeNote(warning) && !warning.includes(unnamedWords))
}

/** Mission Control's wording, which its clients know. */
function outOfScopeNotes(scope: Scope, files: readonly ScopeAssignment[]): readonly string[] {
  const count = files.filter((file) => file.scope === 'out').length
  if (count === 0 || !isDeclared(scope)) return []
  const areas = scope.areas.map((area) => area.text).join(', ')
  return [`⚠️ ${count}${outOfScopeWords} (${areas})`]
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
    : [
        `Also in scope: ${namePathList(paths)}. Every scope includes tests, docs, manifests and configuration.`,
      ]
}

// The reflog decides whether a commit was imported, and anyone working here can write it.
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

/** Whether an area may be a workspace package, so that packages must be read. */
export function hasPackageArea(areas: readonly string[]): boolean {
  return areas.some((area) => area.trim().replace(/^!/, '').startsWith('@'))
}
