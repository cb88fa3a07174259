import type { Actor } from '../../kernel/actor.ts'
import type { TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Issue } from '../../track/domain/records.ts'
import type { RecordFilter } from '../../track/ports/record-reads.ts'
import type { InboxItem, InboxItemKind } from '../domain/inbox-item.ts'

export interface InboxItemFilter extends RecordFilter {
  readonly taskIds?: readonly TaskId[]
  readonly kinds?: readonly InboxItemKind[]
  readonly status?: 'open' | 'closed'
  /** Only those that a person closed. */
  readonly closedByPerson?: true
}

/** An inbox item with the issue that opened it. */
export interface InboxItemLine {
  readonly item: InboxItem
  readonly issue: Issue | null
  /** The actor who opened it; null if it is not recorded yet. */
  readonly opener: Actor | null
}

/** The last answer of a person to a command. */
export interface AnsweredCommand {
  readonly hash: string
  /** Null: the answer was revoked. */
  readonly item: InboxItem | null
}

/** A command that a person rejected, or whose approval was revoked, by the log entry of that. */
export interface WithdrawnCommand {
  readonly hash: string
  readonly run: string
  readonly folder: string
  readonly seq: number
}

export interface InboxItemReads {
  find(id: string): Promise<InboxItem | null>
  /** The actor who opened it. */
  opener(id: InboxItem['id']): Promise<Actor | null>
  /** Open ones by urgency, then oldest first; closed ones newest first. For open ones `before` is `after`. */
  list(filter: InboxItemFilter, request: PageRequest): Promise<Page<InboxItemLine>>
  ofIssue(issueId: string): Promise<InboxItem | null>
  ofAttempt(attemptId: string): Promise<readonly InboxItem[]>
  /** The items about attempts, answered or not. */
  ofAttempts(attemptIds: readonly string[]): Promise<readonly InboxItem[]>
  /** Open items of a task, oldest first, at most 100. */
  ofTask(taskId: TaskId): Promise<readonly InboxItem[]>
  /** Open items of a run, oldest first, at most 100. */
  ofRun(runId: string): Promise<readonly InboxItem[]>
  /** The same of several runs. */
  ofRuns(runIds: readonly string[]): Promise<readonly InboxItem[]>
  /** The closed items of a run that were answered in words, newest first. */
  answeredOfRun(runId: string, limit: number): Promise<readonly InboxItem[]>
  /** The open items about a command, by the hash of its content: each machine may ask. */
  openCommands(hash: string): Promise<readonly InboxItem[]>
  /** The last answers to the commands with these hashes that count on a machine, null for the record's own. */
  answeredCommands(hashes: readonly string[], machine: string | null): Promise<readonly AnsweredCommand[]>
  /** The items of the last answers for each machine that were not revoked, newest first, by the beginning of the hash. */
  lastAnsweredCommands(prefix: string, limit: number): Promise<readonly InboxItem[]>
  /** The newest first. */
  withdrawnCommands(limit: number): Promise<readonly WithdrawnCommand[]>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}
