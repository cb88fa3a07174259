import { type PathPatterns, pathPatterns, patternProblem } from '../../../kernel/path-pattern.ts'
import type { SharedKind } from '../../../track/domain/scope/file-kind.ts'
import type { ObservedChanges } from '../evidence.ts'
import { type GuardKind, satisfied, unknown, unsatisfied, type Verdict } from './guard.ts'

export type ChangesGuard = { readonly type: 'changes' } & (
  | {
      readonly condition: 'in_scope'
      /** The kinds of shared files that may change though no area names them; absent: all of them. */
      readonly shared?: readonly SharedKind[]
    }
  | { readonly condition: 'none' }
  | { readonly condition: 'touches' | 'touches_only' | 'touches_none'; readonly paths: readonly string[] }
)

type ChangedFile = ObservedChanges['files'][number]

/** The files that really changed, as Waymark measured them. */
export const changes: GuardKind<ChangesGuard> = {
  needs: ({ condition }) => [{ kind: 'changes', net: condition !== 'in_scope' }],
  evaluate: (guard, { observed }) => {
    if (observed.changes === null || !observed.changes.complete) {
      return unknown('the changes could not be measured', 'Work in a task, so that its changes are measured.')
    }
    switch (guard.condition) {
      case 'in_scope':
        return judgeScope(guard, observed.changes)
      case 'none':
        return (
          refusedFor('files changed', observed.changes.files.filter(stands)) ?? satisfied('nothing changed')
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
): Verdict {
  if (undeclared !== undefined) {
    return unknown(
      `${undeclared} changed in a task that declared no areas`,
      'Start a task whose areas cover it, so that the change can be judged.',
    )
  }
  if (unclaimed !== undefined) {
    return unknown(
      `${unclaimed} changed while no task of this work was open`,
      'Undo the change, or start a task whose areas cover it, so that it can be judged.',
    )
  }
  const outside = files.filter(({ inScope }) => !inScope)
  if (outside.length > 0) {
    return unsatisfied(
      `changed outside the scope: ${named(outside)}`,
      'Undo the changes, or have a person accept them: waymark inbox.',
    )
  }
  const unnamed = files.filter(({ shared }) => shared != null && guard.shared?.includes(shared) === false)
  if (unnamed.length === 0) return satisfied('every change is in scope')
  return unsatisfied(
    `changed though no area names them: ${named(unnamed, ({ path, shared }) => `${path} (${shared})`)}`,
    'Name them in the areas of a task, or undo the changes.',
  )
}

function judgePaths(
  { condition, paths }: Extract<ChangesGuard, { readonly paths: unknown }>,
  files: readonly ChangedFile[],
): Verdict {
  const wrong = paths.find((path) => patternProblem(path) !== null)
  if (wrong !== undefined || paths.length === 0) {
    const what = wrong === undefined ? 'no path is named' : `"${wrong}" ${patternProblem(wrong)}`
    return unknown(what, 'Correct the process: waymark process lint.')
  }
  const patterns = pathPatterns(paths)
  if (condition === 'touches') {
    return judgeTouched(
      patterns,
      files.filter(({ isBetween }) => isBetween !== true),
    )
  }
  const standing = files.filter(stands)
  if (condition === 'touches_only') {
    const beside = standing.filter((file) => !matches(patterns, file))
    return (
      refusedFor('changed beside what may change', beside) ?? satisfied(`only ${paths.join(', ')} changed`)
    )
  }
  const touched = standing.filter((file) => matches(patterns, file))
  const refused = refusedFor('changed although it must not', touched)
  if (refused) return refused
  const folder = standing.find(isFolder)
  if (folder === undefined) return satisfied(`nothing of ${paths.join(', ')} changed`)
  return unknown(
    `${folder.path} came or went with too many files to name each`,
    'Leave it out of the work tree, or let git ignore it.',
  )
}

/** Each pattern needs a file that is other than at the beginning. */
function judgeTouched({ each }: PathPatterns, files: readonly ChangedFile[]): Verdict {
  const missing = each.filter((one) => !files.some((file) => file.differs === true && matches(one, file)))
  if (missing.length === 0) return satisfied(`${each.map(({ text }) => text).join(', ')} changed`)
  const words = missing.map((one) => {
    const back = files.filter((file) => file.differs === false && matches(one, file))
    return back.length === 0 ? one.text : `${one.text} (${named(back)} is as it was)`
  })
  const unseen = files.find((file) => file.differs === null && missing.some((one) => matches(one, file)))
  if (unseen !== undefined) {
    return unknown(
      `it cannot be seen from here whether ${unseen.path} is other than at the beginning (needed: ${words.join(', ')})`,
      'Send the event from the machine and the work tree that the work was done in.',
    )
  }
  return unsatisfied(
    `nothing changed that matches ${words.join(', ')}`,
    'Change a file that each of them names, in a task.',
  )
}

/** What is as it was before the work has not changed in the end; what cannot be seen counts as changed. */
function stands({ differs }: ChangedFile): boolean {
  return differs !== false
}

/** A repository that came or went with many files is one entry, which ends in a slash. */
function isFolder({ path }: Pick<ChangedFile, 'path'>): boolean {
  return path.endsWith('/')
}

function matches(patterns: Pick<PathPatterns, 'matches'>, { own, path }: ChangedFile): boolean {
  if (own === null) return false
  // Of a folder only what names all that is in it.
  return patterns.matches(isFolder({ path }) ? `${own}\u{1}/\u{1}` : own)
}

function refusedFor(what: string, files: readonly ChangedFile[]): Verdict | null {
  return files.length === 0 ? null : unsatisfied(`${what}: ${named(files)}`, 'Undo the changes.')
}

function named(
  files: readonly ChangedFile[],
  words: (file: ChangedFile) => string = ({ path }) => path,
): string {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : ''
  return `${files.slice(0, 5).map(words).join(', ')}${more}`
}
