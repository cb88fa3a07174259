import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../test/support-web/browser.ts'
import { openServingDay, type ServingDay } from '../test/support-web/serving-day.ts'
import { recordAttempts } from './dashboard-scroll/many-attempts.ts'
import { percentile } from './live/percentile.ts'

// How far frames are apart while the wheel turns over a plan and a board of 2,000 tasks and a timeline of 10,000
// attempts, beside an empty page that scrolls in the same browser: node bench/dashboard-scroll.ts [turns]

const [turns = 120] = process.argv.slice(2).map(Number)

const browser = await launchBrowser()
const planned = await openServingDay()
const tasks = Array.from({ length: 2_000 }, (_, at) => `- [ ] Task number ${at}`).join('\n')
planned.day.write('plan.md', `# Plan\n\n## Everything\n\n${tasks}\n`)
await planned.day.person('plan_import', { file: join(planned.day.folder, 'plan.md') })
const tried = await openServingDay()
const mission = await recordAttempts(tried.day.folder, 10_000)

console.log(`${turns} turns of the wheel, 100 px each. Milliseconds from one frame to the next.\n`)
console.log('| | p50 | p95 | longest | frames | elements |')
console.log('|---|---|---|---|---|---|')
const empty = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await empty.setContent('<!doctype html><title>Empty</title><div id="long"></div>')
await empty.addStyleTag({ content: '#long { height: 60000px }' })
await scrolled('an empty page', empty)
await scrolled('the plan, 2,000 tasks', await opened(browser, planned, { path: '/plan', shows: '.plan-row' }))
await scrolled(
  'the board, 2,000 tasks',
  await opened(browser, planned, { path: '/board', shows: '.task-card' }),
)
const timeline = { path: `/missions/${mission}`, shows: '.bar-box' }
await scrolled('the timeline, 10,000 attempts', await opened(browser, tried, timeline))
await browser.close()
await planned.stop()
await tried.stop()

interface Shown {
  readonly path: string
  readonly shows: string
}

async function opened(within: Browser, serving: ServingDay, { path, shows }: Shown): Promise<Page> {
  const page = await within.newPage({ viewport: { width: 1280, height: 800 } })
  await page.context().request.get(serving.login(), { maxRedirects: 0 })
  await page.goto(`${serving.address}${path}`)
  await page.locator(shows).first().waitFor({ timeout: 60_000 })
  return page
}

async function scrolled(name: string, page: Page): Promise<void> {
  await page.mouse.move(300, 500)
  await page.evaluate(`
    window.deltas = []
    window.most = 0
    let before = performance.now()
    const frame = (at) => {
      window.deltas.push(at - before)
      window.most = Math.max(window.most, document.getElementsByTagName('*').length)
      before = at
      requestAnimationFrame(frame)
    }
    requestAnimationFrame((at) => { before = at; requestAnimationFrame(frame) })`)
  for (let turned = 0; turned < turns; turned += 1) await page.mouse.wheel(0, 100)
  const deltas = await page.evaluate<readonly number[]>('window.deltas')
  const most = await page.evaluate<number>('window.most')
  const cells = [50, 95, 100].map((percent) => percentile(deltas, percent).toFixed(1))
  console.log(`| ${[name, ...cells, deltas.length, most].join(' | ')} |`)
  await page.close()
}
