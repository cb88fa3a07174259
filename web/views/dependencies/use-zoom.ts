import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { LayeredLayout } from '../../geometry/layered-layout.ts'

interface Zoom {
  readonly zoom: number
  readonly fit: () => void
  readonly zoomBy: (factor: number) => void
}

/** Smaller than this only by the reader's own choice. */
const readable = 0.85
const nearest = 2
const farthest = 0.1

/** How large the picture is: fitted at first, but never enlarged and never so small that it cannot be read. */
export function useZoom(frame: RefObject<HTMLDivElement | null>, layout: LayeredLayout | null): Zoom {
  const [chosen, setChosen] = useState<number | null>(null)
  const [fitting, setFitting] = useState(1)
  const { width = 0, height = 0 } = layout ?? {}
  useEffect(() => {
    const element = frame.current
    if (!element || width === 0) return
    const measure = (): void => {
      const whole = Math.min(element.clientWidth / width, element.clientHeight / height)
      setFitting(Math.min(1, Math.max(whole, readable)))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [frame, width, height])
  const zoom = chosen ?? fitting
  const zoomBy = (factor: number): void => setChosen(Math.min(nearest, Math.max(farthest, zoom * factor)))
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY / 300))
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  })
  return {
    zoom,
    fit: () => {
      const element = frame.current
      if (element && width > 0)
        setChosen(Math.min(1, element.clientWidth / width, element.clientHeight / height))
    },
    zoomBy,
  }
}
