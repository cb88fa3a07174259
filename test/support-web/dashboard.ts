import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard.mjs'
import type { OidcSettings } from '../../src/surfaces/http/auth/oidc.ts'
import { useBrowser } from './browser.ts'
import { openRecordedDay } from './recorded-day.ts'
import { openServingDay, type ServingDay } from './serving-day.ts'

export interface OpenPage {
  readonly page: Page
  /** What the page complained of: errors of scripts, and whatever the content security policy refused. */
  readonly complaints: readonly string[]
  /** Loads a path of the dashboard. */
  readonly go: (path: string) => Promise<void>
  /** Goes to a path as a link does, without loading the page anew. */
  readonly show: (path: string) => Promise<void>
  /** From now on time in the page goes by `page.clock` alone: its timers wait, however slow the machine is. */
  readonly holdTime: () => Promise<void>
  /** Loads the page anew with a time of day that stands still, while its timers go on: no minute begins meanwhile. */
  readonly fixTime: () => Promise<void>
}

export interface OpenDashboard extends OpenPage {
  readonly serving: ServingDay
}

export interface DashboardOptions extends WindowOptions {
  /** What has happened before the page is opened. */
  readonly fill?: (day: ServingDay['day'], serving: ServingDay) => Promise<unknown>
  readonly folders?: readonly string[]
  /** The server knows persons: a window is signed in by a token. */
  readonly team?: boolean
  readonly oidc?: OidcSettings
}

interface SharedOptions extends Pick<DashboardOptions, 'fill' | 'folders' | 'team'> {
  /** The project is that of the recorded day, in which much has happened. */
  readonly recorded?: boolean
}

interface WindowOptions extends BrowserContextOptions {
  /** What is opened first. */
  readonly path?: string
  /** Of the person who is signed in; null for nobody. Without it, the machine's user is. */
  readonly token?: string | null
}

/** One server and one filled project for the tests of a file; each test has a window of its own. */
export function useDashboard({ fill, folders, team = false, recorded = false }: SharedOptions = {}): {
  readonly serving: () => ServingDay
  readonly open: (options?: WindowOptions) => Promise<OpenDashboard>
} {
  const browser = useBrowser()
  let serving: ServingDay | undefined
  const served = (): ServingDay => {
    if (!serving) throw new Error('the server was started before the tests')
    return serving
  }
  beforeAll(async () => {
    if (!buildDashboard()) throw new Error('The dashboard could not be built.')
    serving = recorded ? await openRecordedDay() : await openServingDay({ team, ...(folders && { folders }) })
    await fill?.(serving.day, serving)
  })
  afterAll(() => serving?.stop())
  return {
    serving: served,
    open: async (options = {}) => ({
      serving: served(),
      ...(await openWindow(browser(), served(), options)),
    }),
  }
}

/** The built dashboard on a real server of its own, in a window of its own, logged in. */
export async function openDashboard(
  browser: Browser,
  options: DashboardOptions = {},
): Promise<OpenDashboard> {
  const { fill, folders, team = false, oidc, ...window } = options
  if (!buildDashboard()) throw new Error('The dashboard could not be built.')
  const serving = await openServingDay({ team, ...(folders && { folders }), ...(oidc && { oidc }) })
  onTestFinished(serving.stop)
  await fill?.(serving.day, serving)
  return { serving, ...(await openWindow(browser, serving, window)) }
}

async function openWindow(
  browser: Browser,
  serving: ServingDay,
  { path, token, ...options }: WindowOptions,
): Promise<OpenPage> {
  const { context, giveBack } = await useProfile(browser, options)
  const left = context.pages()
  const page = await context.newPage()
  onTestFinished(() => giveBack(page, serving.address))
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  const go = async (to: string) => {
    await page.goto(`${serving.address}${to}`)
    // On a phone the word is not shown.
    await page.locator('.live[data-state="live"]').waitFor({ state: 'attached' })
  }
  if (token !== undefined) {
    if (token !== null) await context.request.post(`${serving.address}/api/sign-in`, { data: { token } })
    await (token === null ? page.goto(`${serving.address}${path ?? '/'}`) : go(path ?? '/'))
  } else if (path === undefined) {
    await page.goto(serving.login())
    await page.locator('.live[data-state="live"]').waitFor({ state: 'attached' })
  } else {
    // The answer sets the cookie; the page behind it is not asked for.
    await context.request.get(serving.login(), { maxRedirects: 0 })
    await go(path)
  }
  for (const other of left) await other.close()
  return {
    page,
    complaints,
    go,
    // As text, because what is shared with tests outside of the browser knows no window.
    show: (to) =>
      page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(to)}); dispatchEvent(new PopStateEvent('popstate'))`,
      ),
    holdTime: async () => {
      wornOut.add(context)
      await page.clock.install()
      // In the future, because the clock goes on until it is paused.
      await page.clock.pauseAt(Date.now() + 30_000)
    },
    fixTime: async () => {
      wornOut.add(context)
      await page.clock.setFixedTime(Date.now())
      await page.reload()
    },
  }
}

// By what they were made with: those that no test uses now.
const profiles = new Map<string, BrowserContext[]>()
// Those whose clock is not the machine's any more.
const wornOut = new WeakSet<BrowserContext>()

/**
 * A profile of the browser as if it were new. Making one, and loading and compiling the dashboard in it, takes some seconds
 * of a core; so it goes from test to test, without the cookies and what else a page has kept.
 */
async function useProfile(browser: Browser, options: BrowserContextOptions) {
  const key = JSON.stringify(options)
  const unused = profiles.get(key) ?? []
  profiles.set(key, unused)
  const context =
    unused.pop() ?? (await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options }))
  const giveBack = async (page: Page, address: string) => {
    if (wornOut.has(context)) return context.close()
    try {
      for (const other of context.pages()) if (other !== page) await other.close()
      // The last page stays, on something small, because its process goes with it.
      await page.goto(`${address}/healthz`)
      await page.evaluate('localStorage.clear(); sessionStorage.clear()')
      await context.clearCookies()
      unused.push(context)
    } catch {
      await context.close() // a test has closed the page, or the server is gone
    }
  }
  return { context, giveBack }
}
