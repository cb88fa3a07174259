import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'

const dashboard = useDashboard({ recorded: true })

const phone = { viewport: { width: 390, height: 780 } }

/** The rows that a child hangs out of, by their text. */
const overlapping = (rows: string) => `[...document.querySelectorAll(${JSON.stringify(rows)})]
  .filter((row) => [...row.children].some((child) => child.getBoundingClientRect().bottom > row.getBoundingClientRect().bottom + 1))
  .map((row) => row.textContent)`

async function mission(): Promise<string> {
  const { missions } = await dashboard.serving().day.person('list_missions', {})
  return missions[0].mission_id
}

test('the log of a mission keeps each entry in its row on a phone, in the words of the whole log', async () => {
  const { page, go, show } = await dashboard.open(phone)
  await go(`/missions/${await mission()}/log`)
  await page.locator('.log-list li').first().waitFor()
  expect(await page.evaluate(overlapping('.log-list li'))).toEqual([])
  const here = await page.locator('.log-what').allTextContents()
  expect(here.length).toBeGreaterThan(3)
  await show('/log')
  await page.locator('.log-row').first().waitFor()
  const everywhere = await page.locator('.log-what').allTextContents()
  expect(everywhere).toContain(here[0])
})

test('the columns of the plan start at the same place in every row', async () => {
  const { page, go } = await dashboard.open()
  await go('/plan')
  // An id that a person chose.
  await page
    .locator('.plan-row > .id')
    .first()
    .evaluate((id) => Object.assign(id, { textContent: 'set-up-the-database' }))
  const starts: readonly number[] = await page.evaluate(
    "[...document.querySelectorAll('.plan-waits')].map((cell) => cell.getBoundingClientRect().x)",
  )
  expect(new Set(starts).size).toBe(1)
})

test('the name of a file is readable on a phone: in the changes of a task and in a review', async () => {
  const { page, go, show } = await dashboard.open(phone)
  const { columns } = await dashboard.serving().day.person('board', {})
  const { id } = columns.review[0] ?? columns.done[0]
  await go(`/tasks/${id}`)
  await page.locator('.file-name').first().waitFor()
  expect(await page.evaluate(cut('.file-name'))).toEqual([])
  await show(`/review/task/${id}`)
  await page.locator('.review-path').first().waitFor()
  expect(await page.evaluate(cut('.review-path'))).toEqual([])
})

/** The texts that do not fit where they are. */
const cut = (texts: string) => `[...document.querySelectorAll(${JSON.stringify(texts)})]
  .filter((text) => text.scrollWidth > text.clientWidth + 1).map((text) => text.textContent)`
