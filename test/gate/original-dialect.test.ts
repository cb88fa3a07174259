import { expect, test } from 'vitest'
import { artifactType, isOfType } from '../../src/gate/domain/artifacts.ts'
import { transition } from '../../src/gate/domain/engine.ts'
import { possibleEvent } from '../../src/gate/domain/possible-events.ts'
import { beginRun } from '../../src/gate/domain/run.ts'
import { readDefinition } from '../../src/gate/process-files/read-definition.ts'
import { artifactOf, definitionIn, eventRequest, smallProcess } from '../support/processes.ts'

/** A process as state_gate's users wrote them. */
function original(guard: string, more = ''): string {
  return `process: { id: old, version: "1", name: Old, initial_state: idle }
states: [{ name: idle }, { name: work, required_artifacts: [report] }, { name: check }, { name: done, is_final: true }]
events:
  - { name: begin, allowed_roles: [agent] }
  - { name: finish, allowed_roles: [agent] }
  - { name: reset, allowed_roles: [agent] }
  - { name: stay, allowed_roles: [agent] }
transitions:
  - { from: idle, event: begin, to: work }
  - { from: work, event: finish, to: check, guard: g }
  - { from: work, event: stay, to: work }
  - { from: work, event: reset, to: idle }
  - { from: check, event: finish, to: done }
  - { from: check, event: reset, to: work }
guards: { g: ${guard} }
artifacts: [{ type: report }, { type: plan }${more}]
roles: [{ name: agent, allowed_events: [begin, finish, reset, stay, retired] }]
`
}

function finish(guard: string, context: Record<string, unknown>, paths: readonly string[] = ['report.md']) {
  const definition = definitionIn(original(guard))
  const begun = transition(definition, beginRun(definition, context), eventRequest('begin'))
  if (!begun.accepted) throw new Error(begun.message)
  const artifacts = paths.map((path) => artifactOf(artifactType(definition, path) ?? '', path))
  const result = transition(definition, begun.run, eventRequest('finish', { artifacts }))
  return result.accepted ? 'accepted' : result.missing.map(({ name }) => name).join(' ')
}

test.each([
  ['report.md', true],
  ['docs/REPORT.md', true],
  ['report_v1.md', true],
  ['final-report.md', true],
  ['a_report-b.md', true],
  ['reports.md', false],
  ['myreport.md', false],
  ['report.old.md', false],
  ['report/other.md', false],
])('a file counts as the type that its name is, or has as a part: %s', (path, counts) => {
  const { artifacts } = definitionIn(original('{ type: artifact, artifact_type: report, condition: exists }'))
  expect(isOfType(artifacts, { type: '', path }, 'report')).toBe(counts)
  expect(finish('{ type: artifact, artifact_type: report, condition: exists }', {}, [path])).toBe(
    counts ? 'accepted' : 'g required_artifacts.report',
  )
})

test('one file counts for every type in its name, and a declared glob is stronger than a name', () => {
  const isPlan = '{ type: artifact, artifact_type: plan, condition: exists }'
  expect(finish(isPlan, {}, ['plan_report.md'])).toBe('accepted')
  expect(finish(isPlan, {}, ['planned_report.md'])).toBe('g')
  const small = definitionIn(smallProcess)
  const kept = {
    type: artifactType(small, 'notes/plan_observation.md') ?? '',
    path: 'notes/plan_observation.md',
  }
  expect(kept.type).toBe('observation')
  expect(isOfType(small.artifacts, kept, 'plan')).toBe(false)
})

test.each([
  ['not_equals, value: high', {}, 'g'],
  ['not_equals, value: high', { risk: 'low' }, 'accepted'],
  ['not_equals, value: high', { risk: null }, 'accepted'],
  ['not_in, value: [high]', {}, 'g'],
  ['not_in, value: [high]', { risk: 'low' }, 'accepted'],
  ['exists', { risk: null }, 'accepted'],
  ['exists', {}, 'g'],
  ['not_exists', { risk: null }, 'g'],
  ['not_exists', {}, 'accepted'],
])('a context guard as state_gate judged it: %s of %j', (condition, context, verdict) => {
  expect(finish(`{ type: context, variable: risk, condition: ${condition} }`, context)).toBe(verdict)
})

test('a variable of state_gate is a key, dots and all', () => {
  const guard = '{ type: context, variable: plan.risk, condition: equals, value: low }'
  expect(finish(guard, { 'plan.risk': 'low' })).toBe('accepted')
  expect(finish(guard, { plan: { risk: 'low' } })).toBe('accepted')
})

