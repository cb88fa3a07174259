import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

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
