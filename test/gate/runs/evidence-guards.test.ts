import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { runOf, type TestRun } from './run.ts'
import { gatedMission } from './subject.ts'

async function missing(run: TestRun): Promise<unknown> {
  return (await run.refused('go')).details?.['missing_guards']
}

const blockers = process('unblocked', {
  guards: '  free: { type: blockers, condition: none }',
  guard: 'free',
})

test('blockers: an open blocker of the mission holds the run back until a person answers it', async () => {
  const { project, run, start } = await gatedMission(blockers, 'unblocked')
  const task_id = await start()
  const issue = { task_id, type: 'unclear_requirement', description: 'Which?', resolution: 'Waiting.' }
  await project.call('log_issue', { ...issue, requires_human_review: true })
  const { items } = await project.call('inbox')
  expect(await missing(run)).toEqual([`free: open blockers: ${items[0].item_id}`])
  await project.call('resolve', { id: items[0].item_id, answer: 'The first.' }, { actor: person })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('blockers: an open blocker of another mission does not count', async () => {
  const { project, run } = await gatedMission(blockers, 'unblocked')
  const other = await project.call('start_mission', { name: 'n', objective: 'o' })
  const { task_id } = await project.call('start_task', { mission_id: other.mission_id, name: 't' })
  const issue = { task_id, type: 'unclear_requirement', description: 'Which?', resolution: 'Waiting.' }
  await project.call('log_issue', { ...issue, requires_human_review: true })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('blockers: of a run on its own nothing is known, so it does not pass', async () => {
  const run = await runOf(blockers)
  expect(await missing(run)).toEqual(['free: the blockers are unknown'])
})

test('milestone: the run goes on once the milestone of the plan is reached', async () => {
  const run = await runOf(process('milestoned', { guards: '  m1: { type: milestone, id: M1 }', guard: 'm1' }))
  const { project } = run
  expect(await missing(run)).toEqual(['m1: there is no milestone M1'])
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  await project.call('taskman_milestone_add', { id: 'M1', phase: 'P1', name: 'Alpha' })
  expect(await missing(run)).toEqual(['m1: milestone M1 is not reached'])
  await project.call('taskman_milestone_edit', { id: 'M1', reached: '1' })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

function tasks(id: string, parameters = ''): string {
  return process(id, { guards: `  all: { type: task, condition: all_done${parameters} }`, guard: 'all' })
}

test('task: all tasks of a phase of the plan are done', async () => {
  const run = await runOf(tasks('planned', ', phase: P1'), { git: true })
  const { project } = run
  expect(await missing(run)).toEqual(['all: there are no tasks of phase P1'])
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  await project.call('taskman_phase_add', { id: 'P2', name: 'Ship' })
  const { id } = await project.call('taskman_task_add', { title: 'One', phase: 'P1' })
  await project.call('taskman_task_add', { title: 'Later', phase: 'P2' })
  expect(await missing(run)).toEqual([`all: open tasks of phase P1: "One" (${id})`])
  await project.call('start_task', { planned_task_id: id })
  await project.call('complete_task', { task_id: id, status: 'success', outcome: { summary: 'Done.' } })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('task: what was dropped is not done', async () => {
  const run = await runOf(tasks('planned', ', phase: P1'))
  const { project } = run
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  const { id } = await project.call('taskman_task_add', { title: 'One', phase: 'P1' })
  await project.call('task_drop', { id, reason: 'Not needed.' }, { actor: person })
  expect(await missing(run)).toEqual(['all: there are no tasks of phase P1'])
})

test('task: all tasks of a phase of the run’s mission, by its number', async () => {
  const { run, start, complete } = await gatedMission(tasks('phased', ', phase: "1"'), 'phased')
  expect(await missing(run)).toEqual(['all: there are no tasks of phase 1'])
  const task = await start({ phase: 1 })
  await start({ phase: 2 })
  expect(await missing(run)).toEqual([`all: open tasks of phase 1: "Build" (${task})`])
  await complete(task)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('task: all tasks of the run’s mission, and a failed one is not done', async () => {
  const { run, start, complete } = await gatedMission(tasks('missioned'), 'missioned')
  const one = await start()
  const two = await start()
  await complete(one)
  expect(await missing(run)).toEqual([`all: open tasks: "Build" (${two})`])
  await complete(two, { status: 'failed' })
  expect(await missing(run)).toEqual([`all: open tasks: "Build" (${two})`])
})

test('task: a run of a task looks at that task', async () => {
  const { project, start, complete } = await gatedMission(process('plain'), 'plain')
  const task = await start()
  await start()
  const run = await runOf(tasks('tasked'), { project, input: { task_id: task } })
  expect(await missing(run)).toEqual([`all: open tasks: "Build" (${task})`])
  await complete(task)
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('all, any and not are judged as they are written, and tell every guard that stands in the way', async () => {
  const guards = [
    '  a: { type: context, variable: a, condition: exists }',
    '  b: { type: context, variable: b, condition: exists }',
    '  c: { type: context, variable: c, condition: exists }',
    '  m1: { type: milestone, id: M1 }',
  ].join('\n')
  const text = process('combined', { guards, guard: '{ all: [a, { any: [b, m1] }, { not: c }] }' })
  const project = (await runOf(process('plain'))).project
  const begun = (context: object) => runOf(text, { project, input: { context } })
  expect(await missing(await begun({ c: 1 }))).toEqual([
    'a: "a" is not set, not set',
    'b: "b" is not set, not set',
    'm1: there is no milestone M1',
    'not c: c is satisfied, but must not be',
  ])
  expect(await missing(await begun({ a: 1 }))).toEqual([
    'b: "b" is not set, not set',
    'm1: there is no milestone M1',
  ])
  const passing = await begun({ a: 1, b: 1 })
  expect((await passing.events())['go'].transitions[0]).toEqual({
    to_state: 'done',
    guard: 'all of (a, any of (b, m1), not c)',
    guard_status: 'satisfied',
  })
  expect(await passing.emit('go')).toMatchObject({ status: 'succeeded' })
  expect(await missing(await begun({ a: 1, b: 1, c: 1 }))).toEqual(['not c: c is satisfied, but must not be'])
})

test('landed: the run goes on once the lines of the done tasks are on the default branch', async () => {
  const text = process('merged', { guards: '  merged: { type: landed }', guard: 'merged' })
  const { project, run, start } = await gatedMission(text, 'merged')
  expect(await missing(run)).toEqual(['merged: no task is done'])
  const main = project.git('symbolic-ref', '--short', 'HEAD').trim()
  project.git('checkout', '-q', '-b', 'feature')
  const task_id = await start()
  project.write('src/landed.ts', 'export const landed = true\n')
  await project.call('complete_task', {
    task_id,
    status: 'success',
    outcome: { summary: 'Added src/landed.ts.' },
  })
  expect(await missing(run)).toEqual([expect.stringContaining('not committed yet')])
  project.git('add', 'src')
  project.git('commit', '-q', '-m', 'Land')
  project.git('checkout', '-q', main)
  project.git('merge', '-q', 'feature')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('landed: work that a task outside the mission replaced has to land there', async () => {
  const text = process('merged', { guards: '  merged: { type: landed }', guard: 'merged' })
  const { project, run, start } = await gatedMission(text, 'merged')
  const task_id = await start()
  const outcome = { summary: 'Wrote src/landed.ts.' }
  const lines = (name: string) =>
    Array.from({ length: 5 }, (_, at) => `export const ${name}${at} = ${at}\n`).join('')
  project.write('src/landed.ts', lines('first'))
  await project.call('complete_task', { task_id, status: 'success', outcome })
  const later = await project.call('start_task', { name: 'Later', goal: 'g' })
  project.write('src/landed.ts', lines('second'))
  await project.call('complete_task', { task_id: later.task_id, status: 'success', outcome })
  expect(await missing(run)).toEqual([expect.stringContaining('replaced by later tasks, which did not land')])
  project.git('add', 'src')
  project.git('commit', '-q', '-m', 'Land')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('verdict: the run goes on once every done task is proven', async () => {
  const text = process('proven', {
    guards: '  proven: { type: verdict, condition: proven }',
    guard: 'proven',
  })
  const { project, run, start } = await gatedMission(text, 'proven')
  expect(await missing(run)).toEqual(['proven: no task is done'])
  const task_id = await start()
  project.write('src/api.ts', 'export const api = 2\n')
  await project.call('complete_task', {
    task_id,
    status: 'success',
    outcome: { summary: 'Changed src/api.ts.' },
  })
  // The second refusal asks nothing again.
  for (const _ of [1, 2]) {
    expect(await missing(run)).toEqual([
      expect.stringMatching(`^proven: ".+" \\(${task_id}\\) is unproven: The task has no check$`),
    ])
    expect((await project.call('inbox')).items).toMatchObject([{ kind: 'verdict', task_id }])
  }
  const by = { actor: person }
  const subject = { task: task_id }
  const { content } = await project.call('review_show', subject, by)
  await project.call('review_send', { subject, action: 'approve', content }, by)
  expect((await project.call('inbox')).items).toEqual([])
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})
