import type { Page } from 'playwright-core'

/** Switches the theme by its key, which is on every screen; under a dialog, where no key reaches, without. */
export async function otherTheme(page: Page, theme: string): Promise<string> {
  const isCovered = (await page.locator('dialog[open]').count()) > 0
  if (!isCovered) await page.keyboard.press('\\')
  const next = await page.evaluate((before) => {
    const { dataset } = document.documentElement
    if (before) dataset['theme'] = before === 'dark' ? 'light' : 'dark'
    return getComputedStyle(document.documentElement).colorScheme
  }, isCovered && theme)
  if (next === theme) throw new Error(`The theme of ${page.url()} stayed ${theme}.`)
  return next
}

/** How much wider than the window the page is, in pixels. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(async () => {
    // Some views learn their width from an observer, which is called with the next frame.
    for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
    const main = document.querySelector('main')
    return Math.max(document.documentElement.scrollWidth, main?.scrollWidth ?? 0) - window.innerWidth
  })
}

/** The calls that a screen made for itself: without those of the frame, and without a review's files, which scrolling loads. */
export function callsSince(page: Page, time: number): Promise<readonly string[]> {
  return page.evaluate((since) => {
    const names = performance
      .getEntriesByType('resource')
      .filter(({ startTime, name }) => startTime >= since && new URL(name).pathname.startsWith('/api/'))
      .map(({ name }) => new URL(name).pathname.split('/').at(-1) ?? '')
    performance.clearResourceTimings()
    return names.filter((name) => !['session', 'status', 'review_file'].includes(name))
  }, time)
}
