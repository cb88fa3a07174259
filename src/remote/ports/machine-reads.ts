/** A machine where agents work, as it was last heard of. */
export interface RemoteMachineRecord {
  readonly id: string
  readonly name: string
  /** The name of the token that it came with. */
  readonly token: string
  readonly version: string
  readonly seenAt: number
}

export interface StoredDiff {
  /** Null where it was removed because its time was over. */
  readonly text: string | null
  /** Of the text. */
  readonly sha256: string
  readonly bytes: number
  /** Whether there was more of it. */
  readonly cut: boolean
}

export interface RemoteMachineReads {
  /** The last seen first. */
  all(): Promise<readonly RemoteMachineRecord[]>
  /** Null for one that was never heard of. */
  heard(id: string): Promise<RemoteMachineRecord | null>
  diff(attemptId: string): Promise<StoredDiff | null>
  /** Those that are kept of attempts which ended before; the size is that of their texts. */
  diffsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
  /** Until when a command is believed to run; null where nobody said so. */
  leasedUntil(commandId: string): Promise<number | null>
}
