import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../test/support-web/browser.ts'
import { fillBusyDay } from '../test/support-web/busy-day.ts'
import { openServingDay } from '../test/support-web/serving-day.ts'
import { percentile } from './live/percentile.ts'

// How long the inbox takes to its first paint and to its first card, each time with an empty cache, beside a page
// that is nothing but a word: node bench/first-paint.ts [runs]

const [runs = 20] = process.argv.slice(2).map(Number)

interface Painted {
  /** Milliseconds since the beginning of the navigation. */
  readonly paint: number
  /** The first text or picture. */
  readonly content: number
  readonly data: number
}

const browser = await launchBrowser()
const serving = await openServingDay()
await fillBusyDay(serving.day)
const word = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html')
  response.end('<!doctype html><title>A word</title><p class="card">Word')
}).listen(0, '127.0.0.1')
await once(word, 'listening')
const wordAt = `http://127.0.0.1:${(word.address() as AddressInfo).port}/` // it listens on a port

const inbox: Painted[] = []
const bare: Painted[] = []
for (let run = 0; run < runs; run += 1) {
  inbox.push(await opened(browser, `${serving.address}/`, serving.login()))
  bare.push(await opened(browser, wordAt))
}
console.log(`${runs} runs in turns, each with an empty cache. Milliseconds since the navigation began.\n`)
console.log('| | first paint p50 | p95 | first content p50 | p95 | first data p50 | p95 |')
console.log('|---|---|---|---|---|---|---|')
row('the inbox', inbox)
row('a page of one word', bare)
word.close()
await browser.close()
await serving.stop()

async function opened(within: Browser, address: string, login?: string): Promise<Painted> {
  const context = await within.newContext({ viewport: { width: 1280, height: 800 } })
  // The answer sets the cookie; the page behind it is not asked for.
  if (login !== undefined) await context.request.get(login, { maxRedirects: 0 })
  const page = await context.newPage()
  await page.addInitScript(`window.dataAt = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('.card')) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    }).observe(document, { subtree: true, childList: true })
  })`)
  await page.goto(address)
  const data = await page.evaluate<number>('window.dataAt')
  const [paint, content] = await Promise.all(
    ['first-paint', 'first-contentful-paint'].map((entry) =>
      page.evaluate<number>(`new Promise((resolve) => {
        new PerformanceObserver((list) => {
          for (const { name, startTime } of list.getEntries()) if (name === '${entry}') resolve(startTime)
        }).observe({ type: 'paint', buffered: true })
      })`),
    ),
  )
  await context.close()
  return { paint: paint ?? Number.NaN, content: content ?? Number.NaN, data }
}

function row(name: string, painted: readonly Painted[]): void {
  const values = [
    painted.map(({ paint }) => paint),
    painted.map(({ content }) => content),
    painted.map(({ data }) => data),
  ]
  const cells = values.flatMap((each) => [50, 95].map((percent) => percentile(each, percent).toFixed(0)))
  console.log(`| ${[name, ...cells].join(' | ')} |`)
}
