import { callTo, Failure, type Hint, hintLines, hintOf } from '../../kernel/failure.ts'
import { type ProcessDefinition, stateNamed } from './definition.ts'
import type { RunRecord } from './run.ts'

/** An active run that gates a mission or a task, with its next steps. */
export interface GatingRun {
  readonly record: RunRecord
  /** Events that lead forward, with the roles that may send them and their guards. */
  readonly nextSteps: readonly {
    readonly event: string
    readonly roles: readonly string[]
    readonly guards: readonly string[]
    /** Only people may send it. */
    readonly forPeople: boolean
  }[]
}

/** Whether the state of an unfinished run allows completing a phase of its mission. */
export function isPhaseCompletionAllowed(definition: ProcessDefinition, { state }: RunRecord): boolean {
  return stateNamed(definition, state)?.allowsPhaseCompletion === true
}

/** Refuses to complete a subject with unfinished runs: names the missing guards, the roles and the next call. */
export function refuseWhileGated(what: string, gating: readonly GatingRun[]): void {
  const [first] = gating
  if (!first) return
  const { record } = first
  const more = gating.length > 1 ? ` (and ${gating.length - 1} more)` : ''
  throw new Failure(
    'REFUSED',
    `Cannot complete ${what}: its run ${record.id}${more} of process ${record.process.id} is in "${record.state}", which is not a final state.`,
    {
      reason: 'run_not_finished',
      hint: hintLines([...first.nextSteps.slice(0, 5).map(formatGatingStep), nextCall(first)]),
      details: {
        runs: gating.map((gate) => ({
          run_id: gate.record.id,
          current_state: gate.record.state,
          revision: gate.record.revision,
          ways: gate.nextSteps.map(({ forPeople: _, ...step }) => step),
        })),
      },
    },
  )
}

/** Refuses to complete a subject whose run did not succeed: another run, or a person, can unblock it. */
export function refuseAfterLoss(what: string, lost: readonly RunRecord[], instructions: string): void {
  const [first] = lost
  if (!first) return
  const more = lost.length > 1 ? ` (and ${lost.length - 1} more)` : ''
  const again = callTo('state_gate_create_run', {
    process_id: first.process.id,
    ...(first.missionId === null ? { task_id: first.taskId } : { mission_id: first.missionId }),
  })
  throw new Failure('REFUSED', `Cannot complete ${what}: ${runEndWords(first)}${more}.`, {
    reason: 'run_not_successful',
    hint: hintOf`Complete another run of the same process successfully (${again}). ${instructions}`,
    details: {
      runs: lost.slice(0, 20).map((run) => ({
        run_id: run.id,
        process_id: run.process.id,
        status: run.status,
        current_state: run.state,
      })),
    },
  })
}

/** The end of a run, as the rest of a sentence. */
export function runEndWords({ id, process, status, state }: RunRecord): string {
  const how = status === 'cancelled' ? `was canceled in "${state}"` : `failed in "${state}"`
  return `run ${id} of process ${process.id}, which gates it, ${how}`
}

function formatGatingStep({ event, roles, guards }: GatingRun['nextSteps'][number]): string {
  const sender = roles.includes('*') ? 'anybody' : roles.join(' or ')
  return guards.length === 0
    ? `${sender} can emit ${event} now.`
    : `${sender} can emit ${event} once these guards hold: ${guards.join(', ')}.`
}

function nextCall({ record: { id, revision }, nextSteps }: GatingRun): Hint {
  if (nextSteps.length > 0 && nextSteps.every(({ forPeople }) => forPeople))
    return hintOf`Ask a person to decide: waymark inbox lists the items, waymark approve ${id} approves.`
  return hintOf`Next: ${callTo('state_gate_get_state', { run_id: id })} says which guards hold, then ${callTo('state_gate_emit_event')} with expected_revision ${revision}.`
}
