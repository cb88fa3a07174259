import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

interface MenuProps {
  /** What the button shows. */
  readonly button: ComponentChildren
  readonly class: string
  /** Under the button's right edge instead of its left one. */
  readonly toRight?: boolean
  readonly opened?: () => void
  /** Made anew each time it opens. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button, and what opens under it. Esc and a click elsewhere close it. */
export function Menu({ button: shown, class: name, toRight = false, opened, children }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const place = () => {
    const { left = 0, right = 0, bottom = 0 } = button.current?.getBoundingClientRect() ?? {}
    const width = document.documentElement.clientWidth
    list.current?.style.setProperty(toRight ? 'right' : 'left', `${toRight ? width - right : left}px`)
    list.current?.style.setProperty('top', `${bottom + 4}px`)
  }
  return (
    <span>
      <button type="button" class={name} ref={button} popoverTarget={id} onClick={place}>
        {shown}
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        class="menu"
        onBeforeToggle={({ newState }) => {
          setOpen(newState === 'open')
          if (newState === 'open') opened?.()
        }}
      >
        {isOpen ? children(() => list.current?.hidePopover()) : null}
      </div>
    </span>
  )
}
