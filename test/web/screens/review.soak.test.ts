import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { violationsOf } from '../../support-web/violations.ts'
import { otherTheme, overhang } from '../looks.ts'

const { serving, open } = useDashboard()

const outcome = { summary: 'Done.', achievements: [], limitations: [] }

/** A task with files that try to look like something else. */
async function hostileTask(): Promise<string> {
  const { day } = serving()
  const eve = day.agent('eve')
  const { task_id } = await eve('start_task', { name: '<img src=x onerror="window.ran=1">', areas: ['src'] })
  day.write('src/<script>window.ran=1<\u200bscript>.ts', 'export const a = 1 // \u202e } evil \u2066\n')
  day.write('src/evil\u202egnp.ts', '<img src=x onerror="window.ran=1">\n\u001b[31mred\u001b[0m\n')
  day.write('src/long.min.js', `var x = "${'y'.repeat(1_000_000)}"\n`)
  day.write('src/long.txt', `${'z'.repeat(1_000_000)}\n`)
  day.write('package-lock.json', `{\n${'  "a": 1,\n'.repeat(40)}  "b": 2\n}\n`)
  await eve('complete_task', { task_id, status: 'success', outcome })
  return task_id
}

test('hostile names and contents are shown as they are, folded with a reason, without a violation of axe', async () => {
  const task = await hostileTask()
  const { page, complaints } = await open({ path: `/review/task/${task}`, colorScheme: 'light' })
  await page.getByText('Lock file, folded.').waitFor()
  await page.getByText('Generated file, folded.').waitFor()
  await page.getByRole('region', { name: 'src/evilU+202Egnp.ts' }).getByText('U+001B').first().waitFor()
  await page.getByText('<img src=x onerror="window.ran=1">').first().waitFor()
  await page.keyboard.press('t')
  await page.locator('.review-half').first().waitFor()
  expect(await violationsOf(page)).toEqual([])
  await otherTheme(page, 'light')
  expect(await violationsOf(page, ['color-contrast'])).toEqual([])
  await page.keyboard.press('t')
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(() => overhang(page)).toBe(0)
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  expect(await page.locator('#app img, #app script').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('on a phone the head of a file has its whole folder, beside the work tree and the attempts', async () => {
  const { day } = serving()
  const { away } = day
  const mira = day.agent('mira')
  const { mission_id } = await mira('start_mission', { name: 'Two machines', objective: 'o' })
  const { task_id } = await mira('start_task', { mission_id, name: 'Here' })
  day.write('src/diff/here.ts', 'export const here = 1\n')
  await mira('complete_task', { task_id, status: 'success', outcome })
  for (const value of [1, 2]) {
    const task = await away('start_task', { mission_id, name: `There ${value}` })
    day.write('src/diff/there.ts', `export const there = ${value}\n`)
    await away('complete_task', { task_id: task.task_id, status: 'success', outcome })
  }
  const { page } = await open({ path: `/review/mission/${mission_id}` })
  await page.setViewportSize({ width: 390, height: 844 })
  const head = page.getByRole('region', { name: 'src/diff/there.ts' }).locator('header')
  await head.getByText('2 attempts').waitFor()
  const folder = head.getByText('src/diff/', { exact: true }).last()
  expect(await folder.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
  await expect.poll(() => overhang(page)).toBe(0)
})

test('an image is shown before and after, with its size', async () => {
  const { day } = serving()
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const mira = day.agent('mira')
  const { task_id } = await mira('start_task', { name: 'Draw', areas: ['img'] })
  mkdirSync(join(day.folder, 'img'))
  writeFileSync(join(day.folder, 'img', 'dot.png'), pixel)
  await mira('complete_task', { task_id, status: 'success', outcome })
  const { page, complaints } = await open({ path: `/review/task/${task_id}` })
  const image = page.getByRole('region', { name: 'img/dot.png' })
  await image.getByText('No image.').waitFor()
  await image.getByRole('img', { name: 'After: img/dot.png' }).waitFor()
  await image.getByText(`1 × 1, ${pixel.length} bytes`).waitFor()
  const source = (await image.getByRole('img').getAttribute('src')) ?? ''
  const { address } = serving()
  const asked = await page.request.get(address + source)
  const headers = asked.headers()
  expect(await asked.body()).toEqual(pixel)
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, no-cache',
  })
  const again = await page.request.get(address + source, {
    headers: { 'If-None-Match': headers['etag'] ?? '' },
  })
  expect([again.status(), (await again.body()).length]).toEqual([304, 0])
  const refused = async (path: string, by?: string) => {
    const response = await fetch(address + path, { ...(by !== undefined && { headers: { cookie: by } }) })
    return [response.status, response.headers.get('content-type')]
  }
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const json = 'application/json'
  expect(await refused(source)).toEqual([401, json])
  expect(await refused(source.replace('side=new', 'side=old'), cookie)).toEqual([503, json])
  expect(await refused(source.replace(/content=.*/, 'content=0000'), cookie)).toEqual([404, json])
  expect(await refused(source.replace('side=new', 'side=up'), cookie)).toEqual([400, json])
  expect(complaints).toEqual([])
})

test('files are filtered, jumped to and folded by keys; white space is hidden; words within lines are marked', async () => {
  const { day } = serving()
  const mira = day.agent('mira')
  const { task_id } = await mira('start_task', { name: 'Tidy', areas: ['src'] })
  day.write('lib/words.ts', 'export const one = 1\n')
  await mira('complete_task', { task_id, status: 'success', outcome })
  const next = await mira('start_task', { name: 'Tidy more', areas: ['src'] })
  day.write('lib/words.ts', 'export const one = 11\n')
  day.write('README.md', '# diffkit\n\n  Reads and writes patches.\n')
  await mira('complete_task', { task_id: next.task_id, status: 'success', outcome })
  const { page, show } = await open({ path: `/review/task/${next.task_id}` })
  const words = page.getByRole('region', { name: 'lib/words.ts' })
  await words.locator('[data-kind="+"] [data-changed]').waitFor()
  expect(await words.locator('[data-kind="+"] [data-changed]').textContent()).toBe('11')
  await words.locator('[data-colour="keyword"]').first().waitFor()
  const readme = page.getByRole('region', { name: 'README.md' })
  await readme.locator('[data-kind="+"]').waitFor()
  await page.keyboard.press('w')
  await readme.getByText('Only whitespace changed.').waitFor()
  await page.keyboard.press('w')
  await page.keyboard.press('f')
  await page.keyboard.type('words')
  await readme.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.keyboard.press(']')
  await page.keyboard.press('v')
  await page.getByText('1 of 2 viewed').waitFor()
  await words.locator('.review-line').first().waitFor({ state: 'detached' })
  // What lies over the page stays when the page behind it is drawn anew.
  await page.keyboard.press('a')
  const dialog = page.getByRole('dialog', { name: 'Approve' })
  await dialog.waitFor()
  await show(`/review/task/${next.task_id}?words=read`)
  await words.waitFor({ state: 'detached' })
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
  expect(await dialog.isVisible()).toBe(true)
})

test('a mark stays as it was set while an older answer arrives, and goes back where it was refused', async () => {
  const { day } = serving()
  const mira = day.agent('mira')
  const { task_id } = await mira('start_task', { name: 'Two files', areas: ['src'] })
  day.write('lib/one.ts', 'export const one = 1\n')
  day.write('lib/two.ts', 'export const two = 2\n')
  await mira('complete_task', { task_id, status: 'success', outcome })
  const { page, complaints } = await open({ path: `/review/task/${task_id}` })
  const viewed = (path: string) => page.getByRole('region', { name: path }).getByLabel('Viewed')
  await viewed('lib/two.ts').waitFor()
  const held: (() => void)[] = []
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
  await page.route('**/review_show', async (route) => {
    const response = await route.fetch()
    await new Promise<void>((resolve) => held.push(resolve))
    await route.fulfill({ response })
  })
  await viewed('lib/one.ts').check()
  await expect.poll(() => held.length).toBe(1)
  await viewed('lib/two.ts').check()
  held[0]?.()
  await expect.poll(() => held.length).toBe(2)
  expect(await viewed('lib/two.ts').isChecked()).toBe(true)
  await page.getByText('2 of 2 viewed').waitFor()
  held[1]?.()
  await page.route('**/review_mark', (route) => route.abort())
  await viewed('lib/one.ts').click()
  await page.getByText('2 of 2 viewed').waitFor()
  expect(await viewed('lib/one.ts').isChecked()).toBe(true)
  expect(complaints.filter((complaint) => !complaint.includes('ERR_FAILED'))).toEqual([])
})
