import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { RefusalMessage } from './refusal.tsx'
import './form.css'

interface FormProps {
  /** What is on the button that sends it. */
  readonly verb: string
  /** Sends what the fields say; where it fails, its sentence is shown where it can be mended. */
  readonly send: () => Promise<void>
  readonly place: 'settings-form' | 'sign-in-form'
  readonly isDangerous?: boolean
  /** Leaves it unsent. */
  readonly cancel?: () => void
  readonly children?: ComponentChildren
}

/** Fields, and the button that sends them. */
export function Form({ verb, send, place, isDangerous = false, cancel, children }: FormProps) {
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      await send()
    } catch (error) {
      setRefusal(error)
      setBusy(false)
    }
  }
  return (
    <form
      class={`input-form ${place}`}
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      {children}
      {refusal === null ? null : <RefusalMessage error={refusal} />}
      <div class="input-verbs">
        <button type="submit" class="button" data-kind={isDangerous ? 'danger' : 'primary'} disabled={isBusy}>
          {verb}
        </button>
        {cancel ? (
          <button type="button" class="button" onClick={cancel}>
            Cancel
          </button>
        ) : null}
      </div>
    </form>
  )
}
