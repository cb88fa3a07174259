import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { gatedMission } from './subject.ts'

const ana = { actor: { ...person, name: 'Ana' } }

const text = process('reviewed', {
  guards: '  ok: { type: approval, role: reviewer, artifact: changes }',
  guard: 'ok',
}).replace('[agent, reviewer]', '[agent]')

async function workOf(as: object) {
  const { project, run, missionId } = await gatedMission(text, 'reviewed')
  const task = { mission_id: missionId, name: 'Build', areas: ['src/'] }
  const { task_id, warnings } = await project.call('start_task', task, as)
  project.write('src/auth.ts', 'export const auth = 2\n')
  await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } }, as)
  const { items } = await project.call('inbox', { kind: 'approval' }, ana)
  return { project, run, missionId, warnings, item: items[0] }
}

const isOffered = (command: string, { answers }: { answers: readonly { command: string }[] }) =>
  answers.some((answer) => answer.command.startsWith(command))

test('the inbox offers no approval of own work, and names the ways out', async () => {
  const { project, run, missionId, item } = await workOf(ana)
  expect(item.cannot_approve).toContain('Ana')
  expect(await project.call('show', { id: run.id }, ana)).toMatchObject({
    cannot_approve: item.cannot_approve,
  })
  expect(isOffered('waymark approve', item)).toBe(false)
  expect(isOffered(`waymark run cancel ${run.id} `, item)).toBe(true)
  expect(isOffered(`waymark mission complete ${missionId} `, item)).toBe(true)
  await project.call('run_cancel', { run_id: run.id, reason: 'Nobody else is here.' }, ana)
  const end = { mission_id: missionId, status: 'completed', summary: 'Done.' }
  expect(await project.call('complete_mission', end, ana)).toMatchObject({ status: 'completed' })
})

test('the work of agents can be approved, and the inbox offers it', async () => {
  const { project, run, item } = await workOf({})
  expect(item.cannot_approve).toBeNull()
  expect(await project.call('show', { id: run.id }, ana)).toMatchObject({ cannot_approve: null })
  expect(isOffered('waymark approve', item)).toBe(true)
  const { missions } = await project.call('status', {}, ana)
  expect(missions[0].gates).toMatchObject([{ is_own_work: false }])
  const approved = await project.call('approve', { id: item.item_id, content: item.content }, ana)
  expect(approved.still_missing).toEqual([])
})

test('status says whose gate cannot be approved by the caller', async () => {
  const { project } = await workOf(ana)
  const gates = async (as: object) => (await project.call('status', {}, as)).missions[0].gates
  expect(await gates(ana)).toMatchObject([{ is_own_work: true }])
  expect(await gates({})).toMatchObject([{ is_own_work: false }])
})

test('a person is warned before the work that they cannot approve it, an agent is not', async () => {
  const about = (warnings: readonly string[] = []) =>
    warnings.filter((text) => text.includes('approve the changes')).length
  const own = await workOf(ana)
  expect(about(own.warnings)).toBe(1)
  const agents = await workOf({})
  expect(about(agents.warnings)).toBe(0)
  const mission = { name: 'Other', objective: 'O', process_id: 'reviewed' }
  const started = await own.project.call('start_mission', mission, ana)
  expect(about(started.warnings)).toBe(1)
  expect(await own.project.call('start_mission', { ...mission, name: 'Third' })).not.toHaveProperty(
    'warnings',
  )
})
