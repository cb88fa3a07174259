import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { runInFrames } from '../../parts/frame-queue.ts'

/** Beyond the window, in pixels: what comes into sight is drawn before. */
const margin = 1_200

const callbacks = new Map<Element, (near: boolean) => void>()
const observers = new WeakMap<Element, IntersectionObserver>()

/** Whether an element is near what is seen of the page. */
export function useNear(element: RefObject<Element | null>, first: boolean): boolean {
  const [near, setNear] = useState(first)
  useLayoutEffect(() => {
    const { current } = element
    const page = current?.closest('.page')
    if (!current || !page) return
    const observer = observers.get(page) ?? observeFiles(page)
    callbacks.set(current, setNear)
    observer.observe(current)
    return () => {
      callbacks.delete(current)
      observer.unobserve(current)
    }
  }, [element])
  return near
}

/** One observer for all elements of a page. What is seen is drawn at once, what only comes near when a frame has room. */
function observeFiles(page: Element): IntersectionObserver {
  const last = new WeakMap<Element, boolean>()
  const observer = new IntersectionObserver(
    (entries) => {
      const { top, bottom } = page.getBoundingClientRect()
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        last.set(target, isIntersecting)
        const tell = () => {
          // It may have come and gone since.
          if (last.get(target) === isIntersecting) callbacks.get(target)?.(isIntersecting)
        }
        if (isIntersecting && boundingClientRect.top < bottom && boundingClientRect.bottom > top) tell()
        else runInFrames(tell)
      }
    },
    { root: page, rootMargin: `${margin}px 0px` },
  )
  observers.set(page, observer)
  return observer
}
