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
