import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { beginGatedRun } from '../../support-web/run-day.ts'

const { serving, open } = useDashboard()

test('active runs and the definitions are listed, and a run that ends goes', async () => {
  const run = await beginGatedRun(serving().day)
  const { page, complaints } = await open({ path: '/processes' })
  const row = page.locator(`[id="${run.id}"]`)
  await row.getByText('build').waitFor()
  await page.getByRole('link', { name: 'Change control' }).waitFor()
  await run.emit('submit', { artifact_paths: ['plan.md'] })
  await row.getByText('review').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/runs/${run.id}`)
  expect(complaints).toEqual([])
})

test('a simulation says what is missing, goes on where it is supposed, and ends', async () => {
  await beginGatedRun(serving().day)
  const { page, complaints } = await open({ path: '/processes/gated-release' })
  const send = (event: string) =>
    page.locator('.next-events').getByRole('button', { name: event, exact: true })
  await send('submit').click()
  const refused = page.locator('.run-history li', { hasText: 'submit refused' })
  await refused.getByText('small:').waitFor()
  await refused.getByText('required_artifacts.plan').waitFor()
  await page.getByRole('checkbox', { name: 'small' }).check()
  await page.getByLabel('With files').fill('plan.md')
  await send('submit').click()
  await page.getByRole('heading', { name: 'In review' }).waitFor()
  await send('release').click()
  await page
    .locator('.run-history li', { hasText: 'release refused' })
    .getByText('0 of 1 approvals')
    .waitFor()
  await page.getByRole('checkbox', { name: 'approved' }).check()
  await send('release').click()
  await page.getByRole('heading', { name: 'In live, a final state' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { name: 'In review' }).waitFor()
  await page.getByLabel('With a payload').fill('{"a":')
  await page.getByText('The payload is not a JSON object yet.').waitFor()
  expect(await send('release').isDisabled()).toBe(true)
  expect(complaints).toEqual([])
})

test('the source has its lines and what lint says; what cannot be read is shown as it is written', async () => {
  serving().day.write('.waymark/processes/broken.yaml', 'process: { dialect: 1, id: broken }\nstats: []\n')
  const { page, go } = await open({ path: '/processes/broken' })
  await page.locator('.findings').getByText('stats').first().waitFor()
  await page.locator('.source-line[data-found]').first().waitFor()
  await go('/processes/feature?tab=source')
  await page.locator('.source-line').getByText('id: feature').waitFor()
  await page.keyboard.press('2')
  await page.getByRole('heading', { name: 'Guards' }).waitFor()
  await page.getByText('Only files in scope changed').waitFor()
})
