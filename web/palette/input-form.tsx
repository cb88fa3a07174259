import { useId, useRef, useState } from 'preact/hooks'
import { callNamed, told } from '../api/call.ts'
import { Dialog } from '../parts/dialog.tsx'
import { showToast } from '../shell/toasts.tsx'
import { type Field, inputOf } from './fields.ts'
import type { OperationEntry } from './operations.ts'

interface InputFormProps {
  readonly operation: OperationEntry
  readonly close: () => void
}

/** Asks for what a command takes, by its schema, and runs it. A refusal is shown where it can be mended. */
export function InputForm({ operation, close }: InputFormProps) {
  const written = useRef(new Map<string, string>())
  const [refusal, setRefusal] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const required = operation.fields.filter(({ isRequired }) => isRequired)
  const optional = operation.fields.filter(({ isRequired }) => !isRequired)
  const write = (name: string) => (text: string) => void written.current.set(name, text)

  const run = async () => {
    setBusy(true)
    try {
      await callNamed(operation.name, inputOf(operation.fields, written.current))
      showToast({ kind: 'said', text: `${operation.title}: done` })
      close()
    } catch (error) {
      setRefusal(told(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={operation.title} close={close}>
      <form
        class="input-form"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <p class="muted">{operation.description}</p>
        {required.map((field) => (
          <FieldInput key={field.name} field={field} write={write(field.name)} />
        ))}
        {optional.length > 0 ? (
          <details open={required.length === 0}>
            <summary>{required.length === 0 ? 'What may be said' : 'More'}</summary>
            {optional.map((field) => (
              <FieldInput key={field.name} field={field} write={write(field.name)} />
            ))}
          </details>
        ) : null}
        {refusal === null ? null : (
          <p class="refusal" role="alert">
            {refusal}
          </p>
        )}
        <div class="input-verbs">
          <button type="submit" class="button" data-kind="primary" disabled={isBusy}>
            {operation.title}
          </button>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function FieldInput({ field, write }: { readonly field: Field; readonly write: (text: string) => void }) {
  const { name, description, isRequired, type, choices, longest } = field
  const options = type === 'yes or no' ? ['true', 'false'] : choices
  const id = useId()
  const common = { id, name, required: isRequired, class: 'field' }
  return (
    <div class="input-field">
      <label for={id}>
        <b>{name}</b> <span class="muted">{description}</span>
      </label>
      {options.length > 0 ? (
        <select {...common} onChange={({ currentTarget }) => write(currentTarget.value)}>
          <option value="" />
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : type === 'list' || type === 'json' || longest > 1_000 ? (
        <textarea
          {...common}
          rows={2}
          placeholder={type === 'list' ? 'One a line' : type === 'json' ? 'JSON' : ''}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          inputMode={type === 'number' ? 'numeric' : 'text'}
          maxLength={longest}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      )}
    </div>
  )
}
