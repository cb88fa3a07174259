import { expect, test } from 'vitest'
import { layoutColumns } from './bar-chart.ts'

const size = { width: 120, height: 40 }

test('the highest value is as high as the chart, and the others stand to it as their values', () => {
  const [half, whole] = layoutColumns([5, 10], size)
  expect(half).toMatchObject({ height: 20, y: 20 })
  expect(whole).toMatchObject({ height: 40, y: 0 })
})

test('what is unknown has no column, and 0 has one that is seen', () => {
  const [unknown, zero] = layoutColumns([null, 0, 4], size)
  expect(unknown).toBeNull()
  expect(zero?.height).toBe(1)
  expect(layoutColumns([0, 0], size).map((column) => column?.height)).toEqual([1, 1])
})

test('columns lie beside each other in the chart, however many there are', () => {
  for (const count of [1, 7, 104, 500]) {
    const columns = layoutColumns(
      Array.from({ length: count }, (_, at) => at),
      size,
    )
    let end = 0
    for (const column of columns) {
      expect(column?.x).toBeGreaterThanOrEqual(end)
      expect(column?.width).toBeGreaterThan(0)
      end = (column?.x ?? 0) + (column?.width ?? 0)
    }
    expect(end).toBeLessThanOrEqual(size.width)
  }
})

test('of nothing there is nothing', () => {
  expect(layoutColumns([], size)).toEqual([])
})
