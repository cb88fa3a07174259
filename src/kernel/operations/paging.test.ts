import { describe, expect, test } from 'vitest'
import type { Actor } from '../actor.ts'
import { Failure } from '../failure.ts'
import { Paging } from './paging.ts'

const agent: Actor = { kind: 'agent', name: 'a', channel: 'http', role: null }
const person: Actor = { kind: 'person', name: 'p', channel: 'cli', role: null }
const seqOf = ({ seq }: { readonly seq: number }) => seq
const rows = (...seqs: readonly number[]) => seqs.map((seq) => ({ seq }))

function refusalOf(act: () => unknown): Failure {
  try {
    act()
  } catch (error) {
    if (error instanceof Failure) return error
  }
  throw new Error('It was not refused.')
}

describe('a cursor', () => {
  const first = new Paging('runs', { limit: 2 }, agent)
  const cursor = first.next(rows(9, 7, 4), 2, seqOf) ?? ''

  test('continues after the last entry of the page', () => {
    expect(first.request()).toEqual({ limit: 3 })
    expect(new Paging('runs', { limit: 5, cursor }, agent).request()).toEqual({ limit: 6, before: 7 })
  })

  test('is opaque: a word of letters, digits, - and _', () => {
    expect(cursor).toMatch(/^[\w-]+$/)
  })

  test('is null at the end and after an empty page', () => {
    expect(first.next(rows(9, 7), 2, seqOf)).toBeNull()
    expect(first.next([], 0, seqOf)).toBeNull()
    expect(first.next(rows(9), 0, seqOf)).toBeNull()
    expect(first.nextOffset(0, 10)).toBeNull()
  })

  test.each([
    ['of another operation', 'sessions', { cursor }],
    ['of other fields', 'runs', { status: 'all', cursor }],
    ['that is cut', 'runs', { cursor: cursor.slice(0, -3) }],
    ['with more behind it', 'runs', { cursor: `${cursor}A` }],
    ['that nobody gave', 'runs', { cursor: '%%%' }],
    ['with a position that is none', 'runs', { cursor: btoa('["x",{"list":-1}]') }],
  ])('%s is refused with its text', (_, operation, input) => {
    const failure = refusalOf(() => new Paging(operation, input, agent))
    expect(failure).toMatchObject({ code: 'INVALID_INPUT', reason: 'cursor_invalid' })
    expect(failure.message).toContain(input.cursor.slice(0, 20))
  })

  test('stays valid with another limit and format', () => {
    const later = new Paging('runs', { limit: 200, format: 'text', cursor } as object, agent)
    expect(later.request()).toEqual({ limit: 201, before: 7 })
  })

  test('has the position of each list that was cut, and of no other', () => {
    const several = new Paging('context', {}, agent).nextOf([
      { name: 'decisions', positions: [9, 4], more: true },
      { name: 'tasks', positions: [8], more: false },
      { name: 'milestones', positions: [], more: true },
    ])
    const later = new Paging('context', { cursor: several ?? '' }, agent)
    expect(later.request('decisions')).toMatchObject({ before: 4 })
    expect(['decisions', 'tasks', 'milestones'].map((list) => later.covers(list))).toEqual([
      true,
      false,
      false,
    ])
    expect(later.isFirst).toBe(false)
  })
})

test('pages through a list in memory to its end, each entry once', () => {
  const all = Array.from({ length: 7 }, (_, index) => `n-${index} ✓`)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const paging: Paging = new Paging('names', { limit: 3, ...(cursor !== null && { cursor }) }, agent)
    const part = paging.slice(all, (id) => id)
    expect(part.total).toBe(7)
    seen.push(...part.entries)
    cursor = part.next_cursor
  } while (cursor !== null)
  expect(seen).toEqual(all)
})

test('refuses a cursor after an entry that is gone, so that no entry is missed', () => {
  const idOf = (id: string) => id
  const { next_cursor } = new Paging('names', { limit: 1 }, agent).slice(['a', 'b'], idOf)
  const later = new Paging('names', { cursor: next_cursor ?? '' }, agent)
  expect(later.slice(['a', 'b'], idOf).entries).toEqual(['b'])
  expect(refusalOf(() => later.slice(['b'], idOf)).reason).toBe('cursor_invalid')
})

test('returns to an agent what fits an answer, to the command line everything, and with a limit that many', () => {
  const long = Array.from({ length: 200 }, () => 'x'.repeat(1000))
  expect(new Paging('names', {}, agent, 50).fit(long).length).toBeLessThan(10)
  expect(new Paging('names', {}, person).fit(long)).toHaveLength(200)
  expect(new Paging('names', { limit: 30 }, agent).fit(long)).toHaveLength(30)
})
