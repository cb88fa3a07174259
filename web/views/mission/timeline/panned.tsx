import type { ComponentChildren } from 'preact'
import { useTimeline } from './context.ts'

/** Moves all charts at once: panning draws no row anew unless something comes into sight. */
export function Panned({ children }: { readonly children: ComponentChildren }) {
  const { model } = useTimeline()
  return (
    <ul class="panned" aria-label="Timeline" style={{ '--left': `${-model.scale.value.left}px` }}>
      {children}
    </ul>
  )
}

/** Rows that wait until the pointer is gone, because nothing moves under it. */
export function Waiting() {
  const { model } = useTimeline()
  const held = model.rows.held.value
  if (held === 0) return null
  return (
    <p class="rows-waiting" aria-live="polite">
      {held === 1 ? '1 change of the rows waits' : `${held} changes of the rows wait`} until the pointer
      leaves.
    </p>
  )
}
