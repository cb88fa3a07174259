import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

test('a person undoes a task by its title; an agent’s shell is refused', () => {
  const { run, runWith, json, refused, write, git, folder } = openCommandLine()
  const started = json('task', 'start', 'Raise the number', '--goal', 'two')
  write('src/app.ts', 'export const app = 2\n')
  expect(refused('undo', started.task_id, '--yes')).toMatchObject({ reason: 'attempt_open', exit: 1 })
  json('task', 'complete', started.task_id, '--status', 'success', '--outcome.summary', 'It is two.')
  git('commit', '-qam', 'two')
  const content = () => readFileSync(join(folder, 'src/app.ts'), 'utf8')
  expect(refused('undo', started.task_id)).toMatchObject({ reason: 'confirmation_needed', exit: 2 })
  expect(refused('undo', 't-nothere')).toMatchObject({ code: 'NOT_FOUND', exit: 1 })
  const dry = run('undo', 'Raise the number', '--dry-run')
  expect(dry).toMatchObject({ code: 0, error: '' })
  expect(dry.out).toContain('-export const app = 2')
  expect(content()).toBe('export const app = 2\n')
  const agent = runWith({ environment: { CLAUDECODE: '1' } }, 'undo', started.task_id, '--yes')
  expect(agent.code).toBe(1)
  expect(content()).toBe('export const app = 2\n')
  const done = run('undo', 'Raise the number', '--yes', '--reopen')
  expect(done).toMatchObject({ code: 0, error: '' })
  expect(content()).toBe('export const app = 1\n')
  expect(json('show', started.task_id)).toMatchObject({
    status: 'TO_DO',
    undone: { author: expect.any(String) },
  })
  expect(run('show', started.task_id).out).toContain('undone')
  expect(run('why', 'src/app.ts:1').out).toContain(
    `Put back by the undo of task ${started.task_id} "Raise the number".`,
  )
  expect(git('status', '--porcelain', 'src').trim()).toBe('M src/app.ts')
})
