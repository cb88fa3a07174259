import type { RunPage, Way } from '../../api/answers.ts'

/** What a person may do with a run now. */
export interface RunVerb {
  readonly label: string
  /** What is said once it is done. */
  readonly done: string
  readonly operation: 'approve' | 'decide' | 'run_cancel'
  /** Why this cannot be done yet; null when it can. */
  readonly missing: string | null
  /** A reason must be given. */
  readonly asks: boolean
  /** What the event takes beside a reason, where it takes something. */
  readonly payload: readonly string[]
  readonly input: (reason: string, payload: object | null) => object
}

/** The events that people may send, an approval where an agent's event waits for one, and the end of it all. */
export function verbsOf(page: RunPage): readonly RunVerb[] {
  const { run, ways, approvals } = page
  if (run.status !== 'active') return []
  const sent = ways.filter(({ for_people, is_allowed }) => for_people && is_allowed)
  const events = [...new Set(sent.map(({ event }) => event))].map((event) =>
    eventVerb(
      run.run_id,
      event,
      sent.filter((way) => way.event === event),
    ),
  )
  const approvesAlone = approvals.length > 0 && !sent.some(({ asks_approval }) => asks_approval)
  return [...(approvesAlone ? [approveVerb(run.run_id)] : []), ...events, cancelVerb(run.run_id)]
}

function eventVerb(run_id: string, event: string, ways: readonly Way[]): RunVerb {
  const approves = ways.some(({ asks_approval }) => asks_approval)
  const open = ways.some(({ satisfied }) => satisfied)
  // An approval that is missing is what this verb gives.
  const blocking = ways.flatMap(({ checks, asks_approval }) =>
    checks.filter(({ satisfied, name }) => !satisfied && !(asks_approval && isApproval(name, ways))),
  )
  return {
    label: words(event),
    done: `Sent ${event}`,
    operation: approves ? 'approve' : 'decide',
    missing: open || blocking.length === 0 ? null : blocking.map(({ reason }) => reason).join('; '),
    asks: !approves && !isYes(event),
    payload: payloadNames(ways[0]?.payload_schema ?? null),
    input: (reason, payload) =>
      approves
        ? { id: run_id, event, ...(reason !== '' && { reason }) }
        : { run_id, event, ...(reason !== '' && { reason }), ...(payload && { payload }) },
  }
}

function isApproval(name: string, ways: readonly Way[]): boolean {
  return ways.some(({ approval_guards }) => approval_guards.includes(name))
}

function approveVerb(run_id: string): RunVerb {
  return {
    label: 'Approve',
    done: 'Approved',
    operation: 'approve',
    missing: null,
    asks: false,
    payload: [],
    input: (reason) => ({ id: run_id, ...(reason !== '' && { reason }) }),
  }
}

function cancelVerb(run_id: string): RunVerb {
  return {
    label: 'Cancel the run',
    done: 'Cancelled',
    operation: 'run_cancel',
    missing: null,
    asks: true,
    payload: [],
    input: (reason) => ({ run_id, reason }),
  }
}

/** A plain yes needs no reason. */
function isYes(event: string): boolean {
  return /^(approve|accept|confirm|sign_off|release|publish|merge)\b/.test(event)
}

/** `request_changes` is “Request changes”. */
export function words(event: string): string {
  const text = event.replaceAll(/[_-]+/g, ' ')
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`
}

/** What must be in the payload, but the reason that is asked for anyway. */
function payloadNames(schema: Way['payload_schema']): readonly string[] {
  const required = schema?.['required']
  if (!Array.isArray(required)) return []
  return required.filter((name): name is string => typeof name === 'string' && name !== 'reason')
}
