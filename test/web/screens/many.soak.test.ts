import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'

const { open } = useDashboard({
  fill: async (day) => {
    const tasks = Array.from({ length: 2_000 }, (_, at) => `- [ ] Task number ${at}`).join('\n')
    day.write('plan.md', `# Plan\n\n## Everything\n\n${tasks}\n`)
    await day.person('plan_import', { file: join(day.folder, 'plan.md') })
    for (let at = 0; at < 150; at += 1) {
      const { mission_id } = await day.person('start_mission', { name: `Ended ${at}`, objective: 'Any' })
      await day.person('complete_mission', { mission_id, status: 'completed', summary: 'Done' })
    }
  },
})

test('a plan of two thousand tasks keeps few rows in the page, wherever the wheel turns to', async () => {
  const { page } = await open({ path: '/plan' })
  await page.getByText('Task number 3', { exact: true }).waitFor()
  const rows = page.getByRole('list', { name: 'The plan' }).getByRole('listitem')
  expect(await rows.count()).toBeLessThan(120)
  await page.getByText('Task number 3', { exact: true }).hover()
  for (let turned = 0; turned < 10; turned += 1) {
    await page.mouse.wheel(0, 700)
    expect(await rows.count()).toBeLessThan(120)
  }
  const toEnd = () => page.locator('main').evaluate((main) => main.scrollTo(0, main.scrollHeight))
  for (const last of [499, 999, 1499]) {
    await toEnd()
    await page.getByText(`Task number ${last}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show more tasks' }).click()
    await page.getByText(`Task number ${last + 1}`, { exact: true }).waitFor()
  }
  await toEnd()
  await page.getByText('Task number 1999', { exact: true }).waitFor()
  expect(await rows.count()).toBeLessThan(120)
})

test('a board of two thousand tasks shows some, draws them as one scrolls, and says how many there are', async () => {
  const { page } = await open({ path: '/board' })
  const ready = page.getByRole('region', { name: 'Ready' })
  await ready.getByText('1800 more').waitFor()
  const cards = ready.getByRole('listitem')
  expect(await cards.count()).toBeLessThan(120)
  await expect
    .poll(async () => {
      await page.locator('main').evaluate((main) => main.scrollTo(0, main.scrollHeight))
      return cards.count()
    })
    .toBe(200)
})

test('the missions that ended are drawn as one scrolls, and all of them can be reached by keys', async () => {
  const { page } = await open({ path: '/history' })
  const cards = page.getByRole('list', { name: 'Ended missions' }).getByRole('listitem')
  await cards.first().waitFor()
  expect(await cards.count()).toBeLessThan(120)
  for (let pressed = 0; pressed < 150; pressed += 1) await page.keyboard.press('j')
  await page.locator('.mission-card[aria-current]').getByText('Ended 0', { exact: true }).waitFor()
})
