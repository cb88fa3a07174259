import { expect, test } from 'vitest'
import { useDashboard } from '../support-web/dashboard.ts'
import { fillHostileDay } from '../support-web/hostile-day.ts'

let said: readonly string[] = []
const { serving, open } = useDashboard({
  fill: async (day) => {
    said = await fillHostileDay(day)
  },
})

test('what anybody says is shown as it is, on every screen, and never as markup', async () => {
  const { page, show, complaints } = await open({ path: '/' })
  const { missions } = await serving().day.person('list_missions', {})
  const mission = `/missions/${missions[0].mission_id}`
  const { columns } = await serving().day.person('board', {})
  const tasks = Object.values<readonly { readonly id: string }[]>(columns).flat()
  const views = ['/', '/board', '/missions', '/plan', '/dependencies', '/journal']
  const tabs = ['', '/board', '/dependencies', '/changes', '/decisions', '/journal']
  const ofMission = tabs.map((tab) => `${mission}${tab}`)
  const paths = [...views, ...ofMission, ...tasks.flatMap(({ id }) => [`/tasks/${id}`, `/tasks/${id}/diff`])]
  let seen = ''
  const unseen = async () => {
    for (const path of paths) {
      await show(path)
      await page.locator('main', { hasText: 'onerror' }).waitFor()
      if (path.endsWith('/diff')) await page.locator('.diff-line, .diff-note').first().waitFor()
      seen += await page.evaluate(() => document.body.textContent)
      expect([path, await page.locator('#app img, #app script').count()]).toEqual([path, 0])
    }
    return said.filter((text) => !seen.includes(text))
  }
  // What a view reads second may come after the view was left, so they are gone through until all was seen.
  await expect.poll(unseen, { timeout: 45_000 }).toEqual([])
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('onerror')
  await page.getByRole('option').first().waitFor()
  expect(await page.locator('#app img, #app script').count()).toBe(0)
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  expect(complaints).toEqual([])
})
