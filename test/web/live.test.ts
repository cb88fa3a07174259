import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useBrowser } from '../support-web/browser.ts'
import { fillBusyDay } from '../support-web/busy-day.ts'
import { openDashboard } from '../support-web/dashboard.ts'

const browser = useBrowser()

test('what an agent does is seen without loading anything anew, in every window', async () => {
  const { serving, page, go } = await openDashboard(browser(), { fill: fillBusyDay })
  const other = await page.context().newPage()
  await other.goto(`${serving.address}/missions`)
  await go('/board')
  await page.getByRole('link', { name: 'Rename and copy detection' }).waitFor()
  const agent = serving.day.agent('vera')
  const mission = await agent('start_mission', { name: 'Second mission', objective: 'Be seen' })
  await agent('start_task', { mission_id: mission.mission_id, name: 'Appear at once', agent_name: 'vera' })
  await page
    .getByRole('region', { name: 'In progress' })
    .getByRole('link', { name: 'Appear at once' })
    .waitFor()
  await page.getByText('Live · 4 agents').waitFor()
  await other.getByRole('link', { name: 'Second mission' }).waitFor()
})

test('numbers that are old say so, and are live again once the server is back', async () => {
  const { serving, page, go } = await openDashboard(browser(), { fill: fillBusyDay })
  await go('/board')
  const begin = await serving.interrupt()
  await page.getByText('Reconnecting').waitFor()
  await page.getByText(/^As of \d\d:\d\d$/).waitFor()
  expect(await page.evaluate(() => document.documentElement.hasAttribute('data-stale'))).toBe(true)
  await begin()
  await serving.day.agent('mira')('start_mission', { name: 'While you were away', objective: 'Be seen' })
  await page.getByText(/^Live/).waitFor()
  await page.getByRole('link', { name: 'Missions' }).click()
  await page.getByRole('link', { name: 'While you were away' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.hasAttribute('data-stale'))).toBe(false)
})

test('nothing moves under the pointer: what is new waits, and says how much it is', async () => {
  const { serving, page, go } = await openDashboard(browser(), { fill: fillBusyDay })
  await go('/missions')
  const row = page.getByRole('link', { name: 'Streaming diff parser' })
  await row.hover()
  const before = await row.boundingBox()
  await serving.day.agent('vera')('start_mission', { name: 'Newer', objective: 'Be first' })
  await page.getByRole('button', { name: '1 new' }).waitFor()
  expect(await row.boundingBox()).toEqual(before)
  await page.mouse.move(4, 4)
  await page.getByRole('link', { name: 'Newer' }).waitFor()
})

test('a plan of two thousand tasks keeps few rows in the page', async () => {
  const { page, go } = await openDashboard(browser(), {
    fill: async (day) => {
      const tasks = Array.from({ length: 2_000 }, (_, at) => `- [ ] Task number ${at}`).join('\n')
      day.write('plan.md', `# Plan\n\n## Everything\n\n${tasks}\n`)
      await day.person('plan_import', { file: join(day.folder, 'plan.md') })
    },
  })
  await go('/plan')
  await page.getByText('Task number 3', { exact: true }).waitFor()
  expect(await page.getByRole('list', { name: 'The plan' }).getByRole('listitem').count()).toBeLessThan(120)
  await page.locator('main').evaluate((main) => main.scrollTo(0, main.scrollHeight))
  await page.getByText('Task number 1999', { exact: true }).waitFor()
  expect(await page.getByRole('list', { name: 'The plan' }).getByRole('listitem').count()).toBeLessThan(120)
})
