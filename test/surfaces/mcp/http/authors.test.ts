import { expect, test } from 'vitest'
import { why } from '../../../../src/lines/cli/provenance.ts'
import { taskPage } from '../../../../src/plan/cli/task.ts'
import type { Answer } from '../../../support/project.ts'
import { connect } from './clients.ts'
import { serveProject } from './serving.ts'

const page = { ink: (_: string, text: string) => text, width: 120, now: Date.now() }

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
  expect(attempt.corrections).toMatchObject([{ agent_name: 'http-client', author: 'http-client' }])
  const { items } = await project.call('inbox', { include: ['evidence'] })
  expect(items).toMatchObject([
    {
      evidence: {
        claimed: expect.stringMatching(/^Ben says so\.\nAdded later by .+: Ben adds this\.$/),
        claimed_by: 'http-client',
      },
      opened_by: 'http-client',
    },
  ])
  const { text } = await project.call('report', { mission: mission_id })
  expect(text).toContain('1 attempt by builder')
  expect(text).toMatch(/\*\*Cache\*\*.* · http-client/)
  const again = await ada.call('start_task', { planned_task_id: task_id, agent_name: 'builder' })
  expect(again.previous_attempts).toMatchObject([
    { agent: 'builder', summary: 'Ben says so.', summary_by: 'http-client' },
  ])
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

test('what another agent says about a task stands under its own name', async () => {
  const { url, project } = await serveProject()
  const ada = await connect(url, { era: '2026-07-28', token: 'ada' })
  const ben = await connect(url, { era: '2026-07-28', token: 'agent' })
  const { mission_id } = await ada.call('start_mission', { name: 'n', objective: 'o' })
  const { task_id } = await ada.call('start_task', { mission_id, name: 'Cache', agent_name: 'builder' })
  const decision = { category: 'other', question: 'Which?', chosen: 'This', reasoning: 'Simple' }
  const issue = { type: 'other', resolution: 'Went around it.', requires_human_review: true }
  await ada.call('log_milestone', { task_id, message: 'Half' })
  await ben.call('log_decision', { task_id, ...decision })
  await ben.call('log_issue', { task_id, ...issue, description: 'Which color?' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const outcome = { summary: 'Ben says so.' }
  await ben.call('complete_task', { task_id, status: 'failed', outcome })
  await ben.call('complete_task', { task_id, correction: 'Ben adds this.' })
  await ada.call('start_task', { planned_task_id: task_id, agent_name: 'second' })

  const include = ['tasks', 'decisions', 'milestones', 'blockers']
  const context = await project.call('get_context', { mission_id, include })
  expect(context).toMatchObject({
    tasks: [
      {
        agent_name: 'second',
        summary: 'Ben says so.',
        summary_by: 'http-client',
        correction: 'Ben adds this.',
        corrected_by: 'http-client',
      },
    ],
    decisions: [{ agent_name: 'http-client' }],
    milestones: [{ agent_name: 'builder' }],
  })
  const shown = await project.call('show', { id: task_id })
  expect(shown).toMatchObject({
    decisions: [{ agent_name: 'http-client' }],
    issues: [{ agent_name: 'http-client' }],
    progress: [{ agent_name: 'builder' }],
  })
  expect(taskPage(shown, page)).toMatch(/Which\? This {2}http-client, /)
  const { marks } = await project.call('mission_timeline', { id: mission_id })
  expect(marks.map(({ kind, agent }: Answer) => [kind, agent]).toSorted()).toEqual([
    ['decision', 'http-client'],
    ['issue', 'http-client'],
    ['progress', 'builder'],
  ])
  const { text } = await project.call('report', { mission: mission_id })
  expect(text).toContain('Which? · http-client')
  expect(text).toContain('http-client: Went around it.')
  const found = await project.call('why', { location: 'src/auth.ts:1' })
  expect(found.authors).toMatchObject([
    { agent: 'builder', summary: 'Ben says so.', claimed_by: 'http-client' },
  ])
  expect(why(found, page)).toContain('http-client reported: Ben says so.')
})

test('an agent without a name for its attempt is found and shown by the name of its client', async () => {
  const { url, project } = await serveProject()
  const agent = await connect(url, { era: '2026-07-28' })
  const { mission_id } = await agent.call('start_mission', { name: 'n', objective: 'o' })
  const { task_id } = await agent.call('start_task', { mission_id, name: 'Cache' })
  await agent.call('log_milestone', { task_id, message: 'Half' })
  const asked = { mission_id, include: ['tasks', 'milestones'], filter: { agent: 'http-client' } }
  expect(await project.call('get_context', asked)).toMatchObject({
    tasks: [{ id: task_id, agent_name: 'http-client' }],
    milestones: [{ agent_name: 'http-client' }],
  })
})

test('an event of a run of a task names the agent as its attempt does', async () => {
  const { url, project } = await serveProject()
  const agent = await connect(url, { era: '2026-07-28' })
  const { task_id } = await agent.call('start_task', { name: 'Cache', agent_name: 'eli' })
  const { run_id } = await agent.call('state_gate_create_run', { process_id: 'exploration', task_id })
  project.write('hypothesis.md', 'It is the cache.\n')
  const emit = (event_name: string, artifact_paths: readonly object[]) =>
    agent.call('state_gate_emit_event', {
      run_id,
      event_name,
      artifact_paths,
      expected_revision: 1,
      idempotency_key: event_name,
    })
  await emit('drop', []).catch(() => undefined)
  await emit('submit_hypothesis', [{ path: 'hypothesis.md', type: 'hypothesis' }])
  const { events, refusals } = await project.call('run_history', { run_id })
  expect(events).toMatchObject([{ event: 'submit_hypothesis', author: 'eli' }])
  expect(refusals).toMatchObject([{ event: 'drop', author: 'eli' }])
  const { events: projectEvents } = await project.call('log', { limit: 3 })
  expect(new Set(projectEvents.map(({ actor }: Answer) => actor))).toEqual(new Set(['eli']))
})
