import type { ReadonlySignal } from '@preact/signals'

/** Says how many rows wait because a pointer is over the list; a click lets them in. */
export function HeldBack({
  held,
  release,
}: {
  readonly held: ReadonlySignal<number>
  readonly release: () => void
}) {
  if (held.value === 0) return null
  return (
    <button type="button" class="held-back" onClick={release}>
      {held.value} new
    </button>
  )
}
