import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@cfworker/json-schema'
import { expect, test } from 'vitest'
import { modelId } from '../../src/domain/provenance/agent-trace.ts'
import { type Answer, person } from '../support/project.ts'
import { lines, openStory, type Story } from './story.ts'

// README §6.1 of cursor/agent-trace at 2754f077.
const schema = JSON.parse(readFileSync(join(import.meta.dirname, 'agent-trace.schema.json'), 'utf8'))
const validator = new Validator(schema, '2020-12', false)

const x = (...numbers: number[]) => lines('x', ...numbers)

/** Two attempts and a person in three commits. */
async function threeCommits(): Promise<Story> {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit('first')
  await s.attempt('a2', () => s.put('g', lines('y', 1), 'other file one'))
  s.put('f', lines('p', 1), 'base line one')
  s.commit('second')
  s.put('f', lines('p', 2))
  s.commit('third')
  return s
}

function problems(record: unknown): readonly string[] {
  return validator
    .validate(record)
    .errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`)
}

test('a record of Agent Trace for each commit with a known line, valid by the schema', async () => {
  const s = await threeCommits()
  const { records, commits } = await s.call('provenance_export', { range: 'HEAD~3..HEAD' })
  expect(commits).toBe(3)
  expect(records).toHaveLength(2)
  for (const record of records) expect(problems(record)).toEqual([])
  const [first] = records
  expect(first).toMatchObject({
    version: '0.1.0',
    vcs: { type: 'git', revision: s.git('rev-parse', 'HEAD~2').trim() },
    tool: { name: 'waymark' },
    files: [
      {
        path: 'f',
        conversations: [{ contributor: { type: 'ai' }, ranges: [{ start_line: 5, end_line: 7 }] }],
      },
    ],
  })
  const hash = createHash('sha256')
    .update(x(1, 2, 3).join('\n'))
    .digest('hex')
  expect(first.files[0].conversations[0].ranges[0].content_hash).toBe(`sha256:${hash}`)
  const unknown = records[1].files.flatMap(({ conversations }: Answer) =>
    conversations.filter(({ contributor }: Answer) => contributor.type !== 'ai'),
  )
  expect(unknown).toEqual([])
  expect((await s.call('provenance_export', { range: 'HEAD~3..HEAD' })).records).toEqual(records)
})

test('a record that breaks the schema is noticed', () => {
  expect(problems({ version: '1.0', id: 'x', timestamp: 'now', files: [] })).not.toEqual([])
})

test('ranges lie in the file of their commit, also after history was rewritten', async () => {
  const s = await threeCommits()
  s.git('commit', '-q', '--amend', '-m', 'other words')
  const { records } = await s.call('provenance_export', { range: 'HEAD~3..HEAD' })
  for (const { vcs, files } of records) {
    for (const { path, conversations } of files) {
      const content = s.git('show', `${vcs.revision}:${path}`).split('\n').slice(0, -1)
      for (const { ranges } of conversations) {
        for (const { start_line, end_line, content_hash } of ranges) {
          const text = content.slice(start_line - 1, end_line).join('\n')
          expect(content_hash).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`)
        }
      }
    }
  }
})

test('notes as git-ai reads them', async () => {
  const s = await threeCommits()
  const { notes } = await s.call('provenance_export', { range: 'HEAD~3..HEAD', format: 'git-ai' })
  expect(notes).toHaveLength(2)
  const [attested = '', said = ''] = notes[0].note.split('\n---\n')
  expect(attested).toMatch(/^f\n {2}s_[0-9a-f]{14}::t_[0-9a-f]{14} 5-7$/)
  const { schema_version, base_commit_sha, sessions } = JSON.parse(said)
  expect({ schema_version, base_commit_sha }).toEqual({
    schema_version: 'authorship/3.0.0',
    base_commit_sha: notes[0].commit,
  })
  expect(Object.keys(sessions)).toEqual([/s_[0-9a-f]{14}/.exec(attested)?.[0]])
})

test('the trailers of a commit name its tasks; a range that is none is refused', async () => {
  const s = await threeCommits()
  const { trailers } = await s.call('trailer', { commit: 'HEAD~2' })
  expect(trailers).toEqual([expect.stringMatching(/^Waymark-Task: t-/)])
  expect((await s.call('trailer', {})).trailers).toEqual([])
  expect(await s.refusal('trailer', { commit: '--all' })).toContain('"--all" names no commit')
  expect(await s.refusal('provenance_export', { range: 'a..b' })).toContain('names no commit')
})

test('models are named as models.dev does', () => {
  expect(modelId('claude-opus-4-5')).toBe('anthropic/claude-opus-4-5')
  expect(modelId('gpt-5.2')).toBe('openai/gpt-5.2')
  expect(modelId('gemini-3-pro')).toBe('google/gemini-3-pro')
  expect(modelId('something-else')).toBeNull()
  expect(modelId(null)).toBeNull()
})

test('shares and unknown lines sum to all lines, and each figure has its definition', async () => {
  const s = await threeCommits()
  s.write('package-lock.json', '{}\n')
  s.commit()
  const stats = await s.call('provenance_stats', { path: 'f' })
  // 4 of the base, 3 of a1, 2 of the person.
  expect(stats).toMatchObject({ files: 1, lines: 9, kinds: { agent: 3 }, groups: [{ name: 'a1', lines: 3 }] })
  const all = await s.call('provenance_stats', {})
  expect(Object.values(all.kinds).reduce((sum: number, each) => sum + Number(each), 0)).toBe(all.lines)
  expect(all.left_out).toEqual(['1 file above 1 MB, generated or vendored.'])
  expect(all.definitions.share).toContain('blank lines apart')
  const byAuthor = await s.call('provenance_stats', { by: 'author', path: 'f' })
  expect(byAuthor.groups).toEqual([{ name: 'Tess Example', lines: 9, files: 1 }])
})

