import { expect, test } from 'vitest'
import { fillBusyDay } from '../support-web/busy-day.ts'
import { useDashboard } from '../support-web/dashboard.ts'

const { serving, open } = useDashboard({ fill: fillBusyDay })

test('every view is two keys away', async () => {
  const { page } = await open({ path: '/' })
  const views = { b: 'board', m: 'missions', p: 'plan', d: 'dependencies', r: 'processes', h: 'history' }
  for (const [key, view] of Object.entries({ ...views, j: 'journal' })) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.waitForURL(`${serving().address}/${view}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
})

test('a list is walked and opened by keys, and its selection is in the address', async () => {
  const { page } = await open({ path: '/missions' })
  await page.getByRole('link', { name: 'Streaming diff parser' }).waitFor()
  await page.keyboard.press('j')
  await page.waitForURL(/select=/)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Views of the mission' }).waitFor()
  for (const [key, tab] of Object.entries({ 2: 'board', 4: 'changes', 5: 'decisions', 6: 'journal' })) {
    await page.keyboard.press(key)
    await page.waitForURL(`**/${tab}`)
  }
})

test.each([
  ['the palette', 'Control+k', 'Search or run a command'],
  ['the palette', '/', 'Search or run a command'],
  ['the sheet of keys', '?', 'Keys'],
])('%s opens by %s, keeps the focus, and gives it back', async (_, key, name) => {
  const { page } = await open({ path: '/missions' })
  const link = page.getByRole('link', { name: 'Streaming diff parser' })
  await link.focus()
  await page.keyboard.press(key)
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  expect(await dialog.evaluate((shown) => shown.contains(document.activeElement))).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await link.evaluate((shown) => shown === document.activeElement)).toBe(true)
})

test('whatever has the focus shows it', async () => {
  const { page } = await open({ path: '/' })
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
  const unseen: string[] = []
  for (let pressed = 0; pressed < 25; pressed += 1) {
    await page.keyboard.press('Tab')
    const [name, outline] = await page.evaluate(() => {
      const focused = document.activeElement
      const { outlineStyle = '' } = focused ? getComputedStyle(focused) : {}
      return [focused?.outerHTML.slice(0, 80) ?? '', focused === document.body ? 'body' : outlineStyle]
    })
    if (outline === 'none') unseen.push(name ?? '')
  }
  expect(unseen).toEqual([])
})
