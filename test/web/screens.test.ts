import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { fillBusyDay } from '../support-web/busy-day.ts'
import { type OpenPage, useDashboard } from '../support-web/dashboard.ts'
import { type Screen, screensOf } from '../support-web/screens.ts'
import { violationsOf } from '../support-web/violations.ts'

const { serving, open } = useDashboard({ fill: fillBusyDay })

test.each(['light', 'dark'] as const)(
  'every view is without a violation of axe, %s',
  { timeout: 120_000 },
  async (colorScheme) => {
    const window = await open({ colorScheme })
    const found: string[] = []
    for (const screen of await screensOf(serving().day)) {
      await see(window, screen)
      found.push(...(await violationsOf(window.page)).map((violation) => `${screen.path}: ${violation}`))
    }
    expect(found).toEqual([])
    expect(window.complaints).toEqual([])
  },
)

test.each([1280, 390])('at %i px nothing is wider than the screen', async (width) => {
  const window = await open({ viewport: { width, height: 844 }, hasTouch: width < 800 })
  const wide: (readonly [string, number])[] = []
  for (const screen of await screensOf(serving().day)) {
    await see(window, screen)
    wide.push([screen.path, await overhang(window.page)])
  }
  expect(wide.filter(([, by]) => by > 0)).toEqual([])
})

async function see({ page, show }: OpenPage, { path, shows, opens }: Screen): Promise<void> {
  // What lies over a view stays when the address changes.
  while ((await page.locator('dialog[open]').count()) > 0) await page.keyboard.press('Escape')
  await show(path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await opens?.(page)
  await page.locator(shows).first().waitFor()
}

function overhang(page: Page): Promise<number> {
  return page.evaluate(() => {
    const main = document.querySelector('main')
    return Math.max(document.documentElement.scrollWidth, main?.scrollWidth ?? 0) - window.innerWidth
  })
}
