import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'
import type { SentStatement } from '../../src/store/statement-channel.ts'

/** What is sent from now on in transactions that hold a project. */
export function statementsSent(): SentStatement[] {
  const statements: SentStatement[] = []
  const take = (message: unknown) => void statements.push(message as SentStatement) // what the channel carries
  subscribe('waymark.statement', take)
  onTestFinished(() => void unsubscribe('waymark.statement', take))
  return statements
}
