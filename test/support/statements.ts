import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'
import type { SentStatement } from '../../src/store/statement-channel.ts'

/** What is sent from now on in transactions that hold a project. */
export function statementsSent(): SentStatement[] {
  return recorded(({ isHeld }) => isHeld)
}

/** What is sent from now on, held or not. */
export function allStatementsSent(): SentStatement[] {
  return recorded(() => true)
}

function recorded(isWanted: (statement: SentStatement) => boolean): SentStatement[] {
  const statements: SentStatement[] = []
  const take = (message: unknown) => {
    const statement = message as SentStatement // what the channel carries
    if (isWanted(statement)) statements.push(statement)
  }
  subscribe('waymark.statement', take)
  onTestFinished(() => void unsubscribe('waymark.statement', take))
  return statements
}
