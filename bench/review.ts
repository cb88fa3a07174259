import type { Page } from 'playwright-core'
import { launchBrowser } from '../test/support-web/browser.ts'
import { openServingDay } from '../test/support-web/serving-day.ts'
import { percentile } from './live/percentile.ts'

// How long it takes from a click to the first lines of a review, beside a page of the same server that reads nothing; how
// far frames are apart while 10,000 changed lines scroll, in a review and in a file with whose its lines are; beside an
// empty page in the same browser: node scripts/run.mjs bench/review.ts [rounds] [turns]

const [rounds = 15, turns = 150] = process.argv.slice(2).map(Number)

/** Milliseconds that must not be exceeded. */
const limits = { firstLines: 150, frame: 50 }

const changed = 10_000
const files = 25

const serving = await openServingDay()
const { day } = serving
const agent = day.agent('vera')
const line = (file: number, at: number) =>
  `export const value${at} = compute('file ${file}', ${at}, { deep: true }) // line ${at}`
const { task_id } = await agent('start_task', { name: 'Write much', areas: ['**'] })
for (let file = 0; file < files; file += 1) {
  const text = Array.from({ length: changed / files }, (_, at) => line(file, at))
  day.write(`src/many/file-${String(file).padStart(2, '0')}.ts`, `${text.join('\n')}\n`)
}
const outcome = { summary: 'Done.', achievements: [], limitations: [], manual_review_needed: true }
await agent('complete_task', {
  task_id,
  status: 'success',
  outcome: { ...outcome, manual_review_reason: 'Is it right?' },
})
day.write('src/long.ts', `${Array.from({ length: changed }, (_, at) => line(0, at)).join('\n')}\n`)
const browser = await launchBrowser()
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
await context.request.get(serving.login(), { maxRedirects: 0 })

console.log(`${changed} changed lines in ${files} files. Milliseconds.\n`)
await clicks()
await frames()
await browser.close()
await serving.stop()

/** From the inbox to the review and back: from the click to the end of the frame in which the first lines are there. */
async function clicks(): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${serving.address}/`)
  const review = page.locator(`a[href="/review/task/${task_id}"]`).first()
  await review.waitFor()
  const first: number[] = []
  const later: number[] = []
  const unread: number[] = []
  const bare: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const took = await clicked(page, `a[href="/review/task/${task_id}"]`, '.review-line .line-text')
    // The first time loads the page of reviews, too.
    ;(round === 0 ? first : later).push(took)
    // A file that nobody has read yet: it is far below.
    unread.push(await jumped(page, files - 1 - (round % (files - 6))))
    await clicked(page, '.side a[href="/"]', '.card .verbs')
    bare.push(await clicked(page, '.side a[href="/processes"]', 'h1'))
    await clicked(page, '.side a[href="/"]', '.card .verbs')
  }
  await page.close()
  console.log('| from the click | p50 | p95 | longest | limit |')
  console.log('|---|---|---|---|---|')
  const row = (name: string, values: readonly number[], limit: number | '') =>
    console.log(
      `| ${[name, ...[50, 95, 100].map((percent) => percentile(values, percent).toFixed(0)), limit].join(' | ')} |`,
    )
  row('the first review of a browser, its code loaded too', first, '')
  row('a review’s first lines', later, limits.firstLines)
  row('the lines of a file that was not read yet', unread, limits.firstLines)
  row('a page that is listed, for comparison', bare, '')
}

/** Answers how long it takes from a click until something is painted. */
async function clicked(page: Page, what: string, shows: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve, reject) => {
    const link = document.querySelector(${JSON.stringify(what)})
    if (!link) return reject(new Error('There is no ${what.replaceAll("'", '')}'))
    const began = performance.now()
    const before = document.querySelector(${JSON.stringify(shows)})
    link.click()
    const look = () => {
      const found = document.querySelector(${JSON.stringify(shows)})
      if (!found || found === before) return requestAnimationFrame(look)
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
    }
    look()
  })`)
}

/** From a click on a file of the tree until a line of it is painted. */
async function jumped(page: Page, at: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const button = document.querySelectorAll('.review-tree .tree-file')[${at}]
    const section = document.querySelectorAll('.review-file')[${at}]
    const began = performance.now()
    button.click()
    const look = () => {
      const { top } = section.getBoundingClientRect()
      const seen = section.querySelector('.review-line .line-text')
      if (!seen || top > 800) return requestAnimationFrame(look)
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
    }
    look()
  })`)
}

async function frames(): Promise<void> {
  console.log(`\n${turns} turns of the wheel, 400 px each, one for each frame.\n`)
  console.log('| | p50 | p95 | longest frame | over the limit | long tasks | elements |')
  console.log('|---|---|---|---|---|---|---|')
  const empty = await context.newPage()
  await empty.setContent('<!doctype html><title>Empty</title><main class="page"><div id="long"></div></main>')
  await empty.addStyleTag({ content: 'main { height: 800px; overflow: auto } #long { height: 400000px }' })
  await scrolled('an empty page', empty, '.page')
  const review = await context.newPage()
  await review.goto(`${serving.address}/review/task/${task_id}`)
  await review.locator('.review-line .line-text').first().waitFor()
  await review.waitForTimeout(2_000)
  await scrolled('a review of 10,000 changed lines', review, '.page')
  const lines = await context.newPage()
  await lines.goto(`${serving.address}/lines?file=src/long.ts`)
  await lines.locator('.lines-row').first().waitFor()
  await lines.waitForTimeout(2_000)
  await scrolled('a file of 10,000 lines with whose they are', lines, '.lines-pane')
}

async function scrolled(name: string, page: Page, pane: string): Promise<void> {
  const told = await page.evaluate<{ deltas: number[]; tasks: number[]; most: number }>(
    `new Promise((resolve) => {
    const pane = document.querySelector(${JSON.stringify(pane)})
    const deltas = []
    const tasks = []
    let most = 0
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })
    let before = 0
    let left = ${turns}
    const frame = (at) => {
      if (before > 0) deltas.push(at - before)
      before = at
      most = Math.max(most, document.getElementsByTagName('*').length)
      if (left === 0) return setTimeout(() => resolve({ deltas, tasks, most }), 300)
      left -= 1
      pane.scrollBy(0, 400)
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })`,
  )
  const cells = [50, 95, 100].map((percent) => percentile(told.deltas, percent).toFixed(1))
  const over = told.deltas.filter((delta) => delta > limits.frame).length
  const tasks = told.tasks.map((took) => took.toFixed(0)).join(', ') || 'none'
  console.log(`| ${[name, ...cells, over, tasks, told.most].join(' | ')} |`)
  await page.close()
}
