import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LaneGrouping, laneRows, rowTops, rowWindow, scrollTo } from './lane-rows.ts'

const phases = [
  { id: 'p-1', name: 'Explore' },
  { id: 'p-2', name: 'Build' },
]
const task = fc.record({
  phaseId: fc.constantFrom('p-1', 'p-2', 'p-gone', null),
  isDone: fc.boolean(),
  needsReview: fc.boolean(),
})
const tasksOf = fc
  .array(task, { maxLength: 12 })
  .map((list) => list.map((one, place) => ({ id: `t-${place}`, ...one })))
const spansOf = fc.array(
  fc.record({
    taskPlace: fc.nat({ max: 11 }),
    agent: fc.constantFrom('mira', 'otto', null),
    from: fc.nat(1000),
    open: fc.boolean(),
  }),
  { maxLength: 30 },
)

test('every task has a row, and every attempt is in exactly one, by phase and by agent', () => {
  fc.assert(
    fc.property(
      tasksOf,
      spansOf,
      fc.constantFrom<LaneGrouping>('phase', 'agent'),
      (tasks, drawn, grouping) => {
        const spans = drawn.flatMap(({ taskPlace, agent, from, open }, place) => {
          const taskId = tasks[taskPlace]?.id
          return taskId ? [{ id: `a-${place}`, taskId, agent, from, to: open ? null : from + 10 }] : []
        })
        const rows = laneRows({ phases, tasks, spans }, { grouping, folded: new Set(), now: 2000 })
        expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
        const taskRows = rows.filter((row) => row.kind === 'task')
        expect(new Set(taskRows.map((row) => row.task.id))).toEqual(new Set(tasks.map(({ id }) => id)))
        const found = taskRows.flatMap((row) => row.spans.map(({ id }) => id))
        expect(found.toSorted()).toEqual(spans.map(({ id }) => id).toSorted())
        for (const row of taskRows) for (const span of row.spans) expect(span.taskId).toBe(row.task.id)

        const heads = rows.filter((row) => row.kind === 'group')
        const closed = laneRows(
          { phases, tasks, spans },
          { grouping, folded: new Set(heads.map(({ id }) => id)), now: 2000 },
        )
        expect(closed).toEqual(heads.map((head) => ({ ...head, folded: true })))
      },
    ),
  )
})

test('a window has every row that is seen, and little more', () => {
  const heights = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 200 })
  fc.assert(
    fc.property(
      heights,
      fc.integer({ min: -100, max: 6000 }),
      fc.integer({ min: 1, max: 900 }),
      (list, top, height) => {
        const rows = rowTops(list)
        const { first, end } = rowWindow(rows, { top, height, spare: 100 })
        for (const [row] of list.entries()) {
          const [begin, stop] = [rows.tops[row] ?? 0, rows.tops[row + 1] ?? 0]
          if (stop > top && begin < top + height) expect(first <= row && row < end).toBe(true)
          if (row >= first && row < end) expect(stop >= top - 100 && begin <= top + height + 100).toBe(true)
          const seen = scrollTo(rows, row, { top, height: Math.max(height, 60) })
          expect(begin >= seen && stop <= seen + Math.max(height, 60)).toBe(true)
        }
      },
    ),
  )
})
