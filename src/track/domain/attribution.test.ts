import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attributeChanges } from './attribution.ts'
import type { CandidateAuthor, Interval } from './hook-evidence.ts'
import { parseScope } from './scope/scope.ts'

function attempt(
  id: string,
  more: { areas?: string[]; ancestors?: string[]; reported?: string[] } = {},
): CandidateAuthor {
  return {
    id,
    ancestors: more.ancestors ?? [],
    scope: parseScope(more.areas ?? [], { prefix: '' }),
    ...(more.reported && {
      seen: { isTurn: false, isComplete: false, windows: [], edits: more.reported.map(reportOf) },
    }),
  }
}

function reportOf(path: string) {
  return {
    path,
    call: null,
    tool: 'Edit',
    from: 1,
    reportedAt: 2,
    before: 'one',
    after: 'two',
    explained: true,
    ended: true,
  }
}

function touchedInterval(open: readonly CandidateAuthor[], ...touched: readonly string[]): Interval {
  return { open, touched: new Set(touched) }
}

function unseenInterval(open: readonly CandidateAuthor[]): Interval {
  return { open, touched: null }
}

function attribute(id: string, intervals: readonly Interval[], ...paths: readonly string[]) {
  const { own, candidates, foreign } = attributeChanges(
    id,
    intervals,
    paths.map((path) => ({ path })),
  )
  return {
    own: Object.fromEntries(own),
    perhaps: Object.fromEntries(candidates),
    foreign: Object.fromEntries(foreign),
  }
}

const sure = { certainty: 'certain', others: [] }

test('what changed while one attempt was open is certainly its own', () => {
  expect(attribute('a', [touchedInterval([attempt('a')], 'x.ts')], 'x.ts').own).toEqual({ 'x.ts': sure })
})

describe('with two attempts open', () => {
  const auth = attempt('a', { areas: ['auth'] })
  const api = attempt('b', { areas: ['api'] })

  test('an area makes a change probable for its owner, and takes it from no one', () => {
    const intervals = [touchedInterval([auth, api], 'auth.ts', 'api.ts', 'utils.ts')]
    expect(attribute('a', intervals, 'auth.ts', 'api.ts', 'utils.ts')).toEqual({
      own: {
        'auth.ts': { certainty: 'probable', others: ['b'] },
        'utils.ts': { certainty: 'contested', others: ['b'] },
      },
      perhaps: { 'api.ts': ['b'] },
      foreign: {},
    })
  })

  test('where several areas cover a path it is contested between these, and perhaps of the others', () => {
    const alsoAuth = attempt('b', { areas: ['auth'] })
    const intervals = [touchedInterval([auth, alsoAuth, attempt('c')], 'auth.ts')]
    expect(attribute('a', intervals, 'auth.ts').own).toEqual({
      'auth.ts': { certainty: 'contested', others: ['b'] },
    })
    expect(attribute('c', intervals, 'auth.ts').perhaps).toEqual({ 'auth.ts': ['a', 'b'] })
  })

  test('what a hook saw is known', () => {
    const reporting = attempt('b', { areas: ['api'], reported: ['auth.ts'] })
    expect(attribute('b', [touchedInterval([auth, reporting], 'auth.ts')], 'auth.ts').own).toEqual({
      'auth.ts': { certainty: 'certain', others: [] },
    })
    expect(attribute('a', [touchedInterval([auth, reporting], 'auth.ts')], 'auth.ts').foreign).toEqual({
      'auth.ts': ['b'],
    })
  })

  test('undeclared work leaves everything contested that no area speaks of', () => {
    const anything = attempt('b')
    const { own } = attribute('a', [touchedInterval([auth, anything], 'auth.ts', 'x.ts')], 'auth.ts', 'x.ts')
    expect(own).toEqual({
      'auth.ts': { certainty: 'probable', others: ['b'] },
      'x.ts': { certainty: 'contested', others: ['b'] },
    })
  })

  test('a change made alone before the other began stays certain, until the other may have written there too', () => {
    const before = [touchedInterval([auth], 'x.ts', 'api.ts'), touchedInterval([auth, api], 'auth.ts')]
    expect(attribute('a', before, 'x.ts').own).toEqual({ 'x.ts': sure })
    const both = [touchedInterval([auth], 'x.ts', 'api.ts'), touchedInterval([auth, api], 'x.ts', 'api.ts')]
    expect(attribute('a', both, 'x.ts', 'api.ts').own).toEqual({
      'x.ts': { certainty: 'probable', others: ['b'] },
      'api.ts': { certainty: 'probable', others: ['b'] },
    })
  })

  test('a rename is known by either of its names', () => {
    const changes = [{ path: 'new.ts', from: 'auth.ts' }]
    const { own } = attributeChanges('a', [touchedInterval([auth, api], 'auth.ts', 'new.ts')], changes)
    expect(own.get('new.ts')).toEqual({ certainty: 'probable', others: ['b'] })
  })
})

