import type { ProjectEvent } from '../domain/project-event.ts'

export interface ChainCheck {
  readonly events: number
  /** The first seq whose hash does not follow from the log entries before it; null when the chain holds. */
  readonly brokenAt: number | null
}

export interface EventLogReads {
  /** Facts with `seq > after`, in order. */
  since(after: number, limit: number): Promise<readonly ProjectEvent[]>
  /** Facts with `seq < before`, newest first. */
  latest(request: { readonly before?: number; readonly limit: number }): Promise<readonly ProjectEvent[]>
  /** The last seq; 0 before the first log entry. */
  head(): Promise<number>
  /** The last seq before a time, milliseconds since the epoch; 0 where there is none. */
  seqBefore(time: number): Promise<number>
  /** When the first of what came after a seq happened; null where nothing did. */
  timeAfter(seq: number): Promise<number | null>
  /** Hashes the whole log again. */
  verify(): Promise<ChainCheck>
}
