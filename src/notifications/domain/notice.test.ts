import { expect, test } from 'vitest'
import { commandOf, type Notice } from './notice.ts'

function commandFor(kind: Notice['kind']): string | null {
  const about = { itemId: 'h-1', taskId: 't-1', missionId: null } as unknown as Pick<Notice, 'itemId'>
  return commandOf({ ...about, kind } as Notice)
}

test.each(['scope', 'approval', 'command', 'stale_attempt'] as const)(
  'of an item of kind %s names the commands that answer it',
  (kind) => {
    expect(commandFor(kind)).toBe('waymark approve h-1 · waymark reject h-1 "<reason>"')
  },
)

test('of lost files names the command that restores them first', () => {
  expect(commandFor('loss')).toBe('waymark restore h-1 · waymark resolve h-1 --dismiss')
})

test('of a question names the command that answers it', () => {
  expect(commandFor('blocker')).toBe('waymark resolve h-1 "<answer>"')
})
