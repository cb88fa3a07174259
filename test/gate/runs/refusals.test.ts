import { expect, test } from 'vitest'
import { explorationProcess, process } from './processes.ts'
import { runOf } from './run.ts'

test('SG-037 SG-053 SG-051 SG-054 SG-052 the first check that fails answers, from the run to the guards', async () => {
  const text = explorationProcess.replace(
    '{ from: decide, event: finalize, to: answered }',
    '{ from: experiment, event: finalize, to: answered }\n  - { from: decide, event: finalize, to: answered }',
  )
  const run = await runOf(text)
  const wrong = { payload: { plan: 3 }, artifact_paths: ['../x'] }
  const codeOf = async (event: string, sent: object) => (await run.refused(event, sent)).code
  expect(await codeOf('nothing', { ...wrong, expected_revision: 9 })).toBe('REVISION_CONFLICT')
  expect(await codeOf('nothing', wrong)).toBe('INVALID_EVENT')
  expect(await codeOf('submit_synthesis', wrong)).toBe('INVALID_EVENT')
  expect(await codeOf('finalize', wrong)).toBe('FORBIDDEN')
  expect((await run.refused('submit_experiment_plan', wrong)).details?.['validation_errors']).toMatchObject([
    { path: '/plan' },
  ])
  expect(await codeOf('submit_experiment_plan', { payload: { plan: 'p' } })).toBe('GUARD_FAILED')
})

test('a refused event leaves a line about it, and nothing in the run', async () => {
  const run = await runOf(explorationProcess)
  const before = await run.state()
  await run.refused('submit_experiment_plan', { payload: { plan: 'p' }, artifact_paths: ['README.md'] })
  expect(await run.state()).toEqual(before)
  const { events, refusals } = await run.history()
  expect(events).toEqual([])
  expect(refusals).toMatchObject([
    {
      event: 'submit_experiment_plan',
      code: 'GUARD_FAILED',
      missing_guards: [
        expect.stringContaining('has_experiment_plan: '),
        expect.stringContaining('required_artifacts.experiment_plan: '),
      ],
      state: 'experiment',
      revision: 1,
      role: 'agent',
      author: 'test-agent',
    },
  ])
})

test('at most twenty refusals that are alike are kept while a run stays in a state', async () => {
  const text = process('again', {
    guards: '  ok: { type: context, variable: ok, condition: exists }',
    guard: 'ok',
  })
    .replace('- { name: done, is_final: true }', '- { name: done, is_final: true }\n  - { name: other }')
    .replace(
      'transitions:',
      'transitions:\n  - { from: work, event: leave, to: other }\n  - { from: other, event: leave, to: work }',
    )
    .replace('events:', 'events:\n  - { name: leave, allowed_roles: [agent] }')
  const run = await runOf(text)
  for (let times = 0; times < 23; times += 1) await run.refused('go')
  const totals = async () => (await run.history()).refusals_total
  expect(await totals()).toBe(20)
  await run.refused('nothing')
  expect(await totals()).toBe(21)
  await run.emit('leave')
  await run.emit('leave')
  await run.refused('go')
  expect(await totals()).toBe(22)
})
