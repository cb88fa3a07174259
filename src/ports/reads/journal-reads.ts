import type { Fact } from '../../domain/fact.ts'

export interface ChainCheck {
  readonly facts: number
  /** The first seq whose hash does not follow from the facts before it; null when the chain holds. */
  readonly brokenAt: number | null
}

export interface JournalReads {
  /** Facts with `seq > after`, in order. */
  since(after: number, limit: number): Promise<readonly Fact[]>
  /** Facts with `seq < before`, newest first. */
  latest(request: { readonly before?: number; readonly limit: number }): Promise<readonly Fact[]>
  /** The last seq; 0 before the first fact. */
  head(): Promise<number>
  /** The last seq before a time, milliseconds since the epoch; 0 where there is none. */
  seqBefore(time: number): Promise<number>
  /** When the first of what came after a seq happened; null where nothing did. */
  timeAfter(seq: number): Promise<number | null>
  /** Hashes the whole journal again. */
  verify(): Promise<ChainCheck>
}
