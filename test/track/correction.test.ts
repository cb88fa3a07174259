import { expect, test } from 'vitest'
import { inbox } from '../../src/inbox/cli/inbox.ts'
import { reviewHeading } from '../../src/review/cli/review.ts'
import { openProject, person, wrongFields } from '../support/project.ts'

const done = { status: 'success', outcome: { summary: 'Fast now.' } }

async function completed() {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Speed', objective: 'Be fast' })
  const { task_id } = await project.call('start_task', {
    mission_id,
    name: 'Cache',
    agent_name: 'builder',
    areas: ['src'],
  })
  project.write('src/cache.ts', 'export const cache = 1\n')
  const answer = await project.call('complete_task', { task_id, ...done })
  const show = async () => (await project.call('show', { id: task_id })).attempts[0]
  return { project, mission_id, task_id: task_id as string, answer, show }
}

const correction = 'It is fast only with a warm cache.'

test('after the end a statement is added beside the first, and nothing measured changes', async () => {
  const { project, task_id, mission_id, answer, show } = await completed()
  const before = await show()
  const corrected = await project.call('complete_task', { task_id, correction })
  expect(corrected).toMatchObject({
    task_id,
    corrected: true,
    correction: { text: correction },
    files_changed: answer.files_changed,
    completed_at: answer.completed_at,
  })
  const after = await show()
  expect(after.corrections).toMatchObject([{ text: correction, agent_name: 'builder', author: 'test-agent' }])
  expect({ ...after, corrections: undefined }).toEqual({ ...before, corrections: undefined })
  const { tasks } = await project.call('get_context', { mission_id, include: ['tasks'] })
  expect(tasks).toMatchObject([{ id: task_id, status: 'SUCCESS', summary: 'Fast now.', correction }])
  expect(await project.context.store.inspect()).toMatchObject({ differing: 0, error: null })
})

test('a person reads the newest one beside the files out of scope, and in the review', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', {
    name: 'Cache',
    agent_name: 'builder',
    areas: ['lib'],
  })
  project.write('src/cache.ts', 'export const cache = 1\n')
  await project.call('complete_task', { task_id, ...done })
  await project.call('complete_task', { task_id, correction: 'Not this.' })
  await project.call('complete_task', { task_id, correction })
  const line = `Added later by builder: ${correction}`
  const as = { actor: person }
  const listed = await project.call('inbox', { kind: 'scope', include: ['evidence'] }, as)
  expect(listed.items[0].evidence).toMatchObject({ correction: line })
  const page = { ink: (_: unknown, text: string) => text, width: 120, now: 0 }
  expect(inbox(listed as never, page)).toContain(line)
  const review = await project.call('review_show', { task: task_id }, as)
  expect(review.claimed).toMatchObject({ correction: line })
  expect(reviewHeading(review as never, page)).toContain(line)
})

test('the same words again add nothing; status and outcome beside them are unchanged', async () => {
  const { project, task_id, show } = await completed()
  await project.call('complete_task', { task_id, correction })
  const repeat = { task_id, correction, status: 'failed', outcome: { summary: 'Broken.' } }
  expect(await project.call('complete_task', repeat)).toMatchObject({
    note: expect.stringContaining('are unchanged'),
  })
  expect(await show()).toMatchObject({ status: 'success', corrections: [{ text: correction }] })
})

test('an older attempt is corrected by its id', async () => {
  const { project, mission_id } = await completed()
  const { task_id, attempt_id } = await project.call('start_task', { mission_id, name: 'Retry', areas: [] })
  await project.call('complete_task', { task_id, status: 'failed', outcome: { summary: 'No.' } })
  await project.call('start_task', { planned_task_id: task_id })
  expect(await project.refused('complete_task', { task_id, correction })).toMatchObject({
    code: 'CONFLICT',
    reason: 'attempt_open',
  })
  await project.call('complete_task', { task_id, attempt_id, correction })
  expect((await project.call('show', { id: task_id })).attempts).toMatchObject([
    { corrections: [{ text: correction }] },
    { corrections: [] },
  ])
})

test('that stays contradicted, only the last attempt can be completed again', async () => {
  const project = await openProject({ explainsNoChange: false })
  const { task_id, attempt_id } = await project.call('start_task', { name: 'Retry' })
  await project.call('complete_task', { task_id, ...done })
  const noteOf = async () =>
    (await project.call('complete_task', { task_id, attempt_id, correction: crypto.randomUUID() })).note
  expect(await noteOf()).toMatch(/Complete the task again without a correction/)
  await project.call('start_task', { planned_task_id: task_id })
  project.write('src/cache.ts', 'export const cache = 1\n')
  await project.call('complete_task', { task_id, ...done })
  expect(await noteOf()).toBe('The verdict stays contradicted: a correction does not change it.')
})

test('what was never started, or was given up without a word, has nothing to correct', async () => {
  const { project, mission_id } = await completed()
  await project.call('taskman_phase_add', { id: 'P1', name: 'Later' })
  const { id } = await project.call('taskman_task_add', { title: 'Later', phase: 'P1' })
  expect(await project.refused('complete_task', { task_id: id, correction })).toMatchObject({
    code: 'CONFLICT',
    reason: 'task_not_started',
  })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Lost', areas: [] })
  await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
  expect(await project.refused('complete_task', { task_id, correction })).toMatchObject({
    code: 'CONFLICT',
    reason: 'attempt_abandoned',
  })
})

test('without a correction, status and outcome are asked for', async () => {
  const { project, task_id } = await completed()
  expect(await project.refused('complete_task', { task_id })).toMatchObject(wrongFields('status'))
  expect(await project.refused('complete_task', { task_id, status: 'success' })).toMatchObject(
    wrongFields('outcome'),
  )
})
