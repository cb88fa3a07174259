import type { AttemptId, InboxItemId, MissionId, TaskId } from '../../kernel/id.ts'
import { formatCount } from '../../kernel/text.ts'
import { type Attempt, isCompleted, type SnapshotLocation, type Task } from './task.ts'

export const lossEnds = ['head', 'start', 'gone'] as const

/** A kept, uncommitted content that is neither on the disk nor in git any more. */
export interface LostContent {
  readonly path: string
  /** The position of the state that had it among those that were compared. */
  readonly state: number
  /** HEAD's content, the one that an attempt began with, or nothing. */
  readonly became: (typeof lossEnds)[number]
  /** The positions of the compared starts of attempts that had it already. */
  readonly startedWith: readonly number[]
  /** The positions of those that had nothing uncommitted there. */
  readonly startedWithout: readonly number[]
  /** The positions of the states before undos that had nothing uncommitted there. */
  readonly undoneFrom: readonly number[]
}

/** Files of agents that were lost, with what is known of how. */
export interface FileLoss {
  readonly itemId: InboxItemId
  readonly taskId: TaskId | null
  readonly missionId: MissionId | null
  /** The newest kept state that had them, and when it was taken. */
  readonly from: { readonly takenAt: number; readonly place: SnapshotLocation }
  /** When they were seen to be missing. */
  readonly until: number
  /** The attempt whose end that was: its verdict counts those of its own. */
  readonly ending?: AttemptId
  readonly files: readonly { readonly path: string; readonly became: LostContent['became'] }[]
  /** The agents at work in that time. */
  readonly agents: readonly string[]
  /** Git commands, as the reflog and the hooks show them. */
  readonly commands: readonly string[]
}

export interface FileLossEvent {
  readonly kind: 'files.lost'
  readonly loss: FileLoss
}

/** The work that a file belongs to: an attempt with its task, or a turn without one; or a person restored it. */
export type LossHolder = { readonly attempt: Attempt; readonly task: Task | null } | 'turn' | 'restore'

/** What may explain that a content is gone. */
export interface LossFacts {
  /** Files that edit tools of agents changed after the content was kept. */
  readonly edited: ReadonlySet<string>
  /** Files that commands of people wrote through Waymark after the content was kept, or that an undo alone made. */
  readonly written: ReadonlySet<string>
  /** Files that completions since then claim. */
  readonly claimed: ReadonlySet<string>
  /** Files of a task that its next attempt put back. */
  readonly putBack: ReadonlySet<string>
  readonly holders: ReadonlyMap<string, readonly LossHolder[]>
}

/** The contents that are lost: of work that counts, and that nothing explains. */
export function unexplainedLosses(
  found: readonly LostContent[],
  { edited, written, claimed, putBack, holders }: LossFacts,
): readonly LostContent[] {
  return found.filter(({ path }) => {
    if ([edited, written, claimed, putBack].some((explained) => explained.has(path))) return false
    return (holders.get(path) ?? []).some(counts)
  })
}

/** An open attempt at a task with earlier ones in its work tree, the first of them first. */
export interface AttemptAgain {
  readonly attempt: Attempt
  readonly earlier: readonly [Attempt, ...Attempt[]]
}

/**
 * Whether a content was put back by the next attempt at the task that made it: it was there when that attempt began,
 * nothing uncommitted was there when the first one did, and nobody else changed the file meanwhile.
 */
export function isPutBack(
  { path, startedWith, startedWithout }: LostContent,
  { attempt, earlier }: AttemptAgain,
  {
    starts,
    holders,
    contested,
  }: {
    /** The ids of the attempts whose starts were compared. */
    readonly starts: readonly string[]
    readonly holders: readonly LossHolder[]
    /** `<attempt> <path>` of changes that others may have made. */
    readonly contested: ReadonlySet<string>
  },
): boolean {
  const [first] = earlier
  const ids = new Set<string>(earlier.map(({ id }) => id))
  const isAt = (positions: readonly number[], id: string) => positions.some((at) => starts[at] === id)
  if (!isAt(startedWith, attempt.id) || !isAt(startedWithout, first.id)) return false
  const own = holders.flatMap((holder) =>
    typeof holder !== 'string' && ids.has(holder.attempt.id) ? [holder.attempt] : [],
  )
  return (
    own.length > 0 &&
    own.every(({ id }) => !contested.has(`${id} ${path}`)) &&
    holders.every((holder) => {
      if (holder === 'turn' || holder === 'restore') return holder === 'turn'
      const { taskId, closedAt } = holder.attempt
      // Of one that is open, nothing in it is: the record says whose it was.
      return taskId === attempt.taskId || closedAt === null || closedAt <= first.openedAt
    })
  )
}

/**
 * Whether a lost file is the work of an attempt, or of another one at its task or its subtasks. What may as well be
 * another task's is its own if its outcome names it.
 */
export function isLostOf(
  { startedWith }: LostContent,
  holders: readonly LossHolder[],
  {
    attempt,
    family,
    starts,
    isNamed,
  }: {
    readonly attempt: Pick<Attempt, 'id'>
    readonly family: ReadonlySet<string>
    readonly starts: readonly Pick<Attempt, 'id'>[]
    readonly isNamed: boolean
  },
): boolean {
  const attempts = holders.flatMap((holder) => (typeof holder === 'string' ? [] : [holder.attempt]))
  const isOlder = startedWith.some((at) => starts[at]?.id === attempt.id)
  const own = attempts.filter(({ id }) => family.has(id) && !(isOlder && id === attempt.id))
  if (own.length === 0 || isNamed) return own.length > 0
  const since = Math.min(...own.map(({ openedAt }) => openedAt))
  return attempts.every(({ id, closedAt }) => family.has(id) || (closedAt !== null && closedAt <= since))
}

/** Failed, abandoned, dropped and rejected work may go. */
function counts(holder: LossHolder): boolean {
  if (holder === 'turn' || holder === 'restore') return true
  const { attempt, task } = holder
  if (attempt.status === 'open') return true
  if (attempt.status === 'failed' || attempt.status === 'abandoned') return false
  return task !== null && isCompleted(task)
}

const maxNamed = 3

/** The reason of the inbox item. */
export function lossReason({ files, commands }: Pick<FileLoss, 'files' | 'commands'>): string {
  const named = files.slice(0, maxNamed).map(({ path }) => path)
  const more = files.length - named.length
  const how = commands.length === 0 ? '' : ` In git at that time: ${commands.slice(-maxNamed).join('; ')}.`
  return `${formatCount(files.length, 'uncommitted file')} of agents ${files.length === 1 ? 'was' : 'were'} lost: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.${how}`
}
