import { useDashboard } from '../../support-web/dashboard.ts'
import { journey } from '../../support-web/journey.ts'
import { beginGatedRun } from '../../support-web/run-day.ts'

const { serving, open } = useDashboard()

journey('a person approves from the page, and the run ends', async () => {
  const { day } = serving()
  const run = await beginGatedRun(day)
  await run.emit('submit', { artifact_paths: ['plan.md'] })
  const { page, holdTime } = await open({ path: `/runs/${run.id}` })
  await page.getByRole('button', { name: 'Release' }).waitFor()
  await page.keyboard.press('a')
  await page.getByLabel('Reason (optional)').fill('Good enough.')
  await holdTime()
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
  await page.getByText('Approved: ').first().waitFor()
  await page.clock.fastForward(5_000)
  await page.clock.resume()
  await page.getByText('It succeeded in “live”').waitFor()
  await page.locator('.run-history li', { hasText: 'review → live' }).getByText('Tess').waitFor()
  await page.getByRole('button', { name: 'Release' }).waitFor({ state: 'detached' })
})
