/** A column of a small chart, in pixels from its upper left corner. */
export interface ChartColumn {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface ChartSize {
  readonly width: number
  readonly height: number
}

const widest = 28
const least = 1

/**
 * A column for each value, from 0 to the highest one; null where the value is unknown, which is not a column of no height.
 * A known value has one of at least a pixel, so that 0 is seen.
 */
export function layoutColumns(
  values: readonly (number | null)[],
  { width, height }: ChartSize,
): readonly (ChartColumn | null)[] {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  // Each has the same part of the width, with its name below it.
  const step = width / Math.max(1, values.length)
  const gap = Math.min(3, step / 4)
  return values.map((value, at) => {
    if (value === null) return null
    const tall = most === 0 ? least : Math.max(least, (value / most) * height)
    return { x: at * step, y: height - tall, width: Math.min(widest, step) - gap, height: tall }
  })
}
