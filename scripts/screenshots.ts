// node scripts/run.mjs scripts/screenshots.ts: takes the pictures of the dashboard in docs/pictures, from the recorded day.
// Look at each of them, in both themes; .cache/pictures has them without loss.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../test/support-web/browser.ts'
import { openRecordedDay } from '../test/support-web/recorded-day.ts'
import type { ServingDay } from '../test/support-web/serving-day.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'pictures')
const lossless = join(root, '.cache', 'pictures')

interface Picture {
  readonly name: string
  readonly path: string
  /** What is there once all was read. */
  readonly shows: string
  readonly press?: string
  readonly width?: number
  readonly height?: number
}

// The pages show the commands of an installed program.
const programs = mkdtempSync(join(tmpdir(), 'waymark-pictures-'))
writeFileSync(join(programs, 'waymark'), '#!/bin/sh\n', { mode: 0o755 })
process.env['PATH'] = `${programs}${delimiter}${process.env['PATH'] ?? ''}`
const serving = await openRecordedDay()
const browser = await launchBrowser()
try {
  rmSync(folder, { recursive: true, force: true })
  for (const each of [folder, lossless]) mkdirSync(each, { recursive: true })
  const pictures = await picturesOf(serving)
  for (const theme of ['light', 'dark'] as const) await takeAll(browser, pictures, theme)
} finally {
  await browser.close()
  await serving.stop()
  rmSync(programs, { recursive: true })
}

async function picturesOf({ day }: ServingDay): Promise<readonly Picture[]> {
  const { missions } = await day.person('list_missions', {})
  const { runs } = await day.person('state_gate_list_runs', { status: 'all' })
  const { columns } = await day.person('board', {})
  const mission =
    missions.find(({ status }: { readonly status: string }) => status === 'active') ?? missions[0]
  const task = columns.review[0] ?? columns.done[0]
  const run =
    runs.find(({ current_state }: { readonly current_state: string }) => current_state === 'approval') ??
    runs[0]
  return [
    { name: 'inbox', path: '/', shows: '.card .verbs' },
    { name: 'board', path: '/board', shows: '.task-card' },
    { name: 'missions', path: '/missions', shows: '.mission-list li' },
    { name: 'mission', path: `/missions/${mission.mission_id}`, shows: '.bar-box' },
    { name: 'task', path: `/tasks/${task.id}`, shows: '.changes-head' },
    { name: 'diff', path: `/tasks/${task.id}/diff`, shows: '.diff-line' },
    { name: 'review', path: `/review/task/${task.id}`, shows: '.review-line .line-text' },
    { name: 'statistics', path: '/statistics?since=all', shows: '.figure-card' },
    { name: 'plan', path: '/plan', shows: '.plan-row' },
    { name: 'dependencies', path: '/dependencies', shows: '.node' },
    { name: 'processes', path: '/processes', shows: '.rows li' },
    { name: 'run', path: `/runs/${run.run_id}`, shows: '.machine-state' },
    { name: 'simulate', path: '/processes/checked-change', shows: '.next-events li' },
    { name: 'history', path: '/history', shows: '.mission-list li' },
    { name: 'log', path: '/log', shows: '.log-row' },
    { name: 'palette', path: '/board', shows: '[role=option]', press: 'Control+k' },
    { name: 'first-steps', path: '/start', shows: 'main pre, main .snippet' },
    { name: 'inbox-phone', path: '/', shows: '.card .verbs', width: 390, height: 780 },
    {
      name: 'review-phone',
      path: `/review/task/${task.id}`,
      shows: '.review-line .line-text',
      width: 390,
      height: 780,
    },
    { name: 'task-phone', path: `/tasks/${task.id}`, shows: '.changes-head', width: 390, height: 780 },
  ]
}

async function takeAll(using: Browser, pictures: readonly Picture[], theme: 'light' | 'dark'): Promise<void> {
  const context = await using.newContext({ colorScheme: theme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(serving.login())
  for (const { name, path, shows, press, width = 1280, height = 820 } of pictures) {
    await page.setViewportSize({ width, height })
    await page.goto(`${serving.address}${path}`)
    await page.locator('.live[data-state="live"]').waitFor({ state: 'attached' })
    if (press !== undefined) await page.keyboard.press(press)
    await page.locator(shows).first().waitFor()
    await page.waitForLoadState('networkidle')
    const picture = await page.screenshot({ path: join(lossless, `${name}-${theme}.png`) })
    const small = await asWebp(using, picture)
    writeFileSync(join(folder, `${name}-${theme}.webp`), small)
    console.log(`${name}-${theme}.webp, ${Math.round(small.length / 1024)} kB`)
  }
  await context.close()
}

/** The browser itself makes it small, a third of the PNG. */
async function asWebp(using: Browser, picture: Buffer): Promise<Buffer> {
  const page = await using.newPage()
  const address: string = await page.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${picture.toString('base64')}'
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    canvas.getContext('2d').drawImage(image, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 })
    return new Promise((resolve) => {
      const reader = new FileReader()
      reader.onload = () => resolve(reader.result)
      reader.readAsDataURL(blob)
    })
  })()`)
  await page.close()
  return Buffer.from(address.slice(address.indexOf(',') + 1), 'base64')
}
