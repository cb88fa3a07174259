import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { TaskId } from '../src/kernel/id.ts'
import { randomIds } from '../src/store/random-ids.ts'
import { openStore } from '../src/store/store.ts'
import { fillPlan } from '../test/plan/fill-plan.ts'
import { happened } from '../test/store/events.ts'
import { aTask } from '../test/support/entities.ts'
import { launchBrowser } from '../test/support-web/browser.ts'
import { openServingDay } from '../test/support-web/serving-day.ts'
import { percentile } from './live/percentile.ts'

// The dashboard over a large plan: the first content with an empty cache, and what a page reads again for each change of
// one task: node scripts/run.mjs bench/dashboard-large.ts [tasks] [loads] [changes]

const [tasks = 100_000, loads = 10, changes = 10] = process.argv.slice(2).map(Number)
const phases = Array.from({ length: 10 }, (_, index) => `P${index + 1}`)
const tasksOfMission = 500

/** Milliseconds that the first content must not exceed. */
const limit = 500

const serving = await openServingDay()
for (const [at, id] of phases.entries())
  await serving.call('taskman_phase_add', { id, name: `Phase ${id}`, 'sort-order': at })
const { mission_id } = await serving.call('start_mission', { name: 'Large', objective: 'Be fast' })
const folder = serving.day.folder
const file = join(folder, '.waymark', 'waymark.db')
const store = openStore({ file, shared: false, root: folder, sandboxJournal: false, ids: randomIds })
const [planned = ''] = await fillPlan(store, tasks, phases)
const ofMission = Array.from(
  { length: tasksOfMission },
  (_, at) =>
    aTask({ id: `t-mission-${at}` as TaskId, missionId: mission_id, name: `Of ${at}`, status: 'to_do' }), // a brand
)
await happened(store, Date.now(), ...ofMission.map((task) => ({ kind: 'task.planned', task }) as const))
await store.close()
const browser = await launchBrowser()

interface Case {
  readonly name: string
  readonly path: string
  /** What is painted with the first content. */
  readonly content: string
  /** The task that changes. */
  readonly task: string
  /** The phase that is unfolded before the changes. */
  readonly unfolds?: true
}

const cases: readonly Case[] = [
  { name: 'plan', path: '/plan', content: '.plan-row', task: planned },
  {
    name: 'plan, a phase with its first 500 tasks',
    path: '/plan',
    content: '.plan-row',
    task: planned,
    unfolds: true,
  },
  { name: 'board', path: '/board', content: '.task-card', task: planned },
  {
    name: `mission of ${tasksOfMission} tasks`,
    path: `/missions/${mission_id}`,
    content: '.mission-header',
    task: 't-mission-0',
  },
  { name: 'task', path: `/tasks/${planned}`, content: 'h1', task: planned },
]

console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.versions.node}`)
console.log(`A plan of ${tasks.toLocaleString('en')} tasks in ${phases.length} phases.\n`)
console.log('| page | first content, ms p50 | p95 | limit | requests for a change | kB | ms |')
console.log('|---|---|---|---|---|---|---|')
for (const one of cases) await measure(one)
console.log(
  '\nA change is the new title of one task of the page; kB are of the bodies, ms the time of all its requests.',
)
await browser.close()
await serving.stop()

async function measure(one: Case): Promise<void> {
  const first: number[] = []
  for (let at = 0; at < loads; at += 1) {
    const { page, close } = await opened(one)
    first.push(await page.evaluate<number>('window.contentAt'))
    await close()
  }
  const { page, close } = await opened(one)
  await page.locator('.live[data-state="live"]').waitFor()
  if (one.unfolds) {
    await page.locator('.plan-row .fold').first().click()
    await page.locator('.plan-row .id').first().waitFor()
  }
  await sleep(2_000)
  const answers = await answersOf(page, one)
  await close()
  const [p50, p95] = [50, 95].map((percent) => percentile(first, percent))
  const over = (p95 ?? 0) > limit ? ' (over)' : ''
  const per = (sum: number) => sum / changes
  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0)
  const time = answers.reduce((sum, answer) => sum + answer.ms, 0)
  const cells = [p50?.toFixed(0), p95?.toFixed(0), `${limit}${over}`, per(answers.length).toFixed(1)]
  console.log(`| ${[one.name, ...cells, per(bytes / 1000).toFixed(1), per(time).toFixed(0)].join(' | ')} |`)
}

async function opened({ path, content }: Case) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.request.get(serving.login(), { maxRedirects: 0 })
  const page = await context.newPage()
  await page.addInitScript(`window.contentAt = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector(${JSON.stringify(content)})) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    }).observe(document, { subtree: true, childList: true })
  })`)
  await page.goto(`${serving.address}${path}`)
  await page.locator(content).first().waitFor()
  return { page, close: () => context.close() }
}

/** What the page reads for the changes, one after the other. */
async function answersOf(page: Page, { task }: Case) {
  const answers: Promise<{ readonly bytes: number; readonly ms: number }>[] = []
  page.on('requestfinished', (request) => {
    if (!request.url().includes('/api/')) return
    const ms = request.timing().responseEnd
    answers.push(
      request.response().then(async (response) => ({ bytes: (await response?.body())?.length ?? 0, ms })),
    )
  })
  for (let at = 0; at < changes; at += 1) {
    await serving.call('taskman_task_edit', { id: task, title: `Changed ${at} of ${Date.now()}` })
    await sleep(1_500)
  }
  return Promise.all(answers)
}
