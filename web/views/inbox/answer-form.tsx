import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { KeyCap } from '../../parts/key-cap.tsx'
import type { Verb } from './verbs.ts'

interface AnswerFormProps {
  readonly verb: Verb
  readonly send: (text: string) => void
  readonly leave: () => void
}

/** Asks for the sentence that the waiting agent is told. Ctrl or ⌘ with Enter sends it. */
export function AnswerForm({ verb, send, leave }: AnswerFormProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const submit = () => {
    const text = field.current?.value.trim() ?? ''
    if (text === '') field.current?.focus()
    else send(text)
  }
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') leave()
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
      }}
    >
      <label for={id}>{verb.asks}</label>
      <textarea id={id} class="field" ref={field} rows={2} maxLength={20_000} required />
      <div class="verbs">
        <button type="submit" class="button" data-kind="primary">
          {verb.label}
        </button>
        <button type="button" class="button" onClick={leave}>
          Cancel <KeyCap keys="Escape" />
        </button>
      </div>
    </form>
  )
}
