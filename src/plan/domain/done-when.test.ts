import { describe, expect, it } from 'vitest'
import { Failure } from '../../kernel/failure.ts'
import {
  addToDoneWhen,
  type DoneWhen,
  type DoneWhenChanges,
  doneWhenJson,
  editDoneWhen,
  isEmptyDoneWhen,
  mergeDoneWhen,
  newDoneWhen,
  noDoneWhen,
  parseDoneWhen,
  promisesLeftOut,
  readDoneWhen,
} from './done-when.ts'

const anyDoneWhen = (fields: DoneWhenChanges): DoneWhen => ({ ...noDoneWhen, ...fields })
const check = (run: string, pinned: readonly string[] = [], timeout = 600_000) => ({ run, pinned, timeout })

describe('reading done_when', () => {
  it('reads every form and writes it back without defaults', () => {
    const written = {
      criteria: ['At most 5 attempts'],
      check: ['npm test', { run: 'make e2e', pinned: ['e2e/'], timeout: '20m' }],
      changes: ['src/**'],
      keeps: ['package.json'],
      inherit: false as const,
    }
    const read = parseDoneWhen(written)
    expect(read.check).toEqual([check('npm test'), check('make e2e', ['e2e/'], 1_200_000)])
    expect(doneWhenJson(anyDoneWhen(read))).toEqual(written)
  })

  it('tells an empty list of changes from none', () => {
    expect(parseDoneWhen({ changes: [] })).toEqual({ changes: [] })
    expect(parseDoneWhen({})).toEqual({})
    expect(doneWhenJson(anyDoneWhen({ changes: [] }))).toEqual({ changes: [] })
    expect(isEmptyDoneWhen(anyDoneWhen({ changes: [] }))).toBe(false)
    expect(isEmptyDoneWhen(noDoneWhen)).toBe(true)
  })

  it('takes one text as a list of one, and repeated entries once', () => {
    expect(parseDoneWhen({ criteria: 'Works', keeps: ['a', ' a '] })).toEqual({
      criteria: ['Works'],
      keeps: ['a'],
    })
    expect(parseDoneWhen({ check: ['x', { run: 'x', pinned: ['p'], timeout: '1s' }] }).check).toEqual([
      check('x', ['p']),
    ])
  })

  it.each([
    ['a text', '"soon"', 'soon'],
    ['an unknown field', '"checks"', { checks: ['npm test'] }],
    ['a number as a criterion', 'done_when.criteria[1] cannot be 3', { criteria: ['a', 3] }],
    ['an empty command', 'done_when.check[0].run cannot be " "', { check: [' '] }],
    ['a command of two lines', 'done_when.check[0].run', { check: ['a\nb'] }],
    ['a command without a line', 'done_when.check[0].run cannot be missing', { check: [{ timeout: '1m' }] }],
    [
      'a time without a unit',
      'done_when.check[0].timeout cannot be "20"',
      { check: [{ run: 'x', timeout: '20' }] },
    ],
    ['a number as a time', 'done_when.check[0].timeout cannot be 20', { check: [{ run: 'x', timeout: 20 }] }],
    ['a time of a day', '"24h"', { check: [{ run: 'x', timeout: '24h' }] }],
    ['an unknown field of a check', '"cwd"', { check: [{ run: 'x', cwd: '/' }] }],
    ['a pattern outside', 'done_when.changes[0] cannot be "../x"', { changes: ['../x'] }],
    [
      'an absolute pinned file',
      'done_when.check[0].pinned[0] cannot be "C:/x"',
      { check: [{ run: 'x', pinned: ['C:/x'] }] },
    ],
    ['a negated pattern', 'done_when.keeps[0] cannot be "!x"', { keeps: ['!x'] }],
    ['a word as inherit', 'done_when.inherit cannot be "no"', { inherit: 'no' }],
    ['too many checks', '21 entries', { check: Array.from({ length: 21 }, (_, at) => `c${at}`) }],
  ])('refuses %s', (_, part, value) => {
    const { problems } = readDoneWhen(value, 'done_when')
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(part)
    expect(() => parseDoneWhen(value)).toThrow(Failure)
  })

  it('names the place of each problem', () => {
    const { problems } = readDoneWhen({ keeps: [''], check: [1] }, 'tasks[3].done_when')
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'tasks[3].done_when.keeps[0]',
      'tasks[3].done_when.check[0]',
    ])
  })
})

