import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { explorationProcess, process } from './processes.ts'
import { runOf } from './run.ts'

const counting = process('counting', {
  guards: '  enough: { type: artifact, artifact_type: note, condition: count, min_count: 2 }',
  guard: 'enough, when_blocked: record',
  artifacts: '  - { type: note, paths: ["notes/*.md"] }\n  - { type: report }',
})

test('SG-032 what is no regular file of the project is no evidence, and leaves nothing but the refusal', async () => {
  const run = await runOf(counting)
  const { folder } = run.project
  writeFileSync(join(folder, '..', 'secret.md'), 'Outside.')
  mkdirSync(join(folder, 'notes'))
  symlinkSync(join(folder, '..', 'secret.md'), join(folder, 'notes', 'link.md'))
  symlinkSync(join(folder, '..'), join(folder, 'up'))
  const wrong = [
    ['../secret.md', 'leads out of'],
    ['notes/../../secret.md', 'leads out of'],
    [join(folder, '..', 'secret.md'), 'leads out of'],
    ['notes/link.md', 'leads out of'],
    ['up/secret.md', 'leads out of'],
    ['notes', 'is a folder'],
    ['notes/none.md', 'does not exist'],
  ] as const
  for (const [path, reason] of wrong) {
    expect(await run.refused('go', { artifact_paths: [path] })).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining(reason),
      hint: expect.stringContaining('Attach regular files inside the project'),
      details: { validation_errors: [{ path: '/artifact_paths/0', message: expect.stringContaining(path) }] },
    })
  }
  const { events, refusals } = await run.history()
  expect(events).toEqual([])
  expect(refusals).toHaveLength(wrong.length)
  expect(refusals[0]).toMatchObject({ event: 'go', code: 'INVALID_PAYLOAD', author: 'test-agent' })
})

test('every file that is no evidence is told at once', async () => {
  const run = await runOf(counting)
  const { details } = await run.refused('go', { artifact_paths: ['../x', 'README.md', 'none.md'] })
  expect(details?.['validation_errors']).toMatchObject([
    { path: '/artifact_paths/0' },
    { path: '/artifact_paths/2' },
  ])
})

test('the same file counts once, in whatever spelling and how often it is handed in', async () => {
  const run = await runOf(counting)
  run.project.write('notes/a.md', 'A.')
  const artifact_paths = [
    'notes/a.md',
    './notes/a.md',
    'notes/../notes//a.md',
    join(run.project.folder, 'notes/a.md'),
  ]
  const { unsatisfied_guards } = await run.emit('go', { artifact_paths })
  expect(unsatisfied_guards).toEqual(['enough: not enough "note" (now: 1, needed: 2)'])
  expect(await run.emit('go', { artifact_paths: ['notes/a.md'] })).toMatchObject({ state_changed: false })
  const { events } = await run.history()
  expect(events[0].artifacts).toEqual([
    { type: 'note', path: 'notes/a.md', bytes: 2, sha256: expect.stringMatching(/^[\da-f]{64}$/) },
  ])
  run.project.write('notes/b.md', 'B.')
  expect(await run.emit('go', { artifact_paths: ['notes/b.md'] })).toMatchObject({ state_changed: true })
})

test('SG-032 a file is of the type of its glob, else of the one that is said, else of the one in its name, else of none', async () => {
  const run = await runOf(counting)
  for (const path of ['notes/a.md', 'out/x.md', 'out/final-report.md', 'out/other.md'])
    run.project.write(path, path)
  const artifact_paths = [
    { path: 'notes/a.md', type: 'report' },
    { path: 'out/x.md', type: 'report' },
    'out/final-report.md',
    'out/other.md',
  ]
  await run.emit('go', { artifact_paths })
  const { events } = await run.history()
  const types = events[0].artifacts.map(({ path, type }: { path: string; type: string }) => [path, type])
  expect(Object.fromEntries(types)).toEqual({
    'notes/a.md': 'note',
    'out/x.md': 'report',
    'out/final-report.md': 'report',
    'out/other.md': null,
  })
  const unknown = await run.refused('go', { artifact_paths: [{ path: 'out/x.md', type: 'reprot' }] })
  expect(unknown.message).toContain('has no artifact "reprot": it has ')
})

