import { expect, onTestFinished, test } from 'vitest'
import { fillBusyDay } from '../../support-web/busy-day.ts'
import { useDashboard } from '../../support-web/dashboard.ts'

const { open } = useDashboard({ fill: fillBusyDay })

test('numbers that are old say so, and are live again once the server is back', async () => {
  const { serving, page, show, holdTime } = await open({ path: '/board' })
  await holdTime()
  const begin = await serving.interrupt()
  onTestFinished(begin)
  await page.getByText('Reconnecting').waitFor()
  await page.clock.fastForward(6_000)
  await page.clock.resume()
  await page.getByText(/^As of \d\d:\d\d$/).waitFor()
  await page.locator('html[data-stale]').waitFor()
  await show('/')
  await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  await begin()
  await serving.day.agent('mira')('start_mission', { name: 'While you were away', objective: 'Be seen' })
  await page.clock.fastForward(20_000)
  await page.getByText(/^Live/).waitFor()
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.getByRole('link', { name: 'Missions' }).click()
  await page.getByRole('link', { name: 'While you were away' }).waitFor()
  await page.locator('html:not([data-stale])').waitFor()
})

test('nothing moves under the pointer: what is new waits, and says how much it is', async () => {
  const { serving, page } = await open({ path: '/missions' })
  const row = page.getByRole('link', { name: 'Streaming diff parser' })
  await row.hover()
  const before = await row.boundingBox()
  await serving.day.agent('vera')('start_mission', { name: 'Newer', objective: 'Be first' })
  await page.getByRole('button', { name: '1 new' }).waitFor()
  expect(await row.boundingBox()).toEqual(before)
  await page.mouse.move(4, 4)
  await page.getByRole('link', { name: 'Newer' }).waitFor()
})

test('a page reads each of its queries once when it is loaded, although the feed connects meanwhile', async () => {
  const { page, serving } = await open({ path: '/board' })
  // What the page before has yet to ask for is not counted.
  await page.goto('about:blank')
  const asked: string[] = []
  page.on('request', (request) => {
    const [, operation] = /\/api\/(\w+)$/.exec(request.url()) ?? []
    if (operation !== undefined) asked.push(operation)
  })
  await page.goto(`${serving.address}/board`)
  await page.locator('.task-card').first().waitFor()
  await page.getByText(/^Live/).waitFor()
  await page.waitForTimeout(300)
  expect(asked.toSorted()).toEqual(['board', 'session', 'status'])
})
