import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useBrowser } from '../support-web/browser.ts'
import { fillBusyDay } from '../support-web/busy-day.ts'
import { openDashboard } from '../support-web/dashboard.ts'

const browser = useBrowser()

const views = ['/', '/board', '/missions', '/plan', '/history', '/journal', '/start', '/nowhere']

test.each(['light', 'dark'] as const)('every view is without a violation of axe, %s', async (colorScheme) => {
  const { page, go, complaints } = await openDashboard(browser(), { colorScheme, fill: fillBusyDay })
  const found: string[] = []
  await go('/board')
  const task = await page.getByRole('link', { name: 'Property tests' }).getAttribute('href')
  for (const path of [...views, `${task}`, `${task}/diff`]) {
    await go(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    found.push(...(await violations(page)).map((violation) => `${path}: ${violation}`))
  }
  expect(found).toEqual([])
  expect(complaints).toEqual([])
})

test('on a phone nothing is wider than the screen', async () => {
  const { page, go } = await openDashboard(browser(), {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    fill: fillBusyDay,
  })
  const task = await page.getByRole('link', { name: 'Property tests' }).first().getAttribute('href')
  for (const path of ['/', `${task}`, `${task}/diff`]) {
    await go(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const wider = await page.evaluate(() => {
      const main = document.querySelector('main')
      return Math.max(document.documentElement.scrollWidth, main?.scrollWidth ?? 0) - window.innerWidth
    })
    expect([path, wider]).toEqual([path, 0])
  }
})

test.each(['light', 'dark'] as const)(
  'text and statuses stand out from every ground, %s',
  async (colorScheme) => {
    const { page } = await openDashboard(browser(), { colorScheme })
    const contrasts = await page.evaluate(contrastsOfTokens)
    const tooLow = contrasts.filter(({ token, contrast }) => contrast < (token === 'text' ? 13 : 4.6))
    expect(contrasts.length).toBe(24)
    expect(tooLow).toEqual([])
  },
)

test('what agents say is shown as it is, never as markup', async () => {
  const name = '<img src=x onerror="document.title=1">&amp;'
  const { page, complaints } = await openDashboard(browser(), {
    fill: async (day) => {
      const agent = day.agent('<b>mallory</b>')
      const mission = await agent('start_mission', { name, objective: name })
      await agent('start_task', { mission_id: mission.mission_id, name, agent_name: '<b>mallory</b>' })
    },
  })
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await page.getByRole('link', { name }).waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  expect(await page.getByText('<b>mallory</b>').count()).toBeGreaterThan(0)
  expect(complaints).toEqual([])
})

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<Result> } }
    interface Result {
      violations: { id: string; nodes: { html: string }[] }[]
    }
    const { violations } = await axe.run()
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    )
  })
}

/** By WCAG, of each token on each ground, as the browser paints them. */
function contrastsOfTokens() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const probe = document.body.appendChild(document.createElement('i'))
  const luminance = (token: string) => {
    if (!canvas) return Number.NaN
    probe.style.color = `var(--${token})`
    canvas.fillStyle = getComputedStyle(probe).color
    canvas.fillRect(0, 0, 1, 1)
    const channels = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((byte) => {
      const share = byte / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    const [red = 0, green = 0, blue = 0] = channels
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const tokens = ['text', 'muted', 'planned', 'ready', 'active', 'review', 'blocked', 'done']
  return ['canvas', 'surface', 'raised'].flatMap((ground) =>
    tokens.map((token) => {
      const [one, other] = [luminance(token), luminance(ground)]
      return { token, ground, contrast: (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) }
    }),
  )
}
