import { anyGlob } from '../../pattern.ts'
import type { SharedKind } from '../../track/scope/file-kind.ts'
import type { ObservedChanges } from '../evidence.ts'
import { type GuardKind, satisfied, unknown, unsatisfied, type Verdict } from './guard.ts'

export type ChangesGuard = { readonly type: 'changes' } & (
  | {
      readonly condition: 'in_scope'
      /** The kinds of shared files that may change though no area names them; absent: all of them. */
      readonly shared?: readonly SharedKind[]
    }
  | { readonly condition: 'none' }
  | { readonly condition: 'touches_only' | 'touches_none'; readonly paths: readonly string[] }
)

/** The files that really changed, as Waymark measured them. */
export const changes: GuardKind<ChangesGuard> = {
  needs: () => [{ kind: 'changes' }],
  evaluate: (guard, { observed }) => {
    if (observed.changes === null || !observed.changes.complete) {
      return unknown('the changes could not be measured', 'Work in a task, so that its changes are measured.')
    }
    const [undeclared] = observed.changes.undeclared
    if (guard.condition === 'in_scope' && undeclared !== undefined) {
      return unknown(
        `${undeclared} changed in a task that declared no areas`,
        'Start a task whose areas cover it, so that the change can be judged.',
      )
    }
    const offending = offendingPaths(guard, observed.changes)
    if (offending.length > 0) return refused(guard, offending)
    const unnamed = unnamedShared(guard, observed.changes)
    if (unnamed.length > 0) return refusedShared(unnamed)
    return satisfied(held(guard))
  },
}

function offendingPaths(guard: ChangesGuard, { files }: ObservedChanges): readonly string[] {
  switch (guard.condition) {
    case 'none':
      return files.map(({ path }) => path)
    case 'in_scope':
      return files.filter(({ inScope }) => !inScope).map(({ path }) => path)
    case 'touches_only': {
      const allowed = anyGlob(guard.paths)
      return files.map(({ path }) => path).filter((path) => !allowed(path))
    }
    case 'touches_none': {
      const refused = anyGlob(guard.paths)
      return files.map(({ path }) => path).filter((path) => refused(path))
    }
  }
}

/** Shared files that changed though no area of the subject's tasks names them, and that the guard does not let pass. */
function unnamedShared(guard: ChangesGuard, { files }: ObservedChanges): ObservedChanges['files'] {
  if (guard.condition !== 'in_scope' || guard.shared === undefined) return []
  const passing: readonly (string | null | undefined)[] = guard.shared
  return files.filter(({ shared }) => shared != null && !passing.includes(shared))
}

function refusedShared(files: ObservedChanges['files']): Verdict {
  const named = files.slice(0, 5).map(({ path, shared }) => `${path} (${shared})`)
  const more = files.length > 5 ? ` and ${files.length - 5} more` : ''
  return unsatisfied(
    `changed though no area names them: ${named.join(', ')}${more}`,
    'Name them in the areas of a task, or undo the changes.',
  )
}

function held(guard: ChangesGuard): string {
  switch (guard.condition) {
    case 'none':
      return 'nothing changed'
    case 'in_scope':
      return 'every change is in scope'
    case 'touches_only':
      return `only ${guard.paths.join(', ')} changed`
    case 'touches_none':
      return `nothing of ${guard.paths.join(', ')} changed`
  }
}

function refused(guard: ChangesGuard, offending: readonly string[]): Verdict {
  const named = offending.slice(0, 5).join(', ')
  const more = offending.length > 5 ? ` and ${offending.length - 5} more` : ''
  const way =
    guard.condition === 'in_scope'
      ? 'Undo the changes, or have a person accept them: waymark inbox.'
      : 'Undo the changes.'
  return unsatisfied(`${whatIsWrong[guard.condition]}: ${named}${more}`, way)
}

const whatIsWrong = {
  none: 'files changed',
  in_scope: 'changed outside the scope',
  touches_only: 'changed beside what may change',
  touches_none: 'changed although it must not',
} as const satisfies Record<ChangesGuard['condition'], string>
