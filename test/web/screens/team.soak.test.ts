import { beforeAll, expect, test } from 'vitest'
import { contractVersion } from '../../../src/remote/operations/protocol-limits.ts'
import { clientSecret, openProvider } from '../../people/provider.ts'
import { agentMachine } from '../../remote/machines.ts'
import type { Answer } from '../../support/project.ts'
import { startProgram } from '../../support/started-program.ts'
import { useBrowser } from '../../support-web/browser.ts'
import { openDashboard, useDashboard } from '../../support-web/dashboard.ts'
import { fillTeam, type TeamTokens, teamFolders } from '../../support-web/team-day.ts'
import { violationsOf } from '../../support-web/violations.ts'
import { otherTheme, overhang } from '../looks.ts'

let tokens: TeamTokens
const browser = useBrowser()
const { serving, open } = useDashboard({
  team: true,
  folders: teamFolders,
  fill: async (_, served) => {
    tokens = await fillTeam(served)
  },
})
beforeAll(() => expect(tokens.ada).toMatch(/^wm1_/))

/** A token of Max that a test may revoke. */
async function tokenOfMax(name: string): Promise<{ readonly id: string; readonly secret: string }> {
  return serving().call('token_create', { name, kind: 'person', person: 'Max' })
}

async function tokenNamed(name: string): Promise<Answer> {
  const { tokens: listed } = await serving().call('token_list', { all: true })
  return listed.find((token: Answer) => token.name === name)
}