describe('the promises of project, mission and task', () => {
  const project = anyDoneWhen({ criteria: ['p'], check: [check('lint')], keeps: ['package.json'] })
  const mission = anyDoneWhen({ criteria: ['m'], changes: ['src/**'] })

  it('add up', () => {
    const task = anyDoneWhen({ criteria: ['t', 'p'], check: [check('test'), check('lint', [], 900_000)] })
    expect(mergeDoneWhen(project, mission, task)).toEqual({
      criteria: ['p', 'm', 't'],
      check: [check('lint', [], 900_000), check('test')],
      changes: ['src/**'],
      keeps: ['package.json'],
      inherit: true,
      removed: [],
    })
  })

  it('keep a check beside the same one with other pinned files, which needs another approval', () => {
    const more = anyDoneWhen({ check: [check('lint', ['a'])] })
    const both = [check('lint'), check('lint', ['a'])]
    expect(mergeDoneWhen(project, null, more).check).toEqual(both)
    expect(mergeDoneWhen(more, null, anyDoneWhen({ check: [check('lint')] })).check).toEqual(more.check)
  })

  it('show what an agent left out, and not what a person did', () => {
    const without = anyDoneWhen({ check: [check('test')], inherit: false })
    const leftOut = [
      { list: 'criteria', text: 'p' },
      { list: 'criteria', text: 'm' },
      { list: 'check', text: 'lint' },
      { list: 'changes', text: 'src/**' },
      { list: 'keeps', text: 'package.json' },
    ]
    expect(promisesLeftOut(project, mission, without)).toEqual(leftOut)
    expect(promisesLeftOut(project, mission, { ...without, byPerson: true })).toEqual([])
    const noChange = anyDoneWhen({ changes: [] })
    expect(promisesLeftOut(project, mission, noChange)).toEqual([{ list: 'changes', text: 'src/**' }])
    expect(promisesLeftOut(project, null, noChange)).toEqual([])
    expect(promisesLeftOut(mission, noChange, null)).toEqual([{ list: 'changes', text: 'src/**' }])
    expect(promisesLeftOut(project, mission, anyDoneWhen({ changes: ['test/'] }))).toEqual([])
  })

  it('leave out what is above a level that does not inherit', () => {
    const alone = anyDoneWhen({ criteria: ['t'], inherit: false })
    expect(mergeDoneWhen(project, mission, alone).criteria).toEqual(['t'])
    expect(mergeDoneWhen(project, { ...mission, inherit: false }, null).criteria).toEqual(['m'])
    expect(mergeDoneWhen(null, null, null)).toEqual(noDoneWhen)
  })

  it('expect no change if the nearest list of changes is empty', () => {
    expect(mergeDoneWhen(null, mission, anyDoneWhen({ changes: [] })).changes).toEqual([])
    expect(mergeDoneWhen(anyDoneWhen({ changes: [] }), mission, null).changes).toEqual(['src/**'])
    expect(mergeDoneWhen(project, null, null).changes).toBeUndefined()
  })
})

describe('editing done_when', () => {
  const before = anyDoneWhen({ criteria: ['a'], check: [check('test', ['p'])], changes: ['src/'] })
  const agent = { taskId: 't-1', started: true, author: 'codex', isPerson: false, at: 7 }
  const person = { ...agent, author: 'Ann', isPerson: true }

  it.each<readonly [string, DoneWhenChanges | null]>([
    ['a criterion', { criteria: ['b'] }],
    ['a check', { check: [] }],
    ['a pinned file', { check: [check('test')] }],
    ['a check in favor of one that pins more', { check: [check('test', ['p', 'q'])] }],
    ['time of a check', { check: [check('test', ['p'], 1_000)] }],
    ['a pattern', { changes: ['test/'] }],
    ['every change', { changes: [] }],
    ['what it inherits', { inherit: false }],
    ['all', null],
  ])('refuses an agent that removes %s once the task has started', (_, changes) => {
    const after = changes === null ? noDoneWhen : { ...before, ...changes }
    expect(() => editDoneWhen(before, after, agent)).toThrow(
      expect.objectContaining({ code: 'REFUSED', reason: 'done_when_fixed' }),
    )
    expect(editDoneWhen(before, after, { ...agent, started: false }).removed).toEqual([])
  })

  it('refuses an agent that expects no change of a started task without a list of changes', () => {
    expect(() => editDoneWhen(noDoneWhen, anyDoneWhen({ changes: [] }), agent)).toThrow(
      expect.objectContaining({ reason: 'done_when_fixed' }),
    )
  })

  it('refuses an agent that removes what a person gave, also before the task has started', () => {
    const { doneWhen } = newDoneWhen({ check: [check('test')] }, { kind: 'person' })
    if (doneWhen === undefined) throw new Error('there are promises')
    const early = { ...agent, started: false }
    for (const after of [noDoneWhen, { ...doneWhen, inherit: false }, { ...doneWhen, changes: [] }])
      expect(() => editDoneWhen(doneWhen, after, early)).toThrow(
        expect.objectContaining({ reason: 'done_when_fixed' }),
      )
    const added = editDoneWhen(doneWhen, { ...doneWhen, keeps: ['a'] }, early)
    expect(added).toEqual({ ...doneWhen, keeps: ['a'] })
    expect(() => editDoneWhen(added, noDoneWhen, early)).toThrow(Failure)
    expect(editDoneWhen(added, noDoneWhen, { ...early, isPerson: true }).check).toEqual([])
  })

  it('lets an agent add', () => {
    const more = [check('test', ['p'], 900_000), check('test', ['q'])]
    const added = { criteria: ['a', 'b'], check: more, changes: ['src/', 'x'] }
    expect(editDoneWhen(before, { ...before, ...added }, agent)).toEqual({ ...before, ...added })
    expect(
      editDoneWhen(anyDoneWhen({ changes: [] }), anyDoneWhen({ changes: ['src/'] }), agent).changes,
    ).toEqual(['src/'])
  })

  it('keeps what a person removed until it is added again', () => {
    const removed = editDoneWhen(before, { ...before, criteria: [], changes: [] }, person)
    expect(removed.removed).toEqual([
      { list: 'criteria', text: 'a', author: 'Ann', removedAt: 7 },
      { list: 'changes', text: 'src/', author: 'Ann', removedAt: 7 },
      { list: 'changes', text: 'a change', author: 'Ann', removedAt: 7 },
    ])
    const again = editDoneWhen(removed, { ...removed, criteria: ['a'] }, agent)
    expect(again.removed.map(({ list }) => list)).toEqual(['changes', 'changes'])
    expect(mergeDoneWhen(null, null, again).removed).toHaveLength(2)
  })

  it('only adds what a start gives', () => {
    expect(addToDoneWhen(before, { criteria: ['b'] })).toEqual({ ...before, criteria: ['a', 'b'] })
  })
})
