import { expect, test } from 'vitest'
import { hasPty, openScreen } from '../app/screen.ts'
import { soakTest } from '../support/amount.ts'
import { openCommandLine, startWork } from '../surfaces/cli/command-line.ts'

const prompt = /\[q\]uit:$/

/** Work that waits for a review, which is opened with a pager. */
function openWork() {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  project.write('src/app.ts', 'export const app = 2\n')
  const done = ['--status', 'success', '--outcome.summary', 'Done']
  expect(project.run('task', 'complete', taskId, ...done).code).toBe(0)
  return (pager: string) => {
    const environment = { ...project.environment, PAGER: pager }
    const size = { columns: 120, rows: 60 }
    return openScreen({ folder: project.folder, environment }, ['review', taskId], size)
  }
}

test('a review without a subject lists the tasks whose verdict waits for a person', () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const claim = ['--status', 'success', '--outcome.summary', 'Changed src/app.ts.']
  expect(project.run('task', 'complete', taskId, ...claim).code).toBe(0)
  expect(JSON.parse(project.run('review', '--json').out).waiting).toMatchObject([
    { kind: 'verdict', task_id: taskId },
  ])
})

test.skipIf(!hasPty)('Ctrl-C and Ctrl-D at a question leave a review, and nothing is sent', async () => {
  const openReview = openWork()
  for (const key of ['\u0003', '\u0004']) {
    const screen = openReview('cat')
    await screen.shows(prompt)
    screen.type(key)
    const shown = await screen.shows('Nothing was sent.')
    expect(shown).not.toMatch(/Abort|\n\s+at /)
    expect(await screen.ended).toBe(0)
  }
  // A pager that is not installed leaves the difference on the screen.
  const screen = openReview('no-such-pager')
  expect(await screen.shows(prompt)).toContain('+export const app = 2')
  screen.type('a\r')
  await screen.shows(/Text \(optional\):$/)
  screen.type('\u0004')
  await screen.shows('Nothing was sent.')
  expect(await screen.ended).toBe(0)
})

soakTest.skipIf(!hasPty)('a signal ends a review without an error while its pager is open', async () => {
  const screen = openWork()('echo opened; sleep 60')
  await screen.shows('opened')
  screen.process.kill('SIGTERM')
  expect(await screen.ended).toBe(143)
  expect(screen.text()).not.toContain('error')
})
