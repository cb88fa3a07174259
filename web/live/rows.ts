import { batch, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'

export interface HeldRows {
  readonly arrived: number
  readonly moved: number
}

const noneHeld: HeldRows = { arrived: 0, moved: 0 }

/** A list whose order and whose rows change apart, so that a log entry about one row repaints one row. */
export interface Rows<Row> {
  readonly order: ReadonlySignal<readonly string[]>
  /** What waits because a pointer is over the list. Rows that go are not counted. */
  readonly held: ReadonlySignal<HeldRows>
  row(key: string): ReadonlySignal<Row> | undefined
  /** The rows as they are now; those that did not change are left alone. */
  update(rows: readonly Row[]): void
  /** While it is held nothing moves: rows change in place, the order waits. */
  hold(held: boolean): void
}

export function createRows<Row>(keyOf: (row: Row) => string): Rows<Row> {
  const order = signal<readonly string[]>([])
  const held = signal(noneHeld)
  const rows = new Map<string, Signal<Row>>()
  let isHeld = false
  let next: readonly string[] = []

  const settle = () => {
    held.value = noneHeld
    if (!isSame(order.peek(), next)) order.value = next
    const shown = new Set(next)
    for (const key of rows.keys()) if (!shown.has(key)) rows.delete(key)
  }
  return {
    order,
    held,
    row: (key) => rows.get(key),
    update: (list) =>
      batch(() => {
        for (const row of list) {
          const key = keyOf(row)
          const known = rows.get(key)
          if (!known) rows.set(key, signal(row))
          else if (JSON.stringify(known.peek()) !== JSON.stringify(row)) known.value = row
        }
        next = list.map(keyOf)
        if (isHeld && isWorthHolding(order.peek(), next)) held.value = countHeld(order.peek(), next)
        else settle()
      }),
    hold: (isHeldNow) => {
      isHeld = isHeldNow
      if (!isHeldNow) batch(settle)
    },
  }
}

/** Rows that came when all that were shown have gone are shown at once: nobody is about to click one of those. */
function isWorthHolding(shown: readonly string[], next: readonly string[]): boolean {
  return shown.length > 0 && (next.length === 0 || shown.some((key) => next.includes(key)))
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, at) => key === other[at])
}

function countHeld(now: readonly string[], next: readonly string[]): HeldRows {
  const [shown, stays] = [new Set(now), new Set(next)]
  const kept = next.filter((key) => shown.has(key))
  const before = now.filter((key) => stays.has(key))
  return {
    arrived: next.length - kept.length,
    moved: kept.filter((key, at) => key !== before[at]).length,
  }
}

/** How long a pointer rests before rows may move beneath it: nobody is about to click. */
const restMs = 2_000

/** Holds rows while a pointer moves over them; a pointer that rests or leaves lets them go on. */
export function holdWhilePointerMoves({ hold }: Pick<Rows<unknown>, 'hold'>) {
  let resting: ReturnType<typeof setTimeout> | undefined
  const release = () => {
    clearTimeout(resting)
    hold(false)
  }
  return {
    onPointerMove: () => {
      clearTimeout(resting)
      hold(true)
      resting = setTimeout(release, restMs)
    },
    onPointerLeave: release,
  }
}

/** Rows that follow the signals that `list` reads; they hold still while a pointer is over the element with the handlers. */
export function useRows<Row>(list: () => readonly Row[] | null, keyOf: (row: Row) => string) {
  // Not useSignalEffect, which waits for a frame: a key pressed in that frame would act on the list before this one.
  const { rows, stop } = useMemo(() => {
    const rows: Rows<Row> = createRows(keyOf)
    const stop = effect(() => {
      const next = list()
      if (next !== null) rows.update(next)
    })
    return { rows, stop }
  }, [])
  useEffect(() => stop, [])
  const still = {
    onPointerEnter: () => rows.hold(true),
    onPointerLeave: () => rows.hold(false),
  }
  return { rows, still }
}
