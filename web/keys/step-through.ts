import { setQuery } from '../router/location.ts'

/** Selects the next of a list in the address, and brings it in sight; stays at the ends. */
export function stepThrough(order: readonly string[], selected: string | null): (by: number) => () => void {
  return (by) => () => {
    const next = order[Math.min(Math.max(order.indexOf(selected ?? '') + by, 0), order.length - 1)]
    if (next === undefined) return
    setQuery({ select: next })
    document.getElementById(next)?.scrollIntoView({ block: 'nearest' })
  }
}
