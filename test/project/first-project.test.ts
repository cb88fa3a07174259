import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard.mjs'
import { useBrowser } from '../support-web/browser.ts'
import { violationsOf } from '../support-web/violations.ts'
import { serveHome } from '../surfaces/http/serve-process.ts'

const browser = useBrowser()

test('the dashboard of a server without a project says so, and an admin makes the first one there', async () => {
  expect(buildDashboard()).toBe(true)
  const around = serveHome()
  around.environment['WAYMARK_DATABASE'] = join(around.home, 'all.db')
  const folder = join(around.home, 'nothing')
  mkdirSync(folder)
  const run = (...words: readonly string[]) => JSON.parse(around.run(folder, ...words, '--json').out)
  const ann: string = run('token', 'create', '--admin', '--person', 'Ann').secret
  run('person', 'add', 'Ben')
  const ben: string = run('token', 'create', 'ben', '--kind', 'person', '--person', 'Ben').secret
  const { port } = await around.serve(folder, '--port', '0')
  const context = await browser().newContext()
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    await page.goto(`http://127.0.0.1:${port}/`)
    const signIn = async (token: string) => {
      await page.getByLabel('Token').fill(token)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'No project yet' }).waitFor()
    }
    await signIn(ben)
    await page.getByText('Ask an admin of this server').waitFor()
    expect(await page.getByLabel('Name').count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(ann)
    expect(await violationsOf(page)).toEqual([])
    await page.getByLabel('Name').fill('server')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('"server" is reserved').waitFor()
    await page.getByLabel('Name').fill('site')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/p\/site\/$/)
    await page.getByRole('button', { name: /^Ann/ }).waitFor()
  } finally {
    await context.close()
  }
})
