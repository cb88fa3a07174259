import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard.mjs'
import { openServingDay, type ServingDay } from './serving-day.ts'

export interface OpenDashboard {
  readonly serving: ServingDay
  readonly page: Page
  /** What the page complained of: errors of scripts, and whatever the content security policy refused. */
  readonly complaints: readonly string[]
  /** Goes to a path of the dashboard. */
  readonly go: (path: string) => Promise<void>
}

export interface DashboardOptions extends BrowserContextOptions {
  /** What has happened before the page is opened. */
  readonly fill?: (day: ServingDay['day']) => Promise<void>
  readonly folders?: readonly string[]
}

/** The built dashboard on a real server, in a window of its own, logged in. */
export async function openDashboard(
  browser: Browser,
  options: DashboardOptions = {},
): Promise<OpenDashboard> {
  const { fill, folders, ...window } = options
  if (!buildDashboard()) throw new Error('The dashboard could not be built.')
  const serving = await openServingDay(folders === undefined ? {} : { folders })
  onTestFinished(serving.stop)
  await fill?.(serving.day)
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...window })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  // On a phone the word is not shown.
  const live = () => page.locator('.live[data-state="live"]').waitFor({ state: 'attached' })
  await page.goto(serving.login())
  await live()
  return {
    serving,
    page,
    complaints,
    go: async (path) => {
      await page.goto(`${serving.address}${path}`)
      await live()
    },
  }
}
