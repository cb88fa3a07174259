import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { beginGatedRun } from '../../support-web/run-day.ts'

const { serving, open } = useDashboard()

test('a run shows what is missing and the way on, and follows what the agent sends', async () => {
  const run = await beginGatedRun(serving().day)
  expect(await run.emit('submit')).toBe('GUARD_FAILED')
  const { page, complaints } = await open({ path: `/runs/${run.id}` })
  await page.getByRole('heading', { level: 1, name: 'Gated release' }).waitFor()
  const ways = page.locator('.run-section', { hasText: 'To reach review' })
  await ways.locator('li[data-satisfied=true]', { hasText: 'The change is small' }).waitFor()
  const plan = ways.locator('li[data-satisfied=false]')
  await plan.getByText('none was submitted').waitFor()
  await plan.getByText('Attach a file of type "plan" (plan.md)').waitFor()
  await page.locator('.machine-state[data-part=current]', { hasText: 'build' }).waitFor()
  await page.locator('.run-history li', { hasText: 'submit refused' }).waitFor()

  expect(await run.emit('submit', { artifact_paths: ['plan.md'] })).toBe(null)
  await page.locator('.machine-state[data-part=current]', { hasText: 'review' }).waitFor()
  await page.locator('.run-history li', { hasText: 'build → review' }).waitFor()
  await page.locator('.machine-transition[data-part=taken]', { hasText: 'submit' }).waitFor()
  await page
    .locator('.run-section', { hasText: 'To reach live' })
    .getByText('0 of 1 approvals by owner')
    .waitFor()
  await page.locator('.artifacts li', { hasText: 'plan.md' }).waitFor()

  serving().day.write('plan.md', 'Another plan.\n')
  await page.reload()
  await page.locator('.artifacts li').getByText('changed since').waitFor()
  expect(complaints).toEqual([])
})

test('sending back must say why, can be taken back, and is refused as the server says it', async () => {
  const { day } = serving()
  const run = await beginGatedRun(day)
  await run.emit('submit', { artifact_paths: ['plan.md'] })
  const { page, holdTime } = await open({ path: `/runs/${run.id}` })
  const sendBack = async (why: string) => {
    await page.getByRole('button', { name: 'Request changes' }).click()
    await page.getByLabel('Reason').fill(why)
    await page.getByRole('dialog').getByRole('button', { name: 'Request changes' }).click()
  }
  await page.getByRole('button', { name: 'Request changes' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Request changes' }).click()
  expect(await page.locator('textarea:invalid').count()).toBe(1)
  await page.keyboard.press('Escape')
  await holdTime()
  await sendBack('Not yet.')
  await page.keyboard.press('u')
  await page.getByRole('button', { name: 'Request changes' }).waitFor()
  await sendBack('Smaller, please.')
  await day.person('run_cancel', { run_id: run.id, reason: 'No longer wanted' })
  await page.clock.resume()
  await page.getByText('It was canceled in “review”').waitFor()
  await page.clock.fastForward(5_000)
  await page.locator('.toast[data-kind=refused]').waitFor()
})

test('the history is gone through by keys, and the selection is in the address', async () => {
  const run = await beginGatedRun(serving().day)
  await run.emit('submit')
  await run.emit('submit', { artifact_paths: ['plan.md'] })
  const { page } = await open({ path: `/runs/${run.id}` })
  await page.locator('.run-history li').nth(1).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.locator('.run-history li[aria-current]', { hasText: 'refused' }).waitFor()
  expect(new URL(page.url()).searchParams.get('select')).toMatch(/^refused-/)
})

test('a run that is not there is told as a sentence', async () => {
  const { page } = await open({ path: '/runs/run-none' })
  await page.getByText('This project has no run run-none.').waitFor()
})
