import { expect, test } from 'vitest'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'
import { process } from './processes.ts'
import { runOf } from './run.ts'

const asking = process('asking', {
  guards: '  has_plan: { type: artifact, artifact_type: plan, condition: exists }',
  guard: 'has_plan',
  artifacts: '  - { type: plan, paths: ["docs/plan.md"] }',
})

test('a file that cannot be taken is named once in a refusal', async () => {
  const run = await runOf(asking)
  const { message, hint } = await run.refused('go', { artifact_paths: ['docs/none.md'] })
  expect(`${message} ${hint}`.split('docs/none.md')).toHaveLength(2)
})

test('a refused event is kept with the files that were tried, why each could not be taken, and its payload', async () => {
  const run = await runOf(asking)
  run.project.write('notes.md', 'No plan.')
  await run.refused('go', { artifact_paths: ['notes.md'], payload: { summary: 'Here it is.' } })
  await run.refused('go', { artifact_paths: ['../../etc/passwd', 'notes.md'] })
  await run.refused('no_such', { artifact_paths: ['notes.md'] })
  await run.refused('go')
  const { refusals } = await run.history()
  expect(
    refusals.map(({ code, tried_files, tried_payload }: any) => ({ code, tried_files, tried_payload })),
  ).toEqual([
    { code: 'GUARD_FAILED', tried_files: [], tried_payload: null },
    { code: 'INVALID_EVENT', tried_files: [{ path: 'notes.md', reason: null }], tried_payload: null },
    {
      code: 'INVALID_PAYLOAD',
      tried_files: [
        { path: '../../etc/passwd', reason: expect.stringContaining('../../etc/passwd') },
        { path: 'notes.md', reason: null },
      ],
      tried_payload: null,
    },
    {
      code: 'GUARD_FAILED',
      tried_files: [{ path: 'notes.md', reason: null }],
      tried_payload: '{"summary":"Here it is."}',
    },
  ])
})

test('many refusals of one kind do not hide another that tries something else', async () => {
  const run = await runOf(asking)
  for (let time = 0; time < 22; time += 1) await run.refused('go', { artifact_paths: ['../a'] })
  await run.refused('go', { artifact_paths: ['../secret'] })
  const { refusals, refusals_total } = await run.history()
  expect(refusals_total).toBe(21)
  expect(refusals[0].tried_files).toMatchObject([{ path: '../secret' }])
})

test('the history on the command line shows what was tried', () => {
  const { run, json, write } = openCommandLine({ git: false })
  write('.waymark/processes/asking.yaml', asking)
  const { run_id } = json('run', 'create', 'asking')
  run(
    'run',
    'emit',
    run_id,
    'go',
    '--expected_revision',
    '1',
    '--idempotency_key',
    'k',
    '--artifact_paths',
    '../a.md',
  )
  expect(run('run', 'history', run_id, '--format', 'text').out).toMatch(/tried: .*\.\.\/a\.md/)
  expect(run('log', '--format', 'text').out).toContain('with ../a.md')
})
