import { useCallback, useId, useState } from 'preact/hooks'
import { parseJsonOrText } from '../../../src/kernel/json.ts'
import type { RunPage } from '../../api/entities.ts'
import { denialReason, isPermitted } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { eventWords } from '../../parts/event-words.ts'
import { sendings, sendLater } from '../../shell/toasts.tsx'

/** The actions of a person on the run. Each can be undone for five seconds. */
export function VerbsBar({ page, refresh }: { readonly page: RunPage; readonly refresh: () => void }) {
  const [asking, setAsking] = useState<RunVerb | null>(null)
  const { run_id, status } = page.run
  const sending = sendings.value.get(run_id)
  const verbs = verbsOf(page)
  const first = verbs.find(
    ({ isYes, missing, operation }) => isYes && missing === null && isPermitted(operation),
  )
  const whyNone = verbs.some(({ operation }) => isPermitted(operation))
    ? null
    : denialReason(verbs[0]?.operation ?? '')
  useCommands(first && !sending && !asking ? { approve: () => setAsking(first) } : {})
  if (status !== 'active') return null
  if (sending) return <p class="run-verbs muted">{sending.text}…</p>
  const send = (verb: RunVerb, reason: string, payload: object | null) => {
    setAsking(null)
    const { operation, done, input } = verb
    const decides = operation === 'approve' || operation === 'decide'
    const shown = decides && page.content !== null ? { content: page.content } : {}
    sendLater({
      about: run_id,
      operation,
      input: { ...input(reason, payload), ...shown },
      text: done,
      onSent: refresh,
    })
  }
  return (
    <fieldset class="run-verbs" aria-label="Your actions">
      {whyNone === null ? null : <span class="muted">{whyNone}</span>}
      {verbs.map((verb) => (
        <button
          key={verb.label}
          type="button"
          class="button"
          {...(verb === first && { 'data-kind': 'primary' })}
          {...(verb.operation.startsWith('run_') && { 'data-kind': 'plain' })}
          disabled={verb.missing !== null || !isPermitted(verb.operation)}
          title={
            denialReason(verb.operation) ?? (verb.missing === null ? '' : `Not possible now: ${verb.missing}`)
          }
          onClick={() => setAsking(verb)}
        >
          {verb.label}
        </button>
      ))}
      {asking ? (
        <VerbDialog
          verb={asking}
          send={(reason, payload) => send(asking, reason, payload)}
          close={() => setAsking(null)}
        />
      ) : null}
    </fieldset>
  )
}

interface VerbDialogProps {
  readonly verb: RunVerb
  readonly send: (reason: string, payload: object | null) => void
  readonly close: () => void
}

/** Asks for the reason and the other fields of the event. */
function VerbDialog({ verb, send, close }: VerbDialogProps) {
  const id = useId()
  const [reason, setReason] = useState('')
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({})
  const leave = useCallback(close, [])
  const submit = (event: Event) => {
    event.preventDefault()
    send(reason.trim(), verb.payload.length === 0 ? null : valuesOf(fields))
  }
  return (
    <Dialog title={verb.label} close={leave} class="verb-dialog">
      <form
        onSubmit={submit}
        class="dialog-body"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit()
        }}
      >
        {verb.reason === 'no' ? null : (
          <>
            <label for={`${id}-reason`}>{verb.reason === 'must' ? 'Reason' : 'Reason (optional)'}</label>
            <textarea
              id={`${id}-reason`}
              class="field"
              rows={3}
              maxLength={20_000}
              required={verb.reason === 'must'}
              value={reason}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </>
        )}
        {verb.payload.map((name) => (
          <div key={name}>
            <label for={`${id}-${name}`} class="mono">
              {name}
            </label>
            <input
              id={`${id}-${name}`}
              class="field"
              required
              value={fields[name] ?? ''}
              onInput={({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value })}
            />
          </div>
        ))}
        <div class="verbs">
          <button type="submit" class="button" data-kind="primary">
            {verb.label}
          </button>
          <button type="button" class="button" onClick={leave}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Numbers and lists are JSON; other values are text. */
function valuesOf(fields: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, parseJsonOrText(text)]))
}

type RunChoice = RunPage['choices'][number]

/** An action of a person on a run. */
interface RunVerb {
  readonly label: string
  /** The message after the action. */
  readonly done: string
  readonly operation: 'approve' | 'decide' | 'run_cancel' | 'run_migrate'
  /** What is missing for it; null if nothing is. */
  readonly missing: string | null
  /** Whether the form has a reason, and whether it is required. */
  readonly reason: 'no' | 'may' | 'must'
  /** The fields of the event besides the reason. */
  readonly payload: readonly string[]
  readonly isYes: boolean
  readonly input: (reason: string, payload: object | null) => object
}

/** The events that people may send, an approval that an agent's event needs, and the actions that end or move the run. */
function verbsOf(page: RunPage): readonly RunVerb[] {
  const { run, approvals, choices, present_version } = page
  if (run.status !== 'active') return []
  const approvesAlone = approvals.length > 0 && !choices.some(({ approves }) => approves)
  return [
    ...(approvesAlone ? [approveVerb(page)] : []),
    ...choices.map((choice) => eventVerb(page, choice)),
    ...(present_version === null ? [] : [migrateVerb(run.run_id, present_version)]),
    cancelVerb(run.run_id),
  ]
}

function eventVerb(page: RunPage, choice: RunChoice): RunVerb {
  const { run, transitions } = page
  const { run_id } = run
  const { event, answer, approves, sends_back, asks_for } = choice
  const approving = approves || answer === 'yes'
  const own = transitions.filter((way) => way.event === event)
  const blocking = own.flatMap(({ checks }) => checks.filter(({ satisfied }) => !satisfied))
  // An approval satisfies its own guards; the server checks the others, and some of them only with the event.
  const isOpen =
    approves ||
    own.some(
      ({ satisfied, checks }) =>
        satisfied || checks.every((check) => check.satisfied || check.measured_by_event),
    )
  return {
    label: eventWords(event),
    done: `${approving ? 'Approved' : sends_back ? 'Sent back' : `${eventWords(event)} sent`}: ${page.task?.name ?? page.mission?.name ?? run.process_name}`,
    operation: approving ? 'approve' : 'decide',
    missing:
      (approving ? page.cannot_approve : null) ??
      (isOpen ? null : blocking.map(({ reason }) => reason).join('; ')),
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

function approveVerb({ run: { run_id }, cannot_approve }: RunPage): RunVerb {
  return {
    label: 'Approve',
    done: 'Approved',
    operation: 'approve',
    missing: cannot_approve,
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
    done: 'Canceled',
    operation: 'run_cancel',
    missing: null,
    reason: 'must',
    payload: [],
    isYes: false,
    input: (reason) => ({ run_id, reason }),
  }
}
