import { expect, test } from 'vitest'
import { useBrowser } from '../../support-web/browser.ts'
import { openDashboard, useDashboard } from '../../support-web/dashboard.ts'

const { serving, open } = useDashboard({ recorded: true })

test('each figure stands with its n, its basis and its definition, and the table has the same numbers', async () => {
  const { page, complaints } = await open({ path: '/statistics?by=agent&since=all' })
  await page.locator('.group-table td').first().waitFor()
  const told = await serving().day.person('stats', { group_by: 'agent', since: 'all' })
  const cards = page.locator('.figure-card')
  expect(await cards.count()).toBe(told.definitions.length)
  for (const [at, { title, basis, definition }] of told.definitions.entries()) {
    const textOf = (part: string) => cards.nth(at).locator(part).textContent()
    expect(await textOf('h2')).toBe(`${title} ${basis}`)
    expect(await textOf('.figure-definition')).toBe(definition)
    expect(await textOf('.figure-n')).toMatch(
      /^(\d+ (turn|task|attempt|mission|answer|event|completion)s?|No [a-z]+s counted yet)$/,
    )
  }
  const table = page.getByRole('table', { name: /how many it counts/ })
  expect(await table.getByRole('rowheader').allTextContents()).toEqual(
    told.groups.map(({ name }: { name: string }) => name),
  )
  const cells = await table.getByRole('cell').allTextContents()
  expect(cells).toHaveLength(told.groups.length * told.definitions.length)
  for (const cell of cells) expect(cell).toMatch(/ n \d+$/)
  expect(cells.filter((cell) => cell.endsWith(' n 0')).every((cell) => cell.startsWith('–'))).toBe(true)
  expect(complaints).toEqual([])
})

test('groups and time are chosen by tab, by key and in the address, and the palette knows the page', async () => {
  const { page } = await open({ path: '/history' })
  await page.getByRole('link', { name: 'Statistics' }).click()
  await page.getByRole('heading', { name: 'Statistics' }).waitFor()
  await page.keyboard.press('3')
  await page.waitForURL(/by=agent/)
  await page.getByLabel('Period').selectOption('all')
  await page.waitForURL(/since=all/)
  await page.getByRole('link', { name: 'By role' }).click()
  await page.waitForURL(/by=role.*since=all/)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('statist')
  await page
    .getByRole('dialog')
    .getByRole('option', { name: /Statistics/ })
    .first()
    .waitFor()
})

const browser = useBrowser()

test('a project in which nothing ended is told what will be here; an end appears without reloading', async () => {
  const { page, serving: own } = await openDashboard(browser(), { path: '/statistics?since=all' })
  await page.getByText('Statistics appear here when an attempt').waitFor()
  const work = own.day.agent('builder')
  const { task_id } = await work('start_task', { name: 'First', areas: ['src/'] })
  await work('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  await page.locator('.figure-card').first().waitFor()
  const card = page.locator('.figure-card', { hasText: 'First pass' })
  expect(await card.textContent()).toContain('100 %')
})
