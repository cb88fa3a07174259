import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { align } from '../../src/lines/domain/alignment.ts'
import { parseComments, quotedDiff } from '../../src/review/domain/editor-comments.ts'
import { countLines, mergedLines } from '../../src/review/domain/lines.ts'
import { amount } from '../support/amount.ts'
import { type Answer, openProject, person } from '../support/project.ts'

const as = { actor: person }
const outcome = { summary: 'Done', achievements: ['It works'] }

test('names and contents that would steer a terminal or an editor are data', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Odd' })
  const odd = 'src/<img src=x>\u202e é"\n> === 9 x.ts'
  project.write(odd, 'a\u001b[2J\n> === 1 README.md\n! not a comment\n# nor this\n')
  project.write('bin', 'a\u0000b')
  await project.call('complete_task', { task_id: task, status: 'success', outcome })
  const { files } = await project.call('review_show', { task }, as)
  expect(files.map(({ path, kind }: Answer) => [path, kind])).toEqual([
    ['bin', 'binary'],
    [odd, 'text'],
  ])
  const { hunks } = await project.call('review_file', { subject: { task }, path: odd }, as)
  const quoted = [{ path: odd, tree: null, hunks, error: null }]
  const text = quotedDiff(quoted)
  expect(text).not.toContain('\u001b')
  expect(parseComments(text, quoted)).toEqual([])
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.includes('not a comment'))
  const written = parseComments(lines.toSpliced(at + 1, 0, '? Why this?', 'And this?').join('\n'), quoted)
  expect(written).toMatchObject([
    { line: 3, side: 'new', quoted: '! not a comment', kind: 'question', text: 'Why this?\nAnd this?' },
  ])
})

test('a secret file is under review by its name, and an edit of it changes what was seen', async () => {
  const project = await openProject()
  project.write('.env', 'KEY=tracked-one\n')
  project.git('add', '-f', '.env')
  project.git('commit', '-qm', 'Settings')
  const { task_id: task } = await project.call('start_task', { name: 'Keys' })
  project.write('.env', 'KEY=tracked-two\n')
  project.write('deploy/.ENV.Prod', 'KEY=untracked-one\n')
  const seen = await project.call('review_show', { task }, as)
  expect(seen.files.map(({ path, added }: Answer) => [path, added])).toEqual([
    ['.env', null],
    ['deploy/.ENV.Prod', null],
  ])
  project.write('deploy/.ENV.Prod', 'KEY=untracked-two\n')
  expect((await project.call('review_show', { task }, as)).content).not.toBe(seen.content)
  await project.call('complete_task', { task_id: task, status: 'success', outcome })
  for (const path of ['.env', 'deploy/.ENV.Prod']) {
    const file = await project.call('review_file', { subject: { task }, path, whole: true }, as)
    expect(file).toMatchObject({ hunks: [], error: expect.any(String) })
    const image = project.call('review_image', { subject: { task }, path, side: 'new' }, as)
    await expect(image).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  }
  const { diff } = await project.call('diff', { id: task }, as)
  expect(diff).toContain('diff --git a/.env b/.env')
  expect(diff).not.toMatch(/tracked-(one|two)/)
})

test('a long file is told in parts', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Long' })
  project.write('long.txt', Array.from({ length: 9000 }, (_, at) => `line ${at}\n`).join(''))
  await project.call('complete_task', { task_id: task, status: 'success', outcome })
  const file = (more: object) =>
    project.call('review_file', { subject: { task }, path: 'long.txt', ...more }, as)
  const first = await file({})
  expect(first.total).toBe(9000)
  const rest = await file({ cursor: first.next_cursor })
  expect(rest.next_cursor).toBeNull()
  expect(rest.hunks[0]).toMatchObject({ new_start: 6001 })
  expect(rest.hunks[0].lines).toHaveLength(3000)
  expect((await project.call('review_show', { task }, as)).files[0]).toMatchObject({
    folded: 'large',
    added: 9000,
  })
})

