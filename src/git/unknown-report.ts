import type { ChangeReport } from '../domain/track/changes.ts'

/** What to answer when two snapshots cannot be compared: never "nothing changed". */
export function unknownReport(doubt: string): ChangeReport {
  return {
    status: 'unknown',
    changes: [],
    ignored: { added: [], modified: [], deleted: [] },
    headMoves: [],
    notes: [],
    doubts: [doubt],
  }
}
