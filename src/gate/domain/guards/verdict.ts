import { excerpt } from '../../../kernel/text.ts'
import type { VerdictRule } from '../../../track/domain/verdict.ts'
import type { ObservedTask } from '../evidence.ts'
import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface VerdictGuard {
  readonly type: 'verdict'
  readonly condition: 'proven'
}

/** Every done task of the subject is proven, or a person accepted it. */
export const verdict: GuardKind<VerdictGuard> = {
  needs: () => [{ kind: 'tasks', phase: null }, { kind: 'verdicts' }],
  evaluate: (_, { observed }) => {
    const done = observed.tasks?.filter((task) => task.phase === null && task.done) ?? []
    if (done.length === 0) return unknownGuard('no task is done', 'Complete a task.')
    const accepted = done.filter((task) => task.verdict !== 'proven' && task.acceptedBy !== undefined)
    const left = done.filter((task) => task.verdict !== 'proven' && task.acceptedBy === undefined)
    const [first] = left
    if (!first) {
      const people = [...new Set(accepted.map(({ acceptedBy }) => acceptedBy))].slice(0, 3).join(', ')
      const rest = accepted.length === 0 ? '' : ` or accepted: ${accepted.length} by ${people}`
      return satisfiedGuard(
        `${done.length === 1 ? 'the done task is' : `all ${done.length} done tasks are`} proven${rest}`,
      )
    }
    const why = first.doubt === undefined ? '' : `: ${excerpt(first.doubt.text, 160).replace(/\.$/, '')}`
    const more =
      left.length > 1 ? `; ${left.length - 1} more ${left.length === 2 ? 'is' : 'are'} not proven` : ''
    const named = first.name === undefined ? first.id : `"${excerpt(first.name, 80)}" (${first.id})`
    return unsatisfiedGuard(`${named} is ${first.verdict ?? 'not measured'}${why}${more}`, fixOf(first))
  },
}

/** What works for the reason why a task is not proven. */
function fixOf({ id, verdict: is, doubt }: ObservedTask): string {
  const accept = `a person accepts it: waymark review ${id}`
  if (is == null)
    return `Set its status to to_do, start it again and complete it, so that it is measured. Or ${accept}`
  if (is === 'contradicted') return `Its agent corrects it, or ${accept}`
  const fix = doubt && fixes[doubt.rule]
  return fix === undefined ? `Its agent completes it again, or ${accept}` : fix({ id, accept })
}

type Fix = (task: { readonly id: string; readonly accept: string }) => string

const runChecks: Fix = ({ id, accept }) =>
  `Run its checks: waymark verify ${id}. If its files changed since, ${accept}`

const fixes: Readonly<Partial<Record<VerdictRule, Fix>>> = {
  no_check: ({ accept }) =>
    `Give tasks a check, such as: waymark setting set done_when '{"check": ["npm test"]}'. For this one, ${accept}`,
  check_not_approved: (task) => `Allow its check, if the inbox asks: waymark inbox. ${runChecks(task)}`,
  check_not_run: runChecks,
  check_disturbed: runChecks,
  check_failed_shared: runChecks,
  measurement_partial: ({ id }) =>
    `A person accepts it: waymark review ${id}. Or the agents say whose the files are: the other one names them in its summary, or this one denies them (a correction with not_mine)`,
}
