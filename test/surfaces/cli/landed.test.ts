import { expect, test } from 'vitest'
import { openCommandLine } from './command-line.ts'

test('status and show measure what landed once the default branch moved, and only then', () => {
  const { json, git, write } = openCommandLine()
  git('checkout', '-q', '-b', 'feature')
  const { task_id } = json('task', 'start', 'Limit logins', '--goal', 'g')
  write('src/limit.ts', 'export const limit = 5\n')
  json('task', 'complete', task_id, 'Added src/limit.ts.', '--status', 'success')
  expect(json('status').plan.not_landed).toBe(1)
  git('add', '-A')
  git('commit', '-q', '-m', 'Limit logins')
  git('checkout', '-q', '-')
  git('merge', '-q', 'feature')
  expect(json('show', task_id).landed.is).toBe('landed')
  const { events } = json('status')
  git('revert', '--no-edit', 'HEAD')
  expect(json('status')).toMatchObject({ events: events + 1, plan: { not_landed: 1 } })
  expect(json('status').events).toBe(events + 1)
})
