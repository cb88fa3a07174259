import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface MilestoneGuard {
  readonly type: 'milestone'
  readonly id: string
}

/** A milestone of the plan is reached. */
export const milestone: GuardKind<MilestoneGuard> = {
  needs: ({ id }) => [{ kind: 'milestone', id }],
  evaluate: ({ id }, { observed }) => {
    const found = observed.milestones.find((event) => event.id === id)
    if (!found) return unknownGuard(`there is no milestone ${id}`, `Add milestone ${id} to the plan.`)
    return found.reached
      ? satisfiedGuard(`milestone ${id} is reached`)
      : unsatisfiedGuard(`milestone ${id} is not reached`, `Reach milestone ${id}, and mark it as reached.`)
  },
}
