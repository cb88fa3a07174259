import { useCallback, useId, useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import type { RunVerb } from './verbs.ts'

interface VerbDialogProps {
  readonly verb: RunVerb
  readonly send: (reason: string, payload: object | null) => void
  readonly close: () => void
}

/** Asks why, and for what else the event takes. */
export function VerbDialog({ verb, send, close }: VerbDialogProps) {
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
            <label for={`${id}-reason`}>{verb.reason === 'must' ? 'Why?' : 'Why? (may be left empty)'}</label>
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
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Numbers, lists and the like are written as JSON; what is none is text. */
function valuesOf(fields: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, parsed(text)]))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
