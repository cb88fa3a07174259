import { expect, test } from 'vitest'
import { useBrowser } from '../support-web/browser.ts'
import { fillBusyDay } from '../support-web/busy-day.ts'
import { useDashboard } from '../support-web/dashboard.ts'
import { violationsOf } from '../support-web/violations.ts'

const browser = useBrowser()
const { serving, open } = useDashboard({ fill: fillBusyDay })

test('who is not logged in is told how, and so is one whose session ended', async () => {
  const stranger = await browser().newPage()
  await stranger.goto(`${serving().address}/board`)
  await stranger.getByText('You are not logged in here.').waitFor()
  expect(await violationsOf(stranger)).toEqual([])
  await stranger.context().close()
  const { page } = await open({ path: '/' })
  await page.context().clearCookies()
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await page.getByText('You are not logged in here.').waitFor()
})

test('an address of nothing says so, and leads on', async () => {
  const { page, show } = await open({ path: '/nowhere' })
  await page.getByText('The dashboard has no view at /nowhere.').waitFor()
  await page.getByRole('link', { name: 'To the inbox' }).click()
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
  await show('/tasks/t-none')
  await page.getByRole('alert').getByText('t-none').waitFor()
  await show('/missions/m-none')
  await page.getByText('m-none').first().waitFor()
})

test('nothing moves for whoever asked for less motion', async () => {
  const { page, show } = await open({ path: '/', reducedMotion: 'reduce' })
  for (const path of ['/', '/board', '/plan']) {
    await show(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  }
})
