import { describe, expect, test } from 'vitest'
import type { ProcessDefinition } from '../definition.ts'
import { type Evidence, nothingObserved, type Observations } from '../evidence.ts'
import { createGuardEvaluator, judgeExpression } from '../expression.ts'
import { recordVisit } from '../run.ts'
import type { Guard } from './guard.ts'

/** A guard, and observations that must not open a gate, neither by it nor by its opposite where they leave it open. */
interface FailClosedCase {
  readonly guard: Guard
  /** The guard is unknown with these. */
  readonly unknown?: Readonly<Record<string, Partial<Observations>>>
  /** The guard fails with these. */
  readonly fails?: Readonly<Record<string, Partial<Observations>>>
}

const file = (path: string, more: object = {}) => ({ path, own: path, inScope: true, differs: true, ...more })
const changes = (files: readonly ReturnType<typeof file>[], more: object = {}) => ({
  changes: { complete: true, undeclared: [], files, ...more },
})
const unmeasured = {
  'nothing observed': {},
  'not measured': { changes: null },
  'measured in part': changes([], { complete: false }),
}
const command = (more: object) => ({
  commands: [
    { run: 'x', status: 'passed', exitCode: 0, startedAt: 1, output: '', onThisTree: true, ...more } as const,
  ],
})
const ci = (more: object) => ({
  ci: [
    {
      check: 'unit',
      target: 'tree',
      isOfThis: true,
      commit: null,
      age: 1,
      status: 'passed',
      ...more,
    } as const,
  ],
})
const approval = (more: object) => ({
  approvals: [
    {
      role: 'lead',
      artifact: 'plan',
      author: 'Ann',
      identity: 'a',
      byAuthor: false,
      current: true,
      ...more,
    } as const,
  ],
})

const cases: Readonly<Record<string, FailClosedCase>> = {
  'changes: in_scope': {
    guard: { type: 'changes', condition: 'in_scope' },
    unknown: { ...unmeasured, 'no areas': changes([file('a')], { undeclared: ['a'] }) },
    fails: { outside: changes([file('a', { inScope: false })]) },
  },
  'changes: in_scope, shared: none': {
    guard: { type: 'changes', condition: 'in_scope', shared: [] },
    unknown: unmeasured,
    fails: { shared: changes([file('package.json', { shared: 'manifests' })]) },
  },
  'changes: none': {
    guard: { type: 'changes', condition: 'none' },
    unknown: unmeasured,
    fails: { 'a change of which nobody sees whether it stands': changes([file('a', { differs: null })]) },
  },
  'changes: touches': {
    guard: { type: 'changes', condition: 'touches', paths: ['src/', 'docs/'] },
    unknown: {
      ...unmeasured,
      'it cannot be seen whether it differs': changes([file('src/a'), file('docs/a', { differs: null })]),
    },
    fails: {
      empty: changes([]),
      'one of two': changes([file('src/a')]),
      'put back': changes([file('src/a'), file('docs/a', { differs: false })]),
      'outside the project': changes([file('src/a'), file('docs/a', { own: null })]),
      'a folder that only may hold it': changes([file('src/a'), file('documents/')]),
    },
  },
  'changes: touches_only': {
    guard: { type: 'changes', condition: 'touches_only', paths: ['src/*'] },
    unknown: unmeasured,
    fails: {
      beside: changes([file('docs/a')]),
      'outside the project': changes([file('src/a', { own: null })]),
      'a folder with more than may change': changes([file('src/lib/')]),
      'it cannot be seen whether it differs': changes([file('docs/a', { differs: null })]),
    },
  },
  'changes: touches_none': {
    guard: { type: 'changes', condition: 'touches_none', paths: ['src/**/*.sql'] },
    unknown: { ...unmeasured, 'a folder that may hold it': changes([file('src/lib/')]) },
    fails: { 'it cannot be seen whether it differs': changes([file('src/a.sql', { differs: null })]) },
  },
  'changes: a pattern that can match nothing': {
    guard: { type: 'changes', condition: 'touches_none', paths: ['src/', '../x'] },
    unknown: { ...unmeasured, empty: changes([]), changed: changes([file('src/a')]) },
  },
  'changes: no pattern': {
    guard: { type: 'changes', condition: 'touches', paths: [] },
    unknown: { ...unmeasured, empty: changes([]), changed: changes([file('src/a')]) },
  },
  command: {
    guard: { type: 'command', run: 'x', timeout: 1, pinned: [] },
    unknown: {
      'nothing observed': {},
      'another line': command({ run: 'y' }),
      'a runner’s': command({ reportedBy: 'runner' }),
      'another tree': command({ onThisTree: false }),
      disturbed: command({ disturbed: true }),
      running: command({ status: 'running' }),
      unapproved: command({ status: 'unapproved' }),
      refused: command({ status: 'refused' }),
      'timed out': command({ status: 'timed_out' }),
      'not run': command({ status: 'not_run' }),
      signal: command({ status: 'failed', exitCode: null }),
      'not found': command({ status: 'failed', exitCode: 127 }),
    },
    fails: { failed: command({ status: 'failed', exitCode: 1 }) },
  },
  'command that must fail': {
    guard: { type: 'command', run: 'x', timeout: 1, pinned: [], exit: 'nonzero' },
    unknown: {
      'nothing observed': {},
      'another tree': command({ status: 'failed', exitCode: 1, onThisTree: false }),
      'timed out': command({ status: 'timed_out', exitCode: null }),
      signal: command({ status: 'failed', exitCode: null }),
      'not executable': command({ status: 'failed', exitCode: 126 }),
    },
    fails: { passed: command({}) },
  },
  ci: {
    guard: { type: 'ci', checks: ['unit', 'lint'], target: 'tree', maxAge: 5 },
    unknown: {
      'nothing observed': {},
      'one of two': ci({}),
      'of another tree': ci({ isOfThis: false }),
      'of a commit': ci({ target: 'commit' }),
      stopped: ci({ status: 'stopped' }),
      old: ci({ age: 6 }),
      none: ci({ status: 'none' }),
    },
    fails: { failed: ci({ status: 'failed' }) },
  },
  'ci: no check': {
    guard: { type: 'ci', checks: [], target: 'tree', maxAge: null },
    unknown: { passed: ci({}) },
  },
  blockers: {
    guard: { type: 'blockers', condition: 'none' },
    unknown: { 'nothing observed': {} },
    fails: { open: { openBlockers: ['h-1'] } },
  },
  milestone: {
    guard: { type: 'milestone', id: 'M1' },
    unknown: { 'nothing observed': {}, another: { milestones: [{ id: 'M2', reached: true }] } },
    fails: { 'not reached': { milestones: [{ id: 'M1', reached: false }] } },
  },
  task: {
    guard: { type: 'task', condition: 'all_done', phase: 'P1' },
    unknown: {
      'nothing observed': {},
      empty: { tasks: [] },
      'of another phase': { tasks: [{ id: 't-1', phase: 'P2', done: true }] },
    },
    fails: { open: { tasks: [{ id: 't-1', phase: 'P1', done: false }] } },
  },
  'task that must be done again': {
    guard: { type: 'task', condition: 'done_again', phase: null },
    unknown: { 'nothing observed': {}, empty: { tasks: [] } },
  },
  'task that no approval shows': {
    guard: { type: 'task', condition: 'approved', phase: null },
    unknown: { 'nothing observed': {}, empty: { tasks: [] } },
    fails: { later: { tasks: [{ id: 't-1', phase: null, done: true, isUnseen: true }] } },
  },
  verdict: {
    guard: { type: 'verdict', condition: 'proven' },
    unknown: {
      'nothing observed': {},
      empty: { tasks: [] },
      'none is done': { tasks: [{ id: 't-1', phase: null, done: false }] },
    },
    fails: {
      'not measured': { tasks: [{ id: 't-1', phase: null, done: true }] },
      'one of two': {
        tasks: [
          { id: 't-1', phase: null, done: true, verdict: 'proven' },
          { id: 't-2', phase: null, done: true, verdict: 'unproven' },
        ],
      },
    },
  },
  landed: {
    guard: { type: 'landed', branch: 'main' },
    unknown: {
      'nothing observed': {},
      empty: { tasks: [] },
      'not measured': { tasks: [{ id: 't-1', phase: null, done: true }] },
    },
  },
  approval: {
    guard: { type: 'approval', role: 'lead', artifact: 'plan', count: 1 },
    fails: {
      'nothing observed': {},
      'of other content': approval({ current: false }),
      'of the author': approval({ byAuthor: true }),
      'of another role': approval({ role: 'dev' }),
      'of another type': approval({ artifact: 'design' }),
      'of the state': approval({ artifact: null }),
    },
  },
  'approval by nobody': {
    guard: { type: 'approval', role: 'lead', artifact: 'plan', count: 0 },
    fails: { 'nothing observed': {} },
  },
  'approval of one who had no hand in it': {
    guard: { type: 'approval', role: 'lead', artifact: 'plan', count: 1, independent: true },
    fails: { 'not known': approval({}), own: approval({ independence: 'own' }) },
  },
  artifact: {
    guard: { type: 'artifact', artifactType: 'plan', count: 1 },
    fails: { 'nothing observed': {} },
  },
  'a kind of another version': {
    guard: { type: 'constructor' } as never,
    unknown: { 'nothing observed': {}, all: { ...changes([]), openBlockers: [] } },
  },
}

