import { join } from 'node:path'
import { expect, test } from 'vitest'
import { staleAfter } from '../../src/track/domain/task.ts'
import { type Answer, person } from '../support/project.ts'
import { shared } from '../support/shared.ts'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { spoken } from '../surfaces/cli/spoken.ts'
import { lines, openStory, type Story } from './story.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)
const y = (...numbers: number[]) => lines('y', ...numbers)

/** The last range of a file. */
async function lastOf(s: Story, file: string) {
  return (await s.call('blame', { file })).ranges.at(-1)
}

test('a path is meant from the folder that one is in', () => {
  const project = openCommandLine()
  const inside = (...words: string[]) => project.runWith({ folder: join(project.folder, 'src') }, ...words)
  expect(inside('blame', 'app.ts')).toMatchObject({
    code: 0,
    out: expect.stringContaining('export const app'),
  })
  expect(inside('why', '../README.md:1', '--json').out).toContain('"path":"README.md","line":1')
  expect(inside('blame', ':/src/app.ts').code).toBe(0)
  expect(inside('blame', '../../away').error).toContain('../away is not in the work tree')
})

/** ada's area has `f`; both were open when ben changed it. */
async function inAnothersArea(
  more: object = {},
): Promise<Record<'ada' | 'ben', Answer> & { readonly s: Story }> {
  const s = await openStory()
  const ada = await s.begin('ada', { areas: ['/f'] })
  const ben = await s.begin('ben', { areas: ['/g'] })
  s.put('f', x(1, 2, 3))
  const outcome = { summary: 'done', ...more }
  await s.call('complete_task', { task_id: ben.task_id, status: 'success', outcome })
  return { s, ada, ben }
}

test('what is only probable is told as such, with who else was there', async () => {
  const { s, ada, ben } = await inAnothersArea()
  await s.end(ada)
  s.commit()
  expect(await lastOf(s, 'f')).toMatchObject({ agent: 'ada', certainty: 'probable', how: 'exact' })
  const why = await s.call('why', { location: 'f:6' })
  expect(why.says).toBe(
    `Probably made by ada for task ${ada.task_id} "work of ada"; ben (${ben.task_id}) worked there at the same time.`,
  )
  expect(why.candidates).toMatchObject([{ task_id: ben.task_id, task: 'work of ben', agent: 'ben' }])
})

test('names the attempt that wrote a content again, not the one that had removed it', async () => {
  const s = await openStory()
  const failed = await s.begin('failed')
  s.put('f', x(1))
  const other = await s.begin('other')
  await s.end(other)
  s.take('f', 'x1')
  await s.call('complete_task', { task_id: failed.task_id, status: 'failed', outcome: { summary: 'no' } })
  await s.attempt('writer', () => s.put('f', x(1)))
  expect(await lastOf(s, 'f')).toMatchObject({ agent: 'writer', certainty: 'probable' })
  const why = await s.call('why', { location: 'f:5' })
  expect([why.authors, why.candidates].map((some) => some.length)).toEqual([1, 0])
})

test('names the command and the commit by which git brought lines', async () => {
  const s = await openStory()
  s.git('checkout', '-qb', 'topic')
  s.put('f', x(1, 2), 'base line three')
  s.commit()
  const commit = s.git('rev-parse', 'HEAD').trim()
  s.git('checkout', '-q', '-')
  s.put('g', y(9))
  s.commit()
  const { details } = await s.attempt('ada', () => {
    s.git('cherry-pick', commit)
    s.put('f', y(1))
  })
  const by = { command: 'cherry-pick', commit }
  expect(details).toMatchObject([{ path: 'f', added_lines: 3, brought_lines: 2, brought_by: by }])
  const { ranges } = await s.call('blame', { file: 'f' })
  const found = ranges.map(({ start, end, agent, brought_by }: Answer) => [start, end, agent, brought_by])
  expect(found.slice(1)).toEqual([
    [3, 4, null, by],
    [5, 6, null, undefined],
    [7, 7, 'ada', undefined],
  ])
  const { says } = await s.call('why', { location: 'f:3' })
  expect(says).toContain(`Git brought it into this file by cherry-pick from ${commit.slice(0, 8)}.`)
})

test('an attempt that is never ended is a candidate only until it is stale', async () => {
  const s = await openStory()
  await s.begin('gone')
  s.wait(staleAfter)
  const ada = await s.begin('ada', { areas: ['/f'] })
  const ben = await s.begin('ben', { areas: ['/g'] })
  s.put('f', x(1, 2, 3))
  await s.end(ben)
  await s.end(ada)
  const { range, candidates } = await s.call('why', { location: 'f:5' })
  expect(range).toMatchObject({ agent: 'ada', certainty: 'probable' })
  expect(candidates).toMatchObject([{ agent: 'ben' }])
})

