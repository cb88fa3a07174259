import { describe, expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { openProject, person, type TestProject } from '../support/project.ts'

async function completed(
  project: TestProject,
  change: () => void,
  more: { readonly areas?: readonly string[]; readonly outcome?: object } = {},
) {
  const { task_id } = await project.call('start_task', { name: 'Build', areas: more.areas ?? [] })
  change()
  const completion = { task_id, status: 'success', outcome: { summary: 'Done.', ...more.outcome } }
  const preview = await project.call('complete_task', { ...completion, preview: true })
  const answer = await project.call('complete_task', completion)
  expect(preview.verification).toEqual(answer.verification)
  const { items } = await project.call('inbox', { kind: 'scope' })
  return { answer, items: items.filter((item: any) => item.task_id === task_id) }
}

const ci = '.github/workflows/ci.yml'

describe('sensitive files', () => {
  test.each([
    { file: ci, status: 'success' },
    { file: 'other.ts', status: 'failed' },
  ])('$file asks no more when a later attempt took it back', async ({ file, status }) => {
    const project = await openProject()
    const areas = ['src/']
    const { items } = await completed(project, () => project.write(file, 'on: push\n'), { areas })
    const { task_id } = items[0]
    const again = async (change: () => void, outcome: string) => {
      await project.call('taskman_task_edit', { id: task_id, status: 'to_do' }, { actor: person })
      await project.call('start_task', { planned_task_id: task_id, areas })
      change()
      const completion = { task_id, status: outcome, outcome: { summary: 'Done.' } }
      const preview = await project.call('complete_task', { ...completion, preview: true })
      const { waits_for } = await project.call('complete_task', completion)
      expect(preview.waits_for.length).toBe(waits_for.length)
      const open = (await project.call('inbox', { kind: 'scope' })).items
      return open.map(({ paths }: { readonly paths: readonly string[] }) => paths)
    }
    expect(await again(() => project.write(file, 'on: pull_request\n'), 'success')).toEqual([[file], [file]])
    // A person's file that an attempt removes is no change of an earlier attempt.
    project.write('mine.ts', 'export {}\n')
    expect(await again(() => project.remove('mine.ts'), 'success')).toEqual([[file], [file], ['mine.ts']])
    expect(await again(() => project.remove(file), status)).toEqual([['mine.ts']])
    expect((await project.call('inbox', { kind: 'scope', closed: true })).items).toMatchObject([
      { status: 'resolved', paths: [file] },
      { status: 'resolved', paths: [file] },
    ])
  })

  test('a CI file that nobody named is out of scope and asks a person', async () => {
    const project = await openProject()
    const { answer, items } = await completed(project, () => project.write(ci, 'on: push\n'), {
      areas: ['src/'],
    })
    expect(answer.verification).toMatchObject({ scope_match: false, unexpected_files: [ci] })
    expect(answer.waits_for).toMatchObject([{ kind: 'scope' }])
    expect(items).toMatchObject([{ kind: 'scope', paths: [ci] }])
    await project.call('approve', { id: items[0].item_id, reason: 'Agreed.' }, { actor: person })
    expect((await project.call('inbox', { kind: 'scope' })).items).toEqual([])
  })

  test('without areas the scope stays unjudged, and a person is asked all the same', async () => {
    const project = await openProject()
    const { answer, items } = await completed(project, () => {
      project.write(ci, 'on: push\n')
      project.write('src/auth.ts', 'export const auth = 2\n')
    })
    expect(answer.verification).toMatchObject({ scope_match: null, unexpected_files: [ci] })
    expect(answer.verification.warnings[0]).toContain(`${ci} (CI)`)
    expect(items).toMatchObject([{ paths: [ci] }])
  })

  test.each([{ isOnMachine: false }, { isOnMachine: true }].slice(0, amount({ test: 1, soak: 2 })))(
    'scripts of a manifest ask, a dependency does not ($isOnMachine)',
    async (options) => {
      const project = await openProject(options)
      const manifest = (fields: object) =>
        `${JSON.stringify({ name: 'x', scripts: { test: 'vitest' }, ...fields })}\n`
      project.write('package.json', manifest({}))
      project.git('add', '-A')
      project.git('commit', '-q', '-m', 'Manifest')
      const areas = ['src/']
      const bump = () => project.write('package.json', manifest({ dependencies: { zod: '4.0.0' } }))
      expect(await completed(project, bump, { areas })).toMatchObject({
        answer: { verification: { scope_match: true, unexpected_files: [] } },
        items: [],
      })
      const script = () =>
        project.write('package.json', manifest({ scripts: { test: 'vitest', postinstall: 'sh x' } }))
      const { answer, items } = await completed(project, script, { areas })
      expect(answer.verification).toMatchObject({ scope_match: false, unexpected_files: ['package.json'] })
      expect(items).toHaveLength(1)
      project.git('mv', 'package.json', 'kept.json')
      expect(
        (await completed(project, () => project.git('mv', 'kept.json', 'package.json'), { areas })).items,
      ).toHaveLength(1)
    },
  )
})

test.each([
  ['an area', { areas: ['src/', '.github/workflows/'] }],
  ['a word of the areas', { areas: ['workflows'] }],
  ['the summary', { areas: ['src/'], outcome: { summary: `Runs the new tests in ${ci}.` } }],
  ['an explanation', { areas: ['src/'], outcome: { unexpected: [{ path: ci, why: 'It runs the tests.' }] } }],
  ['the summary of a task without areas', { outcome: { achievements: [`Added \`${ci}\``] } }],
])('%s names it, and nobody is asked', async (_, more) => {
  const project = await openProject()
  expect((await completed(project, () => project.write(ci, 'on: push\n'), more)).items).toEqual([])
})

test.each([['.'], ['**'], ['**/*'], ['./'], ['!docs/']])(
  'the area %j names no sensitive file',
  async (area) => {
    const project = await openProject()
    const { items } = await completed(project, () => project.write(ci, 'on: push\n'), { areas: [area] })
    expect(items).toMatchObject([{ paths: [ci] }])
  },
)

test('treats git hooks and the configuration of agents and clients as sensitive, at any depth', async () => {
  const project = await openProject()
  const paths = [
    '.claude/settings.json',
    '.cursor/rules/a.mdc',
    '.github/copilot-instructions.md',
    '.githooks/pre-commit',
    '.gitlab-ci.yml',
    '.husky/pre-push',
    '.mcp.json',
    '.pre-commit-config.yaml',
    'AGENTS.md',
    'lefthook.yml',
    'packages/a/CLAUDE.md',
    'packages/a/setup.py',
  ]
  const other = ['docs/agents.txt', 'README.md', 'pnpm-lock.yaml', '.github/ISSUE_TEMPLATE.md']
  const { items } = await completed(project, () => {
    for (const path of [...paths, ...other]) project.write(path, 'x: 1\n')
  })
  expect(items[0].paths.toSorted()).toEqual(paths.toSorted())
})

test('the setting adds files and leaves files out, and refuses what can match nothing', async () => {
  const project = await openProject()
  const set = (value: string) => project.call('setting_set', { name: 'sensitive', value }, { actor: person })
  await expect(set('../x')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await set('infra/{a,b}/, !docs/AGENTS.md')
  const { items } = await completed(project, () => {
    for (const path of ['infra/a/x.tf', 'infra/c/x.tf', 'docs/AGENTS.md', 'AGENTS.md'])
      project.write(path, 'x\n')
  })
  expect(items[0].paths.toSorted()).toEqual(['AGENTS.md', 'infra/a/x.tf'])
  const { settings } = await project.call('setting_list')
  expect(settings.find(({ name }: any) => name === 'sensitive').value).toBe('infra/{a,b}/, !docs/AGENTS.md')
})

test('does not ask about sensitive files that git brought from others', async () => {
  const project = await openProject()
  project.git('checkout', '-q', '-b', 'other')
  project.write(ci, 'on: push\n')
  project.git('add', '-A')
  project.git('commit', '-q', '-m', 'CI')
  project.git('checkout', '-q', '-')
  const { items } = await completed(project, () => project.git('merge', '-q', 'other'), { areas: ['src/'] })
  expect(items).toEqual([])
})

test('asks once about a sensitive file of a subtask, when the subtask ends', async () => {
  const project = await openProject()
  const end = (task_id: string, summary: string) =>
    project.call('complete_task', { task_id, status: 'success', outcome: { summary } })
  const ended = async (summary: string, path: string) => {
    const parent = (await project.call('start_task', { name: 'All' })).task_id
    const child = (await project.call('start_task', { name: 'Part', parent_task_id: parent })).task_id
    project.write(path, 'on: push\n')
    await end(child, summary)
    await end(parent, 'Done.')
    const { items } = await project.call('inbox', { kind: 'scope' })
    return items.filter(({ paths }: any) => paths.includes(path)).map(({ task_id }: any) => task_id === child)
  }
  expect(await ended(`Added ${ci}.`, ci)).toEqual([])
  expect(await ended('Done.', '.gitlab-ci.yml')).toEqual([true])
})