test('evidence that was changed or deleted since counts no more, and handed in again it does', async () => {
  const run = await runOf(counting)
  run.project.write('notes/a.md', 'A.')
  await run.emit('go', { artifact_paths: ['notes/a.md'] })
  run.project.write('notes/b.md', 'B.')
  run.project.write('notes/a.md', 'A, but other.')
  expect(await run.emit('go', { artifact_paths: ['notes/b.md'] })).toMatchObject({
    state_changed: false,
    unsatisfied_guards: [
      'enough: not enough "note" (now: 1, needed: 2); not counted: notes/a.md changed after it was submitted',
    ],
  })
  run.project.remove('notes/b.md')
  const { missing_guards } = await run.state()
  expect(missing_guards[0].current_status).toContain('notes/b.md was deleted after it was submitted')
  run.project.write('notes/b.md', 'B.')
  expect(await run.emit('go', { artifact_paths: ['notes/a.md'] })).toMatchObject({ state_changed: true })
})

test('required artifacts hold back every way out of a state, but not an escape', async () => {
  const text = process('requiring', {
    work: ', required_artifacts: [plan]',
    artifacts: '  - { type: plan, paths: ["plan.md"], min_bytes: 5 }',
  })
  const run = await runOf(text)
  expect(await run.refused('go')).toMatchObject({
    code: 'GUARD_FAILED',
    details: {
      missing_guards: [expect.stringContaining('required_artifacts.plan: state "work" needs "plan"')],
    },
  })
  run.project.write('plan.md', 'abc')
  const { required_artifacts } = await run.state()
  expect(required_artifacts[0]).toMatchObject({ paths: ['plan.md'], min_bytes: 5 })
  const { hint } = await run.refused('go', { artifact_paths: ['plan.md'] })
  expect(hint).toContain('needs "plan", and none counts: plan.md has 3 bytes, and needs at least 5')
  expect(hint).toContain('Attach a file of type "plan" (plan.md) of at least 5 bytes')
  run.project.write('plan.md', 'abcdef')
  const other = await runOf(text, { project: run.project })
  expect(await run.emit('go', { artifact_paths: ['plan.md'] })).toMatchObject({ status: 'succeeded' })
  expect(await other.emit('abandon')).toMatchObject({ status: 'failed' })
})

test('a file whose type has a schema must be JSON that fits it', async () => {
  const run = await runOf(
    process('schematic', {
      guards: '  seen: { type: artifact, artifact_type: note, condition: exists }',
      guard: 'seen',
      artifacts: '  - { type: note, paths: ["*.json"], schema: { type: object, required: [findings] } }',
    }),
  )
  const reasonFor = async (content: string) => {
    run.project.write('note.json', content)
    return (await run.refused('go', { artifact_paths: ['note.json'] })).hint
  }
  expect(await reasonFor('{')).toContain('note.json is not JSON')
  expect(await reasonFor('{}')).toContain('note.json does not match its schema')
  run.project.write('note.json', '{"findings":[]}')
  expect(await run.emit('go', { artifact_paths: ['note.json'] })).toMatchObject({ status: 'succeeded' })
})

test('SG-039 evidence of an event that did not move the run counts for the next one', async () => {
  const run = await runOf(explorationProcess.replace('initial_state: experiment', 'initial_state: observe'))
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    run.project.write(`evidence/${name}.md`, name)
    const sent = { payload: { findings: name }, artifact_paths: [`evidence/${name}.md`] }
    expect(await run.emit('submit_observation', sent)).toMatchObject({
      state_changed: at === 2,
      new_revision: at + 2,
    })
  }
})
