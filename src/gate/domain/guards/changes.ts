import { type PathPatterns, pathPatterns, patternProblem } from '../../../kernel/path-pattern.ts'
import type { SharedKind } from '../../../track/domain/scope/file-kind.ts'
import type { ObservedChanges } from '../evidence.ts'
import { type GuardKind, type GuardResult, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export type ChangesGuard = { readonly type: 'changes' } & (
  | {
      readonly condition: 'in_scope'
      /** The kinds of shared files that may change out of scope; absent: all. */
      readonly shared?: readonly SharedKind[]
    }
  | { readonly condition: 'none' }
  | { readonly condition: 'touches' | 'touches_only' | 'touches_none'; readonly paths: readonly string[] }
)

type ObservedFile = ObservedChanges['files'][number]

/** A finding that blocks a guard, with all its files. */
export interface ChangesFinding extends Omit<GuardResult, 'status'> {
  readonly status: Exclude<GuardResult['status'], 'holds'>
  /** A person may accept exactly this; missing work and errors of the process cannot be accepted. */
  readonly isAcceptable: boolean
  readonly paths: readonly string[]
  /** An item of its task asks about it when that task is completed. */
  readonly isAskedAtTask?: true
  /** The paths are not exact: only the whole work tree is. */
  readonly isWholeTree?: true
}

/** The files that really changed, as Waymark measured them. */
export const changes: GuardKind<ChangesGuard> = {
  needs: ({ condition }) => [{ kind: 'changes', net: condition !== 'in_scope' }],
  evaluate: (guard, { observed: { changes: observed } }) => {
    if (observed === null)
      return unknownGuard(unmeasured, 'Work in a task, so that its changes are measured.')
    const found = changesFindings(guard, observed)
    const accepted = observed.accepted?.find(({ guard: key }) => key === changesGuardKey(guard))
    const [first] = accepted ? found.filter(({ isAcceptable }) => !isAcceptable) : found
    if (first) return { status: first.status, reason: first.reason, fix: first.fix }
    const [passed] = found
    return satisfiedGuard(
      passed ? `${passed.reason}; ${accepted?.author} accepted it` : satisfiedWords(guard),
    )
  },
}

/** A key of the guard's condition, independent of its name. */
export function changesGuardKey(guard: ChangesGuard): string {
  return JSON.stringify(guard)
}

const unmeasured = 'the changes could not be measured'
const undoOrAccept =
  'Undo the changes. Or emit the event: then a person can approve them, in the inbox (waymark inbox)'

/** All findings that block a guard; none if it is satisfied. */
export function changesFindings(guard: ChangesGuard, observed: ObservedChanges): readonly ChangesFinding[] {
  const { complete, unreadable = [], isOpaque = false } = observed
  const hidden: ChangesFinding[] = complete
    ? []
    : [
        {
          status: 'unknown',
          reason: unreadable.length === 0 ? unmeasured : `${unmeasured}: ${listNames(unreadable)}`,
          fix: `Make git and the disk agree, then complete the task. After completion, ask a person to accept it: waymark inbox`,
          isAcceptable: true,
          paths: unreadable,
          ...((isOpaque || unreadable.length === 0) && { isWholeTree: true }),
        },
      ]
  const judged =
    guard.condition === 'in_scope' ? judgeScope(guard, observed) : judgePaths(guard, observed.files)
  return [...hidden, ...judged.flatMap((finding) => finding ?? [])]
}

function satisfiedWords(guard: ChangesGuard): string {
  switch (guard.condition) {
    case 'in_scope':
      return 'every change is in scope'
    case 'none':
      return 'nothing changed'
    case 'touches':
      return `${pathPatterns(guard.paths)
        .each.map(({ text }) => text)
        .join(', ')} changed`
    case 'touches_only':
      return `only ${guard.paths.join(', ')} changed`
    case 'touches_none':
      return `nothing of ${guard.paths.join(', ')} changed`
  }
}

type Judgement = readonly (ChangesFinding | null)[]

function judgeScope(
  guard: Extract<ChangesGuard, { readonly condition: 'in_scope' }>,
  { files, undeclared, between = [] }: ObservedChanges,
): Judgement {
  const outside = files.filter(
    ({ inScope, path }) => !inScope && !undeclared.includes(path) && !between.includes(path),
  )
  const unnamed = files.filter(
    ({ inScope, shared }) => inScope && shared != null && guard.shared?.includes(shared) === false,
  )
  return [
    findingOf('unknown', undeclared, {
      reason: `${listNames(undeclared)} changed in a task without a scope`,
      fix: 'Start a task whose scope covers it. Or emit the event: then a person can approve it, in the inbox (waymark inbox)',
    }),
    findingOf('unknown', between, {
      reason: `${listNames(between)} changed while no task of this work was open`,
      fix: 'Undo the change, or start a task whose scope covers it. Or emit the event: then a person can approve it, in the inbox (waymark inbox)',
    }),
    findingOf('fails', pathsOf(outside), {
      reason: `changed out of scope: ${changedFileNames(outside)}`,
      ...(outside.every(({ isBetween }) => !isBetween)
        ? {
            isAskedAtTask: true,
            fix: 'Undo the changes, or complete their task: then a person is asked about them, in the inbox (waymark inbox)',
          }
        : { fix: undoOrAccept }),
    }),
    findingOf('fails', pathsOf(unnamed), {
      reason: `changed though no area names them: ${changedFileNames(unnamed, ({ path, shared }) => `${path} (${shared})`)}`,
      fix: 'Name them in the scope of a task, or undo the changes. Or emit the event: then a person can approve them, in the inbox (waymark inbox)',
    }),
  ]
}

/** Null if it is about no file. */
function findingOf(
  status: ChangesFinding['status'],
  paths: readonly string[],
  words: Pick<ChangesFinding, 'reason' | 'fix' | 'isAskedAtTask'>,
): ChangesFinding | null {
  if (paths.length === 0) return null
  return {
    status,
    ...words,
    isAcceptable: true,
    paths,
    ...(paths.some((path) => isFolder({ path })) && { isWholeTree: true }),
  }
}

function pathsOf(files: readonly ObservedFile[]): readonly string[] {
  return files.map(({ path }) => path)
}

function judgePaths(
  guard: Exclude<ChangesGuard, { readonly condition: 'in_scope' }>,
  files: readonly ObservedFile[],
): Judgement {
  const changed = files.filter(isStillChanged)
  if (guard.condition === 'none') return [changesRefusal('files changed', changed)]
  const { condition, paths } = guard
  const wrong = paths.find((path) => patternProblem(path) !== null)
  if (wrong !== undefined || paths.length === 0) {
    const what = wrong === undefined ? 'no path is named' : `"${wrong}" ${patternProblem(wrong)}`
    return [unacceptable(unknownGuard(what, 'Fix the process: waymark process lint'))]
  }
  const patterns = pathPatterns(paths)
  switch (condition) {
    case 'touches':
      return [
        judgeRequiredChanges(
          patterns,
          files.filter(({ isBetween }) => isBetween !== true),
        ),
      ]
    case 'touches_only':
      return [
        changesRefusal(
          'changed, and is not among the allowed paths',
          changed.filter((file) => !isMatchingFile(patterns, file)),
        ),
      ]
    case 'touches_none': {
      const touched = changed.filter((file) => isMatchingFile(patterns, file))
      const folders = changed.filter((file) => isFolder(file) && !touched.includes(file))
      return [
        changesRefusal('changed, and must not', touched),
        findingOf('unknown', pathsOf(folders), {
          reason: `${folders[0]?.path} was added or removed with too many files to list`,
          fix: 'Remove it from the work tree, or let git ignore it. Or emit the event: then a person can approve it, in the inbox (waymark inbox)',
        }),
      ]
    }
  }
}

function unacceptable({ status, reason, fix }: GuardResult): ChangesFinding | null {
  return status === 'holds' ? null : { status, reason, fix, isAcceptable: false, paths: [] }
}

/** Each pattern needs a file that is other than at the beginning. */
function judgeRequiredChanges({ each }: PathPatterns, files: readonly ObservedFile[]): ChangesFinding | null {
  const missing = each.filter(
    (one) => !files.some((file) => file.differs === true && isMatchingFile(one, file)),
  )
  if (missing.length === 0) return null
  const words = missing.map((one) => {
    const back = files.filter((file) => file.differs === false && isMatchingFile(one, file))
    return back.length === 0 ? one.text : `${one.text} (${changedFileNames(back)} is as it was)`
  })
  const unseen = files.find(
    (file) => file.differs === null && missing.some((one) => isMatchingFile(one, file)),
  )
  if (unseen !== undefined) {
    return unacceptable(
      unknownGuard(
        `this machine cannot see whether ${unseen.path} has changed (needed: ${words.join(', ')})`,
        'Send the event from the machine and work tree of the work.',
      ),
    )
  }
  return unacceptable(
    unsatisfiedGuard(
      `nothing changed that matches ${words.join(', ')}`,
      'Change a file that each of them names, in a task.',
    ),
  )
}

/** A file that is the same as before the work did not change; an unknown one counts as changed. */
function isStillChanged({ differs }: ObservedFile): boolean {
  return differs !== false
}

/** A repository that came or went with many files is one entry, which ends in a slash. */
function isFolder({ path }: Pick<ObservedFile, 'path'>): boolean {
  return path.endsWith('/')
}

function isMatchingFile(patterns: Pick<PathPatterns, 'matches'>, { own, path }: ObservedFile): boolean {
  if (own === null) return false
  // A folder only matches a pattern for all its content.
  return patterns.matches(isFolder({ path }) ? `${own}\u{1}/\u{1}` : own)
}

function changesRefusal(what: string, files: readonly ObservedFile[]): ChangesFinding | null {
  return findingOf('fails', pathsOf(files), {
    reason: `${what}: ${changedFileNames(files)}`,
    fix: undoOrAccept,
  })
}

function changedFileNames(
  files: readonly ObservedFile[],
  words: (file: ObservedFile) => string = ({ path }) => path,
): string {
  return listNames(files.map((file) => words(file) + (file.isBetween ? betweenWords : '')))
}

const betweenWords = ' (while no task of this work was open)'

function listNames(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return `${names.slice(0, 5).join(', ')}${more}`
}
