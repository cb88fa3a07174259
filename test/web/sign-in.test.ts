import { beforeAll, expect } from 'vitest'
import { useDashboard } from '../support-web/dashboard.ts'
import { journey } from '../support-web/journey.ts'
import { fillTeam, type TeamTokens, teamFolders } from '../support-web/team-day.ts'
import { violationsOf } from '../support-web/violations.ts'

let tokens: TeamTokens
const { open } = useDashboard({
  team: true,
  folders: teamFolders,
  fill: async (_, served) => {
    tokens = await fillTeam(served)
  },
})
beforeAll(() => expect(tokens.ada).toMatch(/^wm1_/))

journey(
  'signing in: a wrong token is told, a right one leads to where one was, and signing out ends it on the server',
  async () => {
    const { page } = await open({ token: null, path: '/p/shop/plan' })
    await page.getByRole('heading', { name: 'Sign in to Waymark' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    const field = page.getByLabel('Token')
    await field.fill(`${tokens.max.slice(0, -1)}_`)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('This token is not valid here.').waitFor()
    await field.fill(tokens.builder)
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText('The dashboard is for people; builder acts as an agent.')
      .waitFor()
    await field.fill(tokens.max)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Sell a thing' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/p/shop/plan')
    const cookies = await page.context().cookies()
    await page.getByRole('button', { name: 'Max maintainer' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    // The cookie that the browser had is worth nothing any more.
    await page.context().addCookies(cookies)
    const { status } = await page.evaluate(async () => {
      const { status: answered } = await fetch('/api/session')
      return { status: answered }
    })
    expect(status).toBe(401)
  },
)
