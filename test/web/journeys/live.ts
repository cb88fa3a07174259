import { fillBusyDay } from '../../support-web/busy-day.ts'
import { useDashboard } from '../../support-web/dashboard.ts'
import { journey } from '../../support-web/journey.ts'

const { open } = useDashboard({ fill: fillBusyDay })

journey('what an agent does is seen without loading anything anew, in every window', async () => {
  const { serving, page } = await open({ path: '/board' })
  const other = await page.context().newPage()
  await other.goto(`${serving.address}/missions`)
  await page.locator('main').getByRole('link', { name: 'Rename and copy detection' }).waitFor()
  const agent = serving.day.agent('vera')
  const mission = await agent('start_mission', { name: 'Second mission', objective: 'Be seen' })
  await agent('start_task', { mission_id: mission.mission_id, name: 'Appear at once', agent_name: 'vera' })
  await page
    .getByRole('region', { name: 'In progress' })
    .getByRole('link', { name: 'Appear at once' })
    .waitFor()
  await page.getByText('Live · 4 agents').waitFor()
  await other.getByRole('link', { name: 'Second mission' }).waitFor()
})
