import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'

let [gone, reviewed] = ['', '']
const { serving, open } = useDashboard({
  fill: async (day) => {
    await day.person('taskman_phase_add', { id: 'P1', name: 'Design' })
    const { id } = await day.person('taskman_task_add', { title: 'Old idea', phase: 'P1' })
    await day.person('taskman_task_add', { title: 'New idea', phase: 'P1' })
    await day.person('task_drop', { id, reason: 'Not wanted' })
    gone = id
    const agent = day.agent('vera')
    const { mission_id } = await agent('start_mission', { name: 'Look', objective: 'Be looked at' })
    const begun = await agent('start_task', { mission_id, name: 'Needs a look', agent_name: 'vera' })
    reviewed = begun.task_id
    await agent('log_issue', {
      task_id: reviewed,
      type: 'other',
      description: 'Which of the two?',
      resolution: 'Took the first',
      requires_human_review: true,
    })
    const { items } = await day.person('inbox', {})
    await day.person('resolve', { id: items[0].item_id, answer: 'Take the second.' })
    await agent('complete_task', {
      task_id: reviewed,
      status: 'success',
      outcome: {
        summary: 'Done.',
        achievements: [],
        limitations: [],
        no_change_reason: 'Nothing had to change.',
        manual_review_needed: true,
        manual_review_reason: 'Look at the colours',
      },
    })
  },
})

test('a dropped task leaves the board, and is crossed out and called dropped elsewhere', async () => {
  const { page, show } = await open({ path: '/board' })
  await page.getByRole('region', { name: 'Ready' }).getByText('New idea').waitFor()
  expect(await page.getByText('Old idea').count()).toBe(0)
  for (const path of ['/plan', `/tasks/${gone}`]) {
    await show(path)
    const crossed = page.locator('[data-dropped]').filter({ hasText: 'Old idea' })
    await crossed.waitFor()
    expect(await crossed.evaluate((element) => getComputedStyle(element).textDecorationLine)).toBe(
      'line-through',
    )
  }
  await page.locator('.task-head .status-badge', { hasText: 'Dropped' }).waitFor()
  await show('/plan')
  await page.getByText('0 of 1 done').first().waitFor()
})

test('a task shows its open review and the answers given, with the status that the board shows', async () => {
  const { page, show } = await open({ path: '/board' })
  await page
    .getByRole('region', { name: 'Needs review' })
    .getByRole('link', { name: 'Needs a look' })
    .waitFor()
  await show(`/tasks/${reviewed}`)
  const asked = page.getByRole('region', { name: 'Inbox items' })
  await asked.getByText('Look at the colours').waitFor()
  await asked.getByText('Take the second.').waitFor()
  await page.locator('.task-head .status-badge', { hasText: 'Needs review' }).waitFor()
  const { item_id } = (await serving().day.person('inbox', {})).items[0]
  await serving().day.person('resolve', { id: item_id, answer: 'Looks good.' })
  await asked.getByText('Looks good.').waitFor()
  await page.locator('.task-head .status-badge', { hasText: 'Needs review' }).waitFor({ state: 'detached' })
})
