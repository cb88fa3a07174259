import type { ProjectEvent } from '../domain/project-event.ts'

export interface ChainCheck {
  readonly events: number
  /** The first seq whose hash does not follow; null for an intact chain. */
  readonly brokenAt: number | null
}

export interface EventLogReads {
  /** Log entries with `seq > after`, in order. */
  since(after: number, limit: number): Promise<readonly ProjectEvent[]>
  /** Log entries with `seq < before`, newest first. */
  latest(request: { readonly before?: number; readonly limit: number }): Promise<readonly ProjectEvent[]>
  /** The last seq; 0 before the first log entry. */
  head(): Promise<number>
  /** The last seq before a time in milliseconds; 0 if there is none. */
  seqBefore(time: number): Promise<number>
  /** The time of the first entry after a seq; null if there is none. */
  timeAfter(seq: number): Promise<number | null>
  /** Verifies the whole log. */
  verify(): Promise<ChainCheck>
}
