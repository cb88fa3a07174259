import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { InputOf, OperationName, OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { call } from '../../api/call.ts'
import { denialReason, isPermitted } from '../../api/session.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { CopyButton } from '../../parts/text.tsx'

interface VerbProps {
  readonly operation: OperationName
  readonly run: () => void
  readonly kind?: 'primary' | 'plain'
  readonly label?: string
  readonly children: ComponentChildren
}

/** A button for an operation, disabled with the reason if the person may not call it. */
export function Verb({ operation, run, kind, label, children }: VerbProps) {
  const why = denialReason(operation)
  return (
    <button
      type="button"
      class="button"
      disabled={why !== null}
      onClick={run}
      {...(kind && { 'data-kind': kind })}
      {...(why !== null && { title: why })}
      {...(label !== undefined && { 'aria-label': label })}
    >
      {children}
    </button>
  )
}

/** Why the person cannot change a list. */
export function WhyNot({ operation }: { readonly operation: OperationName }) {
  if (isPermitted(operation)) return null
  return <p class="muted why-not">{denialReason(operation)}</p>
}

interface OperationDialogProps<Name extends OperationName> {
  readonly title: string
  readonly operation: Name
  /** The input from the fields of the form. */
  readonly input: () => InputOf<Name>
  readonly verb: string
  readonly isDangerous?: boolean
  readonly onDone: (answer: OutputOf<Name>) => void
  readonly close: () => void
  readonly children?: ComponentChildren
}

/** A form for one operation. A refusal is shown beside the fields. */
export function OperationDialog<Name extends OperationName>(props: OperationDialogProps<Name>) {
  const { title, operation, input, verb, isDangerous = false, onDone, close, children } = props
  return (
    <Dialog title={title} close={close}>
      <Form
        place="settings-form"
        verb={verb}
        isDangerous={isDangerous}
        cancel={close}
        send={async () => {
          const answer = await call(operation, input())
          close()
          onDone(answer)
        }}
      >
        {children}
      </Form>
    </Dialog>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly set: (value: string) => void
  readonly isEmail?: boolean
  readonly hint?: string
  readonly required?: boolean
  /** Characters. */
  readonly most?: number
}

export function TextField(props: FieldProps) {
  const { label, value, set, isEmail = false, hint, required = false, most = 254 } = props
  const id = useId()
  return (
    <div class="input-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="field"
        type="text"
        inputMode={isEmail ? 'email' : 'text'}
        value={value}
        required={required}
        maxLength={most}
        autocomplete="off"
        onInput={({ currentTarget }) => set(currentTarget.value)}
        {...(hint !== undefined && { 'aria-describedby': `${id}-hint` })}
      />
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="muted">
          {hint}
        </p>
      )}
    </div>
  )
}

interface ChoiceFieldProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, word: string])[]
  readonly set: (value: Value) => void
}

export function ChoiceField<Value extends string>({ label, value, options, set }: ChoiceFieldProps<Value>) {
  const id = useId()
  return (
    <div class="input-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="field"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options.find(([option]) => option === currentTarget.value)
          if (chosen) set(chosen[0])
        }}
      >
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </div>
  )
}

interface ChecksFieldProps<Value extends string> {
  readonly label: string
  readonly values: ReadonlySet<Value>
  readonly options: readonly (readonly [value: Value, word: string])[]
  readonly set: (values: ReadonlySet<Value>) => void
}

/** Several of a few values, each with a box. */
export function ChecksField<Value extends string>({ label, values, options, set }: ChecksFieldProps<Value>) {
  return (
    <fieldset class="input-field checks-field">
      <legend>{label}</legend>
      {options.map(([option, word], at) => (
        <label key={option}>
          <input
            type="checkbox"
            required={at === 0 && values.size === 0}
            checked={values.has(option)}
            onChange={({ currentTarget }) => {
              const left = [...values].filter((value) => value !== option)
              set(new Set(currentTarget.checked ? [...left, option] : left))
            }}
          />{' '}
          {word}
        </label>
      ))}
    </fieldset>
  )
}

/** The words of a field with several values. */
export function wordsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}

interface CreatedSecretProps {
  readonly title: string
  readonly kind: string
  readonly what: 'token' | 'invitation'
  readonly secret: string
  readonly onDone: () => void
  readonly children: ComponentChildren
}

/** A new secret. It stays on the page until the person confirms that it is stored. */
export function NewSecret({ title, kind, what, secret, onDone, children }: CreatedSecretProps) {
  return (
    <section class="made-token" aria-label={`The ${what} ${title}`}>
      <h2>
        {title} <span class="muted">{kind}</span>
      </h2>
      <p>
        This {what} is shown only once. {children}
      </p>
      <p class="snippet">
        <code>{secret}</code>
        <CopyButton text={secret} label={`Copy the ${what}`} />
      </p>
      <button type="button" class="button" onClick={onDone}>
        I have stored it
      </button>
    </section>
  )
}
