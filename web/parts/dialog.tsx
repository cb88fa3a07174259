import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly close: () => void
  readonly class?: string
  readonly children: ComponentChildren
}

/** A modal dialog while it is shown; Esc and a click beside it close it. */
export function Dialog({ title, close, class: name = '', children }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  // The event of its closing comes later, when another dialog may be open.
  const isGone = useRef(false)
  // Another function of the same view is no other dialog: it would be closed, and opened, and the event would end it.
  const closing = useRef(close)
  closing.current = close
  useLayoutEffect(() => {
    const shown = dialog.current
    if (!shown) return
    isGone.current = false
    const before = document.activeElement
    shown.showModal()
    const beside = (event: MouseEvent) => {
      if (event.target === shown) closing.current()
    }
    shown.addEventListener('mousedown', beside)
    return () => {
      isGone.current = true
      shown.removeEventListener('mousedown', beside)
      shown.close()
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
  // A button that was pressed and is off now has no focus: the next keys would go to the page beneath.
  useLayoutEffect(() => {
    const { activeElement: focused } = document
    if (!dialog.current?.contains(focused) || focused?.matches(':disabled')) dialog.current?.focus()
  })
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={name}
      aria-labelledby={id}
      onClose={() => isGone.current || closing.current()}
      onKeyDown={(event) => {
        // The browser's own way ends in an event of a later task: until then the next key would be the dialog's.
        if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return
        event.preventDefault()
        closing.current()
      }}
    >
      <h2 id={id} class="dialog-title">
        {title}
      </h2>
      {children}
    </dialog>
  )
}
