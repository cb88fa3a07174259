import type { Hold, HoldKind, Issue } from '../../domain/track/records.ts'
import type { Page, PageRequest } from './page.ts'
import type { RecordFilter } from './record-reads.ts'

export interface HoldFilter extends RecordFilter {
  readonly kinds?: readonly HoldKind[]
  readonly status?: 'open' | 'closed'
}

/** A hold with the issue that opened it. */
export interface HoldLine {
  readonly hold: Hold
  readonly issue: Issue | null
}

export interface HoldReads {
  find(id: string): Promise<Hold | null>
  /** Open ones oldest first, closed ones newest first; `before` is then `after` for open ones. */
  list(filter: HoldFilter, request: PageRequest): Promise<Page<HoldLine>>
  ofIssue(issueId: string): Promise<Hold | null>
  ofAttempt(attemptId: string): Promise<readonly Hold[]>
  /** Open holds of a run, oldest first, at most 100. */
  ofRun(runId: string): Promise<readonly Hold[]>
  /** The ended holds of a run that somebody answered in words, newest first. */
  answeredOfRun(runId: string, limit: number): Promise<readonly Hold[]>
  /** The open question whether a command may run, by the hash of what is asked. */
  openCommand(hash: string): Promise<Hold | null>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}
