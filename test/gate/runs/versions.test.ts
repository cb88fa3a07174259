import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf, type TestRun, writeProcess } from './run.ts'

const first = process('versioned', {
  guards: '  never: { type: context, variable: ok, condition: exists }',
  guard: 'never',
})
const second = first
  .replace('1.0.0', '2.0.0')
  .replace('to: done, guard: never', 'to: done')
  .replace(/guards:\n.*\n/, '')

function migrate({ project, id }: TestRun, more: object = {}) {
  return project.call('run_migrate', { run_id: id, ...more }, { actor: person })
}

test('a run keeps the process that it began with, whatever becomes of the file', async () => {
  const run = await runOf(first)
  writeProcess(run.project, second)
  expect(await run.refused('go')).toMatchObject({ code: 'GUARD_FAILED' })
  run.project.write('.waymark/processes/versioned.yaml', 'process: [')
  expect(await run.refused('go')).toMatchObject({ code: 'GUARD_FAILED' })
  run.project.remove('.waymark/processes/versioned.yaml')
  expect(await run.state()).toMatchObject({
    process_version: '1.0.0',
    missing_guards: [{ guard_name: 'never' }],
  })
  writeProcess(run.project, second)
  const newer = await runOf(second, { project: run.project })
  expect(await newer.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('run migrate says first where a run would be, and then moves it with its history', async () => {
  const run = await runOf(first)
  writeProcess(run.project, second)
  const foreseen = await migrate(run, { dry_run: true })
  expect(foreseen).toMatchObject({
    from_version: '1.0.0',
    to_version: '2.0.0',
    from_state: 'work',
    to_state: 'work',
    migrated: false,
  })
  expect(await run.state()).toMatchObject({ process_version: '1.0.0', revision: 1 })
  expect(await migrate(run)).toEqual({ ...foreseen, migrated: true })
  expect(await run.state()).toMatchObject({ process_version: '2.0.0', revision: 2 })
  const { events } = await run.history()
  expect(events).toMatchObject([
    { kind: 'migration', event: 'version 1.0.0 → 2.0.0', author: 'Tess', revision: 2 },
  ])
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded', new_revision: 3 })
})

test('a state that the new version does not have needs a place in the state map', async () => {
  const run = await runOf(first)
  writeProcess(run.project, second.replaceAll('work', 'works'))
  expect(await failureOf(migrate(run))).toMatchObject({
    code: 'REFUSED',
    message: `Version 2.0.0 of versioned has no state "work", the current state of run ${run.id}. Did you mean "works"?`,
    hint: expect.stringContaining('--state-map work=<one of works, done, abandoned>'),
  })
  expect(await failureOf(migrate(run, { state_map: ['work=wrks'] }))).toMatchObject({ code: 'REFUSED' })
  expect(await failureOf(migrate(run, { state_map: ['work'] }))).toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('it is written old=new'),
  })
  expect(await migrate(run, { state_map: ['work=works'] })).toMatchObject({ to_state: 'works' })
  expect(await run.state()).toMatchObject({ current_state: 'works' })
})

test('a context that does not fit the new version keeps the run where it is', async () => {
  const schema = '  context_schema: { type: object, properties: { risk: { enum: [low] } } }\nroles:'
  const run = await runOf(first, { input: { context: { risk: 'high' } } })
  writeProcess(run.project, second.replace('roles:', schema))
  for (const dry_run of [true, false]) {
    expect(await failureOf(migrate(run, { dry_run }))).toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('does not match version 2.0.0: /risk'),
    })
  }
  expect(await run.state()).toMatchObject({ process_version: '1.0.0', revision: 1 })
})

test('nothing to migrate to, a run that has ended and an agent are refused', async () => {
  const run = await runOf(first)
  expect(await failureOf(migrate(run))).toMatchObject({ code: 'CONFLICT' })
  expect(await failureOf(run.project.call('run_migrate', { run_id: run.id }))).toMatchObject({
    code: 'FORBIDDEN',
  })
  await run.emit('abandon')
  writeProcess(run.project, second)
  expect(await failureOf(migrate(run))).toMatchObject({ code: 'RUN_FINISHED' })
})