test('a token that is revoked while its page is open ends the session, says so, and another leads back', async () => {
  const { id, secret } = await tokenOfMax('lost laptop')
  const { page } = await open({ token: secret, path: '/board' })
  await page.locator('main').getByRole('link', { name: 'Told apart by its token' }).waitFor()
  await serving().call('token_revoke', { token: id })
  await page.getByText('Your session has ended').waitFor()
  await page.getByLabel('Token').fill(tokens.max)
  await page.keyboard.press('Enter')
  await page.locator('main').getByRole('link', { name: 'Told apart by its token' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/board')
})

test('an owner changes what a member may do, and it is so on the open page of the member', {
  timeout: 240_000,
}, async () => {
  const vera = await open({ token: tokens.vera, path: '/plan' })
  const reason = 'This needs contributor access; you have viewer access.'
  await vera.page.getByText(reason).waitFor()
  await vera.page.getByRole('link', { name: 'Fill a cart' }).waitFor()
  await vera.page.keyboard.press('c')
  expect(await vera.page.getByLabel('A new task').count()).toBe(0)
  await vera.show('/')
  await vera.page.locator('.card').getByText('This needs maintainer access').first().waitFor()
  expect(await vera.page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  await vera.page.keyboard.press('Control+k')
  await vera.page.getByRole('combobox').fill('plan a task')
  await vera.page.getByText(/^No result for/).waitFor()
  await vera.page.keyboard.press('Escape')
  await vera.show('/settings')
  await vera.page.locator('.why-not').getByText('This needs owner access').waitFor()
  expect(await vera.page.getByRole('button', { name: 'Add a member' }).isDisabled()).toBe(true)
  await vera.show('/settings/people')
  await vera.page.getByText('This needs owner access').waitFor()

  const { page } = await open({ token: tokens.olga, path: '/settings' })
  await page.getByLabel('Access of Vera').selectOption('maintainer')
  await page.getByText('Vera now has maintainer access.').waitFor()
  await vera.page.getByRole('button', { name: 'Vera maintainer' }).waitFor()
  await vera.show('/')
  await vera.page.getByRole('button', { name: 'Approve' }).first().waitFor()

  await page.getByRole('button', { name: 'Gate roles of Vera' }).click()
  await page.getByLabel('Gate roles', { exact: true }).fill('reviewer tester')
  await page.keyboard.press('Enter')
  await page.locator('.settings-row', { hasText: 'Vera' }).getByText('reviewer, tester').waitFor()
  await page.getByLabel('Access of Olga').selectOption('viewer')
  await page.getByText('Olga is the only owner of this project.').waitFor()
  await expect.poll(() => page.getByLabel('Access of Olga').inputValue()).toBe('owner')
  await page.getByRole('button', { name: 'Add a member' }).click()
  await page.getByLabel('Email address').fill('nina@example.org')
  await page.getByLabel('Access', { exact: true }).selectOption('viewer')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.locator('.settings-row', { hasText: 'nina@example.org' }).getByText('invited').waitFor()
  await page.getByRole('button', { name: 'Remove nina' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.locator('.settings-row', { hasText: 'nina@example.org' }).waitFor({ state: 'detached' })

  // Who is no member any more is shown nothing, and is let in again as soon as they are one.
  await serving().call('member_remove', { person: 'Vera' })
  await vera.page.getByText('You are not a member of any project here.').waitFor()
  await vera.page.getByRole('link', { name: 'Show your projects' }).waitFor()
  await serving().call('member_add', { person: 'Vera', access: 'viewer' })
  await vera.page.getByRole('button', { name: 'Vera viewer' }).waitFor()
  await serving().call('member_remove', { person: 'Vera' })
  await vera.page.getByRole('button', { name: 'Sign out' }).click()
  await vera.page.getByText('You are signed out.').waitFor()
})

test('a token is shown once, lets its agent in, and is revoked; what one may not make is refused in words', async () => {
  const { page } = await open({ token: tokens.max, path: '/settings/tokens' })
  const make = async (name: string, kind: string) => {
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('For', { exact: true }).selectOption(kind)
    // Not longer than the token that the page is signed in with.
    await page.getByLabel('Expires after').selectOption('30')
    await page.getByRole('button', { name: 'Create the token' }).click()
  }
  await make('nightly', 'runner')
  await page.getByRole('alert').getByText('Max is not an owner.').waitFor()
  await page.getByLabel('For', { exact: true }).selectOption('agent')
  await page.getByRole('button', { name: 'Create the token' }).click()
  const made = page.getByRole('region', { name: 'The token nightly' })
  const secret = (await made.locator('code').textContent()) ?? ''
  expect(secret).toMatch(/^wm1_[0-9a-z]{12}_[\w-]{43}$/)
  expect(await serving().ask(secret, 'whoami', {})).toMatchObject({
    name: 'nightly',
    kind: 'agent',
    person: { name: 'Max' },
    access: 'contributor',
  })
  await made.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText(secret).waitFor({ state: 'detached' })
  // That it was used is written after the answer.
  await expect.poll(async () => (await tokenNamed('nightly'))?.last_used_at).toBeTypeOf('string')
  const row = page.locator('.settings-row', { hasText: 'nightly' })
  // Another question is asked at once.
  await page.getByLabel('Revoked tokens').check()
  await row.getByText(/^expires/).waitFor()
  await row.getByText(/^used/).waitFor()
  await page.getByRole('button', { name: 'Revoke nightly' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await row.getByText('by Max').waitFor()
  await expect
    .poll(() =>
      serving()
        .ask(secret, 'whoami', {})
        .catch(() => 'refused'),
    )
    .toBe('refused')
  await page.getByLabel('Revoked tokens').uncheck()
  await row.waitFor({ state: 'detached' })
})

test('a token is limited to reading: its agent changes nothing, and who signs in with one is offered nothing', async () => {
  const { page } = await open({ token: tokens.ada, path: '/settings/tokens' })
  await page.getByRole('button', { name: 'Create a token' }).click()
  await page.getByLabel('Name').fill('wall screen')
  const limit = page.getByLabel('Access limit')
  expect(
    await limit.locator('option').evaluateAll((all) => all.map((option) => option.getAttribute('value'))),
  ).toEqual(['', 'viewer', 'contributor'])
  await page.getByLabel('For', { exact: true }).selectOption('person')
  await limit.selectOption('viewer')
  await page.getByLabel('Expires after').selectOption('30')
  await page.getByRole('button', { name: 'Create the token' }).click()
  const made = page.getByRole('region', { name: 'The token wall screen' })
  const secret = (await made.locator('code').textContent()) ?? ''
  await page.locator('.settings-row', { hasText: 'wall screen' }).getByText('at most viewer').waitFor()

  const limited = await open({ token: secret, path: '/settings/people' })
  await limited.page.getByText('Your token is limited to viewer access.').first().waitFor()
  await limited.show('/settings/tokens')
  expect(await limited.page.getByRole('button', { name: 'Create a token' }).isDisabled()).toBe(true)
})

test('an admin adds a person, lets them in no more, and in again', async () => {
  const { page } = await open({ token: tokens.ada, path: '/settings/people' })
  await page.getByRole('button', { name: 'Add a person' }).click()
  await page.getByLabel('Name').fill('Max')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('alert').getByText('There is already a person Max').waitFor()
  await page.getByLabel('Name').fill('Paul')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const row = page.locator('.settings-row', { hasText: 'Paul' })
  await page.getByRole('button', { name: 'Disable Paul' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await row.getByText('disabled').waitFor()
  await page.getByRole('button', { name: 'Enable Paul' }).click()
  await row.getByText('disabled').waitFor({ state: 'detached' })
  // What others change is there without a question.
  await serving().call('person_add', { name: 'Quinn' })
  await page.locator('.settings-row', { hasText: 'Quinn' }).waitFor()
})

test('an admin makes a person an admin and ends it; adds a project, and is told why a name cannot be; nobody else is offered it', async () => {
  const { page, show } = await open({ token: tokens.ada, path: '/settings/people' })
  const row = page.locator('.settings-row', { hasText: 'Olga' })
  await page.getByRole('button', { name: 'Make admin: Olga' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make admin' }).click()
  await row.locator('.tag', { hasText: 'admin' }).waitFor()
  await page.getByRole('button', { name: 'Remove admin: Olga' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove admin' }).click()
  await row.locator('.tag', { hasText: 'admin' }).waitFor({ state: 'detached' })

  await show('/projects')
  await page.getByRole('button', { name: 'Add a project' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Web Site')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('alert').getByText('"Web Site" is not a valid project name').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('web-site')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.waitForURL('**/p/web-site/')

  // This server was started for certain projects, so that a new name is asked for only as far as it refuses.
  const again = await open({ token: tokens.ada, path: '/projects' })
  await again.page.getByRole('button', { name: 'Rename billing' }).click()
  await again.page.getByLabel('Name', { exact: true }).fill('Bills!')
  await again.page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await again.page.getByRole('alert').getByText('"Bills!" is not a valid project name').waitFor()

  const max = await open({ token: tokens.max, path: '/projects' })
  await max.page.getByRole('list', { name: 'Projects' }).getByRole('link').first().waitFor()
  expect(await max.page.getByRole('button', { name: /^(Add a project|Rename)/ }).count()).toBe(0)
})

test('projects: those that one may see, what waits first, live; the switcher finds one by its name', async () => {
  const { page } = await open({ token: tokens.max, path: '/projects' })
  const list = page.getByRole('list', { name: 'Projects' })
  await list.getByText('3 need you').waitFor()
  expect(await list.getByRole('link').allTextContents()).toEqual(['diffkit (this project)', 'shop'])
  await list.getByRole('listitem').first().getByText('builder').or(list.getByText('1 more')).first().waitFor()
  await page.mouse.move(4, 4)
  const { mission_id } = await serving().call('start_mission', { name: 'Sell', objective: 'Sell' }, 1)
  const { task_id } = await serving().call('start_task', { mission_id, name: 'Sell', areas: ['src/'] }, 1)
  const shop = list.getByRole('listitem').filter({ hasText: 'shop' })
  await shop.getByText('1 mission').waitFor()
  await serving().call(
    'log_issue',
    { task_id, type: 'other', description: 'Which?', resolution: 'None', requires_human_review: true },
    1,
  )
  await shop.getByText('1 needs you').waitFor()

  const ada = await open({ token: tokens.ada, path: '/board' })
  await ada.page.getByRole('button', { name: 'diffkit' }).click()
  const field = ada.page.getByLabel('Find a project by name')
  await ada.page.getByRole('link', { name: 'payments' }).waitFor()
  await field.fill('o')
  await ada.page.keyboard.press('ArrowDown')
  await ada.page.keyboard.press('Enter')
  await ada.page.waitForURL('**/p/docs-site/')
  await ada.page.getByRole('button', { name: 'docs-site' }).click()
  await field.fill('nothing is called so')
  await ada.page.getByText('No project matches.').waitFor()
})

test('agents: who works on which machine, for whom, what waits there, and the diff that it sent', {
  timeout: 240_000,
}, async () => {
  const { page, show } = await open({ token: tokens.max, path: '/agents' })
  const row = page.getByRole('listitem').filter({ hasText: 'Told apart by its token' })
  await row.getByText('builder').waitFor()
  await row.getByText('for you').waitFor()
  await row.getByText('last call').waitFor()

  const machine = agentMachine()
  const { folder, environment } = machine
  const { address } = serving()
  const connecting = startProgram(['connect', address], {
    folder,
    environment: { ...environment, WAYMARK_TOKEN: tokens.builder },
  })
  expect(await connecting.gone).toBe(0)
  const agent = await machine.connect()
  const begun = { name: 'Far from the server', areas: ['src/'], goal: 'Be seen' }
  const { task_id } = await agent.call('start_task', begun)
  const far = page.getByRole('listitem').filter({ hasText: 'Far from the server' })
  await far.getByText('for you').waitFor()
  await page.getByText('token builder').waitFor()
  machine.write('src/api.ts', 'export const api = 2\n')
  await agent.call('complete_task', {
    task_id,
    status: 'success',
    outcome: { summary: 'Changed.', achievements: [], limitations: [] },
  })
  await far.waitFor({ state: 'detached' })
  await page.getByText('No agent works there now.').waitFor()
  await show(`/tasks/${task_id}/diff`)
  await page.locator('.diff-line').getByText('export const api = 2').waitFor()

  // A project may leave the lines where they are.
  await serving().call('setting_set', { name: 'upload_diff', value: 'off' })
  const { task_id: kept } = await agent.call('start_task', { ...begun, name: 'Kept at home' })
  machine.write('src/api.ts', 'export const api = 3\n')
  await agent.call('complete_task', {
    task_id: kept,
    status: 'success',
    outcome: { summary: 'Changed.', achievements: [], limitations: [] },
  })
  await show(`/tasks/${kept}/diff`)
  await page.getByText('they were not sent.').first().waitFor()

  const headers = { Authorization: `Bearer ${tokens.builder}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify({
    contract: contractVersion,
    version: '1.0.0',
    machine: { key: 'a'.repeat(64), name: 'a train' },
    call: 'a-call-of-the-train',
    folder,
    channel: 'cli',
    caller: 'agent',
    operation: 'whoami',
    input: {},
  })
  expect((await fetch(`${address}/api/machines/call`, { method: 'POST', headers, body })).status).toBe(200)
  await show('/agents')
  await page.locator('.machine-agents h2').getByText('a train').waitFor()
})

test('single sign-on leads back to where one was; who was not invited is told so', async () => {
  const { issuer, allow } = await openProvider({
    cleo: { email: 'cleo@example.org', email_verified: true, name: 'Cleo' },
    eve: { email: 'eve@example.org', email_verified: true },
  })
  const { page, serving: served } = await openDashboard(browser(), {
    team: true,
    oidc: { issuer, clientId: 'waymark', clientSecret, groupClaim: 'groups', groups: [] },
    fill: async (_, { call }) => {
      await call('member_invite', { email: 'cleo@example.org', name: 'Cleo', access: 'maintainer' })
    },
    token: null,
    path: '/plan?only=ready',
  })
  allow(`${served.address}/sign-in/oidc/callback`)
  const signInAs = async (account: string) => {
    await page.getByRole('link', { name: `Sign in with ${new URL(issuer).host}` }).click()
    await page.locator('[name=login]').fill(account)
    await page.locator('[name=password]').fill('any')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  await signInAs('eve')
  await page.getByText('You are not signed in').waitFor()
  await page.getByRole('alert').getByText('There is no invitation for your e-mail address.').waitFor()
  expect(await violationsOf(page)).toEqual([])
  // It has the look of the dashboard, and leads back to where one was.
  const styles = await page.locator('link[rel=stylesheet]').count()
  expect(styles).toBeGreaterThan(0)
  expect(await page.getByRole('link', { name: 'back to the dashboard' }).getAttribute('href')).toBe(
    '/plan?only=ready',
  )
  await page.getByRole('link', { name: 'back to the dashboard' }).click()
  await page.getByRole('heading', { name: 'Sign in to Waymark' }).waitFor()
  expect(page.url()).toBe(`${served.address}/plan?only=ready`)
  // The provider remembers who signed in there.
  await page.context().clearCookies()
  await signInAs('cleo')
  await page.getByRole('button', { name: 'Cleo maintainer' }).waitFor()
  expect(page.url()).toBe(`${served.address}/plan?only=ready`)
})

test('every screen of a team is without a violation of axe, in both themes, on a desk and on a phone', {
  timeout: 240_000,
}, async () => {
  const found: string[] = []
  const desk = await open({ token: tokens.ada, path: '/projects' })
  const phone = await open({ token: tokens.ada, path: '/projects', viewport: { width: 390, height: 844 } })
  let theme = await desk.page.evaluate(() =>
    matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  )
  const menu = (page: typeof desk.page) => page.locator('.account').click()
  for (const [path, shows, opens] of [
    ['/projects', '.project-row'],
    ['/agents', '.agent-row'],
    ['/settings', '.settings-row'],
    ['/settings/tokens?of=all&revoked=yes', '.settings-row'],
    ['/settings/people', '.settings-row'],
    ['/settings', '.menu-head', menu],
  ] as const) {
    const note = (violation: string) => found.push(`${path}, ${theme}: ${violation}`)
    for (const { page, show } of [desk, phone]) {
      await show(path)
      await page.locator('.page-inner').waitFor()
      await opens?.(page)
      await page.locator(shows).first().waitFor()
      if ((await overhang(page)) > 0) note('it is wider than the screen')
    }
    ;(await violationsOf(desk.page)).map(note)
    theme = await otherTheme(desk.page, theme)
    ;(await violationsOf(desk.page, ['color-contrast'])).map(note)
  }
  expect(found).toEqual([])
  expect(desk.complaints).toEqual([])
})
