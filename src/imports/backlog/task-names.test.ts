import { expect, test } from 'vitest'
import { taskNames } from './task-names.ts'

const find = taskNames([
  { id: 'BACK-7' },
  { id: 'back-7.1' },
  { id: 'BACK-8' },
  { id: 'old-8' },
  { id: 'back-7' },
])

test('a task is found by its id in any case, by its number, and under another prefix', () => {
  expect(['BACK-7', 'back-7', '7', 'task-7'].map(find)).toEqual(['BACK-7', 'BACK-7', 'BACK-7', 'BACK-7'])
  expect(['7.1', 'TASK-7.1'].map(find)).toEqual(['back-7.1', 'back-7.1'])
})

test('a number that two tasks have names neither, and an unknown one names none', () => {
  expect(['8', 'task-8', '9', 'soon', ''].map(find)).toEqual([null, null, null, null, null])
  expect(find('old-8')).toBe('old-8')
})
