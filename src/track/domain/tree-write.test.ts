import { expect, test } from 'vitest'
import type { TaskId } from '../../kernel/id.ts'
import { isOfNobodyAtWork } from './tree-write.ts'

const atWork = [{ taskId: 't-open' as TaskId, openedAt: 5, turns: ['tn-open'] }]
const tasks = (...ids: string[]) => ids as TaskId[]

interface Case {
  readonly cause: 'undo' | 'restore'
  readonly subject: string
  readonly tasks: readonly TaskId[]
  readonly keptAt?: number
}

test.each<readonly [string, Case, boolean]>([
  ['an undo', { cause: 'undo', subject: 't-open', tasks: tasks('t-open') }, true],
  ['an ended task', { cause: 'restore', subject: 't-ended', tasks: tasks('t-ended') }, true],
  ['the open task', { cause: 'restore', subject: 't-open', tasks: tasks('t-open') }, false],
  [
    'a subtask of the open task',
    { cause: 'restore', subject: 't-sub', tasks: tasks('t-sub', 't-open') },
    false,
  ],
  ['a turn of somebody else', { cause: 'restore', subject: 'tn-ended', tasks: [] }, true],
  ['a turn of the open task', { cause: 'restore', subject: 'tn-open', tasks: [] }, false],
  ['a snapshot of everything', { cause: 'restore', subject: 'sn-1', tasks: [] }, false],
  ['an earlier loss of several tasks', { cause: 'restore', subject: 'h-1', tasks: [], keptAt: 4 }, true],
  ['a later loss of several tasks', { cause: 'restore', subject: 'h-1', tasks: [], keptAt: 6 }, false],
])('%s: of nobody at work is %s', (_, write, expected) => {
  expect(isOfNobodyAtWork({ keptAt: null, ...write }, atWork)).toBe(expected)
})
