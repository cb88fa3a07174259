import { useSignalEffect } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { createRows, type Rows } from '../live/rows.ts'

/** Rows that follow a list, and hold still while a pointer is over the element that the handlers are put on. */
export function useRows<Row>(list: () => readonly Row[] | null, keyOf: (row: Row) => string) {
  const rows: Rows<Row> = useMemo(() => createRows(keyOf), [])
  useSignalEffect(() => {
    const next = list()
    if (next !== null) rows.update(next)
  })
  const still = {
    onPointerEnter: () => rows.hold(true),
    onPointerLeave: () => rows.hold(false),
  }
  return { rows, still }
}