test('of a reverted attempt nothing lives, of a moved one everything', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  await s.attempt('a2', () => s.put('g', lines('y', 1, 2)))
  s.commit()
  s.git('revert', '--no-edit', 'HEAD')
  s.take('f', 'x')
  s.put('g', x(1, 2, 3))
  s.commit()
  s.wait(15 * 24 * 60 * 60 * 1000)
  const { survival, ages, after_14_days } = await s.call('provenance_stats', { survival: true })
  const of = (agent: string) => survival.find((one: Answer) => one.agent === agent)
  expect(of('a1')).toMatchObject({ added: 3, alive: 3, share: 1 })
  expect(of('a2')).toMatchObject({ added: 2, alive: 0, share: 0 })
  expect(after_14_days).toEqual({ n: 2, added: 5, alive: 3, share: 0.6 })
  expect(ages.map((one: Answer) => [one.up_to_days, one.n, one.share])).toEqual([
    [1, 0, null],
    [7, 0, null],
    [30, 2, 0.6],
    [90, 0, null],
    [null, 0, null],
  ])
  // Of a range, only what its commits brought: the three lines were moved in the last one.
  expect(await s.call('provenance_stats', { rev: 'HEAD~2..HEAD~1' })).toMatchObject({ commits: 1, lines: 0 })
  expect(await s.call('provenance_stats', { rev: 'HEAD~1..' })).toMatchObject({
    commits: 1,
    lines: 3,
    groups: [{ name: 'a1', lines: 3 }],
  })
  expect(await s.refusal('provenance_stats', { rev: 'HEAD~1..', survival: true })).toContain('not of a range')
})

test('of lines that are gone it is told who changed them, and how long after', async () => {
  const day = 24 * 60 * 60 * 1000
  const s = await openStory()
  await s.attempt('a1', () => {
    s.put('f', x(1, 2, 3, 4, 5, 6, 7, 8))
    s.put('g', lines('y', 1, 2))
    s.write('h', `${lines('z', 1, 2, 3).join('\n')}\n`)
    // Its own change of mind is nobody's rework.
    s.take('g', 'y2')
  })
  s.commit()
  s.wait(3 * day)
  // Another agent changes one line and moves others; a person takes one away meanwhile.
  s.take('f', 'x2')
  await s.attempt('a2', () => {
    s.swap('f', 'x1', 'x1 is said in other words')
    s.take('f', 'x6', 'x7', 'x8')
    s.put('g', x(6, 7, 8))
  })
  s.commit()
  // A file that goes takes its lines along. What git puts away and brings again was never lost.
  s.git('rm', '-q', 'h')
  s.take('f', 'x3')
  await s.attempt('a3', () => undefined)
  s.commit()
  s.git('checkout', '-q', '-b', 'older', 'HEAD~2')
  await s.attempt('a4', () => undefined)
  s.git('checkout', '-q', '-')
  s.wait(20 * day)
  s.take('f', 'x4')
  await s.attempt('a5', () => undefined)
  s.commit()
  // Nothing measures what goes now.
  s.take('f', 'x5')
  s.commit()
  const { after_14_days, reworked_within_14_days, definitions } = await s.call('provenance_stats', {
    survival: true,
  })
  expect(after_14_days).toMatchObject({ n: 2, added: 13, alive: 5 })
  expect(reworked_within_14_days).toMatchObject({ n: 2, by_agent: 1, by_outside: 5, later: 1, unseen: 1 })
  expect(definitions.reworked).toContain('within 14 days')
  expect(reworked_within_14_days.share_by_agent).toBeCloseTo(1 / after_14_days.added)
})

test('persons are called so only by the word of a person, and only after the day that it names', async () => {
  const s = await threeCommits()
  const asPerson = { actor: person }
  const set = (value: string) => s.call('setting_set', { name: 'every_agent_captured', value }, asPerson)
  expect(
    await s.refusal('setting_set', { name: 'every_agent_captured', value: '2026-02-30' }, asPerson),
  ).toContain('a date, as 2026-11-01')
  const kinds = async () => (await s.call('provenance_stats', { path: 'f' })).kinds
  expect(await kinds()).toMatchObject({ agent: 3, human: 0 })
  const { notes: before } = await s.call('provenance_export', { range: 'HEAD~3..HEAD', format: 'git-ai' })
  expect(JSON.stringify(before)).not.toContain('h_')
  await set('2020-01-01')
  // Of the base too, where it was committed in the second in which the record began.
  expect([2, 6]).toContain((await kinds()).human)
  const { records } = await s.call('provenance_export', { range: 'HEAD~3..HEAD' })
  for (const record of records) expect(problems(record)).toEqual([])
  expect(JSON.stringify(records)).toContain('"type":"human"')
  // Written, told anew and written again: what is ours is known again, persons and all.
  const written = await s.call('provenance_write', { range: 'HEAD~3..HEAD' }, asPerson)
  expect(written.written).toHaveLength(3)
  expect(s.git('notes', '--ref', 'ai', 'show', 'HEAD')).toMatch(/^f\n {2}h_[0-9a-f]{14} \d+\n---/)
  await set('2999-01-01')
  expect(await kinds()).toMatchObject({ human: 0 })
  expect((await s.call('provenance_write', { range: 'HEAD~3..HEAD~1' }, asPerson)).written).toHaveLength(1)
  await set('off')
})
