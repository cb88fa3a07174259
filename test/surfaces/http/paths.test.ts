import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type HttpProject, openHttpProject } from './http-project.ts'

async function refusalOf(project: HttpProject, operation: string, input: object) {
  const response = await fetch(`${project.address}/api/${operation}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${project.personToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  })
  return { status: response.status, text: await response.text() }
}

const plan = '# Plan\n\n## P1: Begin\n\n- [ ] First\n'
const processFile = 'process: { id: theirs, name: a secret }\n'

test('a plan of the project is imported, one beside it is not', async () => {
  const project = await openHttpProject()
  project.write('shop/docs/plan.md', plan)
  project.write('outside.md', plan)
  expect((await refusalOf(project, 'plan_import', { file: 'docs/plan.md' })).status).toBe(200)
  const inside = join(project.folder, 'docs', 'plan.md')
  expect((await refusalOf(project, 'plan_import', { file: inside, 'dry-run': true })).status).toBe(200)
  for (const file of [
    '../outside.md',
    join(project.home, 'outside.md'),
    'docs/../../outside.md',
    '/etc',
    '..',
  ]) {
    const { status, text } = await refusalOf(project, 'plan_import', { file })
    expect([file, status]).toEqual([file, 403])
    expect(JSON.parse(text).error.code).toBe('FORBIDDEN')
  }
})

test('a link in the project leads nowhere else', async () => {
  const project = await openHttpProject()
  project.write('elsewhere/plan.md', plan)
  symlinkSync(join(project.home, 'elsewhere'), join(project.folder, 'link'))
  for (const file of ['link/plan.md', 'link']) {
    expect((await refusalOf(project, 'plan_import', { file })).status).toBe(403)
  }
})

test.each(['process_show', 'process_lint', 'process_simulate'])(
  '%s reads processes of the project and the shipped ones, none beside them',
  async (operation) => {
    const project = await openHttpProject()
    project.write('theirs.yaml', processFile)
    for (const process of ['../theirs.yaml', join(project.home, 'theirs.yaml')]) {
      const { status, text } = await refusalOf(project, operation, { process })
      expect([process, status]).toEqual([process, 403])
      expect(text).not.toContain('a secret')
    }
    const listed = await refusalOf(project, 'process_list', {})
    const { processes } = JSON.parse(listed.text)
    expect((await refusalOf(project, operation, { process: processes[0].process_id })).status).toBe(200)
  },
)

test('a link among the processes that leads out of the project is not there over HTTP', async () => {
  const project = await openHttpProject()
  project.write('theirs.yaml', processFile)
  project.write('shop/.waymark/processes/own.yaml', processFile)
  symlinkSync(join(project.home, 'theirs.yaml'), join(project.folder, '.waymark', 'processes', 'theirs.yaml'))
  expect(await refusalOf(project, 'process_show', { process: 'theirs' })).toMatchObject({
    status: 404,
    text: expect.not.stringContaining('a secret'),
  })
  const { text } = await refusalOf(project, 'process_list', {})
  expect(text).toContain('"own"')
  expect(text).not.toContain('"theirs"')
})

test("git's own files, secret files and files of another kind are read by no loader", async () => {
  const project = await openHttpProject()
  project.write('shop/.env', 'process: one-secret-value\n# Plan\n- [ ] one-secret-value\n')
  project.write('shop/.ENV.yaml', 'process: one-secret-value\n')
  project.write('shop/notes.yaml', 'one-secret-value: [\n')
  project.write('shop/notes.txt', 'process: one-secret-value\n')
  symlinkSync(join(project.folder, '.env'), join(project.folder, 'plan.md'))
  symlinkSync(join(project.folder, '.env'), join(project.folder, 'linked.yaml'))
  for (const file of ['.env', '.git/config', '.git', 'plan.md']) {
    const { status, text } = await refusalOf(project, 'plan_import', { file })
    expect([file, status]).toEqual([file, 403])
    expect(text).not.toContain('one-secret-value')
  }
  for (const [operation, include] of [
    ['process_lint'],
    ['process_show'],
    ['process_show', ['source']],
    ['process_simulate'],
  ] as const) {
    for (const process of [
      './.env',
      '.ENV.yaml',
      './.git/config',
      'linked.yaml',
      'notes.yaml',
      './notes.txt',
    ]) {
      const { text } = await refusalOf(project, operation, { process, include })
      expect([process, text.includes('one-secret-value')]).toEqual([process, false])
      expect(text).not.toContain('repositoryformatversion')
    }
  }
  const lint = await refusalOf(project, 'process_lint', { process: 'notes.yaml' })
  expect(JSON.parse(lint.text).findings).toMatchObject([{ rule: 'no-process', line: null }])
})