test.each([
  [{ unexpected: [{ path: 'f', why: 'The helper is there' }] }],
  [{ summary: 'I put three lines into f.txt and f' }],
])(
  'what one alone says that it changed is probably its own, in the scope of another too: %j',
  async (outcome) => {
    const { s, ada, ben } = await inAnothersArea(outcome)
    await s.end(ada)
    s.commit()
    expect(await lastOf(s, 'f')).toMatchObject({
      certainty: 'probable',
      attribution: 'probable',
      agent: 'ben',
      attempt: ben.attempt_id,
      task: ben.task_id,
    })
    const why = await s.call('why', { location: 'f:6' })
    expect(why.says).toContain(`Probably made by ben for task ${ben.task_id}`)
    expect(why.candidates).toMatchObject([{ task_id: ada.task_id }])
    expect((await s.call('provenance_stats', { path: 'f' })).groups).toMatchObject([{ name: 'ben' }])
  },
)

test('what two say that they changed is either’s', async () => {
  const { s, ada, ben } = await inAnothersArea({ summary: 'I changed f' })
  await s.call('complete_task', {
    task_id: ada.task_id,
    status: 'success',
    outcome: { summary: 'I changed f' },
  })
  s.commit()
  expect(await lastOf(s, 'f')).toMatchObject({
    attribution: 'contested',
    agent: 'ada or ben',
    attempts: [ada.attempt_id, ben.attempt_id],
    tasks: [ada.task_id, ben.task_id],
  })
  const why = await s.call('why', { location: 'f:6' })
  expect(why.says).toContain(`Made by one of ada (${ada.task_id}) or ben (${ben.task_id})`)
  expect((await s.call('trailer', {})).trailers).toEqual([])
})

const notNamed = shared(() => inAnothersArea({ summary: 'I changed g' }))

test('what nobody named stays the likelier one’s', async () => {
  const { s } = await notNamed()
  expect(await lastOf(s, 'f')).toMatchObject({ agent: 'ada', attribution: 'probable' })
})

test('a file that one changed alone and both may have changed later is not certain', async () => {
  const s = await openStory()
  const ada = await s.begin('ada', { areas: ['/f'] })
  s.put('f', x(1))
  const ben = await s.begin('ben', { areas: ['/f'] })
  s.put('f', y(1, 2, 3))
  s.commit('of ben')
  await s.end(ben)
  const ended = await s.end(ada)
  expect(ended).toMatchObject({
    files_changed: { modified: ['f'] },
    measurement: 'partial',
    verification: { scope_match: true },
    details: [{ path: 'f', attribution: 'probable', added_lines: 4, lines: 'all', with: [{ agent: 'ben' }] }],
    commits: [{ subject: 'of ben', whose: 'unknown' }],
  })
  expect(await s.owners('f')).toEqual({
    x1: 'ada',
    y1: 'contested(2)',
    y2: 'contested(2)',
    y3: 'contested(2)',
  })
})

test('at the command line every owner of a contested line is named, and what the words mean', async () => {
  const project = openCommandLine()
  const { task_id: ada } = project.json(
    'task',
    'start',
    'ada',
    '--agent-name',
    'ada',
    '--goal',
    'Round all of the sums to cents',
    '--json',
  )
  const { task_id: ben } = project.json('task', 'start', 'ben', '--agent-name', 'ben', '--json')
  project.write('src/app.ts', 'export const app = 1\nexport const both = 2\n')
  const { out } = await spoken(['blame', 'src/app.ts'], project)
  expect(out).toContain('not committed')
  const done = ['--status', 'success', '--outcome.summary', 'done', '--json']
  project.json('task', 'complete', ada, ...done)
  project.json('task', 'complete', ben, ...done)
  const blamed = (await spoken(['blame', 'src/app.ts'], project)).out
  expect(blamed).toContain(`${ada} or ${ben} · ada or ben · uncertain │ 2  export const both = 2`)
  expect(blamed).toContain('uncertain: several agents worked there at the same time')
  expect(blamed).not.toContain('probable:')
  const porcelain = (await spoken(['blame', 'src/app.ts', '--porcelain'], project)).out
  expect(porcelain).toContain(['2', 'agent', 'contested'].join('\t'))
  expect(porcelain).toContain([`${ada},${ben}`, 'ada or ben'].join('\t'))
  const why = (await spoken(['why', 'src/app.ts:2'], project)).out
  expect(why).toContain(`ada  ${ada}, by ada`)
  expect(why).toContain(`ben  ${ben}, by ben`)
})

