import type { RefObject } from 'preact'
import type { LayeredLayout } from '../../geometry/layered-layout.ts'
import { type Direction, neighbourOf } from '../../geometry/plane.ts'
import { useCommands } from '../../keys/commands.ts'
import { query, setQuery } from '../../router/location.ts'

interface GraphKeys {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly layout: LayeredLayout | null
  readonly fit: () => void
  readonly zoomBy: (factor: number) => void
}

/** Arrow keys go to the nearest node in their direction. */
export function useGraphKeys({ frame, layout, fit, zoomBy }: GraphKeys): void {
  const nodeOf = (id: string): HTMLElement | null =>
    frame.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`) ?? null
  const go = (direction: Direction) => (): void => {
    const boxes = layout?.nodes ?? []
    const from = boxes.find(({ id }) => id === query.peek().get('select'))
    const next = from
      ? neighbourOf(boxes, from, direction)
      : (boxes.toSorted((a, b) => a.x - b.x || a.y - b.y)[0] ?? null)
    if (!next) return
    setQuery({ select: next.id })
    const node = nodeOf(next.id)
    node?.focus({ preventScroll: true })
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  useCommands({
    left: go('left'),
    right: go('right'),
    previous: go('up'),
    next: go('down'),
    open: () => nodeOf(query.peek().get('select') ?? '')?.click(),
    close: () => setQuery({ select: null }),
    fit,
    'zoom in': () => zoomBy(1.25),
    'zoom out': () => zoomBy(0.8),
  })
}
