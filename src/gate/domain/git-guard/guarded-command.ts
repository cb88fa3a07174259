import type { SnapshotId } from '../../../kernel/id.ts'
import type { SnapshotLocation } from '../../../track/domain/task.ts'

/** A guarded git command of an agent, with the snapshot that was taken before it ran. */
export interface GuardedCommand {
  /** Names its snapshot. */
  readonly id: SnapshotId
  /** When the hook answered, in milliseconds since the epoch. */
  readonly guardedAt: number
  /** The top of the work tree that it would change. */
  readonly top: string
  readonly client: string
  /** The client's own id of the session; null if it names none. */
  readonly clientSession: string | null
  /** As `git reset --hard`, each once. */
  readonly commands: readonly string[]
  readonly answer: 'none' | 'ask' | 'deny'
  /** Uncommitted files of others that it would have changed, from the top. */
  readonly files: readonly string[]
  /** The agents concerned. */
  readonly agents: readonly string[]
  /** The state of the work tree before; null if there is none. */
  readonly snapshot: SnapshotLocation | null
  /** Why there is none. */
  readonly missing: string | null
  /** How much the kept contents grew by the snapshot, in bytes. */
  readonly bytes: number
}

export interface GuardEvent {
  readonly kind: 'command.guarded'
  readonly command: GuardedCommand
}

/** The share of the disk budget for snapshots before guarded commands, in bytes: older ones are removed first. */
export const guardSnapshotBudget = 256 * 1024 * 1024

/** Whether the letters of a script name a command that is guarded, also in quotes. Cheap: every call of a shell is compared. */
export function mayNeedGuard(script: string): boolean {
  const pattern = /\bgit\b|\brm\b|-delete\b/i
  return pattern.test(script) || pattern.test(script.replace(/["'\\]/g, ''))
}
