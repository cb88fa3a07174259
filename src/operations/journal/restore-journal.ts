import type { Handling } from '../context.ts'
import { readFact } from './journal-line.ts'

/** Restores an exported project, all of it or nothing. */
export async function restoreJournal({ store }: Handling, lines: readonly string[], dryRun: boolean) {
  const facts = lines.map((line, index) => readFact(line, index + 2))
  if (!dryRun) await store.restore(facts)
  return { format: 'journal', facts: facts.length, notices: [], ...(dryRun && { dry_run: true }) }
}
