import { expect, test } from 'vitest'
import { smallProcess } from '../../support/processes.ts'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

function openRun() {
  const project = openCommandLine({ git: false })
  project.write('.waymark/processes/small.yaml', smallProcess)
  const { run_id: id } = project.json('run', 'create', 'small')
  return { ...project, id: id as string }
}

test('a flag that takes nothing may be said with true or false', () => {
  const { json, id } = openRun()
  const names = (...words: readonly string[]) =>
    json('run', 'events', id, ...words).events.map(({ event_name }: { event_name: string }) => event_name)
  const all = names('--include-blocked')
  expect(all.length).toBeGreaterThan(names().length)
  expect(names('--include-blocked', 'true')).toEqual(all)
  expect(names('--include-blocked', 'false')).toEqual(names())
})

test('an event is emitted without naming the only run, by position or by flag', () => {
  const { json, run, refused, id } = openRun()
  const dry = ['--expected-revision', '1', '--idempotency-key', 'k', '--dry-run']
  const event = ['--payload', '{"summary":"x"}']
  expect(run('run', 'emit', 'abandon', ...dry)).toMatchObject({ code: 0 })
  expect(run('run', 'emit', '--run-id', id, 'abandon', ...dry)).toMatchObject({ code: 0 })
  expect(run('run', 'emit', id, '--event-name', 'abandon', ...dry)).toMatchObject({ code: 0 })
  expect(refused('run', 'emit', 'submit_plan', ...event, ...dry)).toMatchObject({
    exit: 1,
    code: 'GUARD_FAILED',
  })
  expect(refused('run', 'emit', id, ...dry)).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'input_invalid',
    details: { fields: ['event_name'] },
  })
  const extra = run('run', 'emit', 'submit_plan', '{"summary":"x"}', ...dry)
  expect(extra).toMatchObject({ code: 2, error: expect.stringContaining('also given "{"summary":"x"}"') })
  expect(json('run', 'show', id)).toMatchObject({ revision: 1 })
})

test('a payload that does not fit is told in words, with the place', () => {
  const { refused } = openRun()
  const words = ['--payload', '{"summary":3}', '--expected-revision', '1', '--idempotency-key', 'k']
  expect(refused('run', 'emit', 'submit_plan', ...words)).toMatchObject({
    code: 'INVALID_PAYLOAD',
    reason: 'payload_invalid',
  })
})

test('an artifact that cannot be read is named by its place in the list', () => {
  const { run, write } = openRun()
  write('docs/plan.md', 'A plan')
  const words = ['run', 'emit', 'submit_plan', '--payload', '{"summary":"x"}', '--expected-revision', '1']
  const files = ['--artifact-paths', 'docs/plan.md', '--artifact-paths', 'docs/none.md']
  const { out } = run(...words, ...files, '--idempotency-key', 'k', '--dry-run', '--json')
  expect(JSON.parse(out).error.details.validation_errors).toMatchObject([{ path: '/artifact_paths/1' }])
})

test('status names the process and the state that gate an open mission', () => {
  const { json, run } = openRun()
  json('mission', 'start', 'Orders', '--objective', 'Orders', '--process-id', 'small')
  const [{ gates }] = json('status').missions
  expect(gates).toMatchObject([{ process_id: 'small' }])
  expect(run('status').out).toContain(`${gates[0].process_name}: ${gates[0].state}`)
})
