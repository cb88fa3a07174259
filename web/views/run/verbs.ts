import type { RunPage } from '../../api/answers.ts'
import { eventWords } from '../../parts/event-words.ts'

type Choice = RunPage['choices'][number]

/** What a person may do with a run now. */
export interface RunVerb {
  readonly label: string
  /** What is said once it is done. */
  readonly done: string
  readonly operation: 'approve' | 'decide' | 'run_cancel' | 'run_migrate'
  /** What is missing for it; null when nothing is. */
  readonly missing: string | null
  /** Whether a reason is asked for, and must be given. */
  readonly reason: 'no' | 'may' | 'must'
  /** What the event takes beside a reason. */
  readonly payload: readonly string[]
  readonly isYes: boolean
  readonly input: (reason: string, payload: object | null) => object
}

/** The events that people may send, an approval where an agent's event waits for one, and what ends or moves the run. */
export function verbsOf(page: RunPage): readonly RunVerb[] {
  const { run, approvals, choices, present_version } = page
  if (run.status !== 'active') return []
  const approvesAlone = approvals.length > 0 && !choices.some(({ approves }) => approves)
  return [
    ...(approvesAlone ? [approveVerb(run.run_id)] : []),
    ...choices.map((choice) => eventVerb(page, choice)),
    ...(present_version === null ? [] : [migrateVerb(run.run_id, present_version)]),
    cancelVerb(run.run_id),
  ]
}

function eventVerb({ run: { run_id }, ways }: RunPage, choice: Choice): RunVerb {
  const { event, answer, approves, sends_back, asks_for } = choice
  const approving = approves || answer === 'yes'
  const own = ways.filter((way) => way.event === event)
  const blocking = own.flatMap(({ checks }) => checks.filter(({ satisfied }) => !satisfied))
  // A verb that approves gives what is missing itself; what else is missing, the server says.
  const isOpen = approves || own.some(({ satisfied }) => satisfied)
  return {
    label: eventWords(event),
    done: `${eventWords(event)} sent`,
    operation: approving ? 'approve' : 'decide',
    missing: isOpen ? null : blocking.map(({ reason }) => reason).join('; '),
    reason: sends_back ? 'must' : 'may',
    payload: asks_for,
    isYes: answer === 'yes' || approves,
    input: (reason, payload) => ({
      ...(approving ? { id: run_id } : { run_id }),
      event,
      ...(reason !== '' && { reason }),
      ...(!approving && payload && { payload }),
    }),
  }
}

function approveVerb(run_id: string): RunVerb {
  return {
    label: 'Approve',
    done: 'Approved',
    operation: 'approve',
    missing: null,
    reason: 'may',
    payload: [],
    isYes: true,
    input: (reason) => ({ id: run_id, ...(reason !== '' && { reason }) }),
  }
}

function migrateVerb(run_id: string, version: string): RunVerb {
  return {
    label: `Move to v${version}`,
    done: `Moved to v${version}`,
    operation: 'run_migrate',
    missing: null,
    reason: 'no',
    payload: [],
    isYes: false,
    input: () => ({ run_id }),
  }
}

function cancelVerb(run_id: string): RunVerb {
  return {
    label: 'Cancel the run',
    done: 'Cancelled',
    operation: 'run_cancel',
    missing: null,
    reason: 'must',
    payload: [],
    isYes: false,
    input: (reason) => ({ run_id, reason }),
  }
}
