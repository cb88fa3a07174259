import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { WebSocketServer } from 'ws'
import { startAgent } from '../test/support-web/agent-process.ts'
import { launchBrowser } from '../test/support-web/browser.ts'
import { fillBusyDay } from '../test/support-web/busy-day.ts'
import { openServingDay } from '../test/support-web/serving-day.ts'
import { percentile } from './live/percentile.ts'

// How long it takes from an agent's answer to the card on the board, beside a bare WebSocket that paints a row in the
// same browser, and how long the dashboard takes to its first paint and its first card with an empty cache, beside a
// page of one word: node bench/dashboard.ts [calls] [loads]

const [calls = 60, loads = 20] = process.argv.slice(2).map(Number)

/** Milliseconds that must not be exceeded. */
const limits = { p50: 40, p95: 80 }

const outcome = { summary: 'Ended.', achievements: [], limitations: [], manual_review_needed: false }

const serving = await openServingDay()
await fillBusyDay(serving.day)
const agent = await startAgent(serving.day.folder)
const browser = await launchBrowser()

await delays()
await firstPaints()
await browser.close()
await agent.stop()
await serving.stop()

/** One call of the dashboard and one of the bare socket in turns, so that both meet the same machine. */
async function delays(): Promise<void> {
  const board = await browser.newPage()
  await board.goto(serving.login())
  await board.goto(`${serving.address}/board`)
  await board.locator('.live[data-state="live"]').waitFor()
  const inProgress = board.getByRole('region', { name: 'In progress' }).locator('.card')
  const bare = await bareSocket()
  const { mission_id } = await agent.call('start_mission', { name: 'Measured', objective: 'Be fast' })
  const sinceAnswer: number[] = []
  const sinceCall: number[] = []
  const sinceSending: number[] = []
  for (let at = 0; at < calls; at += 1) {
    const name = `Measured ${at}.`
    const painted = await watchFor(board, name)
    const called = Date.now()
    const { task_id } = await agent.call('start_task', { mission_id, name, agent_name: 'vera' })
    const answered = Date.now()
    const paintedAt = await painted()
    sinceCall.push(paintedAt - called)
    sinceAnswer.push(paintedAt - answered)
    // A column draws only the first of many cards.
    await agent.call('complete_task', { task_id, status: 'failed', outcome })
    await inProgress.filter({ hasText: name }).waitFor({ state: 'detached' })
    const row = await watchFor(bare.page, name)
    const sent = Date.now()
    bare.send(name)
    sinceSending.push((await row()) - sent)
  }
  await bare.close()
  await board.close()

  console.log(`${calls} calls of an agent on stdio, one after the other. Milliseconds.\n`)
  console.log('| | p50 | limit | p95 | limit | longest |')
  console.log('|---|---|---|---|---|---|')
  const row = (name: string, values: readonly number[], limit?: typeof limits) => {
    const [p50, p95, longest] = [50, 95, 100].map((percent) => percentile(values, percent))
    console.log(`| ${[name, p50, limit?.p50 ?? '', p95, limit?.p95 ?? '', longest].join(' | ')} |`)
  }
  row('from the tool’s answer to the painted card', sinceAnswer, limits)
  row('from the tool’s call to the painted card', sinceCall)
  row('a bare WebSocket, from the sending to the painted row', sinceSending)
}

async function bareSocket() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const page = await browser.newPage()
  const connected = once(server, 'connection')
  await page.evaluate(
    `new WebSocket('ws://127.0.0.1:${portOf(server.address())}').onmessage = ({ data }) => {
      document.body.append(Object.assign(document.createElement('p'), { textContent: data }))
    }`,
  )
  await connected
  return {
    page,
    send(text: string) {
      for (const client of server.clients) client.send(text)
    },
    async close() {
      server.close()
      await page.close()
    },
  }
}

/**
 * Answers how to wait for a text to be painted, in milliseconds since the epoch: the end of the frame it came in. What is
 * never painted fails, so that this ends.
 */
async function watchFor(page: Page, text: string): Promise<() => Promise<number>> {
  await page.evaluate(`void (window.painted = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('Not painted within ten seconds: ' + ${JSON.stringify(text)})), 10_000)
    const observer = new MutationObserver(() => {
      if (!document.body.textContent.includes(${JSON.stringify(text)})) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(Date.now())))
    })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  }))`)
  return () => page.evaluate<number>('window.painted')
}

async function firstPaints(): Promise<void> {
  const word = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>A word</title><p class="card">Word')
  }).listen(0, '127.0.0.1')
  await once(word, 'listening')
  const pages = [
    { name: 'the inbox', address: `${serving.address}/`, login: true, painted: [] as Painted[] },
    {
      name: 'a page of one word',
      address: `http://127.0.0.1:${portOf(word.address())}/`,
      login: false,
      painted: [] as Painted[],
    },
  ]
  for (let at = 0; at < loads; at += 1) for (const page of pages) page.painted.push(await loaded(page))
  word.close()

  console.log(
    `\n${loads} loads in turns, each with an empty cache. Milliseconds since the navigation began.\n`,
  )
  console.log('| | first paint p50 | p95 | first card p50 | p95 |')
  console.log('|---|---|---|---|---|')
  for (const { name, painted } of pages) {
    const cells = [painted.map(({ paint }) => paint), painted.map(({ card }) => card)].flatMap((values) =>
      [50, 95].map((percent) => percentile(values, percent).toFixed(0)),
    )
    console.log(`| ${[name, ...cells].join(' | ')} |`)
  }
}

interface Painted {
  readonly paint: number
  readonly card: number
}

async function loaded({ address, login }: { readonly address: string; readonly login: boolean }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  // The answer sets the cookie; the page behind it is not asked for.
  if (login) await context.request.get(serving.login(), { maxRedirects: 0 })
  const page = await context.newPage()
  await page.addInitScript(`window.cardAt = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('.card')) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    }).observe(document, { subtree: true, childList: true })
  })`)
  await page.goto(address)
  const card = await page.evaluate<number>('window.cardAt')
  const paint = await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-paint') resolve(startTime)
    }).observe({ type: 'paint', buffered: true })
  })`)
  await context.close()
  return { paint, card }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('a server that listens has a port')
  return address.port
}
