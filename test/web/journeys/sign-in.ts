import { beforeAll, expect } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { journey } from '../../support-web/journey.ts'
import { fillTeam, type TeamTokens, teamFolders } from '../../support-web/team-day.ts'
import { violationsOf } from '../../support-web/violations.ts'

let tokens: TeamTokens
const { open, serving } = useDashboard({
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
    await page.getByRole('alert').getByText('The dashboard is for people. builder is an agent.').waitFor()
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

journey('an owner makes an invitation, and whoever is invited signs in with it once', async () => {
  const { page } = await open({ token: tokens.olga, path: '/settings' })
  await page.getByRole('button', { name: 'Invitation for new.colleague' }).click()
  await page.getByRole('button', { name: 'Create the invitation' }).click()
  const made = page.getByRole('region', { name: 'The invitation new.colleague' })
  const invitation = (await made.locator('.snippet code').textContent()) ?? ''
  expect(await violationsOf(page)).toEqual([])

  const invited = await open({ token: null, path: '/plan' })
  await invited.page.getByLabel('Token or invitation').fill(invitation)
  await invited.page.keyboard.press('Enter')
  const shown = invited.page.locator('.snippet code')
  const token = (await shown.textContent()) ?? ''
  expect(token).toMatch(/^wm1_/)
  expect(await violationsOf(invited.page)).toEqual([])
  await invited.page.getByRole('button', { name: 'I have stored it: sign in' }).click()
  await invited.page.getByRole('button', { name: 'new.colleague contributor' }).waitFor()
  expect(await serving().ask(token, 'whoami', {})).toMatchObject({ access: 'contributor' })

  const again = await open({ token: null, path: '/plan' })
  await again.page.getByLabel('Token or invitation').fill(invitation)
  await again.page.keyboard.press('Enter')
  await again.page.getByRole('alert').getByText('This invitation is not valid here.').waitFor()
})
