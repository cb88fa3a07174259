import { expect, test } from 'vitest'
import type { PlanPhase, PlanTask } from '../../api/entities.ts'
import { dropMove, placeOfNew, planRows, stepMove, taskHomes, unfoldPhase } from './plan-rows.ts'

const task = (id: string, more: Partial<PlanTask> = {}): PlanTask => ({
  id,
  title: id,
  role: null,
  mark: 'blocked',
  critical: false,
  waits_for: [],
  subtasks: [],
  ...more,
})

const phases: readonly PlanPhase[] = [
  {
    id: 'P1',
    name: 'Design',
    mission_id: null,
    mission_name: null,
    done: 0,
    done_waiting: 0,
    total: 3,
    milestones: [{ id: 'M1', name: null, reached: false, tasks: [task('a'), task('b', { mark: 'ready' })] }],
    tasks: [task('c', { subtasks: [task('c1')] })],
  },
  {
    id: 'P2',
    name: 'Build',
    mission_id: null,
    mission_name: null,
    done: 0,
    done_waiting: 0,
    total: 1,
    milestones: [],
    tasks: [task('d', { critical: true })],
  },
]

const all = planRows(phases, { folded: new Set(), only: null })

test('the outline is phases, milestones, tasks and subtasks', () => {
  expect(all.map(({ key }) => key)).toEqual(['P1', 'M1', 'a', 'b', 'c', 'c1', 'P2', 'd'])
})

test('a folded phase hides what is in it; a filter keeps the way to what it keeps', () => {
  const folded = planRows(phases, { folded: new Set(['P1']), only: null })
  expect(folded.map(({ key }) => key)).toEqual(['P1', 'P2', 'd'])
  expect(planRows(phases, { folded: new Set(), only: 'ready' }).map(({ key }) => key)).toEqual([
    'P1',
    'M1',
    'b',
  ])
  expect(planRows(phases, { folded: new Set(), only: 'critical' }).map(({ key }) => key)).toEqual(['P2', 'd'])
})

test('a step stays among its own kind, in its own home', () => {
  expect(stepMove(all, 'b', -1)).toEqual({ id: 'b', before: 'a', phase: 'P1', milestone: 'M1' })
  expect(stepMove(all, 'a', 1)).toEqual({ id: 'a', phase: 'P1', milestone: 'M1' })
  expect(stepMove(all, 'a', -1)).toBeNull()
  expect(stepMove(all, 'P2', -1)).toEqual({ id: 'P2', before: 'P1' })
  expect(stepMove(all, 'P2', 1)).toBeNull()
})

test('a drop takes the home of what it is dropped on', () => {
  const row = (key: string) => all.find((other) => other.key === key) ?? all[0]
  const [a, m1, d, p2] = [row('a'), row('M1'), row('d'), row('P2')]
  if (!a || !m1 || !d || !p2) throw new Error('the rows are there')
  expect(dropMove(a, d)).toEqual({ id: 'a', before: 'd', phase: 'P2' })
  expect(dropMove(d, m1)).toEqual({ id: 'd', phase: 'P1', milestone: 'M1' })
  expect(dropMove(a, p2)).toEqual({ id: 'a', phase: 'P2' })
  expect(dropMove(m1, d)).toBeNull()
  expect(dropMove(p2, a)).toBeNull()
})

test('a new task is written at the end of its phase or milestone', () => {
  expect(placeOfNew(all, { phase: 'P1', milestone: null })).toBe(all.findIndex(({ key }) => key === 'P2'))
  expect(placeOfNew(all, { phase: 'P1', milestone: 'M1' })).toBe(all.findIndex(({ key }) => key === 'c'))
  expect(placeOfNew(all, { phase: null, milestone: null })).toBe(all.length)
})

test('a new task may go to a phase, and to a plan without phases', () => {
  const missions = [
    { mission_id: 'm-1', name: 'Search', completed_at: null },
    { mission_id: 'm-2', name: 'Over', completed_at: '2026-01-01T00:00:00.000Z' },
  ]
  const keysOf = (shown: string | null, of = phases) => taskHomes(of, missions, shown).map(({ key }) => key)
  expect(keysOf(null)).toEqual(['P1', 'P2', 'plan m-1'])
  expect(keysOf('m-1', [])).toEqual(['plan m-1'])
  expect(keysOf('m-3', [])).toEqual(['plan m-3'])
  expect(keysOf('none', [])).toEqual(['plan '])
  expect(keysOf(null, [])).toEqual(['plan m-1', 'plan '])
})

test('a folded phase shows the pages of it that were read, and whether there are more', () => {
  const [first, second] = phases
  if (first === undefined || second === undefined) throw new Error('there are two phases')
  const milestones = [{ id: 'M1', name: null, reached: false, tasks: [] }]
  const phase: PlanPhase = { ...first, milestones, tasks: [], folded: true }
  const keysOf = (shown: PlanPhase) =>
    planRows([shown, second], { folded: new Set(), only: null }).map(({ key }) => key)
  expect(keysOf(phase)).toEqual(['P1', 'P2', 'd'])
  expect(planRows([phase], { folded: new Set(), only: 'ready' }).map(({ key }) => key)).toEqual(['P1'])
  const next = { ...first, milestones: [], tasks: [task('c'), task('e')] }
  expect(keysOf(unfoldPhase(phase, [first, undefined], true))).toEqual([
    'P1',
    'M1',
    'a',
    'b',
    'c',
    'c1',
    'more P1',
    'P2',
    'd',
  ])
  expect(keysOf(unfoldPhase(phase, [first, next], false))).toEqual([
    'P1',
    'M1',
    'a',
    'b',
    'c',
    'c1',
    'e',
    'P2',
    'd',
  ])
})
