import { expect, test } from 'vitest'
import { nextCursor, readCursor } from './paging.ts'

test('a cursor names where each cut list goes on, and nothing else', () => {
  const cursor = nextCursor([
    { name: 'decisions', seqs: [9, 4], more: true },
    { name: 'tasks', seqs: [8], more: false },
    { name: 'milestones', seqs: [7], more: true },
  ])
  expect(cursor).toBe('decisions:4,milestones:7')
  expect(readCursor(cursor ?? undefined, ['decisions', 'milestones', 'tasks'])).toEqual(
    new Map([
      ['decisions', 4],
      ['milestones', 7],
    ]),
  )
})

test('the last page has no cursor', () => {
  expect(nextCursor([{ name: 'tasks', seqs: [1], more: false }])).toBeNull()
  expect(nextCursor([])).toBeNull()
})

test('a cursor of another list is refused with its text', () => {
  expect(() => readCursor('tasks:1', ['decisions'])).toThrow(
    'The cursor "tasks:1" does not belong to decisions.',
  )
  expect(() => readCursor('%%%', ['decisions'])).toThrow('"%%%"')
})
