import { type Browser, chromium } from 'playwright-core'
import { beforeAll } from 'vitest'
import { bringBrowser, environmentOf } from '../../scripts/browser.mjs'

// Nothing outside this machine is asked for anything.
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The windows of one profile share what has loaded and compiled the dashboard.
  '--process-per-site',
]

// One for all files of a process; it ends with the process.
let started: Promise<Browser> | undefined

/** One real browser for many tests: the machine's own, else one that is brought. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    started ??= launchBrowser()
    browser = await started
  })
  return () => {
    if (!browser) throw new Error('the browser was started before the tests')
    return browser
  }
}

/** Another browser, with nothing in its cache; whoever asks for it closes it. */
export async function launchBrowser(): Promise<Browser> {
  const found = await bringBrowser()
  const env = { ...process.env, ...environmentOf(found) }
  return chromium.launch({ executablePath: found.path, args: quiet, env })
}
