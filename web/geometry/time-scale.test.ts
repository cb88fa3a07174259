import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  centeredView,
  clampView,
  contentX,
  fitView,
  foldWidth,
  intervalsOf,
  type TimeRange,
  ticksOf,
  timeAt,
  timeScale,
  unfoldIntervals,
  viewX,
  zoomAroundPoint,
} from './time-scale.ts'

const start = Date.UTC(2026, 10, 3, 9)
const day = 24 * 3_600_000
const interval = fc
  .record({ from: fc.nat({ max: 5 * day }), length: fc.nat({ max: day / 4 }) })
  .map(({ from, length }): TimeRange => ({ from: start + from, to: start + from + length }))
const busy = fc.array(interval, { minLength: 1, maxLength: 30 })
const width = fc.integer({ min: 400, max: 3000 })
const share = fc.double({ min: 0, max: 1, noNaN: true })

describe('folding', () => {
  test('intervals follow each other, take turns, and cover what is busy', () => {
    fc.assert(
      fc.property(busy, (spans) => {
        const intervals = intervalsOf(spans)
        for (const [place, interval] of intervals.entries()) {
          expect(interval.to).toBeGreaterThan(interval.from)
          expect(interval.idle).toBe(place % 2 === 1)
          if (place > 0) expect(interval.from).toBe(intervals[place - 1]?.to)
        }
        for (const { from, to } of spans) {
          expect(intervals.some((one) => !one.idle && one.from <= from && to <= one.to)).toBe(true)
        }
      }),
    )
  })

  test('a short pause stays as it is', () => {
    const pause = [
      { from: start, to: start + 60_000 },
      { from: start + 10 * 60_000, to: start + 11 * 60_000 },
    ]
    expect(intervalsOf(pause)).toHaveLength(1)
    expect(unfoldIntervals(intervalsOf([{ from: start, to: start }]))).toHaveLength(1)
    expect(intervalsOf([])).toEqual([])
  })
})

describe('the scale', () => {
  test('keeps the order of times, and finds each again', () => {
    fc.assert(
      fc.property(busy, width, fc.array(share, { minLength: 2, maxLength: 20 }), (spans, pixels, shares) => {
        const intervals = intervalsOf(spans)
        const scale = timeScale(intervals, fitView(intervals, pixels))
        const [from, to] = [intervals[0]?.from ?? 0, intervals.at(-1)?.to ?? 0]
        const times = shares
          .map((part) => from - day / 9 + part * (to - from + day / 4.5))
          .toSorted((a, b) => a - b)
        for (const [place, at] of times.entries()) {
          const x = viewX(scale, at)
          if (place > 0) expect(x).toBeGreaterThanOrEqual(viewX(scale, times[place - 1] ?? 0))
          expect(Math.abs(timeAt(scale, x) - at)).toBeLessThan(1)
        }
      }),
    )
  })

  test('folds idle time to a narrow gap, and fits into the width', () => {
    fc.assert(
      fc.property(busy, width, (spans, pixels) => {
        const intervals = intervalsOf(spans)
        const scale = timeScale(intervals, fitView(intervals, pixels))
        for (const piece of scale.pieces) if (piece.idle) expect(piece.width).toBeLessThanOrEqual(foldWidth)
        const folds = scale.pieces.filter(({ folded }) => folded).length
        if (pixels > (folds + 2) * foldWidth) expect(scale.width).toBeLessThanOrEqual(pixels + 0.001)
      }),
    )
  })

  test('zooming leaves the time under the pointer where it is', () => {
    fc.assert(
      fc.property(
        busy,
        width,
        share,
        fc.double({ min: 0.2, max: 8, noNaN: true }),
        (spans, pixels, part, factor) => {
          const intervals = intervalsOf(spans)
          const scale = timeScale(intervals, fitView(intervals, pixels))
          const x = part * pixels
          const at = timeAt(scale, x)
          const zoomed = timeScale(intervals, zoomAroundPoint(intervals, scale, { x, factor }))
          expect(Math.abs(viewX(zoomed, at) - x)).toBeLessThan(0.01)
        },
      ),
    )
  })

  test('a view can be moved only as far as there is something to see', () => {
    fc.assert(
      fc.property(busy, width, fc.integer({ min: -1e6, max: 1e6 }), (spans, pixels, left) => {
        const intervals = intervalsOf(spans)
        const view = clampView(intervals, { ...fitView(intervals, pixels), left }, pixels)
        const scale = timeScale(intervals, view)
        expect(viewX(scale, intervals[0]?.from ?? 0)).toBeLessThanOrEqual(pixels)
        expect(viewX(scale, intervals.at(-1)?.to ?? 0)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('a time can be put in the middle', () => {
    const intervals = intervalsOf([{ from: start, to: start + day }])
    const view = centeredView(intervals, { perMs: 0.001, left: 0 }, { at: start + day / 3, width: 800 })
    expect(viewX(timeScale(intervals, view), start + day / 3)).toBeCloseTo(400)
    expect(contentX(timeScale([], view), start)).toBe(0)
  })
})

describe('ticks', () => {
  test('are in order, apart, inside what is shown, and not in a fold', () => {
    fc.assert(
      fc.property(busy, width, fc.integer({ min: -720, max: 840 }), (spans, pixels, minutes) => {
        const intervals = intervalsOf(spans)
        const scale = timeScale(intervals, fitView(intervals, pixels))
        const ticks = ticksOf(scale, { width: pixels, least: 80, ahead: () => minutes })
        for (const [place, tick] of ticks.entries()) {
          expect(tick.x).toBeGreaterThanOrEqual(-0.01)
          expect(tick.x).toBeLessThanOrEqual(pixels + 0.01)
          if (place > 0) expect(tick.x - (ticks[place - 1]?.x ?? 0)).toBeGreaterThanOrEqual(80)
          const inFold = scale.pieces.some(({ folded, from, to }) => folded && from < tick.at && tick.at < to)
          expect(inFold).toBe(false)
        }
      }),
    )
  })

  test('stand at round local times', () => {
    const intervals = intervalsOf([{ from: start, to: start + 3 * 3_600_000 }], { margin: 0 })
    const scale = timeScale(intervals, fitView(intervals, 900))
    const ticks = ticksOf(scale, { width: 900, ahead: () => 330 })
    expect(ticks.map(({ label }) => label)).toEqual([
      '14:30',
      '15:00',
      '15:30',
      '16:00',
      '16:30',
      '17:00',
      '17:30',
    ])
  })
})
