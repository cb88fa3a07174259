import type { InboxItemId, MissionId, TaskId } from '../../kernel/id.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Attempt, SnapshotLocation, Task } from './task.ts'

export const lossEnds = ['head', 'start', 'gone'] as const

/** A kept, uncommitted content that is neither on the disk nor in git any more. */
export interface LostContent {
  readonly path: string
  /** The position of the state that had it among those that were compared. */
  readonly state: number
  /** HEAD's content, the one that an attempt began with, or nothing. */
  readonly became: (typeof lossEnds)[number]
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
  /** Files that commands of people wrote through Waymark after the content was kept. */
  readonly written: ReadonlySet<string>
  /** Files that completions since then claim. */
  readonly claimed: ReadonlySet<string>
  readonly holders: ReadonlyMap<string, readonly LossHolder[]>
}

/** The contents that are lost: of work that counts, and that nothing explains. */
export function unexplainedLosses(
  found: readonly LostContent[],
  { edited, written, claimed, holders }: LossFacts,
): readonly LostContent[] {
  return found.filter(({ path }) => {
    if (edited.has(path) || written.has(path) || claimed.has(path)) return false
    return (holders.get(path) ?? []).some(counts)
  })
}

/** Failed, abandoned, dropped and rejected work may go. */
function counts(holder: LossHolder): boolean {
  if (holder === 'turn' || holder === 'restore') return true
  const { attempt, task } = holder
  if (attempt.status === 'open') return true
  if (attempt.status === 'failed' || attempt.status === 'abandoned') return false
  return task !== null && task.status === 'done' && task.resolution !== 'dropped'
}

const maxNamed = 3

/** The reason of the inbox item. */
export function lossReason({ files, commands }: Pick<FileLoss, 'files' | 'commands'>): string {
  const named = files.slice(0, maxNamed).map(({ path }) => path)
  const more = files.length - named.length
  const how = commands.length === 0 ? '' : ` In git at that time: ${commands.slice(-maxNamed).join('; ')}.`
  return `${formatCount(files.length, 'uncommitted file')} of agents ${files.length === 1 ? 'was' : 'were'} lost: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.${how}`
}
