import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { layoutBars } from '../../../geometry/bar-layout.ts'
import { rowTops, scrollTo } from '../../../geometry/lane-rows.ts'
import { useCommands } from '../../../keys/commands.ts'
import { now } from '../../../parts/time.tsx'
import { href, navigate, setQuery } from '../../../router/location.ts'
import type { HoverCardState, TimelineLaneRow, TimelineModel } from './model.ts'

interface KeyParts {
  readonly model: TimelineModel
  readonly card: HoverCardState
  readonly body: RefObject<HTMLDivElement | null>
  readonly rowHeight: number
}

/** Rows up and down, bars left and right, and the picture's own keys. */
export function useTimelineKeys({ model, card, body, rowHeight }: KeyParts): void {
  const bar = useRef(-1)
  const current = (): TimelineLaneRow | null => model.rows.row(model.selected.peek() ?? '')?.peek() ?? null
  const step = (by: number): void => {
    const order = model.rows.order.peek()
    const at = order.indexOf(model.selected.peek() ?? '')
    const next = Math.min(
      Math.max(at === -1 ? (by > 0 ? 0 : order.length - 1) : at + by, 0),
      order.length - 1,
    )
    const element = body.current
    bar.current = -1
    card.hide()
    model.select(order[next] ?? null)
    if (!element) return
    const rows = rowTops(order.map(() => rowHeight))
    const id = order[next] ?? ''
    element.scrollTop = scrollTo(rows, next, { top: element.scrollTop, height: element.clientHeight })
    // The row may be drawn only after it was scrolled to.
    requestAnimationFrame(() => {
      const row = element.querySelector(`[data-row="${CSS.escape(id)}"]`)
      row?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true })
    })
  }
  const along = (by: number): void => {
    const row = current()
    if (row?.kind === 'group') {
      if (row.folded === by > 0) model.fold(row.id)
      return
    }
    if (!row) return
    const bars = layoutBars(row.spans, model.content.peek(), { now: now.peek() })
    const next = Math.min(Math.max(bar.current + by, 0), bars.length - 1)
    const chosen = bars[next]
    const element = body.current
    if (!chosen || !element) return
    bar.current = next
    const width = model.width.peek()
    const x = chosen.x - model.scale.peek().left
    const end = Math.min(x + chosen.width, x + width / 2)
    if (x < 0 || end > width) model.pan(x < 0 ? x - 40 : end - width + 40)
    const box = element.getBoundingClientRect()
    const top = box.top + model.rows.order.peek().indexOf(row.id) * rowHeight - element.scrollTop
    const left = box.left + element.clientWidth - width + chosen.x - model.scale.peek().left
    card.show({
      row,
      spans: chosen.spans,
      marks: row.task.marks,
      box: { x: left, top, bottom: top + rowHeight },
    })
  }
  useCommands({
    next: () => step(1),
    previous: () => step(-1),
    left: () => along(-1),
    right: () => along(1),
    peek: () => {
      const row = current()
      if (row?.kind === 'group') model.fold(row.id)
      else along(1)
    },
    open: () => {
      const row = current()
      if (row?.kind === 'group') model.fold(row.id)
      else if (row) navigate(href(`/tasks/${row.task.id}`))
    },
    close: () => {
      card.hide()
      model.select(null)
    },
    'copy id': () => {
      const row = current()
      if (row?.kind === 'task') void navigator.clipboard.writeText(row.task.id)
    },
    fit: () => model.fit(),
    'zoom in': () => model.zoom(1.5),
    'zoom out': () => model.zoom(1 / 1.5),
    'to now': () => model.toNow(),
    'group by': () => setQuery({ by: model.grouping.peek() === 'phase' ? 'agent' : null, select: null }),
  })
}

/** Wheel and drag: sideways pans, with Ctrl or a pinch the time under the pointer comes nearer. */
export function usePointer(body: RefObject<HTMLDivElement | null>, model: TimelineModel): void {
  useEffect(() => {
    const element = body.current
    if (!element) return
    const listening = new AbortController()
    const { signal } = listening
    const chartX = (event: MouseEvent): number =>
      event.clientX - element.getBoundingClientRect().left - (element.clientWidth - model.width.value)
    element.addEventListener(
      'wheel',
      (event) => {
        const sideways = event.shiftKey ? event.deltaY : event.deltaX
        if (event.ctrlKey || event.metaKey)
          model.zoom(Math.exp(-event.deltaY / 200), Math.max(chartX(event), 0))
        else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) model.pan(sideways)
        else return
        event.preventDefault()
      },
      { signal, passive: false },
    )
    element.addEventListener(
      'click',
      ({ target }) => {
        const row = target instanceof Element ? target.closest('[data-row]') : null
        if (row) model.select(row.getAttribute('data-row'))
      },
      { signal },
    )
    let from: number | null = null
    element.addEventListener(
      'pointerdown',
      (event) => {
        if (event.button !== 0 || event.pointerType === 'touch' || chartX(event) < 0) return
        from = event.clientX
      },
      { signal },
    )
    window.addEventListener(
      'pointermove',
      (event) => {
        if (from === null) return
        model.pan(from - event.clientX)
        from = event.clientX
      },
      { signal },
    )
    window.addEventListener(
      'pointerup',
      () => {
        from = null
      },
      { signal },
    )
    return () => listening.abort()
  }, [body, model])
}
