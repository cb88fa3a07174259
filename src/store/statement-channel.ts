import { channel } from 'node:diagnostics_channel'

/** A statement with its parameters and row count. */
export interface SentStatement {
  readonly sql: string
  readonly values: readonly unknown[]
  /** Sent in a write transaction, which locks its project. */
  readonly isHeld: boolean
  readonly rows: number
}

/** Publishes every statement of a call. Tests limit them. */
export const statementChannel = channel('waymark.statement')
