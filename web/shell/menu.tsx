import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

interface MenuProps {
  /** The content of the button. */
  readonly button: ComponentChildren
  readonly class: string
  /** Aligned with the button's right edge instead of its left one. */
  readonly toRight?: boolean
  readonly onOpen?: () => void
  /** Drawn again each time the menu opens. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button that opens a menu below it, or above it at the bottom of the window. Esc and a click elsewhere close it. */
export function Menu({ button: label, class: name, toRight = false, onOpen, children }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const place = () => {
    const { left = 0, right = 0, top = 0, bottom = 0 } = button.current?.getBoundingClientRect() ?? {}
    const { clientWidth, clientHeight } = document.documentElement
    const opensUp = top > clientHeight / 2
    const { style } = list.current ?? {}
    style?.setProperty(toRight ? 'right' : 'left', `${toRight ? clientWidth - right : left}px`)
    style?.setProperty('top', opensUp ? 'auto' : `${bottom + 4}px`)
    style?.setProperty('bottom', opensUp ? `${clientHeight - top + 4}px` : 'auto')
  }
  return (
    <span>
      <button type="button" class={name} ref={button} popoverTarget={id} onClick={place}>
        {label}
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        class="menu"
        onBeforeToggle={({ newState }) => {
          setOpen(newState === 'open')
          if (newState === 'open') onOpen?.()
        }}
      >
        {isOpen ? children(() => list.current?.hidePopover()) : null}
      </div>
    </span>
  )
}
