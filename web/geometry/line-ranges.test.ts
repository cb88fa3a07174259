import { expect, test } from 'vitest'
import {
  lineOwnerLabel,
  lineWithText,
  makersOf,
  type ProvenanceRange,
  rangesBetween,
  storyAtLine,
} from './line-ranges.ts'

const nobody = { attempt: null, task: null, goal: null, agent: null, author: null, commit: null } as const

function makeStory(start: number, end: number, more: Partial<ProvenanceRange>): ProvenanceRange {
  return { start, end, kind: 'outside', certainty: 'exact', ...nobody, ...more }
}

const vera = { kind: 'agent', agent: 'vera', attempt: 'a-1', task: 't-1', goal: 'Read renames' } as const
const ann = { kind: 'author', certainty: 'not recorded', author: 'Ann', commit: '0123456789abcdef' } as const

test('a margin names who made a line, and never a person because no agent is known', () => {
  expect(lineOwnerLabel(makeStory(1, 1, vera))).toEqual({
    key: 'agent a-1',
    name: 'vera',
    words: 'Read renames',
    doubt: '',
  })
  const doubted = { ...vera, certainty: 'matched', attribution: 'contested', rests: true } as const
  expect(
    lineOwnerLabel(makeStory(1, 1, { ...doubted, agent: 'vera or ben', attempts: ['a-1', 'a-2'] })),
  ).toMatchObject({
    name: 'vera or ben',
    doubt: 'one of several agents, matched, rests on its neighbours',
  })
  expect(lineOwnerLabel(makeStory(1, 1, ann))).toMatchObject({ name: 'Ann', words: '01234567, not recorded' })
  expect(lineOwnerLabel(makeStory(1, 1, { ...ann, kind: 'before' })).words).toBe('01234567, before Waymark')
  expect(lineOwnerLabel(makeStory(1, 1, {})).name).toBe('No attempt')
  expect(lineOwnerLabel(makeStory(1, 1, { kind: 'uncommitted' })).name).toBe('Not recorded')
})

test('stories are found by their lines, and lines are counted by maker', () => {
  const all = [makeStory(1, 4, ann), makeStory(5, 5, vera), makeStory(6, 20, {}), makeStory(21, 30, vera)]
  expect(rangesBetween(all, 5, 6)).toEqual(all.slice(1, 3))
  expect(rangesBetween(all, 31, 90)).toEqual([])
  expect(storyAtLine(all, 20)).toBe(all[2])
  expect(storyAtLine(all, 0)).toBeUndefined()
  expect(storyAtLine(all, 31)).toBeUndefined()
  expect(makersOf(all).map(({ story: { kind }, lines }) => [kind, lines])).toEqual([
    ['outside', 15],
    ['agent', 11],
    ['author', 4],
  ])
})

test('a line that has moved is found by its text, the nearest one', () => {
  const lines = ['}', '  const limit = 10', 'a', 'b', '  const limit = 10', '}']
  expect(lineWithText(lines, 'const limit', 4)).toBe(5)
  expect(lineWithText(lines, 'const limit', 1)).toBe(2)
  expect(lineWithText(lines, '}', 90)).toBe(6)
  expect(lineWithText(lines, 'gone', 3)).toBeNull()
  expect(lineWithText([], 'gone', 3)).toBeNull()
})
