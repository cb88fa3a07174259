import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useCommands } from '../keys/commands.ts'
import type { HeldRows } from '../live/rows.ts'
import { query, setQuery } from '../router/location.ts'

/** The number of new or moved rows that wait because a pointer is over the list; a click shows them. */
export function WaitingRows({
  held,
  release,
}: {
  readonly held: ReadonlySignal<HeldRows>
  readonly release: () => void
}) {
  const { arrived, moved } = held.value
  if (arrived + moved === 0) return null
  return (
    <button type="button" class="held-back" onClick={release}>
      {arrived > 0 ? `${arrived} new` : `${moved} moved`}
    </button>
  )
}

/** Filters a list by words, which are part of the address. `f` focuses it, Esc leaves it. */
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

/** Rows that are drawn at first, and then each time that the last one comes near. */
const rowsAtOnce = 40

/**
 * The first rows of a long list, up to the selected one, and a mark for its end: more rows are drawn before the reader
 * scrolls there.
 */
export function useDrawnRows<Row>(
  rows: readonly Row[],
  selected = -1,
): { readonly drawn: readonly Row[]; readonly end: ComponentChildren } {
  const [count, setCount] = useState(rowsAtOnce)
  const needed = Math.max(count, selected + 1)
  const mark = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (mark.current === null) return undefined
    const near = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setCount(needed + rowsAtOnce)
      },
      { root: mark.current.closest('.page'), rootMargin: '800px' },
    )
    near.observe(mark.current)
    return () => near.disconnect()
  }, [needed, needed < rows.length])
  return {
    drawn: rows.slice(0, needed),
    end: needed < rows.length ? <li ref={mark} aria-hidden="true" style={{ blockSize: '1px' }} /> : null,
  }
}

/** Flashes an element when its text changes, not when it appears. */
export function useFlash(element: RefObject<HTMLElement | null>, text: string): void {
  const before = useRef(text)
  useEffect(() => {
    if (before.current === text) return
    before.current = text
    const { current } = element
    if (!current) return
    current.classList.remove('changed')
    // Reading the layout begins the animation anew where it still runs.
    void current.offsetWidth
    current.classList.add('changed')
  }, [element, text])
}

/** Selects the next row in the address and scrolls it into sight. It stops at the ends. */
export function stepSelection(order: readonly string[], selected: string | null): (by: number) => () => void {
  return (by) => () => {
    const next = order[Math.min(Math.max(order.indexOf(selected ?? '') + by, 0), order.length - 1)]
    if (next === undefined) return
    setQuery({ select: next })
    document.getElementById(next)?.scrollIntoView({ block: 'nearest' })
  }
}
