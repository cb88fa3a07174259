import { expect, test } from 'vitest'
import { connect } from './clients.ts'
import { serveProject } from './serving.ts'

test('an outcome and a correction have the author who sent them, not who began the task', async () => {
  const { url, project } = await serveProject()
  const ada = await connect(url, { era: '2026-07-28', token: 'ada' })
  const ben = await connect(url, { era: '2026-07-28', token: 'agent' })
  const { mission_id } = await ada.call('start_mission', { name: 'n', objective: 'o' })
  const { task_id } = await ada.call('start_task', {
    mission_id,
    name: 'Cache',
    goal: 'Cache it',
    agent_name: 'builder',
    areas: ['src'],
  })
  await ben.call('complete_task', {
    task_id,
    status: 'failed',
    outcome: { summary: 'Ben says so.', manual_review_needed: true, manual_review_reason: 'Look.' },
  })
  await ben.call('complete_task', { task_id, correction: 'Ben adds this.' })

  const [attempt] = (await project.call('show', { id: task_id })).attempts
  expect(attempt).toMatchObject({ agent_name: 'builder', actor: 'ada', claimed_by: 'http-client' })
  expect(attempt.corrections).toMatchObject([{ agent_name: null, said_by: 'http-client' }])
  const { holds } = await project.call('inbox', { include: ['evidence'] })
  expect(holds).toMatchObject([
    { evidence: { claimed: 'Ben says so.', claimed_by: 'http-client' }, opened_by: 'http-client' },
  ])
  const { text } = await project.call('report', { mission: mission_id })
  expect(text).toContain('1 attempt by builder')
  expect(text).toMatch(/\*\*Cache\*\*.* · http-client/)
  const again = await ada.call('start_task', { planned_task_id: task_id, agent_name: 'builder' })
  expect(again.previous_attempts).toMatchObject([{ agent: 'http-client', summary: 'Ben says so.' }])
})

test('the one who began a task stays the author of its outcome', async () => {
  const { url, project } = await serveProject()
  const ada = await connect(url, { era: '2026-07-28', token: 'ada' })
  const { task_id } = await ada.call('start_task', { name: 'Cache', goal: 'Cache it', agent_name: 'builder' })
  await ada.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  expect((await project.call('show', { id: task_id })).attempts).toMatchObject([
    { agent_name: 'builder', claimed_by: 'builder' },
  ])
})
