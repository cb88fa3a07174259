import type { Insertable, Selectable } from 'kysely'
import type { EmissionRepeat } from '../../domain/gate/happening.ts'
import type { RunEvent } from '../../domain/gate/run-record.ts'
import type { RunEventId, RunId } from '../../domain/id.ts'
import type { RunEventTable } from '../schema/gate-tables.ts'
import { parsed } from './json.ts'
import type { RowKey } from './row-key.ts'

export function runEventRow(
  { projectId, seq }: RowKey,
  event: RunEvent,
  repeat: EmissionRepeat | null,
): Insertable<RunEventTable> {
  return {
    project_id: projectId,
    run_id: event.runId,
    revision: event.revision,
    id: event.id,
    seq,
    kind: event.kind,
    event: event.event,
    payload: JSON.stringify(event.payload),
    from_state: event.from,
    to_state: event.to,
    state_changed: event.stateChanged ? 1 : 0,
    artifacts: JSON.stringify(event.artifacts),
    unsatisfied: JSON.stringify(event.unsatisfied),
    role: event.role,
    by_name: event.by,
    author: event.author ?? null,
    idempotency_key: repeat?.key ?? null,
    key_owner: repeat?.owner ?? null,
    input_hash: repeat?.inputHash ?? null,
    answer: repeat === null ? null : JSON.stringify(repeat.answer),
    at: event.at,
  }
}

export function runEventOf(row: Selectable<RunEventTable>): RunEvent {
  return {
    id: row.id as RunEventId, // a brand
    runId: row.run_id as RunId, // a brand
    revision: row.revision,
    kind: row.kind as RunEvent['kind'], // as it was written
    event: row.event,
    payload: parsed(row.payload),
    from: row.from_state,
    to: row.to_state,
    stateChanged: row.state_changed === 1,
    artifacts: parsed(row.artifacts),
    unsatisfied: parsed(row.unsatisfied),
    role: row.role,
    by: row.by_name,
    ...(row.author !== null && { author: row.author }),
    at: row.at,
  }
}

/** What a key is bound to; null in an event that came without one. */
export function repeatOf(row: Selectable<RunEventTable>): EmissionRepeat | null {
  if (row.idempotency_key === null || row.input_hash === null || row.answer === null) return null
  return {
    key: row.idempotency_key,
    ...(row.key_owner !== null && { owner: row.key_owner }),
    inputHash: row.input_hash,
    eventId: row.id as RunEventId, // a brand
    answer: parsed(row.answer),
  }
}
