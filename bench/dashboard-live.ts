import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { WebSocketServer } from 'ws'
import { startAgent } from '../test/support-web/agent-process.ts'
import { launchBrowser } from '../test/support-web/browser.ts'
import { openServingDay } from '../test/support-web/serving-day.ts'
import { percentile } from './live/percentile.ts'

// How long it takes from an agent's tool call to the card on the board, beside a bare WebSocket that paints a row in
// the same browser: node bench/dashboard-live.ts [calls]

const [calls = 60] = process.argv.slice(2).map(Number)

const serving = await openServingDay()
const agent = await startAgent(serving.day.folder)
const browser = await launchBrowser()

console.log(`${calls} calls of an agent on stdio, one after the other. Milliseconds.\n`)
console.log('| | p50 | p95 | longest |')
console.log('|---|---|---|---|')
await dashboard()
await bareSocket()
await browser.close()
await agent.stop()
await serving.stop()

async function dashboard(): Promise<void> {
  const page = await browser.newPage()
  await page.goto(serving.login())
  await page.goto(`${serving.address}/board`)
  await page.locator('.live[data-state="live"]').waitFor()
  const { mission_id } = await agent.call('start_mission', { name: 'Measured', objective: 'Be fast' })
  const sinceCall: number[] = []
  const sinceAnswer: number[] = []
  for (let at = 0; at < calls; at += 1) {
    const name = `Measured ${at}.`
    const painted = await watchFor(page, name)
    const called = Date.now()
    await agent.call('start_task', { mission_id, name, agent_name: 'vera' })
    const answered = Date.now()
    const paintedAt = await painted()
    sinceCall.push(paintedAt - called)
    sinceAnswer.push(paintedAt - answered)
  }
  row('from the tool’s answer to the painted card', sinceAnswer)
  row('from the tool’s call to the painted card', sinceCall)
}

async function bareSocket(): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the socket has a port')
  const page = await browser.newPage()
  const connected = new Promise<void>((resolve) => server.once('connection', () => resolve()))
  await page.evaluate(
    `new WebSocket('ws://127.0.0.1:${address.port}').onmessage = ({ data }) => {
      document.body.append(Object.assign(document.createElement('p'), { textContent: data }))
    }`,
  )
  await connected
  const delays: number[] = []
  for (let at = 0; at < calls; at += 1) {
    const painted = await watchFor(page, `Bare ${at}.`)
    const sent = Date.now()
    for (const client of server.clients) client.send(`Bare ${at}.`)
    delays.push((await painted()) - sent)
  }
  row('a bare WebSocket, from the sending to the painted row', delays)
  server.close()
  await page.close()
}

/** Answers how to wait for a text to be painted, in milliseconds since the epoch: the end of the frame it came in. */
async function watchFor(page: Page, text: string): Promise<() => Promise<number>> {
  await page.evaluate(`void (window.painted = new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!document.body.textContent.includes(${JSON.stringify(text)})) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(Date.now())))
    })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  }))`)
  return () => page.evaluate<number>('window.painted')
}

function row(name: string, delays: readonly number[]): void {
  console.log(
    `| ${name} | ${percentile(delays, 50)} | ${percentile(delays, 95)} | ${percentile(delays, 100)} |`,
  )
}
