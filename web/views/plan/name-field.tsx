import { useLayoutEffect, useRef } from 'preact/hooks'

interface NameFieldProps {
  readonly label: string
  readonly value: string
  /** The name, or null where it was left as it is. */
  readonly settle: (name: string | null) => void
}

/** A name that is being written: Enter keeps it, Esc and leaving it empty do not. */
export function NameField({ label, value, settle }: NameFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const isSettled = useRef(false)
  // Before the next key is typed.
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const once = (name: string | null) => {
    if (isSettled.current) return
    isSettled.current = true
    settle(name === value || name === '' ? null : name)
  }
  return (
    <input
      ref={field}
      class="field name-field"
      aria-label={label}
      placeholder={label}
      maxLength={300}
      defaultValue={value}
      onBlur={({ currentTarget }) => once(currentTarget.value.trim())}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') once(currentTarget.value.trim())
        if (key === 'Escape') once(null)
      }}
    />
  )
}
