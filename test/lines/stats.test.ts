import { expect, test } from 'vitest'
import { type Answer, person } from '../support/project.ts'
import { lines, openStory, type Story } from './story.ts'

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

test('trailers of a commit name its tasks; shares and unknown lines sum to all lines, each defined', async () => {
  const s = await threeCommits()
  const { trailers } = await s.call('trailer', { commit: 'HEAD~2' })
  expect(trailers).toEqual([expect.stringMatching(/^Waymark-Task: t-/)])
  expect((await s.call('trailer', {})).trailers).toEqual([])
  expect(await s.refused('trailer', { commit: '--all' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'commit_not_found',
  })
  s.write('package-lock.json', '{}\n')
  s.commit()
  const stats = await s.call('provenance_stats', { path: 'f' })
  // 4 of the base, 3 of a1, 2 of the person.
  expect(stats).toMatchObject({ files: 1, lines: 9, kinds: { agent: 3 }, groups: [{ name: 'a1', lines: 3 }] })
  const all = await s.call('provenance_stats', {})
  expect(Object.values(all.kinds).reduce((sum: number, each) => sum + Number(each), 0)).toBe(all.lines)
  expect(all.left_out).toEqual(['1 file above 1 MB, generated or vendored.'])
  expect(all.definitions.share).toContain('Blank and')
  const byAuthor = await s.call('provenance_stats', { group_by: 'author', path: 'f' })
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
  expect(await s.refused('provenance_stats', { rev: 'HEAD~1..', survival: true })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'commit_needed',
  })
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
    await s.refused('setting_set', { name: 'every_agent_captured', value: '2026-02-30' }, asPerson),
  ).toMatchObject({ code: 'INVALID_INPUT', reason: 'setting_value_invalid' })
  const kinds = async () => (await s.call('provenance_stats', { path: 'f' })).kinds
  expect(await kinds()).toMatchObject({ agent: 3, human: 0 })
  await set('2020-01-01')
  // Of the base too, where it was committed in the second in which the record began.
  expect([2, 6]).toContain((await kinds()).human)
  await set('2999-01-01')
  expect(await kinds()).toMatchObject({ human: 0 })
  await set('off')
})
