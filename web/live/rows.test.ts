import { effect } from '@preact/signals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRows, holdWhilePointerMoves } from './rows.ts'

interface TestRow {
  readonly id: string
  readonly word: string
}

const line = (id: string, word = id): TestRow => ({ id, word })

test('a row that changes repaints that row alone', () => {
  const rows = createRows<TestRow>(({ id }) => id)
  rows.update([line('a'), line('b')])
  const painted: string[] = []
  effect(() => void painted.push(`order ${rows.order.value.join()}`))
  effect(() => void painted.push(rows.row('a')?.value.word ?? ''))
  effect(() => void painted.push(rows.row('b')?.value.word ?? ''))
  painted.length = 0
  rows.update([line('a'), line('b', 'changed')])
  expect(painted).toEqual(['changed'])
})

test('nothing moves while the list is held; rows change in place', () => {
  const rows = createRows<TestRow>(({ id }) => id)
  rows.update([line('a'), line('b')])
  rows.hold(true)
  rows.update([line('c'), line('b', 'changed'), line('a')])
  expect(rows.order.value).toEqual(['a', 'b'])
  expect(rows.row('b')?.value.word).toBe('changed')
  expect(rows.held.value).toEqual({ arrived: 1, moved: 2 })
  rows.hold(false)
  expect(rows.order.value).toEqual(['c', 'b', 'a'])
  expect(rows.held.value).toEqual({ arrived: 0, moved: 0 })
})

test('a mere change of order is counted too', () => {
  const rows = createRows<TestRow>(({ id }) => id)
  rows.update([line('a'), line('b'), line('c')])
  rows.hold(true)
  rows.update([line('b'), line('a'), line('c')])
  expect(rows.held.value).toEqual({ arrived: 0, moved: 2 })
})

test('a row that goes is not counted', () => {
  const rows = createRows<TestRow>(({ id }) => id)
  rows.update([line('a'), line('b'), line('c')])
  rows.hold(true)
  rows.update([line('a'), line('c')])
  expect(rows.held.value).toEqual({ arrived: 0, moved: 0 })
  rows.update([])
  expect(rows.held.value).toEqual({ arrived: 0, moved: 0 })
})

test('what comes when every row has gone is shown at once', () => {
  const rows = createRows<TestRow>(({ id }) => id)
  rows.update([line('a')])
  rows.hold(true)
  rows.update([])
  expect(rows.order.value).toEqual(['a'])
  rows.update([line('b')])
  expect(rows.order.value).toEqual(['b'])
  expect(rows.held.value).toEqual({ arrived: 0, moved: 0 })
})

test('a pointer that rests over rows lets them go on', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const rows = createRows((row: { readonly key: string }) => row.key)
  const pointing = holdWhilePointerMoves(rows)
  const order = () => rows.order.value.join(' ')
  rows.update([{ key: 'a' }])
  pointing.onPointerMove()
  rows.update([{ key: 'b' }, { key: 'a' }])
  expect(order()).toBe('a')
  vi.advanceTimersByTime(1_000)
  pointing.onPointerMove()
  vi.advanceTimersByTime(1_500)
  expect(order()).toBe('a')
  vi.advanceTimersByTime(1_000)
  expect(order()).toBe('b a')
  pointing.onPointerMove()
  rows.update([{ key: 'c' }])
  pointing.onPointerLeave()
  expect(order()).toBe('c')
})