describe('in one family', () => {
  const parent = attempt('p')
  const child = attempt('c', { ancestors: ['p'] })
  const sibling = attempt('d', { ancestors: ['p'], areas: ['docs'] })
  const stranger = attempt('s', { areas: ['web'] })

  test("a descendant's change is certain for both and reaches the ancestor through the descendant", () => {
    const intervals = [touchedInterval([parent], 'a.ts'), touchedInterval([parent, child], 'b.ts')]
    expect(attribute('p', intervals, 'a.ts', 'b.ts').own).toEqual({
      'a.ts': sure,
      'b.ts': { ...sure, via: 'c' },
    })
    expect(attribute('c', intervals, 'b.ts').own).toEqual({ 'b.ts': sure })
  })

  test('two descendants are others of each other but not of the ancestor', () => {
    const intervals = [touchedInterval([parent, child, sibling], 'x.ts', 'docs/a.md')]
    expect(attribute('p', intervals, 'x.ts', 'docs/a.md').own).toEqual({
      'x.ts': sure,
      'docs/a.md': { ...sure, via: 'd' },
    })
    expect(attribute('c', intervals, 'x.ts', 'docs/a.md')).toEqual({
      own: { 'x.ts': { certainty: 'contested', others: ['d'] } },
      perhaps: { 'docs/a.md': ['d'] },
      foreign: {},
    })
  })

  test('a stranger beside a descendant contests it in the report of the ancestor too', () => {
    const intervals = [touchedInterval([parent, child, stranger], 'x.ts', 'web/a.ts')]
    expect(attribute('p', intervals, 'x.ts', 'web/a.ts')).toEqual({
      own: { 'x.ts': { certainty: 'contested', via: 'c', others: ['s'] } },
      perhaps: { 'web/a.ts': ['s'] },
      foreign: {},
    })
  })
})

describe('when a stretch could not be measured', () => {
  const one = attempt('a', { areas: ['auth'] })
  const two = attempt('b', { areas: ['api'] })

  test('an unseen change is certain only if no rival was open in any such stretch', () => {
    expect(attribute('a', [unseenInterval([one])], 'x.ts').own).toEqual({ 'x.ts': sure })
    expect(attribute('a', [unseenInterval([one]), unseenInterval([one, two])], 'x.ts', 'api.ts').own).toEqual(
      {
        'x.ts': { certainty: 'contested', others: ['b'] },
        'api.ts': { certainty: 'contested', others: ['b'] },
      },
    )
  })

  test('a change seen as foreign is contested, because the attempt may have made it unseen', () => {
    const intervals = [touchedInterval([one, two], 'api.ts'), unseenInterval([one])]
    expect(attribute('a', intervals, 'api.ts').own).toEqual({
      'api.ts': { certainty: 'contested', others: ['b'] },
    })
  })
})

test('without any stretch nothing is certain', () => {
  expect(attribute('a', [], 'x.ts').own).toEqual({ 'x.ts': { certainty: 'contested', others: [] } })
})

const contender = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c'),
    areas: fc.subarray(['auth', 'api', 'web']),
    reported: fc.subarray(['auth.ts', 'x.ts']),
  })
  .map(({ id, ...more }) => attempt(id, more))
const anyInterval = fc
  .tuple(
    fc.uniqueArray(contender, { selector: ({ id }) => id, minLength: 1 }),
    fc.option(fc.subarray(['auth.ts', 'api.ts', 'x.ts'])),
  )
  .map(([open, touched]): Interval => ({ open, touched: touched === null ? null : new Set(touched) }))

test('no change is lost: each is the attempt’s, or perhaps, or known to be of others, who are then named', () => {
  fc.assert(
    fc.property(fc.array(anyInterval, { minLength: 1, maxLength: 4 }), (intervals) => {
      const paths = ['auth.ts', 'api.ts', 'x.ts']
      const { own, candidates, foreign } = attributeChanges(
        'a',
        intervals,
        paths.map((path) => ({ path })),
      )
      expect([...own.keys(), ...candidates.keys(), ...foreign.keys()].sort()).toEqual([...paths].sort())
      for (const others of [...candidates.values(), ...foreign.values()])
        expect(others.length).toBeGreaterThan(0)
      const alone = intervals.every(({ open }) => open.every(({ id }) => id === 'a'))
      if (alone) expect([...own.values()].every(({ certainty }) => certainty === 'certain')).toBe(true)
      for (const { certainty, others } of own.values())
        if (certainty === 'probable') expect(others).not.toContain('a')
    }),
  )
})

describe('with hooks that tell of everything', () => {
  const window = { from: 10_000, to: 20_000 }
  const working: CandidateAuthor = {
    ...attempt('a'),
    seen: { isTurn: false, isComplete: true, edits: [], windows: [window] },
  }
  const writtenAt = (changedAt: number) =>
    attribute(
      'a',
      [
        {
          ...touchedInterval([working], 'x.ts'),
          time: { from: 0, to: 60_000 },
          contents: new Map([['x.ts', { before: undefined, after: 'id', changedAt }]]),
        },
      ],
      'x.ts',
    ).own['x.ts']

  test.each([
    [15_001, 'certain'],
    [20_049, 'certain'],
    [20_051, 'probable'],
    [40_001, 'probable'],
    // Whole seconds are told by a file system that counts no others.
    [22_000, 'certain'],
    [23_000, 'probable'],
  ])('what was written at %d while a command ran from 10 to 20 seconds is %s', (changedAt, certainty) => {
    expect(writtenAt(changedAt)?.certainty).toBe(certainty)
  })
})
