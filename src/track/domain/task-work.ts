import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { AttemptId, TaskId } from '../../kernel/id.ts'
import type { ReportedChange } from './changes.ts'
import { type Attempt, treeOf } from './task.ts'
import type { TaskChange, VerdictValue } from './verdict.ts'

/** Another attempt at a task, or an attempt at one of its subtasks. */
export interface RelatedAttempt {
  readonly attempt: Attempt
  /** Null while it is open, and for an abandoned one: its end was not measured. */
  readonly measured: Omit<AttemptMeasurement, 'changes' | 'mission'> | null
  readonly changes: readonly TaskChange[]
  readonly verdict: VerdictValue | null
}

/** The first attempt at the task in the work tree of this one: its start is compared with the end. */
export function firstAttempt(attempt: Attempt, related: readonly RelatedAttempt[]): Attempt {
  const earlier = related
    .map((one) => one.attempt)
    .filter((other) => other.taskId === attempt.taskId && isInSameTree(other, attempt))
  return [...earlier, attempt].reduce((first, other) => (other.number < first.number ? other : first))
}

/** What a task and its subtasks changed since its first attempt began. */
export function changesOfTask(
  attempt: Attempt,
  {
    own,
    related,
    touched,
    sessionTasks,
  }: {
    readonly own: readonly ReportedChange[]
    /** Tasks that the attempt's own session worked on: what may be theirs is no one else's. */
    readonly sessionTasks: ReadonlySet<string>
    readonly related: readonly RelatedAttempt[]
    /** The paths that differ since the first attempt began; null where that is unknown. */
    readonly touched: readonly string[] | null
  },
): readonly TaskChange[] {
  const first = firstAttempt(attempt, related)
  const differing = touched === null ? null : new Set(touched)
  const differs = ({ path, from }: TaskChange): boolean =>
    differing === null || differing.has(path) || (from !== undefined && differing.has(from))
  const isCompared = (other: Attempt): boolean =>
    isInSameTree(other, attempt) && other.openedAt >= first.openedAt
  const others = related.flatMap(({ attempt: other, changes }) =>
    isCompared(other) ? changes.filter(differs) : changes,
  )
  const unmeasured = isUnmeasured(attempt, related)
    ? (touched ?? []).map((path): TaskChange => ({ path, isForeign: true }))
    : []
  const changes = own.map((change) => taskChange(change, sessionTasks))
  return uniqueChanges([...changes.filter(differs), ...others, ...unmeasured])
}

/** Whether an attempt at the task was never measured: then anything that differs may be its work. */
function isUnmeasured(attempt: Attempt, related: readonly RelatedAttempt[]): boolean {
  return related.some(
    ({ attempt: other, measured }) =>
      other.taskId === attempt.taskId && (measured === null || measured.measurement === 'unknown'),
  )
}

/** Files that an earlier attempt at a task changed, and that are as before the task changed them. */
export interface FilesTakenBack {
  readonly attemptId: AttemptId
  readonly paths: readonly string[]
}

/** The files that each earlier attempt at the task changed in this work tree, the first attempt first. */
export function earlierFiles(
  attempt: Attempt,
  related: readonly RelatedAttempt[],
): readonly { readonly attempt: Attempt; readonly paths: readonly string[] }[] {
  return related
    .filter(({ attempt: other }) => other.taskId === attempt.taskId && isInSameTree(other, attempt))
    .toSorted((a, b) => a.attempt.number - b.attempt.number)
    .map(({ attempt: other, changes }) => {
      const own = changes.filter(({ isForeign }) => isForeign !== true)
      return { attempt: other, paths: [...new Set(own.flatMap(({ path, from = path }) => [path, from]))] }
    })
}

/** The restored files by earlier attempt. `restored` are the paths of all. */
export function filesTakenBack(
  attempt: Attempt,
  related: readonly RelatedAttempt[],
  restored: readonly string[],
): readonly FilesTakenBack[] {
  const asBefore = new Set(restored)
  return earlierFiles(attempt, related).flatMap(({ attempt: { id }, paths: changed }) => {
    const paths = changed.filter((path) => asBefore.has(path))
    return paths.length === 0 ? [] : [{ attemptId: id, paths }]
  })
}

export function taskChange(
  { path, from, origin, attribution, with: candidates = [] }: ReportedChange,
  sessionTasks: ReadonlySet<string> = new Set(),
): TaskChange {
  const isOfSession = candidates.length > 0 && candidates.every(({ taskId }) => sessionTasks.has(taskId))
  const isForeign = origin === 'imported' || (attribution === 'contested' && !isOfSession)
  return { path, ...(from !== undefined && { from }), ...(isForeign && { isForeign }) }
}

/** The change that is certainly the task's own wins over one that may not be. */
function uniqueChanges(changes: readonly TaskChange[]): readonly TaskChange[] {
  const byPath = new Map<string, TaskChange>()
  for (const change of changes) {
    const known = byPath.get(change.path)
    if (known === undefined || (known.isForeign && !change.isForeign)) byPath.set(change.path, change)
  }
  return [...byPath.values()]
}

/** Whether a measurement shows work that its changed files do not. */
export function hasOtherWork(
  measured: Pick<AttemptMeasurement, 'commits' | 'ignored' | 'elsewhere' | 'overwritten'>,
): boolean {
  const { added, modified, deleted } = measured.ignored
  const paths = measured.elsewhere?.paths ?? []
  return hasWorkInTree(measured) || added.length + modified.length + deleted.length + paths.length > 0
}

/** Whether it shows such work in the files that git tracks here. */
export function hasWorkInTree({
  commits = [],
  overwritten = [],
}: Pick<AttemptMeasurement, 'commits' | 'overwritten'>): boolean {
  return commits.some(({ author }) => author !== 'other') || overwritten.length > 0
}

/** The attempt whose end a person sent back: the last one that had ended by then. */
export function sentBackAttempt(
  { taskId }: Attempt,
  related: readonly RelatedAttempt[],
  sentBackAt: number,
): Attempt | null {
  const ended = related.flatMap(({ attempt: other }) =>
    other.taskId === taskId && other.endSnapshot !== null && (other.closedAt ?? sentBackAt + 1) <= sentBackAt
      ? [other]
      : [],
  )
  return ended.toSorted((a, b) => a.number - b.number).at(-1) ?? null
}

/** The subtasks whose last verdict contradicts their claim. */
export function contradictedSubtasks(taskId: TaskId, related: readonly RelatedAttempt[]): readonly TaskId[] {
  const last = new Map<TaskId, RelatedAttempt>()
  for (const one of related) {
    const { attempt } = one
    const known = last.get(attempt.taskId)
    if (attempt.taskId === taskId || one.measured === null) continue
    if (known === undefined || known.attempt.number < attempt.number) last.set(attempt.taskId, one)
  }
  return [...last].flatMap(([id, { verdict }]) => (verdict === 'contradicted' ? [id] : []))
}

export function isInSameTree(one: Attempt, other: Attempt): boolean {
  return treeOf(one.snapshot) === treeOf(other.snapshot)
}
