import { expect, test } from 'vitest'
import { process } from './processes.ts'
import { failureOf, runOf } from './run.ts'

const assigning = process('assigning', {
  go: ', payload_schema: { type: object, properties: { risk: {}, plan: {}, summary: {} } }',
})
  .replace(
    'to: done }',
    'to: done, assign: { risk: $.payload.risk, plan: $.payload.plan.name, seen: true } }',
  )
  .replace(
    'roles:',
    '  initial_context: { risk: low }\n  context_schema: { type: object, properties: { risk: { enum: [low, high] } } }\nroles:',
  )

test('the payload reaches the context only by assign, by path or as a constant', async () => {
  const run = await runOf(assigning, { input: { context: { request: 'Sign in' } } })
  await run.emit('go', { payload: { risk: 'high', plan: { name: 'A' }, summary: 'kept out' } })
  expect((await run.state()).context).toEqual({ request: 'Sign in', risk: 'high', plan: 'A', seen: true })
})

test('what is not in the payload leaves the context as it was', async () => {
  const run = await runOf(assigning)
  await run.emit('go')
  expect((await run.state()).context).toEqual({ risk: 'low', seen: true })
})

test('an assignment that does not fit context_schema is INVALID_PAYLOAD, and nothing of it stays', async () => {
  const run = await runOf(assigning)
  expect(await run.refused('go', { payload: { risk: 'huge' } })).toMatchObject({
    code: 'INVALID_PAYLOAD',
    details: { validation_errors: [{ path: '/risk' }] },
  })
  expect(await run.state()).toMatchObject({ revision: 1, context: { risk: 'low' } })
})

test('a run cannot begin with a context that does not fit', async () => {
  const { project } = await runOf(assigning)
  const begin = project.call('state_gate_create_run', { process_id: 'assigning', context: { risk: 3 } })
  expect(await failureOf(begin)).toMatchObject({
    code: 'INVALID_PAYLOAD',
    message: expect.stringContaining('The context does not match process assigning: /risk'),
  })
  expect((await project.call('state_gate_list_runs')).total).toBe(1)
})

test('a guard sees the context before the event and the event’s payload', async () => {
  const text = process('seeing', {
    guards:
      '  was_low: { type: context, variable: risk, condition: equals, value: low }\n  says_high: { type: context, variable: $.payload.risk, condition: equals, value: high }',
    guard: '{ all: [was_low, says_high] }',
  })
    .replace('guard: {', 'assign: { risk: $.payload.risk }, guard: {')
    .replace('roles:', '  initial_context: { risk: low }\nroles:')
  const run = await runOf(text)
  expect((await run.refused('go', { payload: { risk: 'low' } })).details?.['missing_guards']).toEqual([
    'says_high: "$.payload.risk" is "low", not "high"',
  ])
  expect(await run.emit('go', { payload: { risk: 'high' } })).toMatchObject({ status: 'succeeded' })
  expect((await run.state()).context).toEqual({ risk: 'high' })
})
