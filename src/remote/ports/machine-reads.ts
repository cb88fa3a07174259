/** A machine where agents work, as of its last call. */
export interface RemoteMachineRecord {
  readonly id: string
  readonly name: string
  /** The name of the token that it used. */
  readonly token: string
  readonly version: string
  /** Its user connected it with `--trust-commands`: approvals at the server count there. */
  readonly trustsCommands: boolean
  readonly seenAt: number
}

export interface StoredDiff {
  /** Null after it was removed because its retention ended. */
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
  /** Null for an unknown machine. */
  byId(id: string): Promise<RemoteMachineRecord | null>
  diff(attemptId: string): Promise<StoredDiff | null>
  /** The kept diffs of attempts that ended before a time, with the size of their texts. */
  diffsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
  /** The end of a command's lease; null if it has none. */
  leasedUntil(commandId: string): Promise<number | null>
}