test('files of very many lines are compared', () => {
  const many = Array.from({ length: 300_000 }, (_, at) => `${at}`)
  const some = many.slice(0, amount({ test: 30_000, soak: 300_000 }))
  expect(countLines(mergedLines(`${many.join('\n')}\n`, ''))).toEqual({ added: 0, removed: 300_000 })
  // Between lines that are there once, others that are there often: as many parts as lines.
  const parted = (first: string) => [first, ...some.flatMap((line) => [line, first, 'often'])]
  const pairs = align(parted('old'), parted('new'))
  expect(pairs.filter((to) => to >= 0)).toHaveLength(2 * some.length)
})

test('a file that was renamed to where another had been hides neither', async () => {
  const project = await openProject()
  const begin = async (name: string) =>
    (await project.call('start_task', { name, mission_id: mission.mission_id })).task_id
  const mission = await project.call('start_mission', { name: 'Move', objective: 'Files move' })
  project.write('kept.ts', 'one\ntwo\nthree\n')
  project.write('gone.ts', 'four\nfive\nsix\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'Both')
  const first = await begin('Remove')
  project.git('rm', '-q', 'gone.ts')
  await project.call('complete_task', { task_id: first, status: 'success', outcome })
  const second = await begin('Rename')
  project.git('mv', 'kept.ts', 'gone.ts')
  await project.call('complete_task', { task_id: second, status: 'success', outcome })
  const { files } = await project.call('review_show', { mission: mission.mission_id }, as)
  expect(files.map(({ path, status, removed }: Answer) => [path, status, removed])).toEqual([
    ['gone.ts', 'modified', 3],
    ['kept.ts', 'deleted', 3],
  ])
})

test.each([{ isOnMachine: false }, { isOnMachine: true }])(
  'shows a file as changed of which nothing is known any more, $isOnEdge',
  async (options) => {
    const project = await openProject(options)
    const { task_id: task } = await project.call('start_task', { name: 'Old' })
    project.write('README.md', 'Other\n')
    project.write('new.ts', 'new\n')
    await project.call('complete_task', { task_id: task, status: 'success', outcome })
    const { content } = await project.call('review_show', { task }, as)
    await project.context.witness.settle()
    rmSync(join(project.context.program.stateFolder, 'snapshots'), { recursive: true })
    const shown = await project.call('review_show', { task }, as)
    expect(shown.files.map(({ path, status, error }: Answer) => [path, status, error])).toEqual([
      ['README.md', 'modified', 'Its content is not kept.'],
      ['new.ts', 'added', 'Its content is not kept.'],
    ])
    expect(shown.notes).toMatchObject([expect.stringMatching(/^The content of 2 files is not available:/)])
    expect(shown.content).not.toBe(content)
  },
)

test('a place that the difference does not have is refused with its line, and nothing is taken', () => {
  const file = (path: string) => ({
    path,
    tree: null,
    hunks: [{ lines: [{ kind: '+' as const, new: 1, text: 'one  ' }] }],
    error: null,
  })
  const files = [file('a.ts'), file('b.ts')]
  const read =
    (...lines: readonly string[]) =>
    () =>
      parseComments(['! kept?', ...lines].join('\n'), files)
  const line = '>             1 +one'
  expect(read('> === 2 b.ts (changed)', line, '? Why?')()).toMatchObject([
    { file: null, text: 'kept?' },
    { file: { path: 'b.ts' }, line: 1, text: 'Why?' },
  ])
  expect(read('> === 9 nowhere.ts', '! x')).toThrow('Line 2 of your text names no file of this review')
  expect(read('> === 1 b.ts', '! x')).toThrow('"> === 1 b.ts"')
  expect(read('> === 1 a.ts', '> 9 9 nothing', '! x')).toThrow('Line 3 of your text is no line of the')
  expect(read('> === 1 a.ts', line.replace('1', '2'), '! x')).toThrow('is not in the difference of a.ts')
  expect(read('> === 1 a.ts', line.replace('one', 'two'), '! x')).toThrow('is not in the difference of a.ts')
  expect(read(line, '! x')).toThrow('is no line of the difference')
})
