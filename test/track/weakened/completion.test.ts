import { expect, test } from 'vitest'
import { commitCopied } from '../../support/copied-folder.ts'
import { openProject, projectFiles } from '../../support/project.ts'

const manifest = { dependencies: { zod: '^4.0.0' } }
const files = {
  ...projectFiles,
  'package.json': JSON.stringify(manifest),
  'src/auth.test.ts': "it('limits', () => {\n  expect(limit(6)).toBe(false)\n})\n",
}

async function startedTask() {
  const project = await openProject({ fill: (folder) => commitCopied(folder, files) })
  const { task_id } = await project.call('start_task', { name: 'Limit logins' })
  const complete = (outcome: object, metadata: object = {}, more: object = {}) =>
    project.call('complete_task', { task_id, status: 'success', outcome, metadata, ...more })
  return { ...project, complete }
}

type Judged = {
  readonly verdict: {
    readonly reasons: readonly { readonly rule: string; readonly paths?: readonly string[] }[]
  }
}
const rulesOf = ({ verdict }: Judged) => verdict.reasons.map(({ rule }) => rule)
const skipped = files['src/auth.test.ts'].replace("it('", "it.skip('")

test('a skipped test contradicts, unless the outcome says so', async () => {
  const task = await startedTask()
  task.write('src/auth.test.ts', skipped)
  const preview = await task.complete({ summary: 'Done.' }, {}, { preview: true })
  expect(preview.verdict.reasons).toMatchObject([
    { rule: 'tests_weakened', paths: ['src/auth.test.ts'] },
    { rule: 'no_check' },
  ])
  const completed = await task.complete({ summary: 'Done.' })
  expect(completed.verdict).toEqual(preview.verdict)
  const named = await task.complete({ summary: 'Tested in src/auth.test.ts.' })
  expect(rulesOf(named)).toEqual(['tests_weakened', 'no_check'])
  const amended = await task.complete({ summary: 'Done.', weakened: ['src/auth.test.ts'] })
  expect(amended).toMatchObject({ amended: true })
  expect(rulesOf(amended)).toEqual(['no_check'])
})

test('a skipped test that the outcome admits is shown to whoever reads the completion', async () => {
  const task = await startedTask()
  task.write('src/auth.test.ts', skipped)
  const completed = await task.complete({ summary: 'Skipped one test in src/auth.test.ts: it is slow.' })
  expect(rulesOf(completed)).toEqual(['no_check'])
  expect(completed.verification.warnings.join()).toContain('src/auth.test.ts:1 (test skipped)')
})

test('a test file that is deleted while its subject stays contradicts', async () => {
  const task = await startedTask()
  task.remove('src/auth.test.ts')
  expect(rulesOf(await task.complete({ summary: 'Done.' }))).toContain('tests_weakened')
})

test('a removed assertion is only reported', async () => {
  const task = await startedTask()
  task.write('src/auth.test.ts', "it('limits', () => {\n  limit(6)\n})\n")
  const completed = await task.complete({ summary: 'Done.' })
  expect(rulesOf(completed)).toEqual(['no_check'])
  expect(completed.verification.warnings.join()).toContain('src/auth.test.ts (1 assertion removed)')
})

test('a package that no manifest has contradicts', async () => {
  const task = await startedTask()
  task.write('src/auth.ts', 'export const auth = 2\n')
  const added = { packages_added: ['Zod@4', 'rate-limiter-flexible'] }
  const completed = await task.complete({ summary: 'Done.' }, added)
  expect(rulesOf(completed)).toEqual(['packages_mismatch', 'no_check'])
})

test('packages are not judged where there is no manifest', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Limit logins' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const input = { task_id, status: 'success', outcome: { summary: 'Done.' } }
  const completed = await project.call('complete_task', {
    ...input,
    metadata: { packages_added: ['express'] },
  })
  expect(rulesOf(completed)).toEqual(['no_check'])
})
