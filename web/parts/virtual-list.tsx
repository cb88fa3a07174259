import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface VirtualListProps {
  readonly keys: readonly string[]
  readonly label: string
  readonly row: (key: string, at: number) => ComponentChildren
  /** The row to keep in sight. */
  readonly selected?: string | null
  readonly class?: string
}

/** Rows beyond the edges of the visible part, above and below. */
const spare = 12

/** What a view may show over the last rows, in pixels. */
const below = 120

/** A list of rows of one height. Only the visible rows are in the page. */
export function VirtualList(props: VirtualListProps) {
  const { keys, label, row, selected = null, class: name = '' } = props
  const list = useRef<HTMLUListElement>(null)
  const height = rowHeight()
  const [{ first, end }, setWindow] = useState({ first: 0, end: 60 })

  const update = (page: Element) => {
    const top = page.getBoundingClientRect().top - (list.current?.getBoundingClientRect().top ?? 0)
    const next = {
      first: Math.max(0, Math.floor(top / height) - spare),
      end: Math.ceil((top + page.clientHeight) / height) + spare,
    }
    setWindow((now) => (now.first === next.first && now.end === next.end ? now : next))
  }
  useLayoutEffect(() => {
    const page = list.current?.closest('.page')
    if (!page) return
    const follow = () => update(page)
    follow()
    page.addEventListener('scroll', follow, { passive: true })
    const resized = new ResizeObserver(follow)
    resized.observe(page)
    return () => {
      page.removeEventListener('scroll', follow)
      resized.disconnect()
    }
  }, [height])

  // Before the next key: a selected row may be a field that it is typed into.
  useLayoutEffect(() => {
    const page = list.current?.closest('.page')
    const at = selected === null ? -1 : keys.indexOf(selected)
    if (!page || !list.current || at === -1) return
    const seen = page.getBoundingClientRect()
    const top = list.current.getBoundingClientRect().top + at * height
    if (top < seen.top + 40) page.scrollBy(0, top - seen.top - 40)
    else if (top + height > seen.bottom - below) page.scrollBy(0, top + height - seen.bottom + below)
    update(page)
  }, [selected, keys, height])

  const shown = keys.slice(first, end)
  return (
    <ul
      ref={list}
      class={`rows ${name}`}
      aria-label={label}
      style={{
        paddingTop: `${Math.min(first, keys.length) * height}px`,
        paddingBottom: `${Math.max(0, keys.length - end) * height}px`,
      }}
    >
      {shown.map((key, at) => row(key, first + at))}
    </ul>
  )
}

/** In pixels, as the style sheet has it: rows are higher for fingers. */
function rowHeight(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 30
}
