import { expect, test } from 'vitest'
import type { Landed } from '../../../track/domain/landed.ts'
import type { ArtifactDefinition } from '../definition.ts'
import {
  type Artifact,
  type Evidence,
  formatNeed,
  nothingObserved,
  type Observations,
  type Visit,
} from '../evidence.ts'
import { recordVisit } from '../run.ts'
import type { ContextCondition } from './context.ts'
import type { Guard } from './guard.ts'
import { evaluateGuard, guardNeeds } from './guard-kinds.ts'

function evaluateOneGuard(guard: Guard, more: Partial<Evidence> = {}, observed: Partial<Observations> = {}) {
  const evidence: Evidence = {
    dialect: 1,
    context: {},
    payload: {},
    artifacts: [],
    declared: [],
    visits: recordVisit([], 'plan', 1),
    observed: { ...nothingObserved, ...observed },
    ...more,
  }
  const guardResult = evaluateGuard(guard, evidence)
  // Every blocking guard states a fix.
  expect(guardResult.fix === '').toBe(guardResult.status === 'holds')
  return guardResult
}

function file(path: string, more: Partial<Artifact> = {}): Artifact {
  return { type: 'plan', path, bytes: 10, sha256: '', status: 'current', revision: 2, ...more }
}

const plan: ArtifactDefinition = {
  type: 'plan',
  description: null,
  paths: [],
  minBytes: null,
  schema: null,
  fresh: 'run',
}

test('SG-021 artifact: counts each file once, and says how many are missing', () => {
  const guard: Guard = { type: 'artifact', artifactType: 'plan', count: 2 }
  expect(evaluateOneGuard(guard).reason).toBe('not enough "plan" (now: 0, needed: 2)')
  expect(evaluateOneGuard(guard, { artifacts: [file('a.md'), file('a.md')] }).status).toBe('fails')
  expect(evaluateOneGuard(guard, { artifacts: [file('a.md'), file('b.md')] }).status).toBe('holds')
  expect(evaluateOneGuard(guard, { artifacts: [file('a.md'), file('b.md', { type: 'other' })] }).status).toBe(
    'fails',
  )
})

test.each([
  ['changed after it was submitted', {}, { status: 'changed' }],
  ['was deleted after it was submitted', {}, { status: 'deleted' }],
  ['has 10 bytes, and needs at least 11', { minBytes: 11 }, {}],
  ['was submitted before this state', { fresh: 'state' }, {}],
  ['was submitted in an earlier round', { fresh: 'loop' }, {}],
  ['is not JSON', { schema: { type: 'object' } }, {}],
  ['does not match its schema at /', { schema: { type: 'object' } }, { content: 3 }],
] as const)('artifact: a file that %s does not count', (reason, declared, artifact) => {
  const guard: Guard = { type: 'artifact', artifactType: 'plan', count: 1 }
  const visits = ['plan', 'build', 'plan'].reduce<readonly Visit[]>(
    (visits, state, index) => recordVisit(visits, state, index + 1),
    [],
  )
  const guardResult = evaluateOneGuard(guard, {
    visits,
    declared: [{ ...plan, ...declared }],
    artifacts: [file('a.md', artifact)],
  })
  expect(guardResult.status).toBe('fails')
  expect(guardResult.reason).toContain(`a.md ${reason}`)
  expect(
    evaluateOneGuard(guard, {
      visits,
      declared: [{ ...plan, ...declared }],
      artifacts: [file('a.md', { bytes: 11, revision: 4, content: {} })],
    }).status,
  ).toBe('holds')
})

