import { shellCommand } from '../../../kernel/shell-word.ts'
import { excerpt, joinNames } from '../../../kernel/text.ts'
import { hasLinesToLand, landingWords } from '../../../track/domain/landed.ts'
import type { ObservedTask } from '../evidence.ts'
import { type GuardKind, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface LandedGuard {
  readonly type: 'landed'
  /** Null: the default branch of the project. */
  readonly branch: string | null
}

/** The lines of every done task of the subject are on the branch, as last measured. */
export const landed: GuardKind<LandedGuard> = {
  needs: () => [{ kind: 'tasks', phase: null }, { kind: 'landings' }],
  evaluate: ({ branch }, { observed }) => {
    const done = observed.tasks?.filter((task) => task.phase === null && task.done) ?? []
    if (done.length === 0) return unknownGuard('no task is done', 'Complete a task, and merge its work.')
    const unknown = done.filter(({ landed: where }) => !where || where.is === 'unknown')
    if (unknown.length > 0) {
      return unknownGuard(
        `it was not measured whether ${namesOf(unknown)} landed`,
        `Run: waymark landed${onMachines(unknown)}`,
      )
    }
    const other = done.find(
      ({ landed: where }) => branch !== null && where?.branch != null && !isOn(where.branch, branch),
    )
    if (other) {
      return unknownGuard(
        `tasks are measured against ${other.landed?.branch}, not ${branch}`,
        `Run: ${shellCommand`waymark setting set default_branch ${branch}`}`,
      )
    }
    const left = done.filter(
      ({ landed: where, replacementOpen }) =>
        where && where.is !== 'landed' && (hasLinesToLand(where.is) || replacementOpen),
    )
    const [first] = left
    if (!first?.landed)
      return satisfiedGuard(
        `the lines of ${done.length === 1 ? 'the task' : `all ${done.length} tasks`} landed`,
      )
    const others = left.length - 1
    const more = others === 0 ? '' : `, and ${others} more ${others === 1 ? 'task' : 'tasks'} did not land`
    return unsatisfiedGuard(
      `${nameOf(first)} is ${landingWords(first.landed)}${first.replacementOpen ? ', which did not land' : ''}${more}`,
      left.some(({ machine }) => machine !== undefined)
        ? `Merge the work, then run: waymark landed${onMachines(left)}`
        : `Merge the work into ${branch ?? 'the default branch'}, then send the event again`,
    )
  },
}

/** `main` also names the remote's `origin/main`. */
function isOn(measured: string, wanted: string): boolean {
  return measured === wanted || measured.replace(/^origin\//, '') === wanted
}

/** The machine is named with the task: a process may have a hint of its own. */
function nameOf({ id, name, machine }: ObservedTask): string {
  return `${name === undefined ? id : `"${excerpt(name, 80)}"`}${machine === undefined ? '' : ` (on ${machine})`}`
}

function namesOf(tasks: readonly ObservedTask[]): string {
  const names = tasks.slice(0, 5).map(nameOf)
  return `${names.join(', ')}${tasks.length > names.length ? ` and ${tasks.length - names.length} more` : ''}`
}

/** A machine measures what was done on it; one with the commits of another finds that these landed. */
function onMachines(tasks: readonly ObservedTask[]): string {
  const machines = [...new Set(tasks.flatMap(({ machine }) => machine ?? []))]
  return machines.length === 0
    ? ''
    : `, on ${joinNames(machines)}, or on a connected machine that has the merge, after git fetch`
}
