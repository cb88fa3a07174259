/** How far a log has come: its last entry. */
export interface LogHead {
  readonly seq: number
  readonly hash: string
}

/** What belongs to a project beside its log, and goes with it where writing ends: no replay makes it. No secrets. */
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
