import { excerpt } from '../../../kernel/text.ts'
import { lastReturn } from '../artifacts.ts'
import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface TaskGuard {
  readonly type: 'task'
  /** `done_again`: of a run that went back to an earlier state, a task changed something since, or a person accepted it. */
  /** `approved`: none ended after the run's last approval, which shows none of them. */
  readonly condition: 'all_done' | 'done_again' | 'approved'
  /** Null: all tasks of the run's subject. */
  readonly phase: string | null
}

/** All tasks are done, or one was done again; without any task, the guard fails. */
export const task: GuardKind<TaskGuard> = {
  needs: ({ phase }) => [{ kind: 'tasks', phase }],
  evaluate: ({ phase, condition }, { observed, visits }) => {
    const where = phase === null ? '' : ` of phase ${phase}`
    if (condition === 'done_again' && lastReturn(visits) === null)
      return satisfiedGuard('nothing was sent back')
    const tasks = observed.tasks?.filter((event) => phase === null || event.phase === phase) ?? []
    if (tasks.length === 0) return unknownGuard(`there are no tasks${where}`, 'Add a task, and complete it.')
    if (condition === 'done_again') {
      if (tasks.some(({ done, doneAgain }) => done && doneAgain === 'done'))
        return satisfiedGuard('a task was done since')
      const unchanged = tasks.find(({ done, doneAgain }) => done && doneAgain === 'unchanged')
      if (unchanged !== undefined) {
        const { id, name = id } = unchanged
        return unsatisfiedGuard(
          `"${excerpt(name, 80)}" was done since the work was sent back, and changed nothing`,
          `Change what was asked for in a task. If nothing has to change, a person accepts that: waymark review ${id}`,
        )
      }
      return unsatisfiedGuard(
        `no task${where} was done since the work was sent back`,
        'Do what was asked for in a new task, or start a task again: first set its status to to_do. If nothing has to change, say why with "no_change_reason": "…" in the outcome of complete_task; a person then accepts the task.',
      )
    }
    if (condition === 'approved') {
      const unseen = tasks.filter(({ isUnseen }) => isUnseen)
      const [first] = unseen
      if (first === undefined) return satisfiedGuard(`no task${where} ended after the approval`)
      const { id, name = id } = first
      const others = unseen.length > 1 ? ` and ${unseen.length - 1} more` : ''
      return unsatisfiedGuard(
        `the approval does not show "${excerpt(name, 80)}" (${id})${others}, completed after it`,
        `A person reviews it: waymark review ${id}`,
      )
    }
    const left = tasks.filter(({ done }) => !done)
    const open = left.map(({ id, name, undone }) => {
      const named = name === undefined ? id : `"${excerpt(name, 80)}" (${id})`
      return undone ? `${named}, which was undone` : named
    })
    if (open.length === 0) {
      return satisfiedGuard(
        tasks.length === 1 ? `the task${where} is done` : `all ${tasks.length} tasks${where} are done`,
      )
    }
    const more = open.length > 5 ? ` and ${open.length - 5} more` : ''
    return unsatisfiedGuard(
      `open tasks${where}: ${open.slice(0, 5).join(', ')}${more}`,
      left.some(({ undone }) => undone)
        ? 'Complete them. Reopen what was undone: waymark task edit <task> --status to_do. Then it is done again, or dropped: waymark task drop <task> "<reason>".'
        : 'Complete them. What is not needed, a person drops: waymark task drop <task> "<reason>".',
    )
  },
}
