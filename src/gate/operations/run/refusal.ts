import { callTo, Failure, type Hint, hintLines, hintOf } from '../../../kernel/failure.ts'
import type { RefusedTransition } from '../../domain/engine.ts'
import type { MissingGuard } from '../../domain/expression.ts'
import type { SchemaProblem } from '../../domain/json-schema.ts'
import type { RunRecord } from '../../domain/run.ts'

/** A refused event for its caller: the reason and the fix. */
export function refusalFailure(
  record: RunRecord,
  refused: RefusedTransition,
  /** The item through which a person decides about it. */
  itemId: string | null = null,
): Failure {
  const { code, message, currentRevision, missing, validationErrors } = refused
  const hint = itemId === null ? hintFor(record, refused) : hintForItem(record, refused, itemId)
  return new Failure(code, message, {
    reason: reasonOf[code],
    hint,
    details: {
      run_id: record.id,
      current_state: record.state,
      current_revision: currentRevision,
      ...(missing.length > 0 && { missing_guards: missing.map(guardLine) }),
      ...(validationErrors.length > 0 && { validation_errors: validationErrors }),
      ...(itemId !== null && { item_id: itemId }),
    },
  })
}

function hintForItem(record: RunRecord, refused: RefusedTransition, itemId: string): Hint {
  const hear = hintOf`Wait for the answer with ${callTo('state_gate_get_state', { run_id: record.id, wait_seconds: 25 })}.`
  if (refused.code !== 'GUARD_FAILED') {
    return hintOf`A person decides this, in inbox item ${itemId}: waymark approve ${itemId}, or the dashboard (waymark serve). ${hear}`
  }
  return hintLines([
    hintOf`${hintFor(record, refused)}`,
    hintOf`A person can accept exactly this change, in inbox item ${itemId}: waymark approve ${itemId}, or the dashboard (waymark serve).`,
  ])
}

const reasonOf = {
  RUN_FINISHED: 'run_finished',
  REVISION_CONFLICT: 'revision_conflict',
  INVALID_EVENT: 'event_invalid',
  FORBIDDEN: 'event_forbidden',
  INVALID_PAYLOAD: 'payload_invalid',
  GUARD_FAILED: 'guards_unsatisfied',
} as const satisfies Record<RefusedTransition['code'], string>

export function guardLine({ name, reason }: MissingGuard): string {
  return `${name}: ${reason}`
}

const filesWanted = 'Attach regular files inside the project, with paths relative to its folder.'

function hintFor(
  record: RunRecord,
  { code, fix, missing, validationErrors, example }: RefusedTransition,
): string | Hint {
  switch (code) {
    case 'RUN_FINISHED':
      return hintOf`Start another run with ${callTo('state_gate_create_run')}.`
    case 'REVISION_CONFLICT':
      return hintOf`Use ${callTo('state_gate_get_state', { run_id: record.id })}, check what changed, and emit again with its revision and a new idempotency_key.`
    case 'INVALID_EVENT':
      return hintOf`${callTo('state_gate_list_events', { run_id: record.id })} lists the events that can be emitted now.`
    case 'FORBIDDEN':
      return (
        fix ??
        hintOf`${callTo('state_gate_list_events', { run_id: record.id, include_blocked: true })} shows who may emit what.`
      )
    case 'INVALID_PAYLOAD':
      return hintLines([
        // The message explains the problem already.
        ...validationErrors
          .filter((problem) => !isAboutFile(problem))
          .slice(0, 5)
          .map(problemLine),
        ...(validationErrors.some(isAboutFile) ? [filesWanted] : []),
        ...(example === undefined
          ? []
          : [
              hintOf`Emit it with ${callTo('state_gate_emit_event', {
                run_id: record.id,
                event_name: example.event,
                expected_revision: record.revision,
                idempotency_key: undefined,
                payload: example.payload,
              })}; attach the files of this call again.`,
            ]),
      ])
    case 'GUARD_FAILED':
      return hintLines(missing.map((guard) => hintOf`${guardLine(guard)}. ${guard.fix}`))
  }
}

/** `"plan.steps.0" must be a text, not 3.` */
function problemLine(problem: SchemaProblem): string {
  const field = problem.path.slice(1).replace(/\//g, '.')
  return `${field === '' ? 'The payload' : `"${field}"`} ${problem.message}.`
}

function isAboutFile({ path }: SchemaProblem): boolean {
  return path.startsWith('/artifact_paths/')
}
