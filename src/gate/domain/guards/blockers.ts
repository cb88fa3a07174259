import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface BlockersGuard {
  readonly type: 'blockers'
  readonly condition: 'none'
}

/** Nothing waits for a person. */
export const blockers: GuardKind<BlockersGuard> = {
  needs: () => [{ kind: 'blockers' }],
  evaluate: (_, { observed }) => {
    const open = observed.openBlockers
    if (open === null)
      return unknownGuard('the blockers are unknown', 'Start the run for a mission or a task.')
    if (open.length === 0) return satisfiedGuard('no blocker is open')
    return unsatisfiedGuard(
      `open blockers: ${open.slice(0, 5).join(', ')}${open.length > 5 ? ` and ${open.length - 5} more` : ''}`,
      'Ask a person to answer them: waymark inbox',
    )
  },
}
