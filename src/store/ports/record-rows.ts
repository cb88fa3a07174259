import type { ProjectEvent } from '../../events/domain/project-event.ts'

/** The last entry of a log. */
export interface LogHead {
  readonly seq: number
  readonly hash: string
}

/** Tables that belong to a project beside its log, without secrets. A replay does not create them. */
export const keptTables = [
  'idempotency_key',
  'attempt_diff',
  'notice',
  'notice_cursor',
  'command_output',
  'review_draft',
  'review_viewed',
  'review_inspected',
  'attempt_files',
  'file_content',
] as const
export type SideTable = (typeof keptTables)[number]
export type SideValue = string | number | null | { readonly base64: string }

export interface SideRow {
  readonly table: SideTable
  readonly values: Readonly<Record<string, SideValue>>
}

/** A whole log with the rows beside it. Each call reads it from its beginning, so that it need not be in memory. */
export interface LogSource {
  /** The number of log entries. */
  readonly events: number
  /** The number of rows beside the log. */
  readonly kept: number
  /** Null if there is no such log entry. */
  eventAt(seq: number): Promise<ProjectEvent | null>
  /** The log entries after a position. */
  readEvents(after: number): AsyncIterable<ProjectEvent>
  readKept(): AsyncIterable<SideRow>
}

/** A log in memory. */
export function memoryLog(events: readonly ProjectEvent[]): LogSource {
  return {
    events: events.length,
    kept: 0,
    eventAt: async (seq) => events[seq - 1] ?? null,
    async *readEvents(after) {
      yield* events.slice(after)
    },
    async *readKept() {},
  }
}
