import { expect, onTestFinished, test } from 'vitest'
import { startAgent } from '../../support-web/agent-process.ts'
import { useDashboard } from '../../support-web/dashboard.ts'

const { serving, open } = useDashboard({ folders: ['diffkit', 'shop'] })

test('what an agent in another process does is on the screen, in every window of that project', async () => {
  const agent = await startAgent(serving().day.folder)
  onTestFinished(agent.stop)
  const [board, missions, other] = await Promise.all(
    ['/board', '/missions', '/p/shop/board'].map((path) => open({ path })),
  )
  const { mission_id } = await agent.call('start_mission', { name: 'By an agent', objective: 'Be seen' })
  const { task_id } = await agent.call('start_task', { mission_id, name: 'Appear', agent_name: 'vera' })
  await board?.page
    .getByRole('region', { name: 'In progress' })
    .getByRole('link', { name: 'Appear' })
    .waitFor()
  await missions?.page.getByRole('link', { name: 'By an agent' }).waitFor()
  await agent.call('complete_task', {
    task_id,
    status: 'success',
    outcome: { summary: 'Appeared.', achievements: [], limitations: [] },
  })
  // It changed nothing, so its success is contradicted.
  await board?.page
    .getByRole('region', { name: 'Needs review' })
    .getByRole('link', { name: 'Appear' })
    .waitFor()
  expect(await other?.page.getByRole('link', { name: 'Appear' }).count()).toBe(0)
})

test('what is decided in one window is settled in the other', async () => {
  const agent = serving().day.agent('vera')
  const { mission_id } = await agent('start_mission', { name: 'Asks', objective: 'Be answered' })
  const { task_id } = await agent('start_task', { mission_id, name: 'Ask a person', agent_name: 'vera' })
  await agent('log_issue', {
    task_id,
    type: 'unclear_requirement',
    description: 'Which of the two?',
    resolution: 'Took the first',
    requires_human_review: true,
  })
  const [one, other] = await Promise.all([open({ path: '/' }), open({ path: '/' })])
  await other.page.getByText('Which of the two?').waitFor()
  await one.page.getByRole('button', { name: 'Answer' }).click()
  await one.page.getByLabel('Your answer').fill('The second.')
  await one.page.keyboard.press('Control+Enter')
  await one.page.goto('about:blank')
  await other.page.getByText('Which of the two?').waitFor({ state: 'detached' })
})