test('what a state requires is asked on the way forward, neither on a way back nor of an event that stays', () => {
  const definition = definitionIn(original('{ type: context, variable: x, condition: not_exists }'))
  const begun = transition(definition, beginRun(definition, {}), eventRequest('begin'))
  if (!begun.accepted) throw new Error(begun.message)
  const codes = ['finish', 'stay', 'reset'].map((event) => {
    const result = transition(definition, begun.run, eventRequest(event))
    return result.accepted ? result.to : result.missing.map(({ name }) => name)
  })
  expect(codes).toEqual([['required_artifacts.report'], 'work', 'idle'])
})

test('a shortcut makes no way forward a way back', () => {
  const definition =
    definitionIn(`process: { dialect: 1, id: short, version: "1", name: Short, initial_state: triage }
roles: [{ name: agent, kind: agent }]
states: [{ name: triage }, { name: build, required_artifacts: [plan] }, { name: review }, { name: done, is_final: true }]
events: [{ name: small, allowed_roles: [agent] }, { name: go, allowed_roles: [agent] }, { name: back, allowed_roles: [agent] }]
transitions:
  - { from: triage, event: small, to: review }
  - { from: triage, event: go, to: build }
  - { from: build, event: go, to: review }
  - { from: review, event: back, to: build }
  - { from: review, event: go, to: done }
artifacts: [{ type: plan }]
`)
  const run = { ...beginRun(definition, {}), state: 'build' }
  expect(transition(definition, run, eventRequest('go'))).toMatchObject({
    accepted: false,
    code: 'GUARD_FAILED',
  })
})

test('an event that a role only lists, and nothing declares, is a warning; in dialect 1 it is no key at all', () => {
  const { definition, findings } = readDefinition(
    original('{ type: context, variable: x, condition: not_exists }'),
  )
  expect(definition).not.toBeNull()
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(findings).toContainEqual(
    expect.objectContaining({ severity: 'warning', message: expect.stringContaining('no event "retired"') }),
  )
})

test('a schema is for JSON: lint tells it of Markdown, and state_gate never looked into such a file', () => {
  const old = readDefinition(
    original(
      '{ type: artifact, artifact_type: note, condition: exists }',
      ', { type: note, schema: { type: object, required: [text] } }',
    ),
  )
  expect(old.findings).toContainEqual(
    expect.objectContaining({ severity: 'note', rule: 'schema-of-other-files' }),
  )
  const definition = old.definition
  if (definition === null) throw new Error('it was not read')
  const begun = transition(definition, beginRun(definition, {}), eventRequest('begin'))
  if (!begun.accepted) throw new Error(begun.message)
  const finishing = (path: string) =>
    transition(
      definition,
      begun.run,
      eventRequest('finish', { artifacts: [artifactOf('note', path), artifactOf('report', 'report.md')] }),
    ).accepted
  expect([finishing('note.md'), finishing('note.json')]).toEqual([true, false])
  const written = smallProcess.replace('["docs/plan.md"]', '["docs/plan.md"], schema: { type: object }')
  expect(readDefinition(written).findings).toMatchObject([
    { severity: 'warning', rule: 'schema-of-other-files', message: expect.stringContaining('docs/plan.md') },
  ])
})

test('a transition for another role says so', () => {
  const narrowed = definitionIn(
    smallProcess.replace(
      'event: submit_build, to: review',
      'event: submit_build, to: review, allowed_roles: [reviewer]',
    ),
  )
  const run = { ...beginRun(narrowed), state: 'build' }
  const situation = {
    payload: {},
    artifacts: [],
    emitter: { role: 'agent', kind: 'agent' },
    observed: eventRequest('x').observed,
    assumed: [],
  } as const
  const event = narrowed.events.find(({ name }) => name === 'submit_build')
  expect(event && possibleEvent(narrowed, run, { event, situation }).transitions).toMatchObject([
    { to: 'review', onlyFor: ['reviewer'] },
  ])
})

test('wrong names are told together with wrong shapes, not one after the other', () => {
  const text = smallProcess
    .replace('max_visits: 2', 'max_visits: many')
    .replace('condition: equals', 'condition: equal')
    .replace('send_back, to: build', 'send_back, to: biuld')
    .replace('guard: enough', 'guard: enuogh')
  const { definition, findings } = readDefinition(text)
  expect(definition).toBeNull()
  expect(findings.map(({ rule }) => rule).sort()).toEqual([
    'odd-value',
    'odd-value',
    'unknown-reference',
    'unknown-reference',
  ])
})

test('a misspelt section makes no flood of unknown names', () => {
  const { findings } = readDefinition(
    smallProcess.replace('artifacts:', 'artefacts:').replace('- { name: build,', '- { nmae: build,'),
  )
  expect(findings.map(({ rule }) => rule).sort()).toEqual(['missing-key', 'unknown-key', 'unknown-key'])
})
