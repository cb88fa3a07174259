import { channel } from 'node:diagnostics_channel'

/** A statement, what it was asked with, and how many rows it was answered. */
export interface SentStatement {
  readonly sql: string
  readonly values: readonly unknown[]
  /** Sent in a write transaction, while others wait for its project. */
  readonly isHeld: boolean
  readonly rows: number
}

/** Every statement that a call sends. Tests limit them. */
export const statementChannel = channel('waymark.statement')
