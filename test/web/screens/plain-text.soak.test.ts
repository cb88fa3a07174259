import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { fillHostileDay, type Seen } from '../../support-web/hostile-day.ts'
import { fillHostileProcess } from '../../support-web/hostile-process.ts'

let said: readonly Seen[] = []
const { open } = useDashboard({
  fill: async (day) => {
    said = [...(await fillHostileDay(day)), ...(await fillHostileProcess(day))]
  },
})

test('what anybody says is shown as it is, on every screen, and never as markup', async () => {
  const { page, show, complaints } = await open({ path: '/' })
  const unseen: (readonly string[])[] = []
  for (const { path, texts } of said) {
    await show(path)
    const missing = () =>
      page.evaluate((wanted) => wanted.filter((text) => !document.body.textContent.includes(text)), texts)
    await expect
      .poll(missing, { timeout: 15_000 })
      .toEqual([])
      .catch(async () => {
        unseen.push([path, ...(await missing())])
      })
    expect([path, await page.locator('#app img, #app script').count()]).toEqual([path, 0])
  }
  expect(unseen).toEqual([])
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('onerror')
  await page.getByRole('option').first().waitFor()
  expect(await page.locator('#app img, #app script').count()).toBe(0)
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  expect(complaints).toEqual([])
})