test('comments on a line are a part of why it is there, with their answers', async () => {
  const s = await openStory()
  const { task_id } = await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  const subject = { task: task_id }
  const asPerson = { actor: person }
  const { content } = await s.call('review_show', subject, asPerson)
  await s.call(
    'review_comment',
    { subject, path: 'f', line: 6, kind: 'question', text: 'Is the sign kept?' },
    asPerson,
  )
  await s.call('review_send', { subject, action: 'comment', content, viewed: true }, asPerson)
  const { comments } = await s.call('review_comments', { task: task_id })
  await s.call('reply_to_review', {
    comment_id: comments[0].comment_id,
    text: 'Yes: -50 gives 0.50',
    done: true,
  })
  s.commit()
  s.put('f', lines('p', 1), 'base line one')
  expect((await s.call('why', { location: 'f:7', brief: true })).comments).toMatchObject([
    {
      line: 7,
      kind: 'question',
      text: 'Is the sign kept?',
      author: 'Tess',
      status: 'done',
      replies: [{ text: 'Yes: -50 gives 0.50', done: true }],
    },
  ])
})

test('a share says what it is of; a path that is not there is said', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  expect(await s.call('provenance_stats', { path: 'f' })).toMatchObject({
    lines: 7,
    known: 3,
    unknown: 4,
    share: 1,
  })
  expect(await s.refused('provenance_stats', { path: 'nope.ts' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'path_not_in_commit',
  })
})

test('a file that is renamed and not committed keeps the commits of its lines', async () => {
  const s = await openStory()
  s.git('mv', 'f', 'renamed')
  s.put('renamed', lines('p', 1))
  expect(await s.whose('renamed')).toEqual([
    'base author git',
    'base author git',
    'base author git',
    'base author git',
    'p1 uncommitted git',
  ])
  s.git('reset', '-q')
  expect((await s.whose('renamed'))[0]).toBe('base author git')
  s.write('another', 'nothing of it\n')
  expect(await s.whose('another')).toEqual(['nothing uncommitted git'])
})

test('lines that a person copied are found where they were, when that is asked', async () => {
  const s = await openStory()
  const long = x(1, 2, 3, 4).map((line) => `${line}, which is long enough for git to call it a copy`)
  await s.attempt('a1', () => s.put('f', long))
  s.commit('lines of x')
  s.write('h', `${long.slice(1).join('\n')}\n`)
  s.commit('copied')
  expect(await s.owners('h')).toEqual({ x2: 'a1', x3: 'a1', x4: 'a1' })
  s.put('g', long.slice(0, 2))
  s.commit('copied below')
  expect((await s.whose('g')).slice(-2)).toEqual(['x1 author git', 'x2 author git'])
  expect((await s.whose('g', { copies: true })).slice(-2)).toEqual(['x1 a1 exact', 'x2 a1 exact'])
})

test('of several lines, and of a file with secrets, it is said what can be known', async () => {
  const s = await openStory()
  expect(await s.refused('why', { location: 'f:3-5' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'single_line_needed',
  })
  s.write('.env', 'KEY=one\n')
  s.commit()
  s.write('.env', 'KEY=one\nOTHER=two\n')
  const notes = ['.env has the name of a secret file: its lines are neither recorded nor shown.']
  expect((await s.call('blame', { file: '.env' })).notes).toEqual(notes)
  await expect(s.call('why', { location: '.env:2' })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining(notes[0] ?? ''),
  })
})

test('a difference names the files that are probably of others, and leaves them out', async () => {
  const { s, ada, ben } = await notNamed()
  const { diff, contested_files } = await s.call('diff', { id: ben.task_id })
  expect(diff).toBe('')
  const line = '+x1 is line 1 of x'
  expect((await s.call('diff', { id: ben.task_id, path: 'f' })).diff).toContain(line)
  expect((await s.call('diff', { id: ada.task_id })).diff).toContain(line)
  expect(contested_files).toEqual([{ path: 'f', candidates: ['ada'] }])
  expect(await s.call('diff', { id: ben.task_id, path: 'g' })).not.toHaveProperty('contested_files')
  expect(await s.call('diff', { id: ada.task_id })).not.toHaveProperty('contested_files')
})