test.each([
  [{ condition: 'exists' }, true, [{ a: { b: 0 } }], [{}, { a: {} }, { a: { b: null } }]],
  [{ condition: 'not_exists' }, true, [{}, { a: 1 }], [{ a: { b: 0 } }]],
  [
    { condition: 'equals', value: { x: [1] } },
    true,
    [{ a: { b: { x: [1] } } }],
    [{}, { a: { b: { x: [2] } } }],
  ],
  [{ condition: 'not_equals', value: 1 }, true, [{}, { a: { b: '1' } }], [{ a: { b: 1 } }]],
  [{ condition: 'in', value: [1, 'x'] }, true, [{ a: { b: 'x' } }], [{}, { a: { b: 2 } }]],
  [{ condition: 'not_in', value: [1, 'x'] }, true, [{}, { a: { b: 2 } }], [{ a: { b: 'x' } }]],
  [{ condition: 'gt', value: 2 }, true, [{ a: { b: 3 } }], [{}, { a: { b: 2 } }, { a: { b: '3' } }]],
  [{ condition: 'gte', value: 2 }, true, [{ a: { b: 2 } }], [{}, { a: { b: 1 } }, { a: { b: null } }]],
  [{ condition: 'lt', value: 2 }, true, [{ a: { b: 1 } }], [{}, { a: { b: 2 } }]],
  [{ condition: 'lte', value: 2 }, true, [{ a: { b: 2 } }], [{}, { a: { b: 3 } }]],
] as const)('context: %j of a nested path', (condition: ContextCondition, _, holding, failing) => {
  const guard: Guard = { type: 'context', variable: 'a.b', ...condition }
  for (const context of holding)
    expect(evaluateOneGuard(guard, { context }).status, JSON.stringify(context)).toBe('holds')
  for (const context of failing)
    expect(evaluateOneGuard(guard, { context }).status, JSON.stringify(context)).not.toBe('holds')
})

test.each(['constructor', 'toString', '__proto__', 'a.constructor', 'list.length.constructor'])(
  'context: what every object inherits is not there: exists: %s',
  (variable) => {
    const context = { a: {}, list: [] }
    expect(evaluateOneGuard({ type: 'context', variable, condition: 'exists' }, { context }).status).toBe(
      'fails',
    )
  },
)

test('changes: in scope, none, only some, none of some; never satisfied by unmeasured changes', () => {
  const observed = (...files: readonly (readonly [string, boolean])[]): Partial<Observations> => ({
    changes: {
      complete: true,
      undeclared: [],
      files: files.map(([path, inScope]) => ({ path, inScope, own: path, differs: true })),
    },
  })
  const inScope: Guard = { type: 'changes', condition: 'in_scope' }
  expect(evaluateOneGuard(inScope).status).toBe('unknown')
  expect(
    evaluateOneGuard(inScope, {}, { changes: { complete: false, undeclared: [], files: [] } }).status,
  ).toBe('unknown')
  expect(evaluateOneGuard(inScope, {}, observed(['src/a.ts', true])).status).toBe('holds')
  expect(evaluateOneGuard(inScope, {}, observed(['src/a.ts', false])).reason).toBe(
    'changed out of scope: src/a.ts',
  )
  expect(evaluateOneGuard({ type: 'changes', condition: 'none' }, {}, observed()).status).toBe('holds')
  expect(evaluateOneGuard({ type: 'changes', condition: 'none' }, {}, observed(['a', true])).status).toBe(
    'fails',
  )
  const only: Guard = { type: 'changes', condition: 'touches_only', paths: ['docs/**'] }
  expect(evaluateOneGuard(only, {}, observed(['docs/.hidden/a.md', true])).status).toBe('holds')
  expect(evaluateOneGuard(only, {}, observed(['docs/a.md', true], ['src/a.ts', true])).reason).toContain(
    ': src/a.ts',
  )
  const never: Guard = { type: 'changes', condition: 'touches_none', paths: ['src/**'] }
  expect(evaluateOneGuard(never, {}, observed(['docs/a.md', true])).status).toBe('holds')
  expect(evaluateOneGuard(never, {}, observed(['src/a.ts', true])).status).toBe('fails')
})

test('command: only a pass on this very tree counts', () => {
  const guard: Guard = { type: 'command', run: 'npm test', timeout: 1000, pinned: [] }
  const result = (more: Partial<Observations['commands'][number]>) => {
    const event = {
      run: 'npm test',
      status: 'passed',
      exitCode: 0,
      startedAt: null,
      output: 'all well',
      onThisTree: true,
      ...more,
    } as const
    return evaluateOneGuard(guard, {}, { commands: [event] })
  }
  expect(result({}).status).toBe('holds')
  expect(evaluateOneGuard(guard).reason).toBe('"npm test" has not run')
  expect(result({ run: 'npm run other' }).status).toBe('unknown')
  expect(result({ onThisTree: false }).reason).toBe('files changed since "npm test" ran')
  expect(result({ status: 'failed', exitCode: 3 }).reason).toBe('"npm test" failed with exit code 3')
  expect(result({ status: 'timed_out' }).status).toBe('unknown')
  expect(result({ status: 'running' }).reason).toBe('"npm test" is running')
  expect(result({ status: 'unapproved' }).reason).toContain('approval')
  for (const status of ['not_run', 'unapproved', 'running', 'timed_out'] as const)
    expect(result({ status }).status, status).toBe('unknown')
  expect(result({ status: 'failed', exitCode: 1 }).status).toBe('fails')
})

