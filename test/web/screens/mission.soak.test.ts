import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { fillBusyDay } from '../../support-web/busy-day.ts'
import { useDashboard } from '../../support-web/dashboard.ts'

const { serving, open } = useDashboard({ fill: fillBusyDay })
let mission = ''

beforeAll(async () => {
  const { missions } = await serving().day.person('list_missions', { search: 'Streaming' })
  mission = missions[0].mission_id
})

const rowOf = (page: Page, task: string) => page.locator('.timeline-row', { hasText: task })

describe('the timeline', () => {
  test('has a row for each task that says in words what its bars show, inside the chart and before now', async () => {
    const { page } = await open({ path: `/missions/${mission}` })
    await page.waitForSelector('.timeline-row .bar-box')
    const { tasks, attempts } = await serving().day.person('mission_timeline', { id: mission })
    expect(await page.locator('.timeline-row[data-kind=task]').count()).toBe(tasks.length)
    expect(await page.locator('.timeline-row .bar-box').count()).toBe(attempts.length)
    const words = await rowOf(page, 'Hunk reader').locator('.visually-hidden').textContent()
    expect(words).toContain('Attempt 1 by mira, Done, unproven, 41m, measured plus 220 minus 60 lines')
    expect(words).toContain('decision: Push or pull? async iterator')
    const now = (await page.locator('.now-line').boundingBox())?.x ?? 0
    const chart = (await page.locator('.axis-cell').boundingBox())?.x ?? 0
    const boxes = await page.locator('.timeline-row .bar-box').evaluateAll((bars) =>
      bars.map((bar) => {
        const { left, right } = bar.getBoundingClientRect()
        return { left, right }
      }),
    )
    expect(boxes.filter(({ left, right }) => left < chart || right > now + 3)).toEqual([])
  })

  test('a log entry draws the row that it is about, and no other', async () => {
    const { page, fixTime } = await open({ path: `/missions/${mission}` })
    // What is under way says for how many minutes.
    await fixTime()
    await page.waitForSelector('.timeline-row .bar-box')
    const { tasks } = await serving().day.person('mission_timeline', { id: mission })
    const task = tasks.find(({ name }: { name: string }) => name.startsWith('Rename'))
    const before = await rowOf(page, 'Rename').locator('.visually-hidden').textContent()
    await page.evaluate(() => {
      const touched = new Set<string>()
      Object.assign(window, { touched })
      new MutationObserver((records) => {
        for (const { target, type } of records) {
          const row = (target instanceof Element ? target : target.parentElement)?.closest('[data-row]')
          // A growing bar changes its width each second; that is a style.
          if (row && type !== 'attributes')
            touched.add(row.querySelector('.task-link')?.textContent ?? 'a group')
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
    })
    await serving().day.agent('mira')('log_milestone', {
      task_id: task.id,
      message: 'Copies count too',
      progress: 90,
    })
    await rowOf(page, 'Copies count too').waitFor({ state: 'attached' })
    expect(before).not.toContain('Copies count too')
    const touched = await page.evaluate(() => [...(Reflect.get(window, 'touched') as Set<string>)])
    expect(touched).toEqual(['Rename and copy detection'])
  })

  test('the axis goes closer and further, to now, and back to everything by keys', async () => {
    const { page, fixTime } = await open({ path: `/missions/${mission}` })
    await fixTime()
    await page.waitForSelector('.timeline-row .bar-box')
    const axis = () => page.locator('.axis .tick').allTextContents()
    const width = async () => (await page.locator('.timeline-row .bar-box').first().boundingBox())?.width ?? 0
    const [ticks, whole] = [await axis(), await width()]
    await page.keyboard.press('+')
    await expect.poll(width).toBeGreaterThan(whole + 4)
    const closer = await width()
    await page.keyboard.press('-')
    await expect.poll(width).toBeLessThan(closer - 4)
    for (let pressed = 0; pressed < 4; pressed += 1) await page.keyboard.press('+')
    await expect.poll(axis).not.toEqual(ticks)
    await page.locator('.now-line').waitFor({ state: 'detached' })
    const past = await axis()
    await page.keyboard.press('n')
    await page.locator('.now-line').waitFor({ state: 'attached' })
    await expect.poll(axis).not.toEqual(past)
    await page.keyboard.press('z')
    await expect.poll(axis).toEqual(ticks)
  })

  test('is worked with by keys alone', async () => {
    const { page } = await open({ path: `/missions/${mission}` })
    await page.waitForSelector('.timeline-row .bar-box')
    for (const key of ['j', 'j']) await page.keyboard.press(key)
    await page.waitForFunction(() => document.activeElement?.textContent === 'Map the callers of parseDiff')
    expect(page.url()).toContain('select=')
    await page.keyboard.press('l')
    await page.waitForSelector('.hover-card')
    expect(await page.locator('.hover-card').textContent()).toContain('measured by git')
    await page.keyboard.press('Escape')
    await page.keyboard.press('b')
    await rowOf(page, 'Unclaimed').or(rowOf(page, 'juno')).first().waitFor()
    await page.keyboard.press('3')
    await page.waitForSelector('.node')
    expect(new URL(page.url()).pathname).toBe(`/missions/${mission}/dependencies`)
  })
})

test('the dependencies are a picture and a list; the changes are a tree that marks what is out of scope', async () => {
  const { page, show } = await open({ path: `/missions/${mission}/dependencies` })
  await page.waitForSelector('.node')
  await page.keyboard.press('ArrowDown')
  await page.waitForSelector('.node[aria-current]')
  const tasks = await page.locator('.node').count()
  await page.keyboard.press('i')
  await page.waitForSelector('.dependency-list')
  expect(await page.locator('.dependency-list li').count()).toBe(tasks)
  await show(`/missions/${mission}/changes`)
  await page.waitForSelector('.change-tree')
  const { files } = await serving().day.person('mission_changes', { id: mission })
  expect(await page.locator('.change-tree a.change-name').count()).toBe(files.length)
  const out = files.filter(({ scope }: { scope: string | null }) => scope === 'out').length
  expect(await page.locator('.change-tree [data-scope=out]').count()).toBe(out)
  // Its report: saved as a page, and copied, or saved where nothing may be copied.
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save report' }).click(),
  ])
  expect(saved.suggestedFilename()).toMatch(/-report\.html$/)
  const { text } = await serving().day.person('report', { mission, format: 'html' })
  expect(await readFile(await saved.path(), 'utf8')).toBe(text)
  await page.getByRole('button', { name: 'Copy report' }).click()
  await page.getByText(/^Report (copied as Markdown|saved)\.$/).waitFor()
})
