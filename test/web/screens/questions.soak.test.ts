import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'

let task = ''
const { open } = useDashboard({
  fill: async (day) => {
    const agent = day.agent('vera')
    const { mission_id } = await agent('start_mission', { name: 'Colours', objective: 'Be seen' })
    const begun = await agent('start_task', { mission_id, name: 'Draw it', agent_name: 'vera' })
    task = begun.task_id
    day.write('src/picture.ts', "export const color = 'blue'\n")
    await agent('complete_task', {
      task_id: task,
      status: 'success',
      outcome: {
        summary: 'Drawn in blue.',
        manual_review_needed: true,
        manual_review_reason: 'Blue or green?',
      },
    })
    await agent('complete_task', { task_id: task, correction: 'It is blue only on a screen.' })
    await agent('complete_mission', { mission_id, status: 'completed', summary: 'Seen.' })
  },
})

test('a question stays in the inbox with its mission, and can be answered, not only approved', async () => {
  const { page } = await open({ path: '/' })
  const card = page.locator('.card')
  await card.getByText('Blue or green?').waitFor()
  await card.getByRole('link', { name: 'Colours' }).waitFor()
  await card.getByText('Drawn in blue.').waitFor()
  const verbs = await card.locator('.verbs').getByRole('button').allTextContents()
  expect(verbs.map((verb) => verb.replace(/ .*/, ''))).toEqual(['Approve', 'Answer', 'Send'])
})

test('what was said after the end stands beside what was said then', async () => {
  const { page } = await open({ path: `/tasks/${task}` })
  await page.getByText('It is blue only on a screen.').waitFor()
  await page.getByText('Drawn in blue.').first().waitFor()
  await page.locator('.correction', { hasText: 'vera added' }).waitFor()
})