test('command: exit: nonzero needs a command that ran here and failed, not one that could not run', () => {
  const guard: Guard = { type: 'command', run: 'npm test', timeout: 1000, pinned: [], exit: 'nonzero' }
  const result = (status: 'passed' | 'failed' | 'timed_out', exitCode: number | null, onThisTree = true) => {
    const event = { run: 'npm test', status, exitCode, startedAt: null, output: '', onThisTree }
    return evaluateOneGuard(guard, {}, { commands: [event] })
  }
  expect(result('failed', 1)).toMatchObject({
    status: 'holds',
    reason: '"npm test" failed on this tree with exit code 1',
  })
  expect(result('passed', 0)).toMatchObject({
    status: 'fails',
    reason: '"npm test" passed on this tree, but must fail',
  })
  expect(result('failed', 127)).toMatchObject({
    status: 'unknown',
    reason: '"npm test" could not be started (exit code 127)',
  })
  expect(result('failed', 126).status).toBe('unknown')
  expect(result('failed', null).status).toBe('unknown')
  expect(result('timed_out', null).status).toBe('unknown')
  expect(result('failed', 1, false).status).toBe('unknown')
  expect(evaluateOneGuard(guard).status).toBe('unknown')
})

test('context: a comparison with a value that is no number is unknown, and so is its negation', () => {
  const guard: Guard = { type: 'context', variable: 'risk', condition: 'gt', value: 3 }
  expect(evaluateOneGuard(guard, { context: { risk: 2 } }).status).toBe('fails')
  expect(evaluateOneGuard(guard).status).toBe('unknown')
  expect(evaluateOneGuard(guard, { context: { risk: 'high' } }).status).toBe('unknown')
})

test('blockers, milestone and task: missing observations do not satisfy', () => {
  const blockers: Guard = { type: 'blockers', condition: 'none' }
  expect(evaluateOneGuard(blockers).status).toBe('unknown')
  expect(evaluateOneGuard(blockers, {}, { openBlockers: [] }).status).toBe('holds')
  expect(evaluateOneGuard(blockers, {}, { openBlockers: ['h-1'] }).reason).toBe('open blockers: h-1')
  const milestone: Guard = { type: 'milestone', id: 'M1' }
  expect(evaluateOneGuard(milestone).reason).toBe('there is no milestone M1')
  expect(evaluateOneGuard(milestone, {}, { milestones: [{ id: 'M1', reached: false }] }).status).toBe('fails')
  expect(evaluateOneGuard(milestone, {}, { milestones: [{ id: 'M1', reached: true }] }).status).toBe('holds')
  const task: Guard = { type: 'task', condition: 'all_done', phase: 'P1' }
  const tasks = (done: boolean, phase = 'P1') => ({ tasks: [{ id: 't-1', phase, done }] })
  expect(evaluateOneGuard(task).status).toBe('unknown')
  expect(evaluateOneGuard(task, {}, tasks(true)).status).toBe('holds')
  expect(evaluateOneGuard(task, {}, tasks(true, 'P2')).status).toBe('unknown')
  expect(evaluateOneGuard(task, {}, tasks(false)).reason).toBe('open tasks of phase P1: t-1')
})

