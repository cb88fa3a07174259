import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface VerdictGuard {
  readonly type: 'verdict'
  readonly condition: 'proven'
}

/** Every done task of the subject is proven. */
export const verdict: GuardKind<VerdictGuard> = {
  needs: () => [{ kind: 'tasks', phase: null }, { kind: 'verdicts' }],
  evaluate: (_, { observed }) => {
    const done = observed.tasks?.filter((task) => task.phase === null && task.done) ?? []
    if (done.length === 0) return unknownGuard('no task is done', 'Complete a task.')
    const left = done.filter((task) => task.verdict !== 'proven')
    const [first] = left
    if (!first)
      return satisfiedGuard(done.length === 1 ? 'the task is proven' : `all ${done.length} tasks are proven`)
    const more = left.length > 1 ? `, and ${left.length - 1} more are not proven` : ''
    return unsatisfiedGuard(
      `${first.id} is ${first.verdict ?? 'not measured'}${more}`,
      `Give it a check that passes (done_when), or ask a person: waymark show ${first.id}`,
    )
  },
}
