import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { SentStatement } from '../../src/store/statement-channel.ts'

/** What is sent from now on in transactions that hold a project. */
export function statementsSent(): SentStatement[] {
  return recorded(({ isHeld }) => isHeld)
}

/** What is sent from now on, held or not, without the index of the search, which catches up every 128 log entries. */
export function allStatementsSent(): SentStatement[] {
  return recorded(({ sql }) => !/^\s*(?:insert into task_search|select seq as head)/.test(sql))
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

/** How many statements, and how many rows they answered. */
export function costOf(statements: readonly SentStatement[]) {
  return { statements: statements.length, rows: statements.reduce((sum, { rows }) => sum + rows, 0) }
}

/** The steps of statements on SQLite, as its query plans say, each with its statement. */
export function planSteps(file: string, statements: readonly SentStatement[]): readonly string[] {
  const database = new Database(file, { readonly: true })
  try {
    return [...new Set(statements.map(({ sql }) => sql))].flatMap((statement) =>
      database
        .prepare<[], { detail: string }>(`explain query plan ${statement.replaceAll('?', 'null')}`)
        .all()
        .map(({ detail }) => `${detail}: ${statement}`),
    )
  } finally {
    database.close()
  }
}

/** The steps that read a whole table or index. */
export function scansOf(file: string, statements: readonly SentStatement[]): readonly string[] {
  const derived =
    /^SCAN (?:wanted|there|above|below|linked|counted|merged|part\d|\d+-ROW VALUES|(?:\d+ )?CONSTANT ROW)/
  return planSteps(file, statements).filter((step) => step.startsWith('SCAN ') && !derived.test(step))
}
