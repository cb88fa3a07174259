import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BarSpan,
  barsWithin,
  layoutBars,
  layoutMarks,
  markKinds,
  markWidth,
  placeLabels,
} from './bar-layout.ts'
import { contentX, fitView, intervalsOf, timeScale } from './time-scale.ts'

const start = Date.UTC(2026, 10, 3, 9)
const now = start + 30 * 3_600_000
const least = 6

/** Spans that follow each other in time, as the attempts at one task do; the last may be open. */
const spans = fc
  .record({
    steps: fc.array(fc.record({ pause: fc.nat({ max: 9_000_000 }), length: fc.nat({ max: 5_000_000 }) }), {
      maxLength: 25,
    }),
    open: fc.boolean(),
  })
  .map(({ steps, open }): readonly BarSpan[] => {
    let at = start
    return steps.map(({ pause, length }, place) => {
      const from = Math.min(at + pause, now)
      const to = Math.min(from + length, now)
      at = to
      return { id: `a-${place}`, from, to: open && place === steps.length - 1 ? null : to }
    })
  })
const width = fc.integer({ min: 300, max: 4000 })

function scaleRow(row: readonly BarSpan[], pixels: number) {
  const intervals = intervalsOf([
    ...row.map(({ from, to }) => ({ from, to: to ?? now })),
    { from: now, to: now },
  ])
  return timeScale(intervals, fitView(intervals, pixels))
}

describe('bars', () => {
  test('never overlap, never leave the time, are never too narrow, and begin where their time is', () => {
    fc.assert(
      fc.property(spans, width, (row, pixels) => {
        const scale = scaleRow(row, pixels)
        const bars = layoutBars(row, scale, { now, least })
        for (const [place, bar] of bars.entries()) {
          const before = bars[place - 1]
          if (before) expect(bar.x).toBeGreaterThan(before.x + before.width)
          expect(bar.width).toBeGreaterThanOrEqual(least)
          expect(bar.x).toBeGreaterThanOrEqual(0)
          expect(bar.x + bar.width).toBeLessThanOrEqual(scale.width + 2 * least + 0.01)
          const shift = bar.x - contentX(scale, bar.spans[0]?.from ?? 0)
          expect(shift).toBeGreaterThanOrEqual(-0.01)
          expect(shift).toBeLessThanOrEqual(least + 0.01)
          expect(bar.running).toBe(bar.spans.some(({ to }) => to === null))
        }
        expect(bars.flatMap((bar) => bar.spans)).toEqual(row)
      }),
    )
  })

  test('thousands in one row become no more than there is room for', () => {
    const many = Array.from({ length: 10_000 }, (_, place) => ({
      id: `a-${place}`,
      from: start + place * 9000,
      to: start + place * 9000 + 8000,
    }))
    const bars = layoutBars(many, scaleRow(many, 1000), { now, least })
    expect(bars.length).toBeLessThanOrEqual(1000 / least)
    expect(bars.flatMap((bar) => bar.spans)).toHaveLength(10_000)
  })

  test('only what is seen is drawn, and all of it', () => {
    fc.assert(
      fc.property(spans, width, fc.nat({ max: 4000 }), fc.nat({ max: 1000 }), (row, pixels, from, length) => {
        const bars = layoutBars(row, scaleRow(row, pixels), { now })
        const seen = bars.filter((bar) => bar.x + bar.width >= from && bar.x <= from + length)
        expect(barsWithin(bars, from, from + length)).toEqual(seen)
      }),
    )
  })
})

describe('marks', () => {
  test('do not collide, keep their order, and none is lost', () => {
    const marks = fc.array(
      fc.record({ kind: fc.constantFrom(...markKinds), at: fc.integer({ min: start, max: now }) }),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(spans, marks, width, (row, said, pixels) => {
        const placed = layoutMarks(said, scaleRow(row, pixels))
        for (const [place, { x, kind, marks: together }] of placed.entries()) {
          if (place > 0) expect(x - (placed[place - 1]?.x ?? 0)).toBeGreaterThanOrEqual(markWidth)
          expect(together.some((mark) => mark.kind === kind)).toBe(true)
          if (together.some((mark) => mark.kind === 'issue')) expect(kind).toBe('issue')
        }
        expect(placed.flatMap((one) => one.marks)).toEqual(said.toSorted((a, b) => a.at - b.at))
      }),
    )
  })
})

describe('labels', () => {
  const label = fc.record({ main: fc.constantFrom(0, 24, 40, 60), detail: fc.constantFrom(0, 50, 80) })
  test('lie in their bar or behind it, never over another bar, a sign, or outside of what is seen', () => {
    fc.assert(
      fc.property(
        spans,
        width,
        fc.array(label, { minLength: 25, maxLength: 25 }),
        fc.nat({ max: 2000 }),
        (row, pixels, texts, from) => {
          const bars = layoutBars(row, scaleRow(row, pixels), { now }).map((bar, place) => ({
            x: bar.x,
            width: bar.width,
            ...(texts[place] ?? { main: 0, detail: 0 }),
          }))
          const marks = bars.map(({ x }) => x + 20)
          const room = { from, to: from + 900, marks }
          const boxes = placeLabels(bars, room).flatMap(({ main, detail }, place) => {
            const bar = bars[place]
            if (!bar) return []
            return [
              ...(main ? [{ place, inside: main.inside, from: main.x, to: main.x + bar.main }] : []),
              ...(detail ? [{ place, inside: false, from: detail.x, to: detail.x + bar.detail }] : []),
            ]
          })
          for (const box of boxes) {
            expect(box.from).toBeGreaterThanOrEqual(room.from)
            expect(box.to).toBeLessThanOrEqual(room.to)
            expect(marks.some((x) => x > box.from && x < box.to)).toBe(false)
            for (const [place, bar] of bars.entries()) {
              const over = box.from < bar.x + bar.width && box.to > bar.x
              expect(over).toBe(box.inside && place === box.place)
            }
          }
          const sorted = boxes.toSorted((a, b) => a.from - b.from)
          for (const [place, box] of sorted.entries()) {
            if (place > 0) expect(box.from).toBeGreaterThanOrEqual(sorted[place - 1]?.to ?? 0)
          }
        },
      ),
    )
  })
})