test('verdict and landed: only done tasks count, and what was not measured does not satisfy', () => {
  const done = { id: 't-1', phase: null, done: true }
  const proven: Guard = { type: 'verdict', condition: 'proven' }
  expect(evaluateOneGuard(proven).status).toBe('unknown')
  expect(evaluateOneGuard(proven, {}, { tasks: [{ ...done, done: false }] }).status).toBe('unknown')
  expect(evaluateOneGuard(proven, {}, { tasks: [{ ...done, verdict: null }] }).status).toBe('fails')
  expect(evaluateOneGuard(proven, {}, { tasks: [{ ...done, verdict: 'unproven' }] }).status).toBe('fails')
  expect(evaluateOneGuard(proven, {}, { tasks: [{ ...done, verdict: 'proven' }] }).status).toBe('holds')
  const accepted = { ...done, verdict: 'unproven', acceptedBy: 'Dana' } as const
  expect(evaluateOneGuard(proven, {}, { tasks: [accepted] }).status).toBe('holds')
  expect(evaluateOneGuard(proven, {}, { tasks: [accepted, { ...done, verdict: null }] }).status).toBe('fails')
  const at = (is: Landed['is'], branch = 'origin/main') => ({
    tasks: [{ ...done, landed: { is, branch, lines: 3, total: 3, commit: null, landedAt: null } }],
  })
  const anywhere: Guard = { type: 'landed', branch: null }
  expect(evaluateOneGuard(anywhere, {}, { tasks: [{ ...done, landed: null }] }).status).toBe('unknown')
  expect(evaluateOneGuard(anywhere, {}, at('unknown')).status).toBe('unknown')
  const elsewhere = { ...done, landed: null, machine: 'vm' }
  const unmeasured = evaluateOneGuard(anywhere, {}, { tasks: [...at('landed').tasks, elsewhere] })
  expect(unmeasured).toMatchObject({
    status: 'unknown',
    reason: expect.stringContaining('(on vm)'),
    fix: expect.stringContaining('on vm'),
  })
  expect(evaluateOneGuard(anywhere, {}, at('pushed')).status).toBe('fails')
  expect(evaluateOneGuard(anywhere, {}, at('reverted')).status).toBe('fails')
  expect(evaluateOneGuard(anywhere, {}, at('landed')).status).toBe('holds')
  const onMain: Guard = { type: 'landed', branch: 'main' }
  expect(evaluateOneGuard(onMain, {}, at('landed')).status).toBe('holds')
  expect(evaluateOneGuard(onMain, {}, at('landed', 'release')).status).toBe('unknown')
})

test('approval: counts people of the role who approved the current content, never the author', () => {
  const guard: Guard = { type: 'approval', role: 'reviewer', artifact: 'plan', count: 2 }
  const by = (name: string, more: object = {}) => ({
    role: 'reviewer',
    artifact: 'plan',
    author: name,
    identity: `person ${name}`,
    byAuthor: false,
    current: true,
    ...more,
  })
  const given = (...approvals: Observations['approvals']) => evaluateOneGuard(guard, {}, { approvals })
  expect(given(by('Ann'), by('Ben')).status).toBe('holds')
  expect(given(by('Ann'), by('Ann')).status).toBe('fails')
  const tess = { identity: 'person user:tess' }
  expect(given(by('Ann', tess), by('Ben', tess)).reason).toBe('1 of 2 approvals by reviewer of "plan"')
  const before = { identity: null }
  expect(given(by('Ann', before), by('Ben', before)).status).toBe('fails')
  expect(given(by('Ann', before), by('Ben')).status).toBe('fails')
  expect(given(by('Ann'), by('Ben', { byAuthor: true })).reason).toContain('an author cannot approve')
  expect(given(by('Ann'), by('Ben', { current: false })).reason).toContain('changed after an approval')
  expect(given(by('Ann'), by('Ben', { role: 'agent' })).status).toBe('fails')
  expect(given(by('Ann'), by('Ben', { artifact: null })).status).toBe('fails')
})

test('every kind of guard declares the evidence it needs', () => {
  const guards: { readonly [Type in Guard['type']]: Extract<Guard, { readonly type: Type }> } = {
    artifact: { type: 'artifact', artifactType: 'plan', count: 1 },
    context: { type: 'context', variable: 'a', condition: 'exists' },
    changes: { type: 'changes', condition: 'none' },
    command: { type: 'command', run: 'npm test', timeout: 90_000, pinned: [] },
    ci: { type: 'ci', checks: ['unit'], target: 'tree', maxAge: null },
    blockers: { type: 'blockers', condition: 'none' },
    milestone: { type: 'milestone', id: 'M1' },
    task: { type: 'task', condition: 'all_done', phase: null },
    verdict: { type: 'verdict', condition: 'proven' },
    landed: { type: 'landed', branch: null },
    approval: { type: 'approval', role: 'lead', artifact: 'plan', count: 1 },
  }
  expect(Object.values(guards).map((guard) => guardNeeds(guard).map(formatNeed).join())).toEqual([
    'artifacts of type plan',
    'the context',
    'the measured changes',
    'the result of: npm test (at most 90 s)',
    'the result of unit in CI on this tree',
    'open blockers',
    'milestone M1',
    'the tasks',
    'the tasks,the verdicts of done tasks',
    'the tasks,where the lines of done tasks are',
    'approvals by lead of plan',
  ])
})
