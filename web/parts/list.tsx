import type { ReadonlySignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useCommands } from '../keys/commands.ts'
import { query, setQuery } from '../router/location.ts'

/** Says how many rows wait because a pointer is over the list; a click lets them in. */
export function WaitingRows({
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

/** Narrows a list by words, which are in the address; `f` goes to it, Esc leaves it. */
export function FilterField() {
  const field = useRef<HTMLInputElement>(null)
  useCommands({ filter: () => field.current?.focus() })
  return (
    <input
      ref={field}
      class="field"
      type="search"
      placeholder="Filter (F)"
      aria-label="Filter by words"
      value={query.value.get('words') ?? ''}
      onInput={({ currentTarget }) => setQuery({ words: currentTarget.value })}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') currentTarget.blur()
      }}
    />
  )
}

/** Shows once that what an element says has changed; not that it appeared. */
export function useFlash(element: RefObject<HTMLElement | null>, said: string): void {
  const before = useRef(said)
  useEffect(() => {
    if (before.current === said) return
    before.current = said
    const { current } = element
    if (!current) return
    current.classList.remove('changed')
    // Reading the layout begins the animation anew where it still runs.
    void current.offsetWidth
    current.classList.add('changed')
  }, [element, said])
}

/** Selects the next of a list in the address, and brings it in sight; stays at the ends. */
export function stepSelection(order: readonly string[], selected: string | null): (by: number) => () => void {
  return (by) => () => {
    const next = order[Math.min(Math.max(order.indexOf(selected ?? '') + by, 0), order.length - 1)]
    if (next === undefined) return
    setQuery({ select: next })
    document.getElementById(next)?.scrollIntoView({ block: 'nearest' })
  }
}
