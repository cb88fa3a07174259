import type { GuardedCommand } from '../domain/git-guard/guarded-command.ts'

/** Git commands of agents before which the guard took a snapshot. */
export interface GuardedCommandReads {
  byId(id: string): Promise<GuardedCommand | null>
  /** Since a time, in one work tree if given; the newest first. */
  since(time: number, top?: string): Promise<readonly GuardedCommand[]>
}
