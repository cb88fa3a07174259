import { expect, test } from 'vitest'
import { useBrowser } from '../../support-web/browser.ts'
import { fillBusyDay } from '../../support-web/busy-day.ts'
import { openDashboard, useDashboard } from '../../support-web/dashboard.ts'
import { pressInTurn } from '../../support-web/keys.ts'

const browser = useBrowser()
const { open } = useDashboard({ fill: fillBusyDay, folders: ['diffkit', 'shop'] })

test('what was decided is sent when the page is left before the five seconds are over', async () => {
  const { serving, page, holdTime } = await open({ path: '/' })
  const juno = serving.day.agent('juno')
  const { task_id } = await juno('start_task', { name: 'Check the sign' })
  const outcome = { summary: 'Checked.', manual_review_needed: true }
  await juno('complete_task', { task_id, status: 'success', outcome })
  const review = page.locator('.card', { hasText: 'Check the sign' }).filter({ hasText: 'asks for a review' })
  await review.waitFor()
  await holdTime()
  await review.getByRole('button', { name: 'Send back' }).click()
  await page.getByLabel('What should the agent change?').fill('Keep the sign.')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Sent back: Check the sign').first().waitFor()
  await page.getByRole('button', { name: 'Answer' }).first().click()
  await page.getByLabel('Your answer').fill('Use the generated one.')
  await page.keyboard.press('Control+Enter')
  await page
    .getByText(/^Answered .+: Use the generated one\.$/)
    .first()
    .waitFor()
  await page.goto('about:blank')
  const answers = async () =>
    (await serving.day.person('inbox', { closed: true })).items.map(
      ({ answer }: { readonly answer: string }) => answer,
    )
  await expect.poll(answers, { timeout: 20_000 }).toContain('Use the generated one.')
  await expect.poll(answers, { timeout: 20_000 }).toContain('Keep the sign.')
  expect(await juno('taskman_task_get', { id: task_id })).toMatchObject({
    status: 'to_do',
    reviews: [{ action: 'sent back', text: 'Keep the sign.' }],
  })
})

test('a project in which nothing happened leads through the first steps, to the first mission', async () => {
  const { serving, page } = await openDashboard(browser())
  await page.getByText('Waiting for an agent').waitFor()
  const mission = await serving.day.agent('ada')('start_mission', { name: 'The first', objective: 'Begin' })
  await page.waitForURL(`**/missions/${mission.mission_id}`)
})

test('another project has an address of its own, and the chosen theme stays', async () => {
  const { serving, page } = await open({ colorScheme: 'light', path: '/p/shop/missions' })
  await page.getByText('No mission is open').waitFor()
  await page.keyboard.press('\\')
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
  await page.getByRole('button', { name: 'shop' }).click()
  await page.getByRole('link', { name: 'diffkit' }).click()
  await page.waitForURL(`${serving.address}/p/diffkit/`)
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await pressInTurn(page, 'g', 'm')
  await page.getByRole('link', { name: 'Streaming diff parser' }).waitFor()
  await page.reload()
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
})