const noVisits: Evidence['visits'] = []

function judgeGuard(guard: Guard, observed: Partial<Observations>, expression: object | string) {
  const definition = {
    dialect: 1,
    guards: [{ name: 'g', description: null, hint: null, guard }],
  } as unknown as ProcessDefinition // all that an expression looks at
  const evidence: Evidence = {
    dialect: 1,
    context: {},
    payload: {},
    artifacts: [],
    declared: [],
    // It went back.
    visits: ['a', 'b', 'a'].reduce((visits, state, at) => recordVisit(visits, state, at + 1), noVisits),
    observed: { ...nothingObserved, ...observed },
  }
  return judgeExpression(expression as string, definition, createGuardEvaluator(evidence))
}

const rows = Object.entries(cases).flatMap(([kind, { guard, unknown = {}, fails = {} }]) => [
  ...Object.entries(unknown).map(([what, observed]) => [kind, what, 'unknown', guard, observed] as const),
  ...Object.entries(fails).map(([what, observed]) => [kind, what, 'fails', guard, observed] as const),
])

test.each(rows)('%s: %s is %s', (_, __, truth, guard, observed) => {
  const judged = judgeGuard(guard, observed, 'g')
  expect(judged.status).toBe(truth)
  for (const { fix } of judged.missing) expect(fix).toMatch(/\S/)
  if (truth === 'unknown') expect(judgeGuard(guard, observed, { not: 'g' }).status).toBe('unknown')
})

describe('an expression without a part', () => {
  const guard: Guard = { type: 'blockers', condition: 'none' }
  test.each([
    { all: [] },
    { any: [] },
    { not: { all: [] } },
    { not: { any: [] } },
    'other',
    { not: 'other' },
  ])('%j opens nothing', (expression) => {
    expect(judgeGuard(guard, { openBlockers: [] }, expression).status).toBe('unknown')
  })
})
