import { expect, test } from 'vitest'
import { hasPty, openScreen } from '../app/screen.ts'
import { openCommandLine, startWork } from '../surfaces/cli/command-line.ts'

const prompt = /\[q\]uit:$/

function openReview(pager: string) {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  project.write('src/app.ts', 'export const app = 2\n')
  const done = ['--status', 'success', '--outcome.summary', 'Done']
  expect(project.run('task', 'complete', taskId, ...done).code).toBe(0)
  const environment = { ...project.environment, PAGER: pager }
  return openScreen({ folder: project.folder, environment }, ['review', taskId], { columns: 120, rows: 60 })
}

test.skipIf(!hasPty).each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at the question leaves a review, and nothing is sent', async (_, key) => {
  const screen = openReview('cat')
  await screen.shows(prompt)
  screen.type(key)
  const shown = await screen.shows('Nothing was sent.')
  expect(shown).not.toMatch(/Abort|\n\s+at /)
  expect(await screen.ended).toBe(0)
})

test.skipIf(!hasPty)('Ctrl-D while words are asked for sends nothing', async () => {
  const screen = openReview('cat')
  await screen.shows(prompt)
  screen.type('a\r')
  await screen.shows(/Text \(optional\):$/)
  screen.type('\u0004')
  await screen.shows('Nothing was sent.')
  expect(await screen.ended).toBe(0)
})

test.skipIf(!hasPty)('a pager that is not installed leaves the difference on the screen', async () => {
  const screen = openReview('no-such-pager')
  expect(await screen.shows(prompt)).toContain('+export const app = 2')
  screen.type('q\r')
  expect(await screen.ended).toBe(0)
})
