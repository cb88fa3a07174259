import { channel } from 'node:diagnostics_channel'

/** A statement of a write transaction, and how many rows it was answered. */
export interface SentStatement {
  readonly sql: string
  readonly rows: number
}

/** Every statement that a call sends while others wait for its project. Tests limit them. */
export const statementChannel = channel('waymark.statement')
