import { type PathPatterns, pathPatterns, patternProblem } from '../../../kernel/path-pattern.ts'
import type { SharedKind } from '../../../track/domain/scope/file-kind.ts'
import type { ObservedChanges } from '../evidence.ts'
import { type GuardKind, type GuardResult, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export type ChangesGuard = { readonly type: 'changes' } & (
  | {
      readonly condition: 'in_scope'
      /** The kinds of shared files that may change though no area names them; absent: all of them. */
      readonly shared?: readonly SharedKind[]
    }
  | { readonly condition: 'none' }
  | { readonly condition: 'touches' | 'touches_only' | 'touches_none'; readonly paths: readonly string[] }
)

type ObservedFile = ObservedChanges['files'][number]

/** The files that really changed, as Waymark measured them. */
export const changes: GuardKind<ChangesGuard> = {
  needs: ({ condition }) => [{ kind: 'changes', net: condition !== 'in_scope' }],
  evaluate: (guard, { observed }) => {
    if (observed.changes === null || !observed.changes.complete) {
      return unknownGuard(
        'the changes could not be measured',
        'Work in a task, so that its changes are measured.',
      )
    }
    switch (guard.condition) {
      case 'in_scope':
        return judgeScope(guard, observed.changes)
      case 'none':
        return (
          changesRefusal('files changed', observed.changes.files.filter(isStillChanged)) ??
          satisfiedGuard('nothing changed')
        )
      case 'touches':
      case 'touches_only':
      case 'touches_none':
        return judgePaths(guard, observed.changes.files)
    }
  },
}

function judgeScope(
  guard: Extract<ChangesGuard, { readonly condition: 'in_scope' }>,
  { files, undeclared: [undeclared], between: [unclaimed] = [] }: ObservedChanges,
): GuardResult {
  if (undeclared !== undefined) {
    return unknownGuard(
      `${undeclared} changed in a task that declared no areas`,
      'Start a task whose areas cover it, so that the change can be judged.',
    )
  }
  if (unclaimed !== undefined) {
    return unknownGuard(
      `${unclaimed} changed while no task of this work was open`,
      'Undo the change, or start a task whose areas cover it, so that it can be judged.',
    )
  }
  const outside = files.filter(({ inScope }) => !inScope)
  if (outside.length > 0) {
    return unsatisfiedGuard(
      `changed outside the scope: ${changedFileNames(outside)}`,
      'Undo the changes, or have a person accept them: waymark inbox.',
    )
  }
  const unnamed = files.filter(({ shared }) => shared != null && guard.shared?.includes(shared) === false)
  if (unnamed.length === 0) return satisfiedGuard('every change is in scope')
  return unsatisfiedGuard(
    `changed though no area names them: ${changedFileNames(unnamed, ({ path, shared }) => `${path} (${shared})`)}`,
    'Name them in the areas of a task, or undo the changes.',
  )
}

function judgePaths(
  { condition, paths }: Extract<ChangesGuard, { readonly paths: unknown }>,
  files: readonly ObservedFile[],
): GuardResult {
  const wrong = paths.find((path) => patternProblem(path) !== null)
  if (wrong !== undefined || paths.length === 0) {
    const what = wrong === undefined ? 'no path is named' : `"${wrong}" ${patternProblem(wrong)}`
    return unknownGuard(what, 'Correct the process: waymark process lint.')
  }
  const patterns = pathPatterns(paths)
  if (condition === 'touches') {
    return judgeRequiredChanges(
      patterns,
      files.filter(({ isBetween }) => isBetween !== true),
    )
  }
  const standing = files.filter(isStillChanged)
  if (condition === 'touches_only') {
    const beside = standing.filter((file) => !isMatchingFile(patterns, file))
    return (
      changesRefusal('changed beside what may change', beside) ??
      satisfiedGuard(`only ${paths.join(', ')} changed`)
    )
  }
  const touched = standing.filter((file) => isMatchingFile(patterns, file))
  const refused = changesRefusal('changed although it must not', touched)
  if (refused) return refused
  const folder = standing.find(isFolder)
  if (folder === undefined) return satisfiedGuard(`nothing of ${paths.join(', ')} changed`)
  return unknownGuard(
    `${folder.path} came or went with too many files to name each`,
    'Leave it out of the work tree, or let git ignore it.',
  )
}

/** Each pattern needs a file that is other than at the beginning. */
function judgeRequiredChanges({ each }: PathPatterns, files: readonly ObservedFile[]): GuardResult {
  const missing = each.filter(
    (one) => !files.some((file) => file.differs === true && isMatchingFile(one, file)),
  )
  if (missing.length === 0) return satisfiedGuard(`${each.map(({ text }) => text).join(', ')} changed`)
  const words = missing.map((one) => {
    const back = files.filter((file) => file.differs === false && isMatchingFile(one, file))
    return back.length === 0 ? one.text : `${one.text} (${changedFileNames(back)} is as it was)`
  })
  const unseen = files.find(
    (file) => file.differs === null && missing.some((one) => isMatchingFile(one, file)),
  )
  if (unseen !== undefined) {
    return unknownGuard(
      `it cannot be seen from here whether ${unseen.path} is other than at the beginning (needed: ${words.join(', ')})`,
      'Send the event from the machine and the work tree that the work was done in.',
    )
  }
  return unsatisfiedGuard(
    `nothing changed that matches ${words.join(', ')}`,
    'Change a file that each of them names, in a task.',
  )
}

/** What is as it was before the work has not changed in the end; what cannot be seen counts as changed. */
function isStillChanged({ differs }: ObservedFile): boolean {
  return differs !== false
}

/** A repository that came or went with many files is one entry, which ends in a slash. */
function isFolder({ path }: Pick<ObservedFile, 'path'>): boolean {
  return path.endsWith('/')
}

function isMatchingFile(patterns: Pick<PathPatterns, 'matches'>, { own, path }: ObservedFile): boolean {
  if (own === null) return false
  // Of a folder only what names all that is in it.
  return patterns.matches(isFolder({ path }) ? `${own}\u{1}/\u{1}` : own)
}

function changesRefusal(what: string, files: readonly ObservedFile[]): GuardResult | null {
  return files.length === 0
    ? null
    : unsatisfiedGuard(`${what}: ${changedFileNames(files)}`, 'Undo the changes.')
}

function changedFileNames(
  files: readonly ObservedFile[],
  words: (file: ObservedFile) => string = ({ path }) => path,
): string {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : ''
  return `${files.slice(0, 5).map(words).join(', ')}${more}`
}
