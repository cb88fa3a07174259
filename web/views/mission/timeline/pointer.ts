import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { TimelineModel } from './model.ts'

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
