import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { useBrowser } from '../../support-web/browser.ts'
import { useDashboard } from '../../support-web/dashboard.ts'
import { pressInTurn } from '../../support-web/keys.ts'
import { openServingDay } from '../../support-web/serving-day.ts'
import { violationsOf } from '../../support-web/violations.ts'

const browser = useBrowser()
const { serving, open } = useDashboard({ recorded: true })

test('who is not logged in is told how, and so is one whose session ended', async () => {
  const stranger = await browser().newPage()
  await stranger.goto(`${serving().address}/board`)
  await stranger.getByRole('heading', { name: 'Sign in to Waymark' }).waitFor()
  expect(await violationsOf(stranger)).toEqual([])
  await stranger.context().close()
  const { page } = await open({ path: '/' })
  await page.context().clearCookies()
  await pressInTurn(page, 'g', 'b')
  await page.getByRole('heading', { name: 'Sign in to Waymark' }).waitFor()
})

test('Sign out ends the session of this browser, and only a new login link ends that', async () => {
  const { page } = await open({ path: '/board' })
  await page.getByRole('button', { name: 'Tess' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Waymark' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in to Waymark' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
})

test('an address of nothing says so, and leads on', async () => {
  const { page, show } = await open({ path: '/nowhere' })
  await page.getByText('The dashboard has no page at /nowhere.').waitFor()
  await page.locator('main').getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await show('/tasks/t-none')
  await page.getByRole('heading', { name: 'Task not found' }).waitFor()
  await page.getByText('t-none').first().waitFor()
  await show('/missions/m-none')
  await page.getByRole('heading', { name: 'Mission not found' }).waitFor()
  await page.getByRole('link', { name: 'All open missions' }).click()
  const mission = page.locator('.mission-card h2 a').first()
  const path = await mission.getAttribute('href')
  await show(`/tasks/${path?.split('/').at(-1)}`)
  await expect.poll(() => new URL(page.url()).pathname).toBe(path)
})

test('a record that cannot be read is told as a sentence, with the way on', async () => {
  const broken = await openServingDay()
  onTestFinished(broken.stop)
  broken.day.write('.waymark/waymark.db', 'This is no database. '.repeat(500))
  const context = await browser().newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(broken.login())
  await page
    .getByRole('alert')
    .getByText('is not a Waymark database; it was not touched. Move it away')
    .waitFor()
})

test('nothing moves for whoever asked for less motion', async () => {
  const { page, show } = await open({ path: '/', reducedMotion: 'reduce' })
  for (const path of ['/', '/board', '/plan', '/missions']) {
    await show(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  }
  await page.locator('.mission-card').first().waitFor()
  const { day } = serving()
  const { missions } = await day.person('list_missions', {})
  const { mission_id } = missions[0]
  await day.agent('vera')('start_task', { mission_id, name: 'Change the row', agent_name: 'vera' })
  await page.locator('.mission-card.changed').waitFor()
  expect(await motions(page)).toEqual({ '.live-dot': 'none', '.changed': 'none' })
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  expect(await motions(page)).toEqual({ '.live-dot': 'breathe', '.changed': 'flash' })
})

/** The names of the animations that elements have. */
function motions(page: Page) {
  return page.evaluate(() => {
    const nameOf = (found: string) => {
      const element = document.querySelector(found)
      return element && getComputedStyle(element).animationName
    }
    return { '.live-dot': nameOf('.live-dot'), '.changed': nameOf('.changed') }
  })
}
